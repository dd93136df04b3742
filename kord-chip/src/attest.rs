//! Evidence of what a chip is, and its check.
//!
//! [`Attester`] makes evidence over a [`Binding`], [`Verifier`] checks it. The software pair here
//! signs a statement with the device key; hardware evidence (a quote of a trusted execution
//! environment, a card's report) goes behind the same two traits.
//!
//! # Software evidence
//!
//! Postcard of (statement, signature, certificates in DER). The statement is 126 bytes, signed
//! with Ed25519 by the device key:
//!
//! | bytes | field |
//! |---|---|
//! | 0..21 | `KORD pair evidence v1` |
//! | 21 | protocol version |
//! | 22 | party of the attester |
//! | 23 | lowest tier that it is configured for: 0 plain, 1 mac |
//! | 24..30 | release: major, minor, patch (2 bytes each, little-endian) |
//! | 30..62 | measurement |
//! | 62..94 | handshake hash before the message that carries the evidence |
//! | 94..126 | the attester's Noise static public key |
//!
//! The last two fields bind it to one handshake and one channel: evidence that was recorded, or
//! relayed from another handshake, is [stale](PairingError::Stale).

mod software;

pub use software::{SoftwareAttester, SoftwareVerifier};

use std::time::SystemTime;

use kord_core::Party;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::identity::{DeviceSerial, Fingerprint};
use crate::measurement::Measurement;
use crate::pairing::PairingError;
use crate::{SoftwareVersion, Tier};

/// What evidence is made for: one side of one handshake.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Binding {
    /// The attester's party.
    pub party: Party,
    /// The Noise handshake hash before the message that carries the evidence.
    pub handshake_hash: [u8; 32],
    /// The attester's Noise static public key.
    pub noise_static: [u8; 32],
}

/// What evidence proves of a peer. Public.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PeerIdentity {
    /// The device's serial.
    pub serial: DeviceSerial,
    /// Its Ed25519 identity key.
    pub public_key: [u8; 32],
    /// The root that vouches for it.
    pub root: Fingerprint,
    /// What it runs.
    pub measurement: Measurement,
    /// Its release.
    pub version: SoftwareVersion,
    /// The lowest tier that it is configured for.
    pub lowest_tier: Tier,
}

/// Evidence that could not be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("cannot attest: {problem}")]
pub struct AttestError {
    /// What is wrong and what to do.
    pub problem: &'static str,
}

/// Makes evidence of this chip.
pub trait Attester: Send + Sync {
    /// Evidence over `binding`, at most 32 KiB.
    ///
    /// # Errors
    /// If the hardware or service behind it fails.
    fn attest(&self, binding: &Binding) -> Result<Vec<u8>, AttestError>;

    /// This device's serial.
    fn serial(&self) -> &DeviceSerial;

    /// This device's identity key.
    fn public_key(&self) -> [u8; 32];

    /// The lowest tier that this chip is configured for.
    fn lowest_tier(&self) -> Tier;
}

/// Checks evidence of a peer.
pub trait Verifier: Send + Sync {
    /// Checks form, chain, validity at `now`, revocation, signature, binding, versions,
    /// measurement and tier against the verifier's policy.
    ///
    /// # Errors
    /// The [`PairingError`] of the first check that fails.
    fn verify(
        &self,
        evidence: &[u8],
        binding: &Binding,
        now: SystemTime,
    ) -> Result<PeerIdentity, PairingError>;
}
