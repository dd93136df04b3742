//! Software evidence: a statement signed by the device key.

use std::sync::Arc;
use std::time::SystemTime;

use ed25519_dalek::{Signature, VerifyingKey};
use kord_core::Party;
use serde::{Deserialize, Serialize};

use super::{AttestError, Attester, Binding, PeerIdentity, Verifier};
use crate::identity::{
    ChainError, DeviceIdentity, DeviceSerial, MAX_CERTIFICATE_BYTES, MAX_CHAIN, verify_chain,
};
use crate::measurement::Measurement;
use crate::pairing::PairingError;
use crate::policy::Policy;
use crate::{PROTOCOL_VERSION, SoftwareVersion, Tier};

const DOMAIN: &[u8; 21] = b"KORD pair evidence v1";
const STATEMENT_BYTES: usize = 126;

/// What is signed, beside the domain string.
struct Statement {
    protocol: u8,
    party: u8,
    tier: u8,
    version: SoftwareVersion,
    measurement: Measurement,
    handshake_hash: [u8; 32],
    noise_static: [u8; 32],
}

/// What is sent.
#[derive(Serialize, Deserialize)]
struct Wire<'a> {
    #[serde(borrow)]
    statement: &'a [u8],
    #[serde(borrow)]
    signature: &'a [u8],
    #[serde(borrow)]
    chain: Vec<&'a [u8]>,
}

fn malformed<T>(what: &'static str) -> Result<T, PairingError> {
    Err(PairingError::Malformed { what })
}

impl Statement {
    fn encode(&self) -> [u8; STATEMENT_BYTES] {
        let mut bytes = [0; STATEMENT_BYTES];
        bytes[..21].copy_from_slice(DOMAIN);
        bytes[21..24].copy_from_slice(&[self.protocol, self.party, self.tier]);
        bytes[24..30].copy_from_slice(&self.version.to_bytes());
        bytes[30..62].copy_from_slice(self.measurement.as_bytes());
        bytes[62..94].copy_from_slice(&self.handshake_hash);
        bytes[94..].copy_from_slice(&self.noise_static);
        bytes
    }

    fn parse(bytes: &[u8]) -> Option<Self> {
        let rest = <&[u8; STATEMENT_BYTES]>::try_from(bytes).ok()?.strip_prefix(DOMAIN)?;
        let ([protocol, party, tier], rest) = rest.split_first_chunk()?;
        let (version, rest) = rest.split_first_chunk()?;
        let (measurement, rest) = rest.split_first_chunk()?;
        let (handshake_hash, rest) = rest.split_first_chunk()?;
        Some(Self {
            protocol: *protocol,
            party: *party,
            tier: *tier,
            version: SoftwareVersion::from_bytes(*version),
            measurement: Measurement::from_bytes(*measurement),
            handshake_hash: *handshake_hash,
            noise_static: rest.try_into().ok()?,
        })
    }
}

/// Attests with the device key, for a measurement that the program took of itself.
pub struct SoftwareAttester {
    identity: Arc<DeviceIdentity>,
    measurement: Measurement,
    lowest_tier: Tier,
}

impl SoftwareAttester {
    /// An attester of this identity, which claims this measurement and lowest tier. Take the
    /// measurement with the same tier in its [`MeasuredConfig`](crate::measurement::MeasuredConfig).
    #[must_use]
    pub const fn new(identity: Arc<DeviceIdentity>, measurement: Measurement, lowest_tier: Tier) -> Self {
        Self { identity, measurement, lowest_tier }
    }
}

impl Attester for SoftwareAttester {
    fn attest(&self, binding: &Binding) -> Result<Vec<u8>, AttestError> {
        let statement = Statement {
            protocol: PROTOCOL_VERSION,
            party: binding.party.number(),
            tier: self.lowest_tier.number(),
            version: SoftwareVersion::CURRENT,
            measurement: self.measurement,
            handshake_hash: binding.handshake_hash,
            noise_static: binding.noise_static,
        }
        .encode();
        let wire = Wire {
            statement: &statement,
            signature: &self.identity.sign(&statement),
            chain: self.identity.chain().iter().map(Vec::as_slice).collect(),
        };
        postcard::to_stdvec(&wire).map_err(|_| AttestError { problem: "the evidence has no encoding" })
    }

    fn serial(&self) -> &DeviceSerial {
        self.identity.serial()
    }

    fn public_key(&self) -> [u8; 32] {
        self.identity.public_key()
    }

    fn lowest_tier(&self) -> Tier {
        self.lowest_tier
    }
}

/// Verifies what [`SoftwareAttester`] makes, against a policy.
pub struct SoftwareVerifier {
    policy: Policy,
}

impl SoftwareVerifier {
    /// A verifier of this policy.
    #[must_use]
    pub const fn new(policy: Policy) -> Self {
        Self { policy }
    }
}

impl Verifier for SoftwareVerifier {
    fn verify(
        &self,
        evidence: &[u8],
        binding: &Binding,
        now: SystemTime,
    ) -> Result<PeerIdentity, PairingError> {
        let Ok((wire, [])) = postcard::take_from_bytes::<Wire<'_>>(evidence) else {
            return malformed("evidence");
        };
        if wire.chain.len() > MAX_CHAIN || wire.chain.iter().any(|der| der.len() > MAX_CERTIFICATE_BYTES) {
            return malformed("certificate chain too large");
        }
        let Some(statement) = Statement::parse(wire.statement) else { return malformed("statement") };
        let Ok(signature) = Signature::from_slice(wire.signature) else { return malformed("signature") };
        let Some(party) = Party::from_number(statement.party) else { return malformed("party") };
        let Some(lowest_tier) = Tier::from_number(statement.tier) else { return malformed("tier") };

        let policy = &self.policy;
        let chain: Vec<Vec<u8>> = wire.chain.iter().map(|der| der.to_vec()).collect();
        let device = verify_chain(&chain, &policy.roots, now).map_err(|error| match error {
            ChainError::Expired { index } => PairingError::Expired { index },
            error => PairingError::WrongChain(error),
        })?;
        if policy.revoked.contains(&device.serial) {
            return Err(PairingError::Revoked { serial: device.serial });
        }
        VerifyingKey::from_bytes(&device.public_key)
            .and_then(|key| key.verify_strict(wire.statement, &signature))
            .map_err(|_| PairingError::Signature)?;

        if statement.protocol != PROTOCOL_VERSION {
            return Err(PairingError::Protocol { this: PROTOCOL_VERSION, peer: statement.protocol });
        }
        if statement.handshake_hash != binding.handshake_hash
            || statement.noise_static != binding.noise_static
        {
            return Err(PairingError::Stale);
        }
        if party != binding.party {
            return Err(PairingError::SameParty { party });
        }
        if statement.version < policy.least_version {
            return Err(PairingError::Version { peer: statement.version, least: policy.least_version });
        }
        if !policy.measurements.contains(&statement.measurement) {
            return Err(PairingError::Measurement { found: statement.measurement });
        }
        if lowest_tier < policy.lowest_tier {
            return Err(PairingError::Tier { peer: lowest_tier, lowest: policy.lowest_tier });
        }
        Ok(PeerIdentity {
            serial: device.serial,
            public_key: device.public_key,
            root: device.root,
            measurement: statement.measurement,
            version: statement.version,
            lowest_tier,
        })
    }
}
