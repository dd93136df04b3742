//! The 20 header bytes.

use kord_core::Party;

use super::{FrameError, HEADER_BYTES};
use crate::Tier;

/// The version of the frame layout.
pub(crate) const FRAME_VERSION: u8 = 1;

/// What a frame carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FrameKind {
    /// Shares of masks and payloads, of as many elements as the count says.
    Keys,
    /// Asks the peer to move its counter forward. Control.
    Resync,
    /// Gives up the pending batch. Control.
    Abandon,
    /// A digest of a batch's correction words. Control.
    Digest,
}

impl FrameKind {
    /// The kind as it is written in the header.
    #[must_use]
    pub const fn number(self) -> u8 {
        match self {
            Self::Keys => 1,
            Self::Resync => 2,
            Self::Abandon => 3,
            Self::Digest => 4,
        }
    }

    const fn from_number(number: u8) -> Option<Self> {
        match number {
            1 => Some(Self::Keys),
            2 => Some(Self::Resync),
            3 => Some(Self::Abandon),
            4 => Some(Self::Digest),
            _ => None,
        }
    }

    /// Whether the frame is about the exchange itself; such a frame takes one counter.
    #[must_use]
    pub const fn is_control(self) -> bool {
        !matches!(self, Self::Keys)
    }
}

/// A valid header. Public data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Header {
    tier: Tier,
    sender: Party,
    kind: FrameKind,
    session: u32,
    first: u64,
    count: u32,
}

const fn field<T>(field: &'static str, problem: &'static str) -> Result<T, FrameError> {
    Err(FrameError::Field { field, problem })
}

impl Header {
    /// A header of these fields.
    ///
    /// # Errors
    /// [`FrameError::Field`] if the count is 0 (two empty frames would share a nonce), not 1 in a
    /// control frame, or if `first + count` overflows.
    pub const fn new(
        tier: Tier,
        sender: Party,
        kind: FrameKind,
        session: u32,
        first: u64,
        count: u32,
    ) -> Result<Self, FrameError> {
        if count == 0 {
            return field("count", "is zero, must be at least 1");
        }
        if kind.is_control() && count != 1 {
            return field("count", "is not 1 in a control frame");
        }
        if first.checked_add(count as u64).is_none() {
            return field("first counter", "plus the count overflows 64 bits");
        }
        Ok(Self { tier, sender, kind, session, first, count })
    }

    /// Reads a header from the start of `bytes`; what follows it is not looked at.
    ///
    /// # Errors
    /// [`FrameError::Length`] below 20 bytes; [`FrameError::Field`] names any field that is not
    /// exactly as the layout says.
    pub fn parse(bytes: &[u8]) -> Result<Self, FrameError> {
        let Some(bytes) = bytes.first_chunk::<HEADER_BYTES>() else {
            return Err(FrameError::Length {
                have: bytes.len(),
                min: HEADER_BYTES,
                max: super::ENVELOPE_BYTES + super::MAX_BODY_BYTES,
            });
        };
        let [version, direction, kind, flags, rest @ ..] = bytes;
        let [s0, s1, s2, s3, rest @ ..] = rest;
        let [f0, f1, f2, f3, f4, f5, f6, f7, count @ ..] = rest;
        if *version != FRAME_VERSION {
            return field("version", "is not 1; both sides must run compatible releases");
        }
        let Some(tier) = Tier::from_number(direction >> 1) else {
            return field("tier", "is neither 0 (plain) nor 1 (mac)");
        };
        let sender = if direction & 1 == 0 { Party::P0 } else { Party::P1 };
        let Some(kind) = FrameKind::from_number(*kind) else {
            return field("kind", "is unknown");
        };
        if *flags != 0 {
            return field("flags", "are not zero");
        }
        let session = u32::from_le_bytes([*s0, *s1, *s2, *s3]);
        let first = u64::from_le_bytes([*f0, *f1, *f2, *f3, *f4, *f5, *f6, *f7]);
        Self::new(tier, sender, kind, session, first, u32::from_le_bytes(*count))
    }

    /// The 20 bytes that [`parse`](Self::parse) reads.
    #[must_use]
    pub fn encode(&self) -> [u8; HEADER_BYTES] {
        let mut bytes = [0; HEADER_BYTES];
        bytes[0] = FRAME_VERSION;
        bytes[1] = self.tier.number() << 1 | self.sender.number();
        bytes[2] = self.kind.number();
        bytes[4..8].copy_from_slice(&self.session.to_le_bytes());
        bytes[8..16].copy_from_slice(&self.first.to_le_bytes());
        bytes[16..].copy_from_slice(&self.count.to_le_bytes());
        bytes
    }

    /// The link tier.
    #[must_use]
    pub const fn tier(&self) -> Tier {
        self.tier
    }

    /// The party whose chip sealed the frame.
    #[must_use]
    pub const fn sender(&self) -> Party {
        self.sender
    }

    /// What the frame carries.
    #[must_use]
    pub const fn kind(&self) -> FrameKind {
        self.kind
    }

    /// The session number.
    #[must_use]
    pub const fn session(&self) -> u32 {
        self.session
    }

    /// The counter of the first element.
    #[must_use]
    pub const fn first(&self) -> u64 {
        self.first
    }

    /// The number of elements, at least 1.
    #[must_use]
    pub const fn count(&self) -> u32 {
        self.count
    }

    /// The counter after the last element.
    #[must_use]
    pub const fn end(&self) -> u64 {
        // No overflow: checked when the header was made.
        self.first + self.count as u64
    }
}

/// Session ‖ first counter: the GCM nonce of a frame with this header.
pub(super) fn nonce(header: &[u8; HEADER_BYTES]) -> [u8; 12] {
    let mut nonce = [0; 12];
    nonce.copy_from_slice(&header[4..16]);
    nonce
}
