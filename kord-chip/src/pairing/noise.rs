//! What both sides do with the Noise state.

use core::cmp::max;

use kord_core::Party;
use sha2::{Digest, Sha256};
use snow::{Builder, HandshakeState, TransportState};
use x25519_dalek::{PublicKey, StaticSecret};
use zeroize::{Zeroize, Zeroizing};

use super::msgs::MAX_NOISE_BYTES;
use super::{Pairing, PairingConfig, PairingError};
use crate::attest::{Binding, PeerIdentity};
use crate::kdf::Kdf;
use crate::random;

const PATTERN: &str = "Noise_XX_25519_ChaChaPoly_SHA256";
const PROLOGUE: &[u8] = b"KORD pair v1";
const SECRET_INFO: &[u8] = b"KORD pair v1";

/// Pairing id and secret from the handshake hash and the Noise raw split.
pub(super) fn derive(hash: &[u8; 32], k1: &[u8; 32], k2: &[u8; 32]) -> ([u8; 16], Zeroizing<[u8; 32]>) {
    let mut split = Zeroizing::new([0; 64]);
    split[..32].copy_from_slice(k1);
    split[32..].copy_from_slice(k2);
    let mut id = [0; 16];
    id.copy_from_slice(&Sha256::digest(hash)[..16]);
    (id, Kdf::new(hash, split.as_slice()).expand(&[SECRET_INFO]))
}

/// One side of a handshake in progress.
pub(super) struct Noise {
    state: HandshakeState,
    party: Party,
    noise_static: [u8; 32],
    config: PairingConfig,
}

impl Noise {
    pub(super) fn new(party: Party, config: PairingConfig) -> Result<Self, PairingError> {
        let secret: Zeroizing<[u8; 32]> = random::secret()?;
        let noise_static = PublicKey::from(&StaticSecret::from(*secret)).to_bytes();
        let builder =
            Builder::new(PATTERN.parse()?).local_private_key(secret.as_slice())?.prologue(PROLOGUE)?;
        let state = match party {
            Party::P0 => builder.build_initiator()?,
            Party::P1 => builder.build_responder()?,
        };
        Ok(Self { state, party, noise_static, config })
    }

    /// The handshake hash so far.
    fn hash(&self) -> Result<[u8; 32], PairingError> {
        self.state.get_handshake_hash().try_into().map_err(|_| PairingError::Handshake)
    }

    pub(super) fn write(&mut self, payload: &[u8]) -> Result<Vec<u8>, PairingError> {
        let mut message = vec![0; MAX_NOISE_BYTES];
        let length = self.state.write_message(payload, &mut message)?;
        message.truncate(length);
        Ok(message)
    }

    pub(super) fn read(&mut self, message: &[u8]) -> Result<Vec<u8>, PairingError> {
        let mut payload = vec![0; message.len()];
        let length = self.state.read_message(message, &mut payload)?;
        payload.truncate(length);
        Ok(payload)
    }

    /// The next message, which carries this side's evidence.
    pub(super) fn write_evidence(&mut self) -> Result<Vec<u8>, PairingError> {
        let binding =
            Binding { party: self.party, handshake_hash: self.hash()?, noise_static: self.noise_static };
        let evidence = self.config.attester.attest(&binding)?;
        self.write(&evidence)
    }

    /// Reads a message that carries the peer's evidence. The outer error is Noise's; the inner
    /// result is the verdict on the evidence, known only on an intact channel.
    pub(super) fn read_evidence(
        &mut self,
        message: &[u8],
        now: std::time::SystemTime,
    ) -> Result<Result<PeerIdentity, PairingError>, PairingError> {
        let handshake_hash = self.hash()?;
        let evidence = self.read(message)?;
        let remote = self.state.get_remote_static().and_then(|key| key.try_into().ok());
        let noise_static = remote.ok_or(PairingError::Handshake)?;
        let binding = Binding { party: self.party.peer(), handshake_hash, noise_static };
        let PairingConfig { attester, verifier } = &self.config;
        Ok(verifier.verify(&evidence, &binding, now).and_then(|peer| {
            if peer.public_key == attester.public_key() || peer.serial == *attester.serial() {
                return Err(PairingError::SameDevice);
            }
            Ok(peer)
        }))
    }

    /// Derives the pairing from the finished handshake.
    pub(super) fn finish(mut self, peer: PeerIdentity) -> Result<(Pairing, TransportState), PairingError> {
        if !self.state.is_handshake_finished() {
            return Err(PairingError::Handshake);
        }
        let hash = self.hash()?;
        let (mut k1, mut k2) = self.state.dangerously_get_raw_split();
        let (id, secret) = derive(&hash, &k1, &k2);
        k1.zeroize();
        k2.zeroize();
        let tier = max(self.config.attester.lowest_tier(), peer.lowest_tier);
        let pairing = Pairing::new(id, secret, peer, self.party, tier);
        Ok((pairing, self.state.into_transport_mode()?))
    }

    /// The channel of the finished handshake, to refuse on.
    pub(super) fn refuse(self) -> Result<TransportState, PairingError> {
        Ok(self.state.into_transport_mode()?)
    }
}
