//! Why a session did not start.

use core::fmt;

use thiserror::Error;

use crate::Tier;
use crate::random::RandomError;

/// One of the two sides, as seen from here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Side {
    /// The chip that reports the error.
    This,
    /// Its peer.
    Peer,
}

impl fmt::Display for Side {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::This => "this chip",
            Self::Peer => "the peer chip",
        })
    }
}

/// A session that did not start. Nothing was stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum SessionError {
    /// The peer speaks another version of the handshake.
    #[error("session handshake version {peer}, this side speaks {this}; run compatible releases")]
    Version {
        /// This side's version.
        this: u8,
        /// The peer's.
        peer: u8,
    },
    /// The peer belongs to another pairing, or one side was paired anew.
    #[error("the peer belongs to another pairing; connect the right peer or pair both sides anew")]
    OtherPairing,
    /// The sides ask for different tiers.
    #[error("this side asks for tier {this}, the peer for {peer}; configure the same on both sides")]
    Tier {
        /// Asked here.
        this: Tier,
        /// Asked by the peer.
        peer: Tier,
    },
    /// This side asks for a tier below what the pairing allows.
    #[error("tier {asked} is below {lowest}, the lowest that was agreed when pairing; pair anew to allow it")]
    TierNotPaired {
        /// Asked here.
        asked: Tier,
        /// The pairing's lowest.
        lowest: Tier,
    },
    /// A side presents an older session or counter than its peer has seen of it: its store was
    /// restored from a copy or replaced.
    #[error(
        "the store of {side} is older than what its peer has seen, as after restoring a backup; \
         if nobody tampered, revoke the pairing on both sides and pair anew"
    )]
    RolledBack {
        /// The side whose store is too old.
        side: Side,
    },
    /// The peer does not hold the pairing secret, or a message was changed on the way.
    #[error("the peer's session message is not authentic; start again, and if it persists pair anew")]
    AuthFailed,
    /// Bytes that are no message of this step.
    #[error("malformed session message: {what}")]
    Malformed {
        /// What is wrong.
        what: &'static str,
    },
    /// The session number would pass 2^32 - 1.
    #[error("all session numbers are used; revoke the pairing on both sides and pair anew")]
    SessionsExhausted,
    /// No randomness.
    #[error(transparent)]
    Random(#[from] RandomError),
}

/// An error and, where the peer should learn of it, the message that tells it.
#[derive(Debug, Error)]
#[error("{error}")]
pub struct SessionRefusal {
    /// Why this side refused.
    #[source]
    pub error: SessionError,
    /// To be sent to the peer before the connection is closed.
    pub reply: Option<Vec<u8>>,
}

impl<E: Into<SessionError>> From<E> for SessionRefusal {
    fn from(error: E) -> Self {
        Self { error: error.into(), reply: None }
    }
}
