//! Batch key generation in the native format.
//!
//! [`generate`] draws fresh roots. Its deterministic twin, [`deterministic`], takes them: chips
//! and known-answer tests need that, applications do not.

pub mod deterministic;
mod portable;

use rand::CryptoRng;
use zeroize::Zeroizing;

use crate::block::Block;
use crate::error::SpecError;
use crate::key_batch::KeyBatch;
use crate::spec::KeySpec;

/// Makes one key pair for each alpha: party 0's keys, then party 1's.
///
/// # Arguments
/// `alphas`: n-bit integers. `betas`: `arity` group elements for each alpha, in order. `rng`: the
/// source of both parties' root seeds.
///
/// # Errors
/// [`SpecError::Length`] or [`SpecError::OutOfDomain`], naming the argument and its index.
///
/// # Security
/// Whoever calls this sees every alpha and beta: this is what a dealer does. No branch or index
/// depends on alpha, beta or a seed. Source: BGI16 (DPF), BGI21 (DCF).
pub fn generate(
    spec: &KeySpec,
    alphas: &[u64],
    betas: &[u128],
    rng: &mut impl CryptoRng,
) -> Result<[KeyBatch; 2], SpecError> {
    let mut root = || {
        let mut bytes = Zeroizing::new([0; 16]);
        rng.fill_bytes(bytes.as_mut());
        Block::from_bytes(*bytes)
    };
    let mut fresh = || Zeroizing::new((0..alphas.len()).map(|_| root()).collect::<Vec<_>>());
    let roots = [fresh(), fresh()];
    deterministic::generate_from_roots(spec, alphas, betas, [&roots[0], &roots[1]])
}
