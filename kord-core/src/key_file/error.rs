//! Why a key file is refused. Offsets are in bytes from the start of the file.

use std::io;

use thiserror::Error;

use super::header::at;
use crate::error::{DecodeError, SpecError};

/// A key file that cannot be read or written, or is not valid.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum KeyFileError {
    /// The system refused to open, read or write.
    #[error("key file: {operation} failed")]
    Io {
        /// "opening", "reading", …
        operation: &'static str,
        /// From the system.
        #[source]
        source: io::Error,
    },

    /// The file does not start as a key file does.
    #[error("magic at byte {}: not a KORD key file", at::MAGIC)]
    Magic,
    /// A version that this program does not know.
    #[error(
        "version at byte {}: {found}, this program reads version {}",
        at::VERSION,
        super::KeyFileHeader::VERSION
    )]
    Version {
        /// In the file.
        found: u16,
    },
    /// A header length that is not this version's.
    #[error(
        "header length at byte {}: {found}, version 1 has {}",
        at::HEADER_LENGTH,
        super::KeyFileHeader::BYTES
    )]
    HeaderLength {
        /// In the file.
        found: u16,
    },
    /// An unknown scheme.
    #[error("scheme at byte {}: {found} is unknown", at::SCHEME)]
    Scheme {
        /// In the file.
        found: u8,
    },
    /// A PRG profile that is unknown, or not that of the PRG keys in the file.
    #[error("PRG profile at byte {}: {found} is unknown, or not that of the PRG keys", at::PROFILE)]
    Profile {
        /// In the file.
        found: u8,
    },
    /// An unknown kind of group.
    #[error("group kind at byte {}: {found} is unknown", at::GROUP_KIND)]
    GroupKind {
        /// In the file.
        found: u8,
    },
    /// A domain that native keys do not have.
    #[error("domain bits at byte {}: {found}, must be 1 to 64", at::DOMAIN_BITS)]
    DomainBits {
        /// In the file.
        found: u8,
    },
    /// Element bits outside 1 to 128, or not those of the modulus.
    #[error("element bits at byte {}: {found} do not fit the group", at::ELEMENT_BITS)]
    ElementBits {
        /// In the file.
        found: u16,
    },
    /// A party other than 0 and 1.
    #[error("party at byte {}: {found}, must be 0 or 1", at::PARTY)]
    Party {
        /// In the file.
        found: u8,
    },
    /// A byte that must be zero in this version.
    #[error("byte {}: {found}, must be 0", at::ZERO)]
    Reserved {
        /// In the file.
        found: u8,
    },
    /// A payload of no elements, or too many.
    #[error("arity at byte {}: {found}, must be 1 to 65536", at::ARITY)]
    Arity {
        /// In the file.
        found: u32,
    },
    /// A modulus below 2 for Z_m, or one where the group has none.
    #[error("modulus at byte {}: {found} does not fit the group kind", at::MODULUS)]
    Modulus {
        /// In the file.
        found: u128,
    },
    /// A key id that is not that of the PRG keys in the file.
    #[error("key id at byte {}: {}, the PRG keys have {}", at::KEY_ID, Hex(found), Hex(expected))]
    KeyId {
        /// In the file.
        found: [u8; 8],
        /// Of the PRG keys in the file.
        expected: [u8; 8],
    },
    /// No keys, or more than a file can hold.
    #[error("count at byte {}: {found}, must be at least 1 and give a file below 2^64 bytes", at::COUNT)]
    Count {
        /// In the file.
        found: u64,
    },
    /// Counters that would pass 2^64.
    #[error("first counter at byte {}: {first} and {count} keys pass the end of the counter", at::FIRST)]
    CounterRange {
        /// First counter.
        first: u64,
        /// Count of keys.
        count: u64,
    },
    /// A key length that is not that of the fields before it.
    #[error("key length at byte {}: {found}, the other fields give {expected}", at::KEY_LENGTH)]
    KeyLength {
        /// In the file.
        found: u32,
        /// By scheme, domain bits, group and arity.
        expected: u32,
    },

    /// The file ends too early.
    #[error("{part}: the file ends at byte {at}, {missing} bytes too early")]
    Truncated {
        /// What was being read.
        part: &'static str,
        /// Length of the file.
        at: u64,
        /// Bytes that are missing from this part.
        missing: u64,
    },
    /// A key that no generator makes.
    #[error("key {index} at byte {at}")]
    Key {
        /// Position among the keys.
        index: u64,
        /// Where it starts.
        at: u64,
        /// What is wrong with it.
        #[source]
        source: DecodeError,
    },
    /// The bytes are not those that were written.
    #[error("digest at byte {at} does not match; the file is damaged, copy or make it again")]
    Digest {
        /// Where the digest starts.
        at: u64,
    },
    /// Bytes after the digest.
    #[error("bytes after the end of the file at byte {at}")]
    TrailingBytes {
        /// Where the file should end.
        at: u64,
    },

    /// Keys to be written are not what the header announces.
    #[error("{field} of the keys is not what the file's header says")]
    Foreign {
        /// "spec" or "party".
        field: &'static str,
    },
    /// More keys to be written than the header announces.
    #[error("{keys} keys for a file of {count}")]
    TooManyKeys {
        /// Keys with those of this call.
        keys: u64,
        /// Count in the header.
        count: u64,
    },
    /// The file was finished before all keys were written.
    #[error("{keys} keys written to a file of {count}")]
    Incomplete {
        /// Keys written.
        keys: u64,
        /// Count in the header.
        count: u64,
    },
    /// The fields describe no key.
    #[error(transparent)]
    Spec(#[from] SpecError),
}

/// Bytes as they are printed by tools.
struct Hex<'a>(&'a [u8]);

impl core::fmt::Display for Hex<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}
