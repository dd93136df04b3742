//! The software chip: the reference, and the fast software engine.
//!
//! # Security
//! Outside a confidential VM this is a functional model, not a boundary: whoever can read or
//! snapshot the process's memory owns both parties' keys.

mod active;
mod directory;
mod handshake;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use kord_core::request::ShareChunk;
use kord_core::{KeySpec, Party, Request};

pub use directory::{ChipConfig, DirectoryError, Provision};

use crate::Mark;
use crate::attest::{Attester, SoftwareAttester, SoftwareVerifier, Verifier};
use crate::chip::{Capabilities, Chip, Job, Output, PairReply, PairStep, Submission, frame_elements};
use crate::error::ChipError;
use crate::identity::{DevelopmentCa, DeviceIdentity, ProvisionOptions, Validity};
use crate::lifecycle::Lifecycle;
use crate::measurement::{MeasuredConfig, Measurement};
use crate::pairing::Pairing;
use crate::policy::Policy;
use crate::store::{ChipStore, MemoryStore, StoreError};
use crate::tier::Tier;
use active::ActiveSession;
use handshake::Handshake;

/// A chip in software, over a store on disk ([`SoftChip::open`]) or in memory.
pub struct SoftChip {
    party: Party,
    store: Box<dyn ChipStore>,
    attester: Arc<dyn Attester>,
    verifier: Arc<dyn Verifier>,
    pairing: Option<Pairing>,
    revoked: bool,
    handshake: Handshake,
    active: Option<ActiveSession>,
}

/// Everything the engine can do.
const CAPABILITIES: Capabilities = Capabilities {
    max_domain_bits: KeySpec::MAX_DOMAIN_BITS,
    max_arity: KeySpec::MAX_ARITY,
    max_element_bits: 128,
    moduli: true,
    other_prg_keys: true,
    correlations: true,
    window: 16,
};

impl SoftChip {
    /// A chip from its parts; continues the pairing that the store holds.
    ///
    /// # Errors
    /// [`StoreError`] if the pairing record cannot be read or opened.
    pub fn new(
        party: Party,
        store: Box<dyn ChipStore>,
        attester: Arc<dyn Attester>,
        verifier: Arc<dyn Verifier>,
    ) -> Result<Self, StoreError> {
        let pairing = store.pairing()?;
        let revoked = store.lifecycle()? == Lifecycle::Revoked;
        let handshake = Handshake::Idle;
        Ok(Self { party, store, attester, verifier, pairing, revoked, handshake, active: None })
    }

    /// Two unpaired chips with stores in memory, party 0 first, under one throwaway root whose
    /// policy allows the running program: for examples and tests.
    ///
    /// # Errors
    /// [`DirectoryError`] if the running program cannot be measured, or without randomness.
    pub fn development_pair() -> Result<[Self; 2], DirectoryError> {
        let ca = DevelopmentCa::generate(Validity::ROOT)?;
        let measurement = Measurement::of_running(MeasuredConfig { lowest_tier: Tier::Mac })?;
        let policy = Policy::new(vec![ca.root()], vec![measurement]);
        let chip = |party| -> Result<Self, DirectoryError> {
            let identity = Arc::new(DeviceIdentity::issue(&ca, &ProvisionOptions::default())?);
            let attester = Arc::new(SoftwareAttester::new(identity, measurement, Tier::Mac));
            let verifier = Arc::new(SoftwareVerifier::new(policy.clone()));
            Ok(Self::new(party, Box::new(MemoryStore::new()), attester, verifier)?)
        };
        Ok([chip(Party::P0)?, chip(Party::P1)?])
    }

    /// The pairing, if there is one.
    #[must_use]
    pub const fn pairing(&self) -> Option<&Pairing> {
        self.pairing.as_ref()
    }

    fn session(&mut self) -> Result<&mut ActiveSession, ChipError> {
        self.active.as_mut().ok_or(ChipError::NoSession)
    }

    fn submit_keys(
        &mut self,
        request: &Request,
        count: u64,
        shares: ShareChunk,
    ) -> Result<Submission, ChipError> {
        if let Some(field) = CAPABILITIES.refuses(request) {
            return Err(ChipError::Unsupported { field });
        }
        let most = frame_elements(request);
        if count > most {
            return Err(ChipError::FrameTooLong { count, most });
        }
        shares.check(request, usize::try_from(count).unwrap_or(usize::MAX))?;
        if !request.is_exchanged() {
            let first = self.store.reserve_stream(request.stream(), count)?;
            let label = self.session()?.derive(request, first, count);
            return Ok(Submission { label, frame: None });
        }
        let waiting = self.session()?.waiting();
        if waiting >= CAPABILITIES.window {
            return Err(ChipError::Busy { waiting });
        }
        // Durable before anything is sealed under it.
        let first = self.store.reserve(count)?;
        let (label, frame) = self.session()?.seal(request, first, count, shares)?;
        Ok(Submission { label, frame: Some(frame) })
    }
}

impl Chip for SoftChip {
    fn party(&self) -> Party {
        self.party
    }

    fn lifecycle(&self) -> Lifecycle {
        match (&self.active, &self.pairing) {
            (Some(_), _) => Lifecycle::Active,
            (None, Some(_)) => Lifecycle::Paired,
            (None, None) if self.revoked => Lifecycle::Revoked,
            (None, None) => Lifecycle::Provisioned,
        }
    }

    fn pairing_id(&self) -> Option<[u8; 16]> {
        self.pairing.as_ref().map(|pairing| *pairing.id())
    }

    fn capabilities(&self) -> &Capabilities {
        &CAPABILITIES
    }

    fn pair(&mut self, step: PairStep<'_>) -> Result<PairReply, ChipError> {
        self.advance_handshake(step)
    }

    fn submit(&mut self, job: &Job, count: u64, shares: ShareChunk) -> Result<Submission, ChipError> {
        self.session()?;
        if count == 0 {
            return Err(ChipError::FrameTooLong { count, most: u64::MAX });
        }
        match job {
            Job::Keys(request) => self.submit_keys(request, count, shares),
            Job::Correlations(kind) => {
                let first = self.store.reserve_stream(kind.stream(), count)?;
                let label = self.session()?.correlate(kind, first, count);
                Ok(Submission { label, frame: None })
            }
            Job::Skip { stream } => {
                let first = self.store.reserve_stream(*stream, count)?;
                let label = self.session()?.label(*stream, first, count);
                Ok(Submission { label, frame: None })
            }
        }
    }

    fn deliver(&mut self, frame: &[u8]) -> Result<(), ChipError> {
        let session = self.session()?;
        let counter = session.open(frame)?;
        let session = session.number();
        self.store.saw_peer(Mark { session, counter });
        Ok(())
    }

    fn drain(&mut self) -> Result<Option<Output>, ChipError> {
        self.session()?.drain()
    }

    fn position(&mut self, stream: u64) -> Result<u64, ChipError> {
        Ok(self.store.stream_position(stream)?)
    }
}
