//! Durable state: counters, session numbers, stream positions, and the pairing record.
//!
//! [`CounterStore`] is what sealing needs; [`DiskStore`] keeps it, and the pairing, in one redb
//! file of the state directory; [`MemoryStore`] keeps it in memory, for tests and examples.
//!
//! # Ranges
//!
//! A counter is durable before it is used. To keep the write off the hot path, counters are
//! reserved in ranges (2^20 by default): the file holds the end of the reserved range, the next
//! counter lives in memory. After a restart the rest of the range is skipped, so no counter is
//! given out twice. Streams of derived values have a position each and are reserved the same
//! way.
//!
//! # Security
//!
//! The file is not authenticated: who can write it can move marks. Moving them back is what the
//! marks exchanged in the session handshake detect, as far as the peer remembers; security rests
//! on fresh session keys, not on these counters. The pairing record is sealed under the
//! [`StorageKey`](crate::identity::StorageKey).

mod disk;
mod error;
mod memory;
mod range;
mod record;

#[cfg(test)]
mod tests;

pub use disk::DiskStore;
pub use error::StoreError;
pub use memory::MemoryStore;

use crate::pairing::Pairing;
use crate::{Lifecycle, Mark, Marks, SessionStart};

/// Counters that a range reserves at a time unless said otherwise.
pub const DEFAULT_RANGE: u64 = 1 << 20;

/// The durable counters of one chip.
///
/// Every method that gives out counters has made them durable when it returns. After an error
/// nothing has changed.
pub trait CounterStore: Send {
    /// This chip's marks: its highest session and next counter, and the furthest it has seen its
    /// peer.
    fn marks(&self) -> Marks;

    /// Writes a session's number, first counter and what is known of the peer, in one piece.
    ///
    /// # Errors
    /// [`StoreError::SessionNotNewer`] unless the session is above all before.
    fn start_session(&mut self, start: &SessionStart) -> Result<(), StoreError>;

    /// The first of `count` counters of the sealed sequence that are given out to nobody else.
    ///
    /// # Errors
    /// [`StoreError::Exhausted`] past 2^64 - 1; [`StoreError::Empty`] for a count of 0.
    fn reserve(&mut self, count: u64) -> Result<u64, StoreError>;

    /// Moves the sealed sequence forward to `counter`; does nothing if it is there or further.
    ///
    /// # Errors
    /// Those of writing.
    fn skip_to(&mut self, counter: u64) -> Result<(), StoreError>;

    /// The next position of a stream of derived values; 0 for a new stream.
    ///
    /// # Errors
    /// Those of reading.
    fn stream_position(&mut self, stream: u64) -> Result<u64, StoreError>;

    /// As [`reserve`](Self::reserve), of one stream.
    ///
    /// # Errors
    /// As [`reserve`](Self::reserve).
    fn reserve_stream(&mut self, stream: u64, count: u64) -> Result<u64, StoreError>;

    /// As [`skip_to`](Self::skip_to), of one stream.
    ///
    /// # Errors
    /// Those of writing.
    fn skip_stream_to(&mut self, stream: u64, position: u64) -> Result<(), StoreError>;

    /// Remembers the furthest session and counter end seen in an *authenticated* frame of the
    /// peer. Written with the next durable change: it is defence in depth and not worth an fsync
    /// per frame.
    fn saw_peer(&mut self, mark: Mark);
}

/// Counters, and the one pairing that they count for.
pub trait ChipStore: CounterStore {
    /// The pairing, if there is one.
    ///
    /// # Errors
    /// [`StoreError::Sealed`] or those of reading.
    fn pairing(&self) -> Result<Option<Pairing>, StoreError>;

    /// Stores a new pairing in place of any before. Sessions and counters go on; what was known
    /// of the old peer and the streams of the old pairing are forgotten.
    ///
    /// # Errors
    /// Those of writing; the old pairing is then still there.
    fn set_pairing(&mut self, pairing: &Pairing) -> Result<(), StoreError>;

    /// Destroys the pairing. Session keys in memory are their owner's to drop.
    ///
    /// # Errors
    /// Those of writing.
    fn revoke(&mut self) -> Result<(), StoreError>;

    /// Where the stored state stands: never [`Lifecycle::Active`], which is in memory only.
    ///
    /// # Errors
    /// Those of reading.
    fn lifecycle(&self) -> Result<Lifecycle, StoreError>;
}
