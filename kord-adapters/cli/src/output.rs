//! What commands print on standard output.

use std::io::{self, Write};

use anyhow::{Context, Result};

use crate::figures::Report;

/// Prints `text` and a newline.
///
/// # Errors
/// Standard output is closed or full.
pub(crate) fn print(text: &str) -> Result<()> {
    let mut out = io::stdout().lock();
    writeln!(out, "{text}").and_then(|()| out.flush()).context("standard output: cannot write to it")
}

/// Prints a report: one JSON object, or a table.
///
/// # Errors
/// As [`print`].
pub(crate) fn print_report(report: &Report, json: bool) -> Result<()> {
    if json { print(&report.json()?) } else { print(&report.table()) }
}
