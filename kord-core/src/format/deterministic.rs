//! Gen from given roots, in another library's format.
//!
//! # Security
//! Roots must be fresh, independent and pseudorandom for every key. Two keys from the same roots
//! with different alphas give both alphas away. Only dealers and known-answer tests have a reason
//! to be here.

use zeroize::Zeroizing;

use super::KeyFormat;
use super::keys::Keys;
use crate::block::Block;
use crate::error::SpecError;
use crate::party::Party;

/// Makes both parties' keys from `roots[party][key]`, 16 bytes as the library's generator draws
/// them; each format clears or sets the bits that it reserves.
///
/// # Errors
/// As [`super::generate`].
pub fn generate_from_roots<F: KeyFormat>(
    format: &F,
    alphas: &[u128],
    betas: &[u128],
    roots: [&[Block]; 2],
) -> Result<[Keys<F>; 2], SpecError> {
    check(format, alphas, betas, roots)?;
    let pairs = roots[0].iter().zip(roots[1]).map(|(r0, r1)| format.roots([*r0, *r1]));
    let pairs = Zeroizing::new(pairs.collect::<Vec<_>>());
    let [roots0, roots1] = [0, 1].map(|p| Zeroizing::new(pairs.iter().map(|r| r[p]).collect::<Vec<_>>()));
    let payloads = format.payloads(alphas, betas);
    let mut words0 = format.generator().generate(alphas, &payloads, [&roots0, &roots1]);
    let mut words1 = words0.clone();
    words0.roots = roots0;
    words1.roots = roots1;
    Ok([Keys::from_parts(*format, Party::P0, words0), Keys::from_parts(*format, Party::P1, words1)])
}

fn check<F: KeyFormat>(
    format: &F,
    alphas: &[u128],
    betas: &[u128],
    roots: [&[Block]; 2],
) -> Result<(), SpecError> {
    let count = alphas.len();
    let length = |what, have, want| {
        if have == want { Ok(()) } else { Err(SpecError::Length { what, have, want }) }
    };
    length("betas", betas.len(), count * format.beta_elements() as usize)?;
    length("roots of party 0", roots[0].len(), count)?;
    length("roots of party 1", roots[1].len(), count)?;
    // One comparison over the whole batch, so that time tells nothing about one value; only a
    // batch that is refused is searched for the index to name.
    let excess = alphas.iter().fold(0, |acc, a| acc | (a & !format.max_alpha()));
    if excess != 0 {
        let index = alphas.iter().position(|a| *a > format.max_alpha()).unwrap_or(0);
        return Err(SpecError::OutOfDomain { what: "alpha", index });
    }
    let refused = betas.iter().fold(false, |acc, b| acc | !format.accepts(*b));
    if refused {
        let index = betas.iter().position(|b| !format.accepts(*b)).unwrap_or(0);
        return Err(SpecError::OutOfDomain { what: "beta", index });
    }
    Ok(())
}
