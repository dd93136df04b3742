//! LLAMA as rewritten for GPU-MPC (Orca, SIGMA): EzPC `GPU-MPC/ext/sytorch/ext/llama`,
//! commit f24bf3e, the CPU code.
//!
//! Its integers are plain `uint64_t`: Gen never reduces modulo 2^bout, and the wire carries the
//! low 8, 16, 32 or 64 bits of words modulo 2^64. Keys here hold the same words; outputs are
//! reduced modulo 2^bout. Every key on the wire ends with the sentinel 42 as a 64-bit integer.
//!
//! The CUDA key buffers of the same repository are another format.

mod comparison;
mod dcf;
mod dpf;
mod early_dpf;

pub use dcf::DcfSpec;
pub use dpf::DpfSpec;
pub use early_dpf::EarlyDpfSpec;
#[cfg(feature = "vectors")]
pub(crate) use early_dpf::leaf;

use super::llama;
use super::wire::Reader;
use super::words::{StoredKey, StoredKeyMut};
use crate::block::Block;
use crate::error::DecodeError;
use crate::tree::{CorrectionWord, CorrectionWords};

const SENTINEL: u64 = 42;
const SENTINEL_BYTES: usize = 8;

fn put_sentinel(out: &mut Vec<u8>) {
    out.extend_from_slice(&SENTINEL.to_le_bytes());
}

fn check_sentinel(bytes: &mut Reader<'_>) -> Result<(), DecodeError> {
    if bytes.integer(SENTINEL_BYTES)? == SENTINEL {
        return Ok(());
    }
    Err(DecodeError::Field { field: "sentinel", problem: "not 42, so the parameters are not this key's" })
}

/// The seeds of a DPF: lowest bit cleared.
fn dpf_roots(drawn: [Block; 2]) -> [Block; 2] {
    drawn.map(|root| Block::from_u128(root.to_u128() & !1))
}

/// tLcw and tRcw of a DPF key: the bits of a level at the weight of alpha's bit there.
pub(crate) fn control_words(key: &StoredKey<'_>, domain_bits: u8) -> [u64; 2] {
    let mut words = [0; 2];
    for level in 0..key.seeds.len() {
        let word = key.word(level);
        let shift = usize::from(domain_bits) - 1 - level;
        words[0] |= u64::from(word.left) << shift;
        words[1] |= u64::from(word.right) << shift;
    }
    words
}

/// Root, correction seeds, tLcw, tRcw.
fn encode_dpf(key: &StoredKey<'_>, domain_bits: u8, out: &mut Vec<u8>) {
    out.extend_from_slice(&key.root.to_bytes());
    for seed in key.seeds {
        out.extend_from_slice(&seed.to_bytes());
    }
    for word in control_words(key, domain_bits) {
        llama::put_integer(out, word, domain_bits);
    }
}

fn decode_dpf(
    bytes: &mut Reader<'_>,
    domain_bits: u8,
    key: &mut StoredKeyMut<'_>,
) -> Result<(), DecodeError> {
    for (i, seed) in core::iter::once(&mut *key.root).chain(&mut *key.seeds).enumerate() {
        *seed = bytes.block()?;
        if seed.to_u128() & 1 != 0 {
            let field = if i == 0 { "s[0]" } else { "s" };
            return Err(DecodeError::Field { field, problem: "lowest bit is set" });
        }
    }
    let container = llama::container(domain_bits);
    let words = [("tLcw", bytes.integer(container)?), ("tRcw", bytes.integer(container)?)];
    let levels = key.seeds.len();
    let unused = !(u64::MAX >> (64 - levels) << (usize::from(domain_bits) - levels));
    for (field, word) in words {
        if word & unused != 0 {
            return Err(DecodeError::Field { field, problem: "bits of no level are set" });
        }
    }
    for level in 0..levels {
        let [left, right] = words.map(|(_, w)| (w >> (usize::from(domain_bits) - 1 - level) & 1) as u8);
        key.put_word(level, &CorrectionWord { seed: key.seeds[level], left, right });
    }
    Ok(())
}
