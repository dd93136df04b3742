//! Party 1.

use std::time::SystemTime;

use kord_core::Party;
use snow::TransportState;

use super::msgs::{frame, unframe};
use super::noise::Noise;
use super::{Pairing, PairingConfig, PairingError, PairingRefusal, RefusalReason};

/// Party 1 after message 2.
pub struct Responder(Noise);

/// Message 4 of this verdict.
fn verdict(mut transport: TransportState, code: u8) -> Result<Vec<u8>, PairingError> {
    let mut message = [0; 32];
    let length = transport.write_message(&[code], &mut message)?;
    Ok(frame(4, &message[..length]))
}

impl Responder {
    /// Answers message 1; returns message 2.
    ///
    /// # Errors
    /// [`PairingError::Protocol`], [`PairingError::Malformed`], [`PairingError::Handshake`],
    /// [`PairingError::Attest`] or [`PairingError::Random`].
    pub fn start(config: PairingConfig, message: &[u8]) -> Result<(Self, Vec<u8>), PairingError> {
        let mut noise = Noise::new(Party::P1, config)?;
        if !noise.read(unframe(1, Party::P1, message)?)?.is_empty() {
            return Err(PairingError::Malformed { what: "message 1 carries a payload" });
        }
        let reply = frame(2, &noise.write_evidence()?);
        Ok((Self(noise), reply))
    }

    /// Checks message 3; gives the pairing and message 4.
    ///
    /// # Errors
    /// Any [`PairingError`], with the message 4 that tells the peer, unless the channel itself is
    /// broken.
    pub fn receive(self, message: &[u8], now: SystemTime) -> Result<(Pairing, Vec<u8>), PairingRefusal> {
        let Self(mut noise) = self;
        match noise.read_evidence(unframe(3, Party::P1, message)?, now)? {
            Ok(peer) => {
                let (pairing, transport) = noise.finish(peer)?;
                Ok((pairing, verdict(transport, 0)?))
            }
            Err(error) => {
                let code = RefusalReason::of(&error).code();
                let reply = noise.refuse().and_then(|transport| verdict(transport, code)).ok();
                Err(PairingRefusal { error, reply })
            }
        }
    }
}
