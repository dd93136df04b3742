//! `kord bench`: how fast this machine makes keys, and how much of its AES unit that takes.

use std::time::Duration;

use anyhow::{Context, Result};
use kord_core::utilisation::{self, Generation};
use kord_core::{Group, KeySpec, Predicate};

use crate::figures::{Figure, Report};
use crate::output::print_report;
use crate::progress;

/// Arguments of `kord bench`.
#[derive(Debug, clap::Args)]
#[command(after_long_help = WHAT)]
pub struct Args {
    /// Seconds for each kind of key
    #[arg(long, default_value_t = 2.0)]
    seconds: f64,
    /// Print the figures as one JSON object
    #[arg(long)]
    json: bool,
}

const WHAT: &str = "\
One core, one party's keys, 32 domain bits, one payload element of 64 bits.
Utilisation is the AES blocks that generation must compute per second (4 a level
for a DPF, 8 for a DCF), divided by the blocks per second that the same core
reaches on bare AES, measured by turns in the same run.";

/// Measures and prints.
///
/// # Errors
/// `--seconds` is no length of time.
pub fn run(args: &Args) -> Result<()> {
    let duration =
        Duration::try_from_secs_f64(args.seconds).context("--seconds: give a positive number of seconds")?;
    let payload = Group::ring(64)?;
    let measure = |what, spec: KeySpec| {
        let spinner = progress::spinner(args.json, what);
        let measured = utilisation::generation(&spec, duration);
        spinner.finish_and_clear();
        measured
    };
    let dpf = measure("making DPF keys", KeySpec::dpf(32, payload)?);
    let dcf = measure("making DCF keys", KeySpec::dcf(32, Predicate::Lt, payload)?);
    print_report(&Report::new(figures(&dpf, &dcf)), args.json)
}

fn figures(dpf: &Generation, dcf: &Generation) -> Vec<Figure> {
    let aes = dpf.aes_blocks_per_s.max(dcf.aes_blocks_per_s);
    vec![
        Figure::measured("aes_blocks_per_s", aes, "blocks/s"),
        Figure::measured("dpf32_gen_keys_per_s", dpf.keys_per_s, "keys/s"),
        Figure::measured("dpf32_gen_utilisation", dpf.utilisation, "1"),
        Figure::measured("dcf32_gen_keys_per_s", dcf.keys_per_s, "keys/s"),
        Figure::measured("dcf32_gen_utilisation", dcf.utilisation, "1"),
    ]
}
