//! What goes wrong with durable state.

use std::path::PathBuf;

use thiserror::Error;

use crate::identity::IdentityError;

/// A change that was not made durable, or state that cannot be read. Nothing has changed.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum StoreError {
    /// Another process, or another handle of this one, has the store open.
    #[error("{} is in use; a chip's store has one user: stop the other process", .path.display())]
    StoreInUse {
        /// The store's file.
        path: PathBuf,
    },
    /// The file cannot be opened, read or written.
    #[error("cannot {action} the store {}; check disk space, permissions and that it is a store", .path.display())]
    Database {
        /// What was tried.
        action: &'static str,
        /// The store's file.
        path: PathBuf,
        /// The database's error.
        #[source]
        source: Box<redb::Error>,
    },
    /// The file cannot be created.
    #[error("cannot create the store {}; check that this user owns its directory", .path.display())]
    Create {
        /// The store's file.
        path: PathBuf,
        /// The system's error.
        #[source]
        source: std::io::Error,
    },
    /// A store of another layout.
    #[error("the store {} has format {found}, this release reads {expected}; use the release that made it", .path.display())]
    Format {
        /// The store's file.
        path: PathBuf,
        /// Its format.
        found: u64,
        /// The format of this release.
        expected: u64,
    },
    /// A pairing record that the storage key does not open.
    #[error(
        "the pairing record in {} does not open under this storage key; restore the key file, or revoke and pair anew",
        .path.display()
    )]
    Sealed {
        /// The store's file.
        path: PathBuf,
    },
    /// A stored value that cannot be.
    #[error("the store holds an impossible {field}; revoke the pairing on both sides and pair anew")]
    Corrupt {
        /// Which value.
        field: &'static str,
    },
    /// A session that is not above all before it.
    #[error("session {session} is not above {last}, the last of this chip; start a new session")]
    SessionNotNewer {
        /// The session asked.
        session: u32,
        /// The last one.
        last: u32,
    },
    /// No counters left.
    #[error("{count} counters from {next} pass 2^64 - 1; revoke the pairing on both sides and pair anew")]
    Exhausted {
        /// The next counter.
        next: u64,
        /// How many were asked.
        count: u64,
    },
    /// No counters asked.
    #[error("a range of 0 counters was asked, must be at least 1")]
    Empty,
    /// The storage key could not be used or replaced.
    #[error("storage key")]
    StorageKey(#[from] IdentityError),
}
