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
//! | [`chip`] | the four operations of a chip, whatever is behind them | no |
//! | [`soft`] | the software chip | its state directory |
//! | [`host`] | TCP driver: handshakes, batches, `KeySource` | sockets |
//! | [`identity`] | device key, certificate chain, storage key | yes |
//! | [`measurement`], [`policy`] | what runs; whom to pair with | reads |
//! | [`attest`] | evidence and its check, as traits | no |
//! | [`pairing`] | mutual attestation over Noise XX: a long-term secret | no |
//! | [`session`] | fresh working keys for each start | no |
//! | [`frame`] | sealing and opening what the chips exchange | no |
//! | [`store`] | durable counters, session numbers, the pairing record | yes |
//!
//! A chip's life is [`Lifecycle`]: provisioned, paired, active, revoked. Handshakes are state
//! machines: bytes in, bytes out, nothing sent by themselves. Only [`host`] does network I/O.
//!
//! # Frames
//!
#![doc = include_str!("frame/layout.md")]
//!
//! Nonce, associated data and the reasons are in [`frame`].
//!
//! # Example
//!
//! Two software chips in one process pair, start a session, and make keys. In real life each
//! party runs its half on its own machine, with [`SoftChip::open`] and its own state directory.
//!
//! ```
//! use kord_chip::SoftChip;
//! use kord_chip::host::{self, ChipHost, HostConfig, Link};
//! use kord_core::request::{Request, Shares};
//! use kord_core::source::Collected;
//! use kord_core::{Group, KeyBatch, KeySource, KeySpec};
//!
//! type Error = Box<dyn std::error::Error + Send + Sync>;
//!
//! // What each party runs: alpha and beta stay shared between the two.
//! fn party(mut chip: SoftChip, link: Link, alpha: u64, beta: u128) -> Result<KeyBatch, Error> {
//!     let config = HostConfig::new(link);
//!     host::pair(&mut chip, &config)?;
//!     let mut source = ChipHost::connect(chip, config)?;
//!     let spec = KeySpec::dpf(16, Group::ring(32)?)?;
//!     let request = Request::keys(1, spec)?;
//!     let mut sink = Collected::new(&request, source.party());
//!     source.generate(&request, Shares::Slices { masks: &[alpha], payloads: &[beta] }, &mut sink)?;
//!     Ok(sink.take_keys(0).ok_or("no keys")?)
//! }
//!
//! # fn main() -> Result<(), Error> {
//! let [chip0, chip1] = SoftChip::development_pair()?;
//! let [link0, link1] = Link::loopback()?;
//! let peer = std::thread::spawn(move || party(chip1, link1, 40, 3));
//! let keys0 = party(chip0, link0, 300, 4)?;
//! let keys1 = peer.join().map_err(|_| "party 1 panicked")??;
//!
//! // beta = 4 + 3 at alpha = 300 + 40.
//! let (y0, y1) = (keys0.evaluate(&[340])?, keys1.evaluate(&[340])?);
//! assert_eq!((y0[0] + y1[0]) % (1 << 32), 7);
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
