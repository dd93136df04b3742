//! Gen from given roots.
//!
//! # Security
//! Roots must be fresh, independent and pseudorandom for every key. Two keys from the same roots
//! with different alphas give both alphas away. Only chips, dealers and known-answer tests have a
//! reason to be here.

use super::portable;
use crate::block::Block;
use crate::error::SpecError;
use crate::key_batch::KeyBatch;
use crate::party::Party;
use crate::secret_bytes::SecretBytes;
use crate::simd::{self, Backend, GenJob};
use crate::spec::KeySpec;

/// Makes both parties' keys from `roots[party][key]`, whose clamp bits are ignored.
///
/// # Errors
/// As [`super::generate`].
pub fn generate_from_roots(
    spec: &KeySpec,
    alphas: &[u64],
    betas: &[u128],
    roots: [&[Block]; 2],
) -> Result<[KeyBatch; 2], SpecError> {
    let key0 = generate_party(spec, alphas, betas, roots, Party::P0)?;
    // Correction words are common: only the root differs.
    let mut bytes = SecretBytes::copy_of(key0.as_bytes());
    for (key, root) in bytes.chunks_exact_mut(spec.key_bytes()).zip(roots[1]) {
        key[..16].copy_from_slice(&clamp(*root).to_bytes());
    }
    Ok([key0, KeyBatch::from_parts(*spec, Party::P1, bytes)])
}

/// Makes only `party`'s keys: what a chip emits.
///
/// # Errors
/// As [`super::generate`].
pub fn generate_party(
    spec: &KeySpec,
    alphas: &[u64],
    betas: &[u128],
    roots: [&[Block]; 2],
    party: Party,
) -> Result<KeyBatch, SpecError> {
    let mut bytes = SecretBytes::zeroed(alphas.len() * spec.key_bytes());
    generate_into(spec, alphas, betas, roots, party, &mut bytes)?;
    Ok(KeyBatch::from_parts(*spec, party, bytes))
}

/// As [`generate_party`], into a buffer of exactly `alphas.len() · key_bytes` bytes whose old
/// contents do not matter. For streaming: one buffer serves any number of batches.
///
/// # Errors
/// As [`super::generate`].
pub fn generate_into(
    spec: &KeySpec,
    alphas: &[u64],
    betas: &[u128],
    roots: [&[Block]; 2],
    party: Party,
    out: &mut [u8],
) -> Result<(), SpecError> {
    generate_into_with(Backend::detect(), spec, alphas, betas, roots, party, out)
}

/// As [`generate_into`] with a back end of the caller's choice, for tests and benchmarks. What
/// that back end cannot do is left to the portable code. Every back end writes the same bytes.
///
/// # Errors
/// As [`super::generate`].
pub fn generate_into_with(
    backend: Backend,
    spec: &KeySpec,
    alphas: &[u64],
    betas: &[u128],
    roots: [&[Block]; 2],
    party: Party,
    out: &mut [u8],
) -> Result<(), SpecError> {
    check(spec, alphas, betas, roots, out)?;
    let job = GenJob { spec, alphas, betas, roots, party, out };
    if let Some(job) = simd::generate(backend, job) {
        portable::generate(job);
    }
    Ok(())
}

fn clamp(root: Block) -> Block {
    Block::from_u128(root.to_u128() & !(1 << 96))
}

fn check(
    spec: &KeySpec,
    alphas: &[u64],
    betas: &[u128],
    roots: [&[Block]; 2],
    out: &[u8],
) -> Result<(), SpecError> {
    let count = alphas.len();
    let length = |what, have, want| {
        if have == want { Ok(()) } else { Err(SpecError::Length { what, have, want }) }
    };
    length("betas", betas.len(), count * spec.arity() as usize)?;
    length("roots of party 0", roots[0].len(), count)?;
    length("roots of party 1", roots[1].len(), count)?;
    length("key buffer", out.len(), count * spec.key_bytes())?;
    // One comparison over the whole batch, so that time tells nothing about one alpha; only a
    // batch that is refused is searched for the index to name.
    let group = spec.group();
    let excess = alphas.iter().fold(0, |acc, a| acc | (a & !spec.max_alpha()));
    if excess != 0 {
        let index = alphas.iter().position(|a| *a > spec.max_alpha()).unwrap_or(0);
        return Err(SpecError::OutOfDomain { what: "alpha", index });
    }
    if !group.contains_all(betas.iter().copied()) {
        let index = betas.iter().position(|b| !group.contains(*b)).unwrap_or(0);
        return Err(SpecError::OutOfDomain { what: "beta", index });
    }
    Ok(())
}
