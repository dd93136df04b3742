//! From an authenticated handshake to usable keys: the store comes between.

use super::SessionKeys;
use crate::SessionStart;
use crate::store::{CounterStore, StoreError};

/// An authenticated handshake whose session is not stored yet.
#[must_use = "the session starts only when it is stored"]
pub struct Verified {
    pub(super) keys: SessionKeys,
    pub(super) start: SessionStart,
    pub(super) reply: Option<Vec<u8>>,
}

/// A session whose number and first counter are durable.
pub struct Established {
    /// The working keys.
    pub keys: SessionKeys,
    /// The first counter of the session.
    pub first_counter: u64,
    /// Party 0's message 3, to be sent now; `None` for party 1.
    pub reply: Option<Vec<u8>>,
}

impl Verified {
    /// What [`store`](Self::store) will write.
    #[must_use]
    pub const fn start(&self) -> &SessionStart {
        &self.start
    }

    /// Makes the session durable, then hands out its keys.
    ///
    /// # Errors
    /// Those of [`CounterStore::start_session`]; the keys are zeroized then.
    pub fn store(self, store: &mut dyn CounterStore) -> Result<Established, StoreError> {
        store.start_session(&self.start)?;
        Ok(Established { keys: self.keys, first_counter: self.start.own.counter, reply: self.reply })
    }
}
