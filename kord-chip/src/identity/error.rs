//! What goes wrong with identity files.

use std::path::PathBuf;

use thiserror::Error;

use crate::random::RandomError;

/// An identity that was not made or not loaded. Messages name the file and the remedy.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum IdentityError {
    /// There is an identity already.
    #[error("{} exists and is not overwritten; remove its directory to start anew", .path.display())]
    AlreadyProvisioned {
        /// The key file.
        path: PathBuf,
    },
    /// A file that is not there.
    #[error("{} is missing; provision the device first", .path.display())]
    Missing {
        /// The file.
        path: PathBuf,
    },
    /// A file or directory that cannot be read or written.
    #[error("cannot {action} {}; check that this user owns it", .path.display())]
    Io {
        /// "read", "write", …
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// The system's error.
        #[source]
        source: std::io::Error,
    },
    /// A secret that other users may read or write.
    #[error("{} has mode {mode:o}, so others may read it; run chmod 600 on it, or make a new key", .path.display())]
    Permissions {
        /// The file.
        path: PathBuf,
        /// Its mode bits.
        mode: u32,
    },
    /// A key file with something else in it.
    #[error("{} holds no key of the expected form; restore it or provision anew", .path.display())]
    NotAKey {
        /// The file.
        path: PathBuf,
    },
    /// A chain file with something else in it.
    #[error("{} holds no certificate chain (PEM, device first, root last); restore it or provision anew", .path.display())]
    NotAChain {
        /// The file.
        path: PathBuf,
    },
    /// A key and a chain that do not belong together.
    #[error("{} is not the key certified in {}; restore the matching pair", .key.display(), .chain.display())]
    KeyMismatch {
        /// The key file.
        key: PathBuf,
        /// The chain file.
        chain: PathBuf,
    },
    /// A certificate that could not be made.
    #[error("cannot make a certificate: {problem}")]
    Certify {
        /// What is wrong.
        problem: &'static str,
        /// The X.509 library's error, if it is its own.
        #[source]
        source: Option<rcgen::Error>,
    },
    /// No randomness.
    #[error(transparent)]
    Random(#[from] RandomError),
}
