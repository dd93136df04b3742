//! What crossed the link, counted where it crosses.

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

    /// The counts since `earlier`.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        Self { sent: self.sent.since(&earlier.sent), received: self.received.since(&earlier.received) }
    }
}

impl Direction {
    fn since(&self, earlier: &Self) -> Self {
        Self {
            payload_bytes: self.payload_bytes - earlier.payload_bytes,
            frame_bytes: self.frame_bytes - earlier.frame_bytes,
            frames: self.frames - earlier.frames,
            messages: self.messages - earlier.messages,
            wire_bytes: self.wire_bytes - earlier.wire_bytes,
            flights: self.flights - earlier.flights,
        }
    }
}
