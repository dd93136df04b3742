//! Counters of what went over a channel.

/// What went one way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flow {
    /// Messages.
    pub messages: u64,
    /// Bytes of the messages themselves.
    pub payload_bytes: u64,
    /// Payload and the channel's framing (a length prefix of 4 bytes a message). TCP's and IP's
    /// own headers are not counted.
    pub wire_bytes: u64,
    /// Maximal runs of messages this way with none the other way between them.
    pub flights: u64,
}

impl Flow {
    fn add(&mut self, other: &Self) {
        self.messages += other.messages;
        self.payload_bytes += other.payload_bytes;
        self.wire_bytes += other.wire_bytes;
        self.flights += other.flights;
    }
}

/// What went both ways, as one party sees it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Traffic {
    /// From this party to its peer.
    pub sent: Flow,
    /// From the peer to this party.
    pub received: Flow,
}

impl Traffic {
    /// Rounds: the larger number of flights of the two directions.
    ///
    /// In one round each party sends at most one flight. A simultaneous exchange is one round
    /// (half a round-trip time on a real link); a request and its reply are one round too (a
    /// whole one), because a party's own counters cannot tell them apart.
    #[must_use]
    pub fn rounds(&self) -> u64 {
        self.sent.flights.max(self.received.flights)
    }

    /// Payload bytes both ways.
    #[must_use]
    pub const fn payload_bytes(&self) -> u64 {
        self.sent.payload_bytes + self.received.payload_bytes
    }

    /// Wire bytes both ways.
    #[must_use]
    pub const fn wire_bytes(&self) -> u64 {
        self.sent.wire_bytes + self.received.wire_bytes
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Direction {
    Sent,
    Received,
}

/// A channel's counters, phase by phase.
///
/// A flight that runs over a phase boundary is counted once, in the phase where it begins, so
/// flights of the phases add up to those of the total. (Rounds need not: a maximum of sums is at
/// most the sum of maxima.)
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stats {
    phases: Vec<(&'static str, Traffic)>,
    current: usize,
    last: Option<Direction>,
}

impl Stats {
    /// The phase that counts until [`Stats::begin_phase`] is called.
    pub const FIRST_PHASE: &'static str = "start";

    /// Nothing sent, nothing received.
    #[must_use]
    pub fn new() -> Self {
        Self { phases: vec![(Self::FIRST_PHASE, Traffic::default())], current: 0, last: None }
    }

    /// Counts what follows under `name`; a known name resumes.
    pub fn begin_phase(&mut self, name: &'static str) {
        self.current = self.phases.iter().position(|(known, _)| *known == name).unwrap_or_else(|| {
            self.phases.push((name, Traffic::default()));
            self.phases.len() - 1
        });
    }

    /// Counts a message that was sent: its bytes, and those of its framing.
    pub fn record_sent(&mut self, payload_bytes: usize, framing_bytes: usize) {
        self.record(Direction::Sent, payload_bytes, framing_bytes);
    }

    /// Counts a message that was received: its bytes, and those of its framing.
    pub fn record_received(&mut self, payload_bytes: usize, framing_bytes: usize) {
        self.record(Direction::Received, payload_bytes, framing_bytes);
    }

    fn record(&mut self, direction: Direction, payload_bytes: usize, framing_bytes: usize) {
        let begins_flight = self.last != Some(direction);
        self.last = Some(direction);
        let traffic = &mut self.phases[self.current].1;
        let flow = match direction {
            Direction::Sent => &mut traffic.sent,
            Direction::Received => &mut traffic.received,
        };
        flow.add(&Flow {
            messages: 1,
            payload_bytes: payload_bytes as u64,
            wire_bytes: payload_bytes as u64 + framing_bytes as u64,
            flights: u64::from(begins_flight),
        });
    }

    /// What all phases counted.
    #[must_use]
    pub fn total(&self) -> Traffic {
        let mut total = Traffic::default();
        for (_, traffic) in &self.phases {
            total.sent.add(&traffic.sent);
            total.received.add(&traffic.received);
        }
        total
    }

    /// What the phase of this name counted; zeros if it never began.
    #[must_use]
    pub fn phase(&self, name: &str) -> Traffic {
        self.phases().find(|(known, _)| *known == name).map(|(_, traffic)| traffic).unwrap_or_default()
    }

    /// Every phase begun, in order of its first beginning. The first is [`Stats::FIRST_PHASE`].
    pub fn phases(&self) -> impl Iterator<Item = (&'static str, Traffic)> {
        self.phases.iter().copied()
    }
}

impl Default for Stats {
    fn default() -> Self {
        Self::new()
    }
}
