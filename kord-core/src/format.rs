//! Keys as other libraries lay them out, bit for bit.
//!
//! | description | library | PRG | payload | bytes of a key |
//! |---|---|---|---|---|
//! | [`myl7::Spec`] | myl7/fss v1.2.0, DPF and DCF | fixed-key AES MMO or ChaCha | one element | 16 + 32(n + 1) |
//! | [`llama_fss::DcfSpec`] | EzPC FSS (LLAMA), DCF | AES keyed by the seed | m elements mod 2^bout | 16(n + 1) + (n + 1)·m·c |
//! | [`llama_gpumpc::DcfSpec`] | EzPC GPU-MPC, DCF | AES keyed by the seed | one element mod 2^bout | 16(n + 1) + (n + 1)·c + 8 |
//! | [`llama_gpumpc::DpfSpec`] | EzPC GPU-MPC, DPF | AES keyed by the seed | one element mod 2^bout | 16(n + 1) + 2c' + c + 8 |
//! | [`llama_gpumpc::EarlyDpfSpec`] | EzPC GPU-MPC, early-terminated DPF | AES keyed by the seed | the bit 1 | 16(n − 6) + 2c' + 16 + 8 |
//!
//! c and c' are the bytes of LLAMA's integer containers for bout and n bits: 1, 2, 4 or 8.
//!
//! Every description works the same way: [`generate`] (and its twin
//! [`deterministic::generate_from_roots`]) makes [`Keys`], which are encoded, decoded and evaluated.
//! A batch of keys is the unit; points and alphas are `u128` because myl7 domains have up to 128
//! bits.
//!
//! ```
//! use kord_core::format::{self, Keys, llama_fss};
//! use kord_core::Party;
//!
//! // What LLAMA's dealer sends for "7 if x < 1000", 16-bit x, outputs modulo 2^32.
//! let spec = llama_fss::DcfSpec::new(16, 32, 1)?;
//! let [key0, key1] = format::generate(&spec, &[1000], &[7], &mut rand::rng())?;
//! let wire = key0.encode();
//! assert_eq!(wire.len(), 340);
//!
//! let key0 = Keys::decode(spec, Party::P0, &wire)?;
//! let (y0, y1) = (key0.evaluate(&[999])?, key1.evaluate(&[999])?);
//! assert_eq!((y0[0] + y1[0]) % (1 << 32), 7);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Security
//!
//! These formats are for talking to those libraries. A format with a flaw keeps it here, and says
//! so at its type: [`llama_gpumpc::DpfSpec`] publishes beta modulo 2. Between KORD's own parties
//! use the native format ([`crate::keygen`]).

pub mod deterministic;
mod engine;
mod keys;
pub(crate) mod llama;
pub mod llama_fss;
pub mod llama_gpumpc;
pub mod myl7;
mod wire;
mod words;

use core::fmt;

use rand::CryptoRng;
use zeroize::Zeroizing;

pub use keys::{Keys, ReusableKeys};

use crate::block::Block;
use crate::error::SpecError;
use crate::group::Group;

/// The public shape of keys in one library's format. Implemented here only.
pub trait KeyFormat: sealed::Internals + fmt::Debug + PartialEq + Send + Sync {
    /// The library and scheme, for messages.
    fn name(&self) -> &'static str;

    /// n: alpha and x are n-bit integers.
    fn domain_bits(&self) -> u8;

    /// The group of each output element.
    fn group(&self) -> Group;

    /// Elements of an output.
    fn arity(&self) -> u32;

    /// Elements of beta: `arity`, or 0 where the format fixes beta.
    fn beta_elements(&self) -> u32 {
        self.arity()
    }

    /// Bytes of an encoded key.
    fn key_bytes(&self) -> usize;

    /// 2^n − 1.
    fn max_alpha(&self) -> u128 {
        u128::MAX >> (128 - u32::from(self.domain_bits()))
    }
}

/// Makes one key pair for each alpha: party 0's keys, then party 1's.
///
/// # Arguments
/// `alphas`: n-bit integers. `betas`: [`KeyFormat::beta_elements`] group elements for each alpha,
/// in order. `rng`: the source of both parties' root seeds.
///
/// # Errors
/// [`SpecError::Length`] or [`SpecError::OutOfDomain`], naming the argument and its index.
///
/// # Security
/// Whoever calls this sees every alpha and beta: this is what a dealer does. No branch or index
/// depends on alpha, beta or a seed.
pub fn generate<F: KeyFormat>(
    format: &F,
    alphas: &[u128],
    betas: &[u128],
    rng: &mut impl CryptoRng,
) -> Result<[Keys<F>; 2], SpecError> {
    let mut fresh = || {
        let mut roots = Zeroizing::new(vec![Block::ZERO; alphas.len()]);
        rng.fill_bytes(bytemuck::cast_slice_mut(&mut roots));
        roots
    };
    let roots = [fresh(), fresh()];
    deterministic::generate_from_roots(format, alphas, betas, [&roots[0], &roots[1]])
}

/// What the shared code asks of a format.
mod sealed {
    use zeroize::Zeroizing;

    use super::KeyFormat;
    use super::engine::Engine;
    use super::wire::Reader;
    use super::words::{StoredKey, StoredKeyMut};
    use crate::block::Block;
    use crate::error::DecodeError;

    pub trait Internals: Copy {
        /// Tree, PRG and payload rule of Gen.
        fn generator(&self) -> Engine;

        /// The same of Eval, which may reduce outputs that Gen does not.
        fn evaluator(&self) -> Engine {
            self.generator()
        }

        /// Both parties' roots as their keys hold them.
        fn roots(&self, drawn: [Block; 2]) -> [Block; 2];

        /// Whether `beta` is an element of the output group in this format.
        fn accepts(&self, beta: u128) -> bool
        where
            Self: KeyFormat,
        {
            self.group().contains(beta)
        }

        /// What the tree pays at alpha: beta, unless leaves pack several points.
        fn payloads(&self, _alphas: &[u128], betas: &[u128]) -> Zeroizing<Vec<u128>> {
            Zeroizing::new(betas.to_vec())
        }

        /// Appends exactly `key_bytes` bytes.
        fn encode(&self, key: &StoredKey<'_>, out: &mut Vec<u8>);

        /// Fills a key from its bytes and refuses whatever `encode` cannot have written.
        fn decode(&self, bytes: &mut Reader<'_>, key: &mut StoredKeyMut<'_>) -> Result<(), DecodeError>;
    }
}
pub(crate) use sealed::Internals;
