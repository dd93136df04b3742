//! The `kord` command, as a library: the program is `main.rs` and one call.
//!
//! | module | what it holds |
//! |---|---|
//! | [`commands`] | a file for each subcommand |
//! | [`figures`] | the one form of every printed number, for people and as JSON |
//! | [`text`] | numbers, groups, share files and point files |
//! | [`interval`] | interval containment from one DCF key: what the demo evaluates |
//! | [`batch`] | from a key source to a key file |
//! | [`rendezvous`] | how two hosts agree on a batch |
//! | [`demo`] | the demonstration: a photograph thresholded by two parties that do not see it |
//!
//! `kord help` has the guide to a first key.

pub mod batch;
pub mod commands;
pub mod demo;
pub mod figures;
pub mod interval;
mod output;
mod progress;
pub mod rendezvous;
pub mod text;

use std::process::ExitCode;

use clap::Parser;

use commands::Cli;

/// Runs the command line of this process.
///
/// The exit code is 0 on success, 1 on failure (the reason is on standard error), and 2 for a
/// command line that is not understood.
#[must_use]
pub fn main() -> ExitCode {
    match commands::run(Cli::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // `{:#}` is the chain of causes: what failed, then why.
            eprintln!("kord: {error:#}");
            ExitCode::FAILURE
        }
    }
}
