//! `kord bench`: how fast this machine makes and evaluates keys, and how much of its AES unit
//! that takes.

mod chip;

use std::thread;
use std::time::Duration;

use anyhow::{Context, Result};
use kord_core::utilisation;
use kord_core::{Group, KeySpec, Predicate};

use crate::figures::{Figure, Report};
use crate::output::print_report;
use crate::progress;

/// Arguments of `kord bench`.
#[derive(Debug, clap::Args)]
#[command(after_long_help = WHAT)]
pub struct Args {
    /// Seconds for each measurement
    #[arg(long, default_value_t = 2.0)]
    seconds: f64,
    /// Also measure a chip pair over loopback: tier mac, durable counters
    #[arg(long)]
    chip: bool,
    /// Print the figures as one JSON object
    #[arg(long)]
    json: bool,
}

const WHAT: &str = "\
One core, one party's keys, 32 domain bits, one payload element of 64 bits.
Utilisation is the AES blocks that the work must compute per second (Gen: 4 a level
for a DPF, 8 for a DCF; Eval of a DPF: 1 a level), divided by the blocks per second
that the same core reaches on bare AES, measured by turns in the same run.

With --chip two software chips make 2^20 DPF keys at a time, both on this machine.
Each party makes every key, so the ratio compares one party's keys per second with
the raw engine's on one core.";

/// Measures and prints.
///
/// # Errors
/// `--seconds` is no length of time; with `--chip`, whatever keeps the pair from working.
pub fn run(args: &Args) -> Result<()> {
    let duration =
        Duration::try_from_secs_f64(args.seconds).context("--seconds: give a positive number of seconds")?;
    let payload = Group::ring(64)?;
    let (dpf, dcf) = (KeySpec::dpf(32, payload)?, KeySpec::dcf(32, Predicate::Lt, payload)?);
    let made_dpf = spin(args, "making DPF keys", || utilisation::generation(&dpf, duration));
    let made_dcf = spin(args, "making DCF keys", || utilisation::generation(&dcf, duration));
    let evaluated = spin(args, "evaluating DPF keys", || utilisation::evaluation(&dpf, duration));
    let speedup = spin(args, "making DPF keys on two threads", || two_threads(&dpf, duration));
    let aes = made_dpf.aes_blocks_per_s.max(made_dcf.aes_blocks_per_s);
    let mut figures = vec![
        Figure::measured("aes_blocks_per_s", aes, "blocks/s"),
        Figure::measured("dpf32_gen_keys_per_s", made_dpf.keys_per_s, "keys/s"),
        Figure::measured("dpf32_gen_utilisation", made_dpf.utilisation, "1"),
        Figure::measured("dcf32_gen_keys_per_s", made_dcf.keys_per_s, "keys/s"),
        Figure::measured("dcf32_gen_utilisation", made_dcf.utilisation, "1"),
        Figure::measured("dpf32_eval_points_per_s", evaluated.points_per_s, "points/s"),
        Figure::measured("dpf32_eval_utilisation", evaluated.utilisation, "1"),
        Figure::measured("gen_two_thread_speedup", speedup, "1"),
    ];
    if args.chip {
        let measured = spin(args, "making DPF keys with a chip pair", || chip::measure(&dpf, duration))?;
        figures.push(Figure::measured("chip_pair_dpf32_keys_per_s", measured.keys_per_s, "keys/s"));
        figures.push(Figure::measured("chip_pair_engine_ratio", measured.engine_ratio, "1"));
    }
    print_report(&Report::new(figures), args.json)
}

fn spin<T>(args: &Args, what: &'static str, work: impl FnOnce() -> T) -> T {
    let spinner = progress::spinner(args.json, what);
    let result = work();
    spinner.finish_and_clear();
    result
}

/// Keys per second of two threads together, over those of one alone.
fn two_threads(spec: &KeySpec, duration: Duration) -> f64 {
    let rate = || utilisation::generation(spec, duration / 2).keys_per_s;
    let one = rate();
    let two: f64 = thread::scope(|scope| {
        let other = scope.spawn(rate);
        rate() + other.join().unwrap_or(0.0)
    });
    two / one
}
