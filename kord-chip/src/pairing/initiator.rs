//! Party 0.

use std::time::SystemTime;

use kord_core::Party;
use snow::TransportState;

use super::msgs::{frame, unframe};
use super::noise::Noise;
use super::{Pairing, PairingConfig, PairingError, RefusalReason};

/// Party 0 after message 1.
pub struct Initiator(Noise);

/// Party 0 after message 3: it has accepted its peer and waits to be accepted.
pub struct InitiatorConfirm {
    pairing: Pairing,
    transport: TransportState,
}

impl Initiator {
    /// Starts a pairing; returns message 1.
    ///
    /// # Errors
    /// [`PairingError::Random`] or [`PairingError::Handshake`].
    pub fn start(config: PairingConfig) -> Result<(Self, Vec<u8>), PairingError> {
        let mut noise = Noise::new(Party::P0, config)?;
        let message = frame(1, &noise.write(&[])?);
        Ok((Self(noise), message))
    }

    /// Checks message 2; returns message 3.
    ///
    /// # Errors
    /// Any [`PairingError`]; the peer is told nothing.
    pub fn receive(
        self,
        message: &[u8],
        now: SystemTime,
    ) -> Result<(InitiatorConfirm, Vec<u8>), PairingError> {
        let Self(mut noise) = self;
        let peer = noise.read_evidence(unframe(2, Party::P0, message)?, now)??;
        let reply = frame(3, &noise.write_evidence()?);
        let (pairing, transport) = noise.finish(peer)?;
        Ok((InitiatorConfirm { pairing, transport }, reply))
    }
}

impl InitiatorConfirm {
    /// Takes message 4; gives the pairing if the peer accepted this side.
    ///
    /// # Errors
    /// [`PairingError::RefusedByPeer`], [`PairingError::Handshake`] or [`PairingError::Malformed`].
    pub fn receive(mut self, message: &[u8]) -> Result<Pairing, PairingError> {
        let noise = unframe(4, Party::P0, message)?;
        let mut payload = vec![0; noise.len()];
        let length = self.transport.read_message(noise, &mut payload)?;
        match payload[..length] {
            [0] => Ok(self.pairing),
            [code] => Err(PairingError::RefusedByPeer { reason: RefusalReason::from_code(code) }),
            _ => Err(PairingError::Malformed { what: "verdict of more or less than one byte" }),
        }
    }
}
