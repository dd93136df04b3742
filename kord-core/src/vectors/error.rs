//! Why a vector file cannot be run.

use std::io;
use std::path::PathBuf;

use thiserror::Error;

use crate::error::SpecError;

/// A file that is no vector file. A vector that disagrees is no error but a
/// [`super::Failure`].
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum VectorError {
    /// The file cannot be read.
    #[error("cannot read {}", path.display())]
    Read {
        /// Which file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// It starts like gzip but does not unpack.
    #[error("broken gzip data")]
    Gzip(#[source] io::Error),
    /// It unpacks to more than is accepted.
    #[error("unpacks to more than {max} bytes")]
    TooLarge {
        /// The most accepted.
        max: u64,
    },
    /// It is no JSON; the message names line and column.
    #[error("no valid JSON: {0}")]
    Json(#[from] serde_json::Error),
    /// A field is missing or not of its kind.
    #[error("{place}: {field}: {problem}")]
    Field {
        /// `file`, or `case` with its id.
        place: String,
        /// The field's path.
        field: String,
        /// What it should be.
        problem: &'static str,
    },
    /// The fields of a case describe no key.
    #[error("{place}: {source}")]
    Spec {
        /// `case` with its id.
        place: String,
        /// Which parameter, and its bounds.
        source: SpecError,
    },
}
