//! `kord inspect`: a key file's header and health, no secrets.

use core::fmt::Write as _;
use std::path::PathBuf;

use anyhow::{Context, Result};
use kord_core::PrgKeys;
use kord_core::key_file::{KeyFileHeader, KeyFileReader};

use crate::output::print;
use crate::progress;
use crate::text::GroupName;

/// Keys read at a time.
const BATCH: usize = 1024;

/// Arguments of `kord inspect`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The key file
    file: PathBuf,
}

/// Checks the whole file, every key included, and prints its header.
///
/// # Errors
/// The file cannot be read, or is not exactly a key file; the field at fault is named.
pub fn run(args: &Args) -> Result<()> {
    let context = || format!("{}: not a usable key file", args.file.display());
    let header = check(args).with_context(context)?;
    print(describe(&header).trim_end())
}

fn check(args: &Args) -> Result<KeyFileHeader> {
    let mut reader = KeyFileReader::open(&args.file)?;
    let header = *reader.header();
    let bar = progress::bar(false, "checking keys", header.count(), "keys");
    while let Some(keys) = reader.next_batch(BATCH)? {
        bar.inc(keys.len() as u64);
    }
    reader.finish()?;
    bar.finish_and_clear();
    Ok(header)
}

fn describe(header: &KeyFileHeader) -> String {
    let (spec, label) = (header.spec(), header.label());
    let default = if *spec.prg_keys() == PrgKeys::KORD_V1 { "default keys" } else { "other keys" };
    let id: String = spec.prg_keys().id().iter().map(|byte| format!("{byte:02x}")).collect();
    let rows = [
        ("format version", KeyFileHeader::VERSION.to_string()),
        ("scheme", spec.scheme().to_string()),
        ("domain bits", spec.domain_bits().to_string()),
        ("group", GroupName(spec.group()).to_string()),
        ("arity", spec.arity().to_string()),
        ("party", header.party().number().to_string()),
        ("keys", header.count().to_string()),
        ("bytes a key", spec.key_bytes().to_string()),
        ("file bytes", header.file_bytes().to_string()),
        ("PRG", format!("fixed-key AES-128 MMO, {default}, id {id}")),
        ("session", label.session.to_string()),
        ("stream", format!("{:#x}", label.stream)),
        ("counters", format!("{} to {}", label.first, label.first + (label.count - 1))),
        ("digest", "correct".to_owned()),
    ];
    let mut text = String::new();
    for (name, value) in rows {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{name:15} {value}");
    }
    text
}
