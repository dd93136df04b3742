//! The two parties of the protocol.

use core::fmt;

/// One of the two parties. Never a bare `bool`: the sign of a share and the root control bit
/// of a key depend on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Party {
    /// Party 0: adds its share, holds root control bit 0, opens sessions.
    P0,
    /// Party 1: its key evaluates to the negated sum, holds root control bit 1.
    P1,
}

impl Party {
    /// Both parties, in order.
    pub const BOTH: [Self; 2] = [Self::P0, Self::P1];

    /// 0 or 1.
    #[must_use]
    pub const fn index(self) -> usize {
        match self {
            Self::P0 => 0,
            Self::P1 => 1,
        }
    }

    /// The other party.
    #[must_use]
    pub const fn peer(self) -> Self {
        match self {
            Self::P0 => Self::P1,
            Self::P1 => Self::P0,
        }
    }

    /// The party with this number, if it is 0 or 1.
    #[must_use]
    pub const fn from_number(number: u8) -> Option<Self> {
        match number {
            0 => Some(Self::P0),
            1 => Some(Self::P1),
            _ => None,
        }
    }

    /// 0 or 1 as it is written in keys, frames and files.
    #[must_use]
    pub const fn number(self) -> u8 {
        match self {
            Self::P0 => 0,
            Self::P1 => 1,
        }
    }

    /// All ones for party 1, zero for party 0: the sign mask of this party's outputs.
    pub(crate) const fn sign_mask(self) -> u128 {
        match self {
            Self::P0 => 0,
            Self::P1 => u128::MAX,
        }
    }
}

impl fmt::Display for Party {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "party {}", self.number())
    }
}
