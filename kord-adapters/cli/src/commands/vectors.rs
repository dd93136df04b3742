//! `kord vectors check`: known-answer files of other libraries against this implementation.

use std::path::PathBuf;

use anyhow::{Result, bail};
use clap::Subcommand;
use comfy_table::{CellAlignment, Table, presets};
use kord_core::vectors::{self, Failure};

use crate::figures::{Figure, Report};
use crate::output::{print, print_report};
use crate::progress;

/// Failures printed for each file; the rest is only counted.
const SHOWN: usize = 10;

/// Arguments of `kord vectors`.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Recompute every case of vector files, plain or gzip, and compare field by field
    #[command(after_long_help = WHAT)]
    Check {
        /// Vector files
        #[arg(required = true)]
        files: Vec<PathBuf>,
        /// Print the figures as one JSON object
        #[arg(long)]
        json: bool,
    },
}

const WHAT: &str = "\
Keys are made from the roots in the file, encoded, decoded again and evaluated. A case
passes if every field agrees; of one that fails, the first field that differs is
printed. Cases of an unknown scheme are counted as skipped. The exit code is 1 if a
case fails or a file cannot be checked.";

/// Checks the files and prints what passed.
///
/// # Errors
/// A case failed, or a file is no vector file. All other files are still checked.
pub fn run(args: &Args) -> Result<()> {
    let Action::Check { files, json } = &args.action;
    let (mut table, mut unusable) = (Table::new(), 0);
    table.load_style(presets::UTF8_FULL_CONDENSED);
    table.set_header(["file", "scheme", "passed", "failed", "skipped"]);
    let mut total = Totals::default();
    let spinner = progress::spinner(*json, "checking vectors");
    for path in files {
        let name = path.display();
        match vectors::check_file(path) {
            Ok(report) => {
                total.add(&report);
                let counts = [report.passed, report.failed, report.skipped].map(|n| n.to_string());
                let [passed, failed, skipped] = counts.each_ref().map(String::as_str);
                table.add_row([&name.to_string(), &report.scheme, passed, failed, skipped]);
                spinner.suspend(|| show(&name.to_string(), &report.failures));
            }
            Err(error) => {
                unusable += 1;
                let error = anyhow::Error::from(error).context(format!("{name}: cannot be checked"));
                spinner.suspend(|| eprintln!("kord: {error:#}"));
            }
        }
    }
    spinner.finish_and_clear();
    for column in 2..5 {
        if let Some(column) = table.column_mut(column) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    if !json {
        print(&table.to_string())?;
    }
    print_report(&Report::new(total.figures()), *json)?;
    match (total.failed, unusable) {
        (0, 0) => Ok(()),
        (failed, unusable) => bail!("{failed} cases failed, {unusable} files could not be checked"),
    }
}

fn show(file: &str, failures: &[Failure]) {
    for failure in failures.iter().take(SHOWN) {
        eprintln!("kord: {file}: {failure}");
    }
    if failures.len() > SHOWN {
        eprintln!("kord: {file}: {} more cases failed", failures.len() - SHOWN);
    }
}

/// Counts over all files.
#[derive(Default)]
struct Totals {
    passed: u64,
    failed: u64,
    skipped: u64,
}

impl Totals {
    const fn add(&mut self, report: &vectors::Report) {
        self.passed += report.passed;
        self.failed += report.failed;
        self.skipped += report.skipped;
    }

    fn figures(&self) -> Vec<Figure> {
        vec![
            Figure::measured("vectors_passed", self.passed, "cases"),
            Figure::measured("vectors_failed", self.failed, "cases"),
            Figure::measured("vectors_skipped", self.skipped, "cases"),
        ]
    }
}
