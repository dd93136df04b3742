//! The paired chip: the part of KORD that holds secrets of both parties.
//!
//! # Security
//!
//! **Trust is moved, not removed.** Two chips, one per party, reconstruct what the parties share:
//! compromising either chip exposes both parties' keys (KORD, arXiv 2608.30379). What is gained
//! is that no third party deals keys, and that hosts and network learn nothing. A *software* chip
//! outside a confidential virtual machine is a functional model, not a boundary: whoever can
//! snapshot its memory owns it. The certificate authority and the measurement in this crate are
//! software too; they show where hardware evidence goes.
//!
//! Within that: a pair is made by mutual attestation; every session has fresh keys with
//! randomness of both chips, so that a restored store or a replayed frame yields nothing; a
//! counter is durable before it is used; frames are refused before they are decrypted; a refusal
//! changes nothing and says nothing secret.
//!
//! # Modules
//!
//! | module | what | touches files |
//! |---|---|---|
//! | [`identity`] | device key, certificate chain, storage key | yes |
//! | [`measurement`], [`policy`] | what runs; whom to pair with | reads |
//! | [`attest`] | evidence and its check, as traits | no |
//! | [`pairing`] | mutual attestation over Noise XX: a long-term secret | no |
//! | [`session`] | fresh working keys for each start | no |
//! | [`frame`] | sealing and opening what the chips exchange | no |
//! | [`store`] | durable counters, session numbers, the pairing record | yes |
//!
//! A chip's life is [`Lifecycle`]: provisioned, paired, active, revoked. Handshakes are state
//! machines: bytes in, bytes out, nothing sent by themselves.
//!
//! # Frames
//!
#![doc = include_str!("frame/layout.md")]
//!
//! Nonce, associated data and the reasons are in [`frame`].
//!
//! # Example
//!
//! Two software chips in one process pair, start a session and exchange a frame.
//!
//! ```
//! use std::sync::Arc;
//! use std::time::SystemTime;
//!
//! use kord_chip::attest::{SoftwareAttester, SoftwareVerifier};
//! use kord_chip::frame::FrameKind;
//! use kord_chip::identity::{DeviceIdentity, DevelopmentCa, ProvisionOptions, Validity};
//! use kord_chip::measurement::{MeasuredConfig, Measurement};
//! use kord_chip::pairing::{Initiator, PairingConfig, Responder};
//! use kord_chip::policy::Policy;
//! use kord_chip::store::{CounterStore, MemoryStore};
//! use kord_chip::{Tier, session};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let root = DevelopmentCa::generate(Validity::ROOT)?;
//! let runs = Measurement::of_running(MeasuredConfig { lowest_tier: Tier::Mac })?;
//! let side = || -> Result<PairingConfig, Box<dyn std::error::Error>> {
//!     let identity = Arc::new(DeviceIdentity::issue(&root, &ProvisionOptions::default())?);
//!     Ok(PairingConfig {
//!         attester: Arc::new(SoftwareAttester::new(identity, runs, Tier::Mac)),
//!         verifier: Arc::new(SoftwareVerifier::new(Policy::new(vec![root.root()], vec![runs]))),
//!     })
//! };
//!
//! // Pairing: four messages, once.
//! let now = SystemTime::now();
//! let (party_0, m1) = Initiator::start(side()?)?;
//! let (party_1, m2) = Responder::start(side()?, &m1)?;
//! let (party_0, m3) = party_0.receive(&m2, now)?;
//! let (pairing_1, m4) = party_1.receive(&m3, now)?;
//! let pairing_0 = party_0.receive(&m4)?;
//! assert_eq!(pairing_0.id(), pairing_1.id());
//!
//! // Session: three messages, at every start.
//! let (mut store_0, mut store_1) = (MemoryStore::new(), MemoryStore::new());
//! let (party_0, m1) = session::Initiator::start(&pairing_0.session(Tier::Mac, store_0.marks()))?;
//! let (party_1, m2) = session::Responder::start(&pairing_1.session(Tier::Mac, store_1.marks()), &m1)?;
//! let session_0 = party_0.receive(&m2)?.store(&mut store_0)?;
//! let m3 = session_0.reply.as_ref().ok_or("party 0 sends message 3")?;
//! let session_1 = party_1.receive(m3)?.store(&mut store_1)?;
//!
//! // A frame, bound to its descriptor.
//! let descriptor = [[0x17; 64]];
//! let first = store_0.reserve(1)?;
//! let mut frame = Vec::new();
//! session_0.keys.sealer().seal(FrameKind::Keys, first, 1, &descriptor, b"a share", &mut frame)?;
//! let opener = session_1.keys.opener();
//! let received = opener.receive(&frame)?;
//! assert_eq!(received.header().first(), first);
//! assert_eq!(opener.open(received, &descriptor)?.as_slice(), b"a share");
//! # Ok(())
//! # }
//! ```

mod digest;
mod kdf;
mod lifecycle;
mod marks;
mod random;
mod tier;
mod version;

pub mod attest;
pub mod chip;
mod error;
pub mod frame;
pub mod host;
pub mod identity;
pub mod measurement;
pub mod pairing;
pub mod policy;
pub mod session;
pub mod soft;
pub mod store;

pub use digest::NotADigest;
pub use error::ChipError;
pub use lifecycle::Lifecycle;
pub use marks::{Mark, Marks, SessionStart};
pub use random::RandomError;
pub use soft::SoftChip;
pub use tier::{Tier, UnknownTier};
pub use version::{NotAVersion, PROTOCOL_VERSION, SoftwareVersion};
