//! `kord keygen`: keys from the chip pair into a key file.

mod options;

use std::path::PathBuf;
use std::time::Instant;

use anyhow::{Context, Result, bail};
use kord_chip::Tier;
use kord_chip::host::{ChipHost, LinkStats};
use kord_core::request::{Request, Shares};

use super::link::LinkArgs;
use crate::batch::{Destination, write_batch};
use crate::figures::{Figure, Report};
use crate::output::{print, print_report};
use crate::text::{Columns, ShareFile};
use crate::{progress, rendezvous};
use options::KeyOptions;

/// Arguments of `kord keygen`.
#[derive(Debug, clap::Args)]
#[command(after_long_help = SHARES)]
pub struct Args {
    #[command(flatten)]
    link: LinkArgs,
    #[command(flatten)]
    key: KeyOptions,
    /// Keys to make; with --shares, the number of lines in that file
    #[arg(long)]
    count: Option<u64>,
    /// This party's shares of what is given (--alpha given, --payload given)
    #[arg(long, value_name = "FILE")]
    shares: Option<PathBuf>,
    /// The key file to create
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
    /// The file to create for shares of what is derived [default: --out with the ending .shares]
    #[arg(long, value_name = "FILE")]
    derived_out: Option<PathBuf>,
    /// How frames are protected: mac, or plain (no authentication; both parties must ask for it)
    #[arg(long, default_value_t = Tier::Mac)]
    tier: Tier,
    /// Print the figures as one JSON object
    #[arg(long)]
    json: bool,
}

const SHARES: &str = "\
Both parties run this command with the same options and their own state, shares and
files; one listens, the other connects. If everything is derived, the listening
side may be kord serve.

Share files hold one key a line: the share of alpha, then a share of each payload
element, as far as they are given or derived; decimal or 0x hexadecimal, separated
by blanks, # begins a comment. With two payload elements:

    # alpha_share beta_share_1 beta_share_2
    17 0xff 3

Derived shares are written in the same form. alpha and each beta are the sum of both
parties' shares: modulo 2^(domain bits) for alpha (or see --alpha-sharing), and in
the group for beta.";

/// Makes the batch and writes key and share files.
///
/// # Errors
/// An option or file is wrong, the peer is absent or asks for another batch, or the link fails.
pub fn run(args: &Args) -> Result<()> {
    let derived_out = args.derived_out.clone().unwrap_or_else(|| args.out.with_extension("shares"));
    let destination = Destination { keys: &args.out, shares: &derived_out };
    let (request, mut file) = request_and_shares(args)?;
    let chip = args.link.chip()?;
    agree(args, &request)?;
    let mut host = ChipHost::connect(chip, args.link.config(args.tier)?).context("starting a session")?;
    let before = host.stats();
    let bar = progress::bar(args.json, "making keys", request.count(), "keys");
    let started = Instant::now();
    let shares = file.as_mut().map_or(Shares::Derived, |file| Shares::Reader(file));
    let label = write_batch(&mut host, &request, shares, destination, &mut |keys| bar.inc(keys))?;
    let seconds = started.elapsed().as_secs_f64();
    bar.finish_and_clear();
    let stats = host.stats().since(&before);
    host.close();
    if !args.json {
        let (session, first, last) = (label.session, label.first, label.first + (label.count - 1));
        print(&format!("{}: session {session}, counters {first} to {last}", args.out.display()))?;
        if !Columns::derived(&request).is_empty() {
            print(&format!("{}: this party's shares of what was derived", derived_out.display()))?;
        }
    }
    print_report(&Report::new(figures(&request, seconds, &stats)), args.json)
}

/// The request, and the file of given shares where something is given.
fn request_and_shares(args: &Args) -> Result<(Request, Option<ShareFile>)> {
    let given = Columns::given(&args.key.request(1)?);
    if given.is_empty() {
        if args.shares.is_some() {
            bail!("--shares: nothing is given; drop it, or say --alpha given or --payload given");
        }
        let count = args.count.context("--count: say how many keys to make")?;
        return Ok((args.key.request(count)?, None));
    }
    let path = args.shares.as_ref().context("--shares: name the file of this party's given shares")?;
    let file = ShareFile::open(path, given).context("--shares")?;
    if let Some(count) = args.count {
        file.expect_count(count).context("--count")?;
    }
    Ok((args.key.request(file.count())?, Some(file)))
}

/// Makes sure that the other party asks for the same batch.
fn agree(args: &Args, request: &Request) -> Result<()> {
    let spinner = progress::spinner(args.json, "waiting for the other party");
    let patience = args.link.patience();
    if let Some(address) = args.link.listen {
        let equal = |theirs: &Request| rendezvous::must_equal(request, theirs);
        if rendezvous::accept(address, patience, equal)?.is_none() {
            bail!("--listen {address}: nobody connected within {patience:?}; is the other party running?");
        }
    } else if let Some(address) = args.link.connect {
        rendezvous::propose(address, request, patience)?;
    }
    spinner.finish_and_clear();
    Ok(())
}

fn figures(request: &Request, seconds: f64, stats: &LinkStats) -> Vec<Figure> {
    let count = request.count();
    let per_key = |bytes: u64| bytes as f64 / count as f64;
    vec![
        Figure::measured("keygen_keys", count, "keys"),
        Figure::measured("keygen_ms", seconds * 1e3, "ms"),
        Figure::measured("keygen_keys_per_s", count as f64 / seconds, "keys/s"),
        Figure::measured("keygen_payload_bytes_per_key", per_key(stats.sent.payload_bytes), "bytes"),
        Figure::measured("keygen_envelope_bytes_per_key", per_key(stats.sent.frame_bytes), "bytes"),
        Figure::measured("keygen_frames_each_way", stats.sent.frames, "frames"),
        Figure::measured("keygen_rounds", stats.rounds(), "rounds"),
    ]
}
