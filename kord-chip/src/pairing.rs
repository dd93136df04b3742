//! Pairing by mutual attestation: `Noise_XX_25519_ChaChaPoly_SHA256`, party 0 initiates.
//!
//! | message | from | Noise | payload |
//! |---|---|---|---|
//! | 1 | party 0 | `e` | none |
//! | 2 | party 1 | `e, ee, s, es` | evidence of party 1 |
//! | 3 | party 0 | `s, se` | evidence of party 0 |
//! | 4 | party 1 | transport | verdict: 0 accepted, else a [`RefusalReason`] |
//!
//! Each message starts with two bytes in front of Noise's: protocol version and message number.
//! The Noise prologue is `KORD pair v1`. Static keys are fresh for each pairing; the evidence
//! (see [`attest`](crate::attest)) binds them to the devices.
//!
//! ```text
//! pairing id     = first 16 bytes of SHA-256(handshake hash)
//! pairing secret = HKDF-SHA256(salt = handshake hash, ikm = the Noise raw split (k1 ‖ k2),
//!                              info = "KORD pair v1"), 32 bytes
//! ```
//!
//! # Security
//!
//! * Each side checks form, chain, validity, revocation, signature, freshness, party, versions,
//!   measurement and tier of its peer, then that the peer is a *different* device: another
//!   identity key and another serial.
//! * Nothing is stored or changed on a refusal. Party 0 refuses silently, for it has no channel
//!   yet that party 1 could trust. Party 1 refuses in message 4, encrypted: which check failed,
//!   and nothing of its policy's content.
//! * Message 4 tells party 0 that it was accepted. If it is lost, party 1 is paired and party 0
//!   is not; the next session says [`OtherPairing`](crate::session::SessionError::OtherPairing)
//!   or nothing, and pairing again mends it.

mod error;
mod initiator;
mod msgs;
mod noise;
mod responder;

#[cfg(test)]
mod tests;

pub use error::{PairingError, PairingRefusal, RefusalReason};
pub use initiator::{Initiator, InitiatorConfirm};
pub use responder::Responder;

use core::fmt;
use std::sync::Arc;

use kord_core::Party;
use zeroize::Zeroizing;

use crate::attest::{Attester, PeerIdentity, Verifier};
use crate::session::SessionConfig;
use crate::{Marks, Tier};

/// What a side brings to a pairing.
#[derive(Clone)]
pub struct PairingConfig {
    /// Makes this side's evidence.
    pub attester: Arc<dyn Attester>,
    /// Checks the peer's.
    pub verifier: Arc<dyn Verifier>,
}

/// The result: a long-term secret shared with an attested peer. The secret is zeroized on drop.
pub struct Pairing {
    id: [u8; 16],
    secret: Zeroizing<[u8; 32]>,
    peer: PeerIdentity,
    party: Party,
    tier: Tier,
}

impl Pairing {
    pub(crate) const fn new(
        id: [u8; 16],
        secret: Zeroizing<[u8; 32]>,
        peer: PeerIdentity,
        party: Party,
        tier: Tier,
    ) -> Self {
        Self { id, secret, peer, party, tier }
    }

    /// A copy, for a store that keeps pairings in memory.
    pub(crate) fn duplicate(&self) -> Self {
        Self::new(self.id, self.secret.clone(), self.peer.clone(), self.party, self.tier)
    }

    /// The public name of the pairing, equal on both sides.
    #[must_use]
    pub const fn id(&self) -> &[u8; 16] {
        &self.id
    }

    /// The pairing secret.
    #[must_use]
    pub fn secret(&self) -> &[u8; 32] {
        &self.secret
    }

    /// Who the peer is.
    #[must_use]
    pub const fn peer(&self) -> &PeerIdentity {
        &self.peer
    }

    /// This side's party.
    #[must_use]
    pub const fn party(&self) -> Party {
        self.party
    }

    /// The lowest tier of sessions under this pairing: the higher of both sides' lowest.
    #[must_use]
    pub const fn tier(&self) -> Tier {
        self.tier
    }

    /// What a session under this pairing starts from.
    #[must_use]
    pub fn session(&self, tier: Tier, marks: Marks) -> SessionConfig<'_> {
        SessionConfig { pairing_id: self.id, secret: &self.secret, lowest_tier: self.tier, tier, marks }
    }
}

impl fmt::Debug for Pairing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pairing")
            .field("id", &hex::encode(self.id))
            .field("peer", &self.peer)
            .field("party", &self.party)
            .field("tier", &self.tier)
            .finish_non_exhaustive()
    }
}
