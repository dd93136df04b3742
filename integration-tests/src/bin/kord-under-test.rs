//! The `kord` command, built here so that these tests can start it as real processes.

use std::process::ExitCode;

fn main() -> ExitCode {
    kord_cli::main()
}
