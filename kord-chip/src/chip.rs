//! The chip as its host sees it: four operations, whatever is behind them (software, simulated
//! RTL, hardware) *(paper: four memory-mapped operations)*.
//!
//! | operation | does |
//! |---|---|
//! | [`Chip::pair`] | pairing and session handshake messages in and out |
//! | [`Chip::submit`] | a job and this party's shares in, a sealed frame out |
//! | [`Chip::deliver`] | the peer's frame: accepted, or refused with a reason |
//! | [`Chip::drain`] | the next keys or correlations of this party's stream |
//!
//! No operation does I/O or blocks. The host relays messages, cuts batches into frames, and
//! drains what is ready, so that nothing in a chip grows with a batch.

use std::sync::Arc;

use kord_core::correlation::{Correlation, CorrelationChunk};
use kord_core::request::ShareChunk;
use kord_core::source::KeyChunk;
use kord_core::{Label, Party, Request};

use crate::error::ChipError;
use crate::lifecycle::Lifecycle;
use crate::tier::Tier;

/// One party's chip.
pub trait Chip: Send {
    /// Which party this chip is.
    fn party(&self) -> Party;

    /// Where the chip stands.
    fn lifecycle(&self) -> Lifecycle;

    /// The public name of the current pairing, equal at both chips; `None` before pairing.
    fn pairing_id(&self) -> Option<[u8; 16]>;

    /// What the chip can do. [`Chip::submit`] refuses the rest with
    /// [`ChipError::Unsupported`], naming the field; a host never falls back silently.
    fn capabilities(&self) -> &Capabilities;

    /// Advances pairing or the session handshake by one message.
    ///
    /// # Errors
    /// [`ChipError::Pairing`], [`ChipError::Session`] or [`ChipError::Store`]. Nothing is stored
    /// or changed on a refusal.
    fn pair(&mut self, step: PairStep<'_>) -> Result<PairReply, ChipError>;

    /// Submits the next `count` elements of a job with this party's shares (empty where all is
    /// derived). Counters are advanced, durably, before anything is sealed.
    ///
    /// # Errors
    /// [`ChipError::NoSession`]; [`ChipError::Unsupported`]; [`ChipError::Shares`];
    /// [`ChipError::FrameTooLong`] if the elements do not fit one frame ([`frame_elements`]);
    /// [`ChipError::Busy`] while too many frames wait for the peer's; [`ChipError::Store`].
    fn submit(&mut self, job: &Job, count: u64, shares: ShareChunk) -> Result<Submission, ChipError>;

    /// Takes the peer's frame for the oldest submission that waits for one.
    ///
    /// # Errors
    /// [`ChipError::NotPending`] and [`ChipError::Frame`] change nothing. In the plain tier
    /// the first delivery consumes the counters, whatever it holds.
    fn deliver(&mut self, frame: &[u8]) -> Result<(), ChipError>;

    /// The next outputs, in submission order; `None` if the oldest submission still waits for
    /// the peer's frame, or there is none.
    ///
    /// # Errors
    /// [`ChipError::Shares`] if the two parties' shares do not fit the job.
    fn drain(&mut self) -> Result<Option<Output>, ChipError>;

    /// The next position of a derived stream.
    ///
    /// # Errors
    /// [`ChipError::Store`].
    fn position(&mut self, stream: u64) -> Result<u64, ChipError>;
}

/// What a submission asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Job {
    /// Keys and wires. The request's own count is the host's business; each submission says how
    /// many of its elements come next.
    Keys(Arc<Request>),
    /// Correlations of one kind.
    Correlations(Correlation),
    /// Moves a derived stream forward without making anything.
    Skip {
        /// The stream.
        stream: u64,
    },
}

/// A step of pairing or of the session handshake.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PairStep<'a> {
    /// Starts pairing anew. Party 0 returns the first message; party 1 waits for it.
    StartPairing,
    /// A pairing message from the peer.
    PairingMessage(&'a [u8]),
    /// Starts a session at a tier. Party 0 returns the first message; party 1 waits for it.
    StartSession(Tier),
    /// A session message from the peer.
    SessionMessage(&'a [u8]),
    /// Forgets the pairing secret and all session keys.
    Revoke,
}

/// What a step gives.
#[derive(Debug, Default)]
pub struct PairReply {
    /// A message for the peer.
    pub message: Option<Vec<u8>>,
    /// Whether the handshake is complete on this side.
    pub done: bool,
}

/// What a submission gives.
#[derive(Debug)]
pub struct Submission {
    /// The counters that these elements consume.
    pub label: Label,
    /// The sealed frame for the peer; `None` where everything is derived.
    pub frame: Option<Vec<u8>>,
}

/// What comes out of a chip.
pub enum Output {
    /// Keys, wires and derived shares of consecutive elements.
    Keys(KeyChunk),
    /// Consecutive correlations.
    Correlations(CorrelationChunk),
}

/// What a chip can do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Capabilities {
    /// Most domain bits of a key.
    pub max_domain_bits: u8,
    /// Most payload elements.
    pub max_arity: u32,
    /// Most bits of a payload element.
    pub max_element_bits: u8,
    /// Whether payloads in Z_m and masks shared modulo p are supported.
    pub moduli: bool,
    /// Whether PRG keys other than the default are supported.
    pub other_prg_keys: bool,
    /// Whether correlations are supported.
    pub correlations: bool,
    /// Most submissions that may wait for the peer's frames.
    pub window: usize,
}

impl Capabilities {
    /// The first field of a request that the chip cannot serve.
    #[must_use]
    pub fn refuses(&self, request: &Request) -> Option<&'static str> {
        use kord_core::PrgKeys;
        use kord_core::request::Sharing;
        if !self.moduli && matches!(request.mask().sharing, Sharing::AdditiveModulo(_)) {
            return Some("mask sharing");
        }
        request.key_parts().find_map(|key| {
            let spec = &key.spec;
            let checks = [
                (spec.domain_bits() <= self.max_domain_bits, "domain bits"),
                (spec.arity() <= self.max_arity, "arity"),
                (spec.group().bits() <= self.max_element_bits, "element bits"),
                (self.moduli || spec.group().modulus().is_none(), "group kind"),
                (self.other_prg_keys || *spec.prg_keys() == PrgKeys::KORD_V1, "PRG keys"),
            ];
            checks.iter().find(|(ok, _)| !ok).map(|(_, field)| *field)
        })
    }
}

/// Elements of a request that one submission may hold: the most whole elements that fit a
/// frame's 65,536 body bytes. A request that exchanges nothing has no frames; its submissions are
/// bounded so that they can be interleaved with others.
#[must_use]
pub fn frame_elements(request: &Request) -> u64 {
    const DERIVED: u64 = 1 << 16;
    match request.body_bytes() {
        0 => DERIVED,
        bytes => (crate::frame::MAX_BODY_BYTES / bytes) as u64,
    }
}
