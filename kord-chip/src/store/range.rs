//! One sequence of counters: the next one, and the durable end of the reserved range.

use super::StoreError;

/// Everything below `reserved` is durable as used; `next ≤ reserved`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Range {
    pub(super) next: u64,
    reserved: u64,
}

/// A change of a [`Range`], to be written before it is applied.
pub(super) struct Change {
    pub(super) after: Range,
    /// The new durable end, if it must be written.
    pub(super) write: Option<u64>,
}

impl Range {
    /// What a reopened store starts from: the rest of the reserved range is skipped.
    pub(super) const fn reopened(reserved: u64) -> Self {
        Self { next: reserved, reserved }
    }

    fn change_to(self, next: u64, ahead: u64) -> Change {
        let write = (next > self.reserved).then(|| next.max(self.next.saturating_add(ahead)));
        Change { after: Self { next, reserved: write.unwrap_or(self.reserved) }, write }
    }

    /// Takes `count` counters from `next` on, reserving at least `ahead` when it must.
    pub(super) fn take(self, count: u64, ahead: u64) -> Result<Change, StoreError> {
        if count == 0 {
            return Err(StoreError::Empty);
        }
        let Some(end) = self.next.checked_add(count) else {
            return Err(StoreError::Exhausted { next: self.next, count });
        };
        Ok(self.change_to(end, ahead))
    }

    /// Moves forward to `position`, if it is ahead.
    pub(super) fn skip_to(self, position: u64) -> Change {
        self.change_to(position.max(self.next), 0)
    }
}
