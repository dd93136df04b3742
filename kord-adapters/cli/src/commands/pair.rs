//! `kord pair`: mutual attestation of the two chips.

use anyhow::{Context, Result};
use kord_chip::{Tier, host};

use super::link::LinkArgs;
use crate::figures::{Figure, Report};
use crate::output::{print, print_report};
use crate::progress;

/// Arguments of `kord pair`.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(flatten)]
    link: LinkArgs,
    /// Print the figures as one JSON object
    #[arg(long)]
    json: bool,
}

/// Pairs this chip with the one behind the link and stores the pairing.
///
/// # Errors
/// The peer is absent, or either chip refused the other; nothing is stored then.
pub fn run(args: &Args) -> Result<()> {
    let mut chip = args.link.chip()?;
    // Pairing frames are the same in every tier.
    let config = args.link.config(Tier::Mac)?;
    let spinner = progress::spinner(args.json, "waiting for the other party, then pairing");
    let report = host::pair(&mut chip, &config).context("pairing")?;
    spinner.finish_and_clear();
    let figures = vec![
        Figure::measured("pair_ms", report.duration.as_secs_f64() * 1e3, "ms"),
        Figure::measured("pair_bytes_sent", report.stats.sent.wire_bytes, "bytes"),
        Figure::measured("pair_bytes_received", report.stats.received.wire_bytes, "bytes"),
        Figure::measured("pair_rounds", report.stats.rounds(), "rounds"),
    ];
    if !args.json {
        print(&format!("{}: paired; next: kord keygen, or kord serve", args.link.state.display()))?;
    }
    print_report(&Report::new(figures), args.json)
}
