//! `kord eval`: the keys of a file at public points.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use kord_core::key_file::KeyFileReader;
use kord_core::{GroupKind, KeyBatch, KeySpec};

use crate::progress;
use crate::text::{GroupName, NumberError, parse_u64, read_points};

/// Keys evaluated at a time.
const BATCH: usize = 4096;

/// Arguments of `kord eval`.
#[derive(Debug, clap::Args)]
#[command(after_long_help = ONE_TIME)]
pub struct Args {
    /// The key file; removed afterwards unless --keep is given
    file: PathBuf,
    /// Points at which every key is evaluated, separated by commas
    #[arg(long, value_delimiter = ',', value_parser = point, required_unless_present = "points")]
    at: Vec<u64>,
    /// A file of points: line j holds the points of key j, the same number on each line
    #[arg(long, value_name = "FILE", conflicts_with = "at")]
    points: Option<PathBuf>,
    /// Where to write the output shares [default: standard output]
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Keep the key file: only if its points are not masked by alpha (as in PIR)
    #[arg(long)]
    keep: bool,
}

const ONE_TIME: &str = "\
A key is used once. If two inputs x and x' are opened under one mask alpha, as
x + alpha and x' + alpha, everybody learns x - x'. So evaluate a key at all the
points it is needed at in one call; the key file is then removed.

Output: one line for each point, key after key: the key's number, the point, then
one share for each element of the payload. The value is the sum (or XOR) of both
parties' shares.";

fn point(text: &str) -> Result<u64, NumberError> {
    parse_u64(text)
}

/// Evaluates, writes the output shares, and removes the key file unless it is to be kept.
///
/// # Errors
/// The key file is not usable, a point is outside its domain, or a file cannot be written. The
/// key file is then left alone.
pub fn run(args: &Args) -> Result<()> {
    let name = args.file.display();
    let mut reader =
        KeyFileReader::open(&args.file).with_context(|| format!("{name}: not a usable key file"))?;
    let spec = *reader.header().spec();
    let count = reader.remaining();
    let points = Points::new(args, &spec, count)?;
    let (mut out, to) = open(args)?;
    let write_failed = || format!("{to}: cannot write to it");
    writeln!(out, "{}", heading(&spec)).with_context(write_failed)?;
    let bar = progress::bar(args.out.is_none(), "evaluating", count, "keys");
    let mut first = 0;
    while let Some(keys) =
        reader.next_batch(BATCH).with_context(|| format!("{name}: not a usable key file"))?
    {
        let number = keys.len();
        write_shares(&mut out, keys, first, &points.of_keys(first, number)).with_context(write_failed)?;
        first += number;
        bar.inc(number as u64);
    }
    reader.finish().with_context(|| format!("{name}: changed while it was read"))?;
    out.flush().with_context(write_failed)?;
    bar.finish_and_clear();
    if args.keep {
        eprintln!("kord: {name} kept; open no second masked input under its keys");
        return Ok(());
    }
    fs::remove_file(&args.file).with_context(|| format!("{name}: cannot remove it; remove it by hand"))?;
    eprintln!("kord: {name} removed: a key is used once");
    Ok(())
}

/// The points of each key.
enum Points {
    Same(Vec<u64>),
    Each { points: Vec<u64>, per_key: usize },
}

impl Points {
    fn new(args: &Args, spec: &KeySpec, keys: u64) -> Result<Self> {
        if let Some(path) = &args.points {
            let points = read_points(path, keys, spec.max_alpha())?;
            // As many lines as keys were read, so both fit memory.
            let per_key = points.len() / keys as usize;
            return Ok(Self::Each { points, per_key });
        }
        if let Some(outside) = args.at.iter().find(|x| **x > spec.max_alpha()) {
            bail!("--at: {outside} is outside the keys' domain of {} bits", spec.domain_bits());
        }
        Ok(Self::Same(args.at.clone()))
    }

    fn of_keys(&self, first: usize, number: usize) -> Vec<u64> {
        match self {
            Self::Same(points) => points.repeat(number),
            Self::Each { points, per_key } => points[first * per_key..(first + number) * per_key].to_vec(),
        }
    }
}

/// The output and what to call it in an error.
fn open(args: &Args) -> Result<(Box<dyn Write>, String)> {
    let Some(path) = &args.out else {
        return Ok((Box::new(BufWriter::new(io::stdout().lock())), "standard output".to_owned()));
    };
    let name = path.display().to_string();
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let file: File = options.open(path).with_context(|| format!("--out {name}: cannot create it"))?;
    Ok((Box::new(BufWriter::new(file)), name))
}

fn heading(spec: &KeySpec) -> String {
    let combine = match spec.group().kind() {
        GroupKind::Xor => "XOR",
        _ => "add",
    };
    let group = GroupName(spec.group());
    format!("# key point share…; {combine} both parties' shares in {group}")
}

fn write_shares(out: &mut dyn Write, keys: KeyBatch, first: usize, points: &[u64]) -> Result<()> {
    let (per_key, arity) = (points.len() / keys.len(), keys.spec().arity() as usize);
    let shares = keys.evaluate(points)?;
    for (i, (point, shares)) in points.iter().zip(shares.chunks_exact(arity)).enumerate() {
        write!(out, "{} {point}", first + i / per_key)?;
        for share in shares {
            write!(out, " {share}")?;
        }
        writeln!(out)?;
    }
    Ok(())
}
