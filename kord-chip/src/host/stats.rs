//! What crossed the link, counted where it crosses.

use crate::frame;
use crate::tier::Tier;

/// Counts of one direction of a link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Direction {
    /// Body bytes of frames: the shares themselves.
    pub payload_bytes: u64,
    /// Bytes of sealed frames: bodies and envelopes.
    pub frame_bytes: u64,
    /// Frames.
    pub frames: u64,
    /// Messages of any kind.
    pub messages: u64,
    /// All bytes on the connection, with message lengths and types.
    pub wire_bytes: u64,
    /// Flights: sequences of messages none of which needs anything received after the first of
    /// them was sent. A batch is one flight each way, however many frames it has. The bounded
    /// window only delays a flight, as TCP's own window does.
    pub flights: u64,
}

/// Counts of a link, both directions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LinkStats {
    /// What this host sent.
    pub sent: Direction,
    /// What this host received.
    pub received: Direction,
}

impl LinkStats {
    /// Rounds: the larger number of flights of the two directions, since flights that go both
    /// ways at the same time are one round.
    #[must_use]
    pub fn rounds(&self) -> u64 {
        self.sent.flights.max(self.received.flights)
    }

    /// The sum of two counts.
    #[must_use]
    pub(crate) fn plus(&self, other: &Self) -> Self {
        let sum = |a: &Direction, b: &Direction| a.combine(b, |a, b| a + b);
        Self { sent: sum(&self.sent, &other.sent), received: sum(&self.received, &other.received) }
    }

    /// The counts since `earlier`.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        let difference = |a: &Direction, b: &Direction| a.combine(b, u64::saturating_sub);
        Self {
            sent: difference(&self.sent, &earlier.sent),
            received: difference(&self.received, &earlier.received),
        }
    }
}

impl Direction {
    fn combine(&self, other: &Self, f: impl Fn(u64, u64) -> u64) -> Self {
        Self {
            payload_bytes: f(self.payload_bytes, other.payload_bytes),
            frame_bytes: f(self.frame_bytes, other.frame_bytes),
            frames: f(self.frames, other.frames),
            messages: f(self.messages, other.messages),
            wire_bytes: f(self.wire_bytes, other.wire_bytes),
            flights: f(self.flights, other.flights),
        }
    }

    pub(super) fn count_frame(&mut self, bytes: usize, tier: Tier) {
        self.frames += 1;
        self.frame_bytes += bytes as u64;
        self.payload_bytes += bytes.saturating_sub(frame::overhead(tier)) as u64;
    }
}
