//! Counters in memory.

use std::collections::HashMap;

use super::range::Range;
use super::{ChipStore, CounterStore, StoreError};
use crate::pairing::Pairing;
use crate::{Lifecycle, Mark, Marks, SessionStart};

/// Counters that end with the process: for tests and examples. Under a pairing that outlives the
/// process use [`DiskStore`](super::DiskStore).
#[derive(Default)]
pub struct MemoryStore {
    marks: Marks,
    streams: HashMap<u64, u64>,
    pairing: Option<Pairing>,
    revoked: bool,
}

impl MemoryStore {
    /// A store at the start of everything.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// A store that continues from these marks.
    #[must_use]
    pub fn with_marks(marks: Marks) -> Self {
        Self { marks, ..Self::default() }
    }
}

impl CounterStore for MemoryStore {
    fn marks(&self) -> Marks {
        self.marks
    }

    fn start_session(&mut self, start: &SessionStart) -> Result<(), StoreError> {
        let last = self.marks.own.session;
        if start.own.session <= last {
            return Err(StoreError::SessionNotNewer { session: start.own.session, last });
        }
        self.marks = Marks { own: self.marks.own.max(start.own), peer: self.marks.peer.max(start.peer) };
        Ok(())
    }

    fn reserve(&mut self, count: u64) -> Result<u64, StoreError> {
        let first = self.marks.own.counter;
        self.marks.own.counter = Range::reopened(first).take(count, 0)?.after.next;
        Ok(first)
    }

    fn skip_to(&mut self, counter: u64) -> Result<(), StoreError> {
        self.marks.own.counter = self.marks.own.counter.max(counter);
        Ok(())
    }

    fn stream_position(&mut self, stream: u64) -> Result<u64, StoreError> {
        Ok(self.streams.get(&stream).copied().unwrap_or(0))
    }

    fn reserve_stream(&mut self, stream: u64, count: u64) -> Result<u64, StoreError> {
        let first = self.stream_position(stream)?;
        self.streams.insert(stream, Range::reopened(first).take(count, 0)?.after.next);
        Ok(first)
    }

    fn skip_stream_to(&mut self, stream: u64, position: u64) -> Result<(), StoreError> {
        let next = self.stream_position(stream)?.max(position);
        self.streams.insert(stream, next);
        Ok(())
    }

    fn saw_peer(&mut self, mark: Mark) {
        self.marks.peer = self.marks.peer.max(mark);
    }
}

impl ChipStore for MemoryStore {
    fn pairing(&self) -> Result<Option<Pairing>, StoreError> {
        Ok(self.pairing.as_ref().map(Pairing::duplicate))
    }

    fn set_pairing(&mut self, pairing: &Pairing) -> Result<(), StoreError> {
        self.pairing = Some(pairing.duplicate());
        self.revoked = false;
        self.marks.peer = Mark::default();
        self.streams.clear();
        Ok(())
    }

    fn revoke(&mut self) -> Result<(), StoreError> {
        self.pairing = None;
        self.revoked = true;
        Ok(())
    }

    fn lifecycle(&self) -> Result<Lifecycle, StoreError> {
        Ok(match &self.pairing {
            Some(_) => Lifecycle::Paired,
            None if self.revoked => Lifecycle::Revoked,
            None => Lifecycle::Provisioned,
        })
    }
}
