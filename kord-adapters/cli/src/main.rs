//! The `kord` command.

use std::process::ExitCode;

fn main() -> ExitCode {
    kord_cli::main()
}
