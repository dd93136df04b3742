//! Pairing and session handshakes inside the software chip.

use std::sync::Arc;
use std::time::SystemTime;

use kord_core::Party;

use super::SoftChip;
use super::active::ActiveSession;
use crate::chip::{PairReply, PairStep};
use crate::error::ChipError;
use crate::pairing::{self, Pairing, PairingConfig, PairingError, PairingRefusal};
use crate::session::{self, SessionError, SessionRefusal, Verified};
use crate::tier::Tier;

/// What the chip waits for. One handshake at a time; a new one replaces it.
#[derive(Default)]
pub(super) enum Handshake {
    #[default]
    Idle,
    /// Party 1 waits for pairing message 1.
    Pairing,
    /// Party 0 waits for pairing message 2.
    PairingInitiator(pairing::Initiator),
    /// Party 0 waits to be accepted.
    PairingConfirm(pairing::InitiatorConfirm),
    /// Party 1 waits for pairing message 3.
    PairingResponder(pairing::Responder),
    /// Party 1 waits for session message 1.
    Session(Tier),
    /// Party 0 waits for session message 2.
    SessionInitiator(session::Initiator),
    /// Party 1 waits for session message 3.
    SessionResponder(session::Responder),
}

const fn message(bytes: Vec<u8>) -> PairReply {
    PairReply { message: Some(bytes), done: false }
}

impl SoftChip {
    pub(super) fn advance_handshake(&mut self, step: PairStep<'_>) -> Result<PairReply, ChipError> {
        match step {
            PairStep::StartPairing => self.start_pairing(),
            PairStep::StartSession(tier) => self.start_session(tier),
            PairStep::PairingMessage(bytes) => self.pairing_message(bytes),
            PairStep::SessionMessage(bytes) => self.session_message(bytes),
            PairStep::Revoke => self.revoke(),
        }
    }

    fn revoke(&mut self) -> Result<PairReply, ChipError> {
        self.active = None;
        self.handshake = Handshake::Idle;
        self.pairing = None;
        self.revoked = true;
        self.store.revoke()?;
        Ok(PairReply { message: None, done: true })
    }

    fn pairing_config(&self) -> PairingConfig {
        PairingConfig { attester: Arc::clone(&self.attester), verifier: Arc::clone(&self.verifier) }
    }

    fn start_pairing(&mut self) -> Result<PairReply, ChipError> {
        if self.party == Party::P1 {
            self.handshake = Handshake::Pairing;
            return Ok(PairReply::default());
        }
        let (initiator, first) = pairing::Initiator::start(self.pairing_config())?;
        self.handshake = Handshake::PairingInitiator(initiator);
        Ok(message(first))
    }

    fn pairing_message(&mut self, bytes: &[u8]) -> Result<PairReply, ChipError> {
        let now = SystemTime::now();
        match core::mem::take(&mut self.handshake) {
            Handshake::Pairing => {
                let (responder, reply) = pairing::Responder::start(self.pairing_config(), bytes)?;
                self.handshake = Handshake::PairingResponder(responder);
                Ok(message(reply))
            }
            Handshake::PairingInitiator(initiator) => {
                let (confirm, reply) = initiator.receive(bytes, now)?;
                self.handshake = Handshake::PairingConfirm(confirm);
                Ok(message(reply))
            }
            Handshake::PairingConfirm(confirm) => {
                self.paired(confirm.receive(bytes)?)?;
                Ok(PairReply { message: None, done: true })
            }
            Handshake::PairingResponder(responder) => {
                let (pairing, reply) = responder.receive(bytes, now)?;
                // Stored before the peer is told that it is accepted.
                self.paired(pairing)?;
                Ok(PairReply { message: Some(reply), done: true })
            }
            other => self.not_due(other),
        }
    }

    fn paired(&mut self, pairing: Pairing) -> Result<(), ChipError> {
        self.store.set_pairing(&pairing)?;
        self.active = None;
        self.revoked = false;
        self.pairing = Some(pairing);
        Ok(())
    }

    fn start_session(&mut self, tier: Tier) -> Result<PairReply, ChipError> {
        let pairing = self.pairing.as_ref().ok_or(ChipError::NotPaired)?;
        if self.party == Party::P1 {
            self.handshake = Handshake::Session(tier);
            return Ok(PairReply::default());
        }
        let config = pairing.session(tier, self.store.marks());
        let (initiator, first) = session::Initiator::start(&config)?;
        self.handshake = Handshake::SessionInitiator(initiator);
        Ok(message(first))
    }

    fn session_message(&mut self, bytes: &[u8]) -> Result<PairReply, ChipError> {
        match core::mem::take(&mut self.handshake) {
            Handshake::Session(tier) => {
                let pairing = self.pairing.as_ref().ok_or(ChipError::NotPaired)?;
                let config = pairing.session(tier, self.store.marks());
                let (responder, reply) = session::Responder::start(&config, bytes)?;
                self.handshake = Handshake::SessionResponder(responder);
                Ok(message(reply))
            }
            Handshake::SessionInitiator(initiator) => self.established(initiator.receive(bytes)?),
            Handshake::SessionResponder(responder) => self.established(responder.receive(bytes)?),
            other => self.not_due(other),
        }
    }

    /// Stores the session, then replaces whatever session was active.
    fn established(&mut self, verified: Verified) -> Result<PairReply, ChipError> {
        let established = verified.store(&mut *self.store)?;
        self.active = Some(ActiveSession::new(self.party, &established.keys));
        Ok(PairReply { message: established.reply, done: true })
    }

    /// A message of the wrong kind leaves the running handshake as it was.
    fn not_due(&mut self, handshake: Handshake) -> Result<PairReply, ChipError> {
        self.handshake = handshake;
        Err(ChipError::NoHandshake)
    }
}

impl From<PairingError> for ChipError {
    fn from(source: PairingError) -> Self {
        Self::Pairing { source, reply: None }
    }
}

impl From<PairingRefusal> for ChipError {
    fn from(refusal: PairingRefusal) -> Self {
        Self::Pairing { source: refusal.error, reply: refusal.reply }
    }
}

impl From<SessionError> for ChipError {
    fn from(source: SessionError) -> Self {
        Self::Session { source, reply: None }
    }
}

impl From<SessionRefusal> for ChipError {
    fn from(refusal: SessionRefusal) -> Self {
        Self::Session { source: refusal.error, reply: refusal.reply }
    }
}
