//! Function secret sharing (FSS): DPF and DCF keys, made and evaluated in batches, and the traits
//! that let a program take its keys from any source.
//!
//! A **distributed point function** splits "beta at alpha, 0 elsewhere" into two keys; a
//! **distributed comparison function** does the same for "beta where x < alpha". Each party
//! evaluates its own key at a public x and gets a share of the result. One key alone tells nothing
//! about alpha or beta.
//!
//! ```
//! use kord_core::{Group, KeySpec, Predicate, keygen};
//!
//! // "1 if x < alpha", over 16-bit x, with outputs shared modulo 2^32.
//! let group = Group::ring(32)?;
//! let spec = KeySpec::dcf(16, Predicate::Lt, group)?;
//! let [key0, key1] = keygen::generate(&spec, &[1000], &[1], &mut rand::rng())?;
//!
//! // Evaluating consumes a key; all the points a gate needs go into one call.
//! let points = [999, 1000, 60_000];
//! let (y0, y1) = (key0.evaluate(&points)?, key1.evaluate(&points)?);
//! let y: Vec<u128> = y0.iter().zip(&y1).map(|(a, b)| group.add(*a, *b)).collect();
//! assert_eq!(y, [1, 0, 0]);
//! # Ok::<(), kord_core::SpecError>(())
//! ```
//!
//! # Threat model
//!
//! * Whoever runs [`keygen`] sees every alpha, beta and both keys: it is a dealer. So does
//!   whoever runs [`engine`], which is what a chip has inside. To have keys that nobody made in
//!   one place, use a [`KeySource`] such as the chip pair of `kord-chip`.
//! * Keys hide alpha and beta from the party that holds one of them, as long as the fixed-key AES
//!   hash is a PRG. Parties are semi-honest: a key does not prove that it is well formed.
//! * A key is for one use. Two masked inputs opened under one key's alpha tell their difference.
//!   [`KeyBatch::evaluate`] therefore takes the keys by value.
//! * Gen and Eval have no branch or memory index that depends on alpha, beta, seeds or shares.
//!   Evaluation points are public. Secrets are zeroized when dropped and never printed.
//!
//! # Schemes
//!
//! | scheme | from | key bytes (payload of p bytes) | AES blocks: Gen | Eval at a point |
//! |---|---|---|---|---|
//! | [`Scheme::Dpf`] | BGI16 | 16 + 16n + ⌈n/8⌉ + p | 4n | n |
//! | [`Scheme::Dcf`] | BGI21, BCG+21 | 16 + 16n + ⌈n/8⌉ + (n + 1)p | 8n | 2n |
//!
//! BGI16: Boyle, Gilboa, Ishai, "Function Secret Sharing: Improvements and Extensions" (CCS 2016).
//! BCG+21: Boyle et al., "Function Secret Sharing for Mixed-Mode and Fixed-Point Secure
//! Computation" (Eurocrypt 2021).
//!
//! # The native key
//!
//! | part | bytes | |
//! |---|---|---|
//! | root seed | 16 | this party's; bit 96 (the clamp bit) is 0 |
//! | correction seeds | 16 a level | clamp bit = t_L |
//! | t_R bits | ⌈n/8⌉ | level i in bit i mod 8 of byte ⌊i/8⌋ |
//! | value words (DCF) | p a level | |
//! | final word | p | |
//!
//! Blocks are little-endian 128-bit integers, alpha's bits are taken most significant first, and
//! control bits start at 0 for party 0 and 1 for party 1. An element takes ⌈k/8⌉ bytes,
//! little-endian. A payload of at most 12 bytes (not modulo m) is read from bytes 0–11 of a clamped
//! block b; others from the stream of bytes 0–11 of `AES_X(c) ⊕ c`, c = b ⊕ LE128(j + 1), j = 0, 1, ….
//!
//! # PRG
//!
//! The default is AES-128 in Matyas–Meyer–Oseas mode under public fixed keys, `AES_K(s) ⊕ s`:
//! (S_L, S_R) for a DPF's children; (S_L, V_L, S_R, V_R) for a DCF's, in the output order
//! (s_L, v_L, s_R, v_R); X for payloads. See [`PrgKeys::KORD_V1`]. With N on-path nodes made under
//! one set of keys, guessing any one node costs about 2^127/N.
//!
//! # Features
//!
//! | feature | gives |
//! |---|---|
//! | `insecure-dealer` | `dealer`: both ends of a trusted dealer, for tests and comparisons |
//! | `serde` | serialization of specs and requests |
//! | `vectors` | `vectors`: the runner of known-answer vector files |

mod block;
pub mod channel;
mod convert;
pub mod correlation;
#[cfg(feature = "insecure-dealer")]
pub mod dealer;
mod derive;
mod descriptor;
pub mod engine;
mod error;
pub mod format;
mod group;
mod key_batch;
pub mod key_file;
pub mod keygen;
mod layout;
mod party;
mod prg;
pub mod request;
mod secret_bytes;
#[cfg(feature = "serde")]
mod serde_impls;
#[allow(unsafe_code, reason = "vector intrinsics; the only unsafe code of the crate")]
mod simd;
pub mod source;
mod spec;
mod tree;
pub mod utilisation;
#[cfg(feature = "vectors")]
pub mod vectors;

pub use block::Block;
pub use correlation::Correlation;
pub use derive::{OperationKey, RootKey};
pub use descriptor::Descriptor;
pub use error::{DecodeError, SpecError};
pub use group::{Group, GroupKind};
pub use key_batch::{KeyBatch, ReusableKeys};
pub use party::Party;
pub use prg::{ChaChaXor, FixedKeyMmo, Prg, PrgKeys, SeedKeyedAes};
pub use request::Request;
pub use secret_bytes::SecretBytes;
pub use simd::Backend;
pub use source::{CorrelationSource, KeySource, Label};
pub use spec::{KeySpec, Predicate, Scheme};
