//! Why two chips did not pair.

use core::fmt;

use kord_core::Party;
use thiserror::Error;

use crate::attest::AttestError;
use crate::identity::{ChainError, DeviceSerial};
use crate::measurement::Measurement;
use crate::random::RandomError;
use crate::{SoftwareVersion, Tier};

/// A pairing that was refused or broke off. Nothing was stored.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum PairingError {
    /// The peer's certificates do not lead from a device to an allowed root.
    #[error("the peer's certificate chain is refused")]
    WrongChain(#[source] ChainError),
    /// A certificate out of its validity period.
    #[error("the peer's certificate {index} is not valid now; renew it, or check both clocks")]
    Expired {
        /// Which certificate, from the device's, 0.
        index: usize,
    },
    /// The policy lists the peer's serial as revoked.
    #[error("the peer's device {serial} is revoked by the policy")]
    Revoked {
        /// Its serial.
        serial: DeviceSerial,
    },
    /// The statement is not signed by the certified key.
    #[error("the peer's evidence is not signed by its device key")]
    Signature,
    /// The policy does not allow what the peer runs.
    #[error("the peer runs {found}, which the policy does not list; add it if it is to be trusted")]
    Measurement {
        /// What it claims to run.
        found: Measurement,
    },
    /// Evidence that was made for another handshake.
    #[error("the peer's evidence belongs to another handshake (replayed or relayed); start again")]
    Stale,
    /// The peer has this side's identity key or serial.
    #[error("the peer is this same device; the two chips of a pair must be different devices")]
    SameDevice,
    /// Both sides have the same party number.
    #[error("both sides are {party}; configure one of them as the other party")]
    SameParty {
        /// This party.
        party: Party,
    },
    /// The peer speaks another protocol version.
    #[error("the peer speaks pairing protocol {peer}, this side {this}; run compatible releases")]
    Protocol {
        /// This side's version.
        this: u8,
        /// The peer's.
        peer: u8,
    },
    /// The peer's release is older than the policy allows.
    #[error("the peer runs release {peer}, the policy demands {least} or later; update the peer")]
    Version {
        /// The peer's release.
        peer: SoftwareVersion,
        /// The policy's least.
        least: SoftwareVersion,
    },
    /// The peer is configured for a tier below what the policy allows.
    #[error("the peer would run tier {peer}, the policy demands {lowest}; configure the peer or the policy")]
    Tier {
        /// The peer's lowest tier.
        peer: Tier,
        /// The policy's.
        lowest: Tier,
    },
    /// Bytes that are no message or evidence.
    #[error("malformed pairing message: {what}")]
    Malformed {
        /// What is wrong.
        what: &'static str,
    },
    /// The Noise handshake failed: a message was changed, or is of another handshake.
    #[error("the pairing handshake failed: a message was changed or misdirected; start again")]
    Handshake,
    /// The peer refused this side.
    #[error("the peer refuses this device: {reason}; see the peer's log for details")]
    RefusedByPeer {
        /// Why.
        reason: RefusalReason,
    },
    /// This side's evidence could not be made.
    #[error(transparent)]
    Attest(#[from] AttestError),
    /// No randomness.
    #[error(transparent)]
    Random(#[from] RandomError),
}

impl From<snow::Error> for PairingError {
    /// The cause is dropped: it is of no use to an operator, and may be to an attacker.
    fn from(_: snow::Error) -> Self {
        Self::Handshake
    }
}

/// Which check of party 1 failed, as party 0 is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RefusalReason(u8);

impl RefusalReason {
    const UNKNOWN: u8 = 255;

    pub(super) const fn of(error: &PairingError) -> Self {
        Self(match error {
            PairingError::WrongChain(_) => 1,
            PairingError::Expired { .. } => 2,
            PairingError::Revoked { .. } => 3,
            PairingError::Measurement { .. } => 4,
            PairingError::Stale => 5,
            PairingError::SameDevice => 6,
            PairingError::SameParty { .. } => 7,
            PairingError::Protocol { .. } | PairingError::Version { .. } => 8,
            PairingError::Tier { .. } => 9,
            PairingError::Malformed { .. } => 10,
            PairingError::Signature => 11,
            _ => Self::UNKNOWN,
        })
    }

    /// The reason of this code; 0 is no reason but acceptance.
    pub(super) const fn from_code(code: u8) -> Self {
        Self(if code == 0 || code > 11 { Self::UNKNOWN } else { code })
    }

    /// The code in message 4, 1 to 11 or 255.
    #[must_use]
    pub const fn code(self) -> u8 {
        self.0
    }
}

impl fmt::Display for RefusalReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.0 {
            1 => "its certificate chain is not allowed there",
            2 => "a certificate of its chain is not valid now",
            3 => "it is revoked",
            4 => "what it runs is not allowed there",
            5 => "its evidence was stale",
            6 => "it is the peer itself",
            7 => "both are the same party",
            8 => "its version is not allowed there",
            9 => "its lowest tier is not allowed there",
            10 => "its message was malformed",
            11 => "its evidence was not signed by its key",
            _ => "no reason given",
        })
    }
}

/// An error and, where the peer may learn of it, the message that tells it.
#[derive(Debug, Error)]
#[error("{error}")]
pub struct PairingRefusal {
    /// Why this side refused.
    #[source]
    pub error: PairingError,
    /// Message 4, to be sent before the connection is closed.
    pub reply: Option<Vec<u8>>,
}

impl<E: Into<PairingError>> From<E> for PairingRefusal {
    fn from(error: E) -> Self {
        Self { error: error.into(), reply: None }
    }
}
