//! Why a chip refused an operation.

use kord_core::{DecodeError, SpecError};
use thiserror::Error;

use crate::frame::FrameError;
use crate::pairing::PairingError;
use crate::session::SessionError;
use crate::store::StoreError;

/// A refused chip operation. Unless a variant says otherwise nothing has changed.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ChipError {
    /// There is no pairing.
    #[error("this chip is not paired; pair it first")]
    NotPaired,
    /// There is no session.
    #[error("no session is open; start one with the peer first")]
    NoSession,
    /// A handshake message that no running handshake waits for.
    #[error("no handshake waits for this message; start the handshake on both sides")]
    NoHandshake,
    /// Pairing was refused.
    #[error("pairing refused")]
    Pairing {
        /// Why.
        #[source]
        source: PairingError,
        /// A last message that tells the peer, where it should learn of it.
        reply: Option<Vec<u8>>,
    },
    /// The session handshake was refused.
    #[error("session refused")]
    Session {
        /// Why.
        #[source]
        source: SessionError,
        /// A last message that tells the peer, where it should learn of it.
        reply: Option<Vec<u8>>,
    },
    /// The chip cannot do this.
    #[error("this chip does not support the request's {field}")]
    Unsupported {
        /// The field that is not supported.
        field: &'static str,
    },
    /// This party's shares do not fit the job.
    #[error("shares refused")]
    Shares(#[from] SpecError),
    /// The peer's frame was opened, but holds no shares of this job. Its counters are consumed:
    /// abandon the batch.
    #[error("the peer's shares are malformed; abandon the batch")]
    PeerShares(#[from] DecodeError),
    /// More elements than one frame may hold, or none.
    #[error("{count} elements in one submission, must be 1..={most}")]
    FrameTooLong {
        /// What was submitted.
        count: u64,
        /// The most that fits.
        most: u64,
    },
    /// Too many submissions wait for the peer's frames.
    #[error("{waiting} submissions wait for the peer; deliver its frames first")]
    Busy {
        /// How many wait.
        waiting: usize,
    },
    /// A frame that answers no submission: early, late, repeated or of another kind.
    #[error("a frame from counter {first} is not due{}", due(.expected))]
    NotPending {
        /// The frame's first counter, as it claims.
        first: u64,
        /// The counter that is due, if any.
        expected: Option<u64>,
    },
    /// A frame was refused, or could not be sealed.
    #[error("frame refused")]
    Frame(#[from] FrameError),
    /// Durable state failed.
    #[error("durable state failed")]
    Store(#[from] StoreError),
}

impl ChipError {
    /// What the peer should be told before the connection is closed, if anything.
    #[must_use]
    pub fn last_message(&self) -> Option<&[u8]> {
        match self {
            Self::Pairing { reply, .. } | Self::Session { reply, .. } => reply.as_deref(),
            _ => None,
        }
    }
}

fn due(expected: &Option<u64>) -> String {
    expected.map(|counter| format!("; counter {counter} is")).unwrap_or_default()
}
