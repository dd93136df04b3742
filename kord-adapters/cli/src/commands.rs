//! The subcommands, one a file, and their common form.

pub mod eval;
pub mod inspect;

use anyhow::Result;
use clap::{Parser, Subcommand};

/// The command line.
#[derive(Debug, Parser)]
#[command(name = "kord", version, about, long_about = GUIDE, max_term_width = 100)]
pub struct Cli {
    #[command(subcommand)]
    command: Command,
}

const GUIDE: &str = "\
Function secret sharing keys (DPF, DCF) from a pair of mutually attested chips: standard keys, no \
dealer, one message each way.";

#[derive(Debug, Subcommand)]
enum Command {
    /// Show what a key file holds, and check it; prints no secrets
    Inspect(inspect::Args),
    /// Evaluate a key file at points, and remove it
    Eval(eval::Args),
}

/// Runs a parsed command line.
///
/// # Errors
/// Whatever the command reports; the chain of causes names file, field and remedy.
pub fn run(cli: Cli) -> Result<()> {
    match cli.command {
        Command::Inspect(args) => inspect::run(&args),
        Command::Eval(args) => eval::run(&args),
    }
}
