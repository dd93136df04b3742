//! The two link tiers.

use core::fmt;
use core::str::FromStr;

use serde::{Deserialize, Serialize};
use thiserror::Error;

/// How frames between the chips are protected. The order is by strength: `Plain < Mac`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Tier {
    /// Keystream only, no tag (the paper's default; here only when asked for by name).
    ///
    /// # Security
    /// The network and both hosts are assumed to be passive. Whoever can change a frame can
    /// change shares bit by bit, or its counter and count, without being noticed: both parties
    /// then hold keys for another alpha or beta, and a chosen change can make a protocol fail
    /// only for some secret values, which tells the attacker about them.
    Plain,
    /// AES-128-GCM with a 36-byte envelope (the paper's KORD-mac). The default.
    #[default]
    Mac,
}

/// A name that is no tier.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("unknown tier; use \"mac\", or \"plain\" if the network and both hosts may be trusted")]
pub struct UnknownTier;

impl Tier {
    /// The tier as it is written in messages: 0 plain, 1 mac.
    #[must_use]
    pub const fn number(self) -> u8 {
        match self {
            Self::Plain => 0,
            Self::Mac => 1,
        }
    }

    /// The tier with this number, if there is one.
    #[must_use]
    pub const fn from_number(number: u8) -> Option<Self> {
        match number {
            0 => Some(Self::Plain),
            1 => Some(Self::Mac),
            _ => None,
        }
    }
}

impl fmt::Display for Tier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Plain => "plain",
            Self::Mac => "mac",
        })
    }
}

impl FromStr for Tier {
    type Err = UnknownTier;

    fn from_str(name: &str) -> Result<Self, UnknownTier> {
        match name {
            "plain" => Ok(Self::Plain),
            "mac" => Ok(Self::Mac),
            _ => Err(UnknownTier),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_names_and_order() {
        for tier in [Tier::Plain, Tier::Mac] {
            assert_eq!(Tier::from_number(tier.number()), Some(tier));
            assert_eq!(tier.to_string().parse(), Ok(tier));
        }
        assert_eq!(Tier::from_number(2), None);
        assert_eq!("".parse::<Tier>(), Err(UnknownTier));
        assert_eq!(Tier::default(), Tier::Mac);
        assert!(Tier::Plain < Tier::Mac);
    }
}
