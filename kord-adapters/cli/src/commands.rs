//! The subcommands, one a file, and their common form.

pub mod bench;
pub mod demo;
pub mod eval;
pub mod inspect;
pub mod keygen;
pub mod link;
pub mod pair;
pub mod provision;
pub mod serve;
pub mod vectors;

use anyhow::Result;
use clap::{Parser, Subcommand};

use crate::demo::party;

/// The command line.
#[derive(Debug, Parser)]
#[command(name = "kord", version, about = ABOUT, after_help = GUIDE, max_term_width = 100)]
pub struct Cli {
    #[command(subcommand)]
    command: Command,
}

const ABOUT: &str = "\
Function secret sharing keys (DPF, DCF) from a pair of mutually attested chips:
standard keys, no dealer, one message each way.";

const GUIDE: &str = "\
Your first key, in four commands. Each party has a terminal (or a machine, and
its address instead of 127.0.0.1), and its own chip under the same root:

  party 0                                   party 1
  kord provision --party 0 --state p0       kord provision --party 1 --state p1
  kord pair --state p0 \\                    kord pair --state p1 \\
    --listen 127.0.0.1:7700                   --connect 127.0.0.1:7700
  kord keygen --state p0 --out p0.keys \\    kord keygen --state p1 --out p1.keys \\
    --listen 127.0.0.1:7700 \\                 --connect 127.0.0.1:7700 \\
    --scheme dpf --domain-bits 16 \\           --scheme dpf --domain-bits 16 \\
    --count 1                                 --count 1
  kord eval p0.keys --at 5                  kord eval p1.keys --at 5

Now the two outputs add up to 1 (mod 2^64) if 5 is the random point alpha, whose
shares are in p0.shares and p1.shares, and to 0 if not. A key is used once, so
kord eval removes it; kord inspect shows what a key file holds. For keys of your
own alpha and beta, see kord keygen --help. kord demo does it all for the 262,144
pixels of a photograph.";

#[derive(Debug, Subcommand)]
enum Command {
    /// Make a chip: identity, storage key and policy in a state directory
    Provision(provision::Args),
    /// Pair this chip with the other party's by mutual attestation
    Pair(pair::Args),
    /// Make keys together with the other party, into a key file
    Keygen(keygen::Args),
    /// Stay up and make the batches that the other party's kord keygen asks for
    Serve(serve::Args),
    /// Show what a key file holds, and check it; prints no secrets
    Inspect(inspect::Args),
    /// Evaluate a key file at points, and remove it
    Eval(eval::Args),
    /// Check this implementation against known answers of other libraries
    Vectors(vectors::Args),
    /// Measure how fast this machine makes keys
    Bench(bench::Args),
    /// Threshold a photograph that neither of two parties sees
    Demo(demo::Args),
    #[command(hide = true)]
    DemoParty(party::PartyArgs),
}

/// Runs a parsed command line.
///
/// # Errors
/// Whatever the command reports; the chain of causes names file, field and remedy.
pub fn run(cli: Cli) -> Result<()> {
    match cli.command {
        Command::Provision(args) => provision::run(&args),
        Command::Pair(args) => pair::run(&args),
        Command::Keygen(args) => keygen::run(&args),
        Command::Serve(args) => serve::run(&args),
        Command::Inspect(args) => inspect::run(&args),
        Command::Eval(args) => eval::run(&args),
        Command::Vectors(args) => vectors::run(&args),
        Command::Bench(args) => bench::run(&args),
        Command::Demo(args) => demo::run(&args),
        Command::DemoParty(args) => party::run(&args),
    }
}
