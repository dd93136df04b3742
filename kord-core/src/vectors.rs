//! Checks known-answer vector files against this implementation.
//!
//! A file is one JSON object, plain or gzip (told apart by content):
//! `{"scheme": …, "cases": [{"id": …, …}, …]}`, with the PRG's public keys or nonce beside the
//! cases where the scheme has such. Integers are `"0x…"` strings, byte strings are hex, byte 0
//! first. A file without a scheme holds primitives: one list of cases for each.
//!
//! | scheme | compared field by field, for both parties |
//! |---|---|
//! | `llama-fss-dcf`, `llama-gpumpc-dcf` | k, g, v, wire, evals |
//! | `llama-gpumpc-dpf` | s, tLcw, tRcw, payload, wire, evals (eq, gt, lt), evals_all |
//! | `llama-gpumpc-dpfet` | s, tLcw, tRcw, leaf, wire, evals (lt) |
//! | `myl7-dpf`, `myl7-dcf` | cws, evals |
//! | primitives | `llama_seedkey`, `llama_convert`, `mmo`, `mAesFixedKey_mmo`, `myl7_chacha` |
//!
//! Keys are made from the file's roots, then encoded, decoded again and evaluated, so decoders are
//! checked too. Cases of a scheme that is not in the table are counted as skipped. A file that
//! does not say what its scheme needs is refused with a [`VectorError`] naming the place.
//!
//! ```no_run
//! let report = kord_core::vectors::check_file("llama_fss_dcf.json.gz".as_ref())?;
//! println!("{}: {} passed", report.scheme, report.passed);
//! for failure in &report.failures {
//!     println!("{failure}");
//! }
//! # Ok::<(), kord_core::vectors::VectorError>(())
//! ```
//!
//! # Security
//! Vectors are public: reports print keys and shares. Never check secrets with this.

mod compare;
mod error;
mod llama_dcf;
mod llama_dpf;
mod llama_dpfet;
mod myl7;
mod node;
mod primitives;

use core::fmt;
use std::io::Read;
use std::path::Path;

use flate2::read::MultiGzDecoder;
use serde_json::Value;

pub use error::VectorError;

use compare::Comparison;
use node::Node;

/// What became of a file's cases.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Report {
    /// The file's scheme; `prg-kats` for primitives.
    pub scheme: String,
    /// Cases in which every field agreed.
    pub passed: u64,
    /// Cases in which a field differed: as many as `failures`.
    pub failed: u64,
    /// Cases of schemes, primitives or parameters that are not implemented.
    pub skipped: u64,
    /// The cases that differed, in file order.
    pub failures: Vec<Failure>,
}

/// A case that differed, and the first field where it did.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Failure {
    /// The case's id.
    pub case: String,
    /// Which field, as a path: `key0.k[3]`.
    pub field: String,
    /// What the file says.
    pub expected: String,
    /// What was computed.
    pub got: String,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { case, field, expected, got } = self;
        write!(f, "case {case}: {field}: expected {expected}, got {got}")
    }
}

impl Report {
    fn new(scheme: &str) -> Self {
        Self { scheme: scheme.to_owned(), passed: 0, failed: 0, skipped: 0, failures: Vec::new() }
    }

    /// Runs one case and counts it.
    fn run(
        &mut self,
        case: &Node<'_>,
        run: impl FnOnce(&mut Comparison) -> Result<Verdict, VectorError>,
    ) -> Result<(), VectorError> {
        let mut comparison = Comparison::default();
        match (run(&mut comparison)?, comparison.into_failure(case)) {
            (Verdict::Unsupported, _) => self.skipped += 1,
            (Verdict::Compared, None) => self.passed += 1,
            (Verdict::Compared, Some(failure)) => {
                self.failed += 1;
                self.failures.push(failure);
            }
        }
        Ok(())
    }
}

/// Whether a case could be run at all.
enum Verdict {
    Compared,
    Unsupported,
}

/// Runs one case: (the file, the case).
type RunCase = fn(&Node<'_>, &Node<'_>, &mut Comparison) -> Result<Verdict, VectorError>;

/// One line a scheme.
fn runner(scheme: &str) -> Option<RunCase> {
    Some(match scheme {
        "llama-fss-dcf" => llama_dcf::run_fss,
        "llama-gpumpc-dcf" => llama_dcf::run_gpumpc,
        "llama-gpumpc-dpf" => llama_dpf::run,
        "llama-gpumpc-dpfet" => llama_dpfet::run,
        "myl7-dpf" => myl7::run_dpf,
        "myl7-dcf" => myl7::run_dcf,
        _ => return None,
    })
}

/// Checks a vector file.
///
/// # Errors
/// [`VectorError`] if it cannot be read, or is no vector file.
pub fn check_file(path: &Path) -> Result<Report, VectorError> {
    let bytes = std::fs::read(path).map_err(|source| VectorError::Read { path: path.to_owned(), source })?;
    check(&bytes)
}

/// Checks the contents of a vector file, plain or gzip.
///
/// # Errors
/// [`VectorError`] if they are no vector file.
pub fn check(bytes: &[u8]) -> Result<Report, VectorError> {
    const GZIP: [u8; 2] = [0x1f, 0x8b];
    let value: Value = if bytes.starts_with(&GZIP) {
        serde_json::from_slice(&unzip(bytes)?)
    } else {
        serde_json::from_slice(bytes)
    }?;
    let file = Node::file(&value);
    let Some(scheme) = file.get_optional("scheme")? else {
        return primitives::check(&file);
    };
    let scheme = scheme.text()?;
    let mut report = Report::new(scheme);
    let cases = file.get("cases")?.cases()?;
    match runner(scheme) {
        None => report.skipped = cases.len() as u64,
        Some(run) => {
            for case in &cases {
                report.run(case, |comparison| run(&file, case, comparison))?;
            }
        }
    }
    Ok(report)
}

/// Most bytes that a gzip file may unpack to.
const MAX_UNPACKED: u64 = 1 << 29;

fn unzip(bytes: &[u8]) -> Result<Vec<u8>, VectorError> {
    let mut text = Vec::new();
    MultiGzDecoder::new(bytes).take(MAX_UNPACKED + 1).read_to_end(&mut text).map_err(VectorError::Gzip)?;
    if text.len() as u64 > MAX_UNPACKED {
        return Err(VectorError::TooLarge { max: MAX_UNPACKED });
    }
    Ok(text)
}
