//! How far a chip has come: session numbers and counters.

use core::cmp::max;

/// A session number and a counter, both only ever moving forward.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Mark {
    /// The highest session; 0 before the first.
    pub session: u32,
    /// The next counter of the sealed sequence: everything below may have been used.
    pub counter: u64,
}

impl Mark {
    /// Whether this mark is behind `other` in either value.
    #[must_use]
    pub const fn is_behind(self, other: Self) -> bool {
        self.session < other.session || self.counter < other.counter
    }

    /// The further of the two, value by value.
    #[must_use]
    pub fn max(self, other: Self) -> Self {
        Self { session: max(self.session, other.session), counter: max(self.counter, other.counter) }
    }
}

/// What a chip presents when a session starts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Marks {
    /// Its own mark.
    pub own: Mark,
    /// The furthest it has seen its peer: a peer that presents less was rolled back.
    pub peer: Mark,
}

/// What a session start changes in the store; written in one piece before a key is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SessionStart {
    /// The new session's number and first counter.
    pub own: Mark,
    /// What is now known of the peer.
    pub peer: Mark,
}
