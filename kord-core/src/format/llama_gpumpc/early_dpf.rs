//! GPU-MPC's early-terminated DPF.

use zeroize::Zeroizing;

use super::super::engine::{Engine, RootControl};
use super::super::wire::Reader;
use super::super::words::{StoredKey, StoredKeyMut};
use super::super::{Internals, KeyFormat, Keys, ReusableKeys, llama};
use super::comparison::Comparison;
use super::{SENTINEL_BYTES, check_sentinel, decode_dpf, dpf_roots, encode_dpf, put_sentinel};
use crate::block::Block;
use crate::convert::Convert;
use crate::error::{DecodeError, SpecError};
use crate::group::{Group, mask, select};
use crate::prg::SeedKeyedAes;
use crate::tree::Tree;

/// GPU-MPC's DPF with early termination (`keyGenDPFET`): the bit 1 at alpha.
///
/// The tree stops seven levels early and a leaf is 128 points, the first in its most significant
/// bit. beta is fixed, so `betas` is empty; outputs are XOR shares of one bit.
///
/// # Encoding
/// What `send_dpfet_keypack` writes, little-endian, c' = 1, 2, 4 or 8 bytes for n bits.
///
/// | part | bytes |
/// |---|---|
/// | s\[0\]: root seed, bit 0 clear | 16 |
/// | s\[1..=n−7\]: correction seeds, bit 0 clear | 16 each |
/// | tLcw, tRcw: the control-bit corrections of level i in bit n − 1 − i | c' each |
/// | leaf: (s_0 ∨ t_0) ⊕ (s_1 ∨ t_1) ⊕ 2^(127 − alpha mod 128) | 16 |
/// | sentinel | 8 |
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EarlyDpfSpec {
    domain_bits: u8,
}

/// Bits of x that choose a point within a leaf.
pub(super) const LEAF_BITS: u8 = 7;

impl EarlyDpfSpec {
    /// Keys over `domain_bits` bits (bin).
    ///
    /// # Errors
    /// [`SpecError::DomainBits`] unless 8 ≤ bin ≤ 64.
    pub const fn new(domain_bits: u8) -> Result<Self, SpecError> {
        if let Err(error) = llama::check_domain(domain_bits, LEAF_BITS as u32 + 1) {
            return Err(error);
        }
        Ok(Self { domain_bits })
    }
}

/// A leaf as one 128-bit string.
struct WholeBlock;

impl Convert for WholeBlock {
    fn group(&self) -> Group {
        Group::BLOCK
    }

    fn arity(&self) -> usize {
        1
    }

    fn convert(&self, block: Block, out: &mut [u128]) {
        out.fill(block.to_u128());
    }
}

/// 2^(127 − index), without a shift by the secret index.
fn one_hot(index: u128) -> u128 {
    let mut bit = 1 << 127;
    for i in 0..LEAF_BITS {
        bit = select(mask(index >> i & 1 == 1), bit >> (1 << i), bit);
    }
    bit
}

impl KeyFormat for EarlyDpfSpec {
    fn name(&self) -> &'static str {
        "GPU-MPC early-terminated DPF"
    }

    fn domain_bits(&self) -> u8 {
        self.domain_bits
    }

    fn group(&self) -> Group {
        Group::BIT
    }

    fn arity(&self) -> u32 {
        1
    }

    fn beta_elements(&self) -> u32 {
        0
    }

    fn key_bytes(&self) -> usize {
        let blocks = usize::from(self.domain_bits - LEAF_BITS) + 2;
        16 * blocks + 2 * llama::container(self.domain_bits) + SENTINEL_BYTES
    }
}

impl Internals for EarlyDpfSpec {
    fn generator(&self) -> Engine {
        Engine {
            prg: Box::new(SeedKeyedAes),
            convert: Box::new(WholeBlock),
            tree: |prg| Tree::clamped_at_bit_0(prg),
            root_control: RootControl::Party,
            domain_bits: usize::from(self.domain_bits),
            levels: usize::from(self.domain_bits - LEAF_BITS),
            predicate: None,
        }
    }

    fn roots(&self, drawn: [Block; 2]) -> [Block; 2] {
        dpf_roots(drawn)
    }

    fn payloads(&self, alphas: &[u128], _betas: &[u128]) -> Zeroizing<Vec<u128>> {
        Zeroizing::new(alphas.iter().map(|alpha| one_hot(*alpha)).collect())
    }

    fn encode(&self, key: &StoredKey<'_>, out: &mut Vec<u8>) {
        encode_dpf(key, self.domain_bits, out);
        out.extend_from_slice(&leaf(key).to_bytes());
        put_sentinel(out);
    }

    fn decode(&self, bytes: &mut Reader<'_>, key: &mut StoredKeyMut<'_>) -> Result<(), DecodeError> {
        decode_dpf(bytes, self.domain_bits, key)?;
        key.last[0] = bytes.block()?.to_u128() ^ 1;
        check_sentinel(bytes)
    }
}

/// The leaf word as published: it also cancels the two control bits, of which one is set.
pub(crate) fn leaf(key: &StoredKey<'_>) -> Block {
    Block::from_u128(key.last[0] ^ 1)
}

impl Keys<EarlyDpfSpec> {
    /// XOR shares (0 or 1) of \[x < alpha\]; points as in [`Keys::evaluate`].
    ///
    /// # Errors
    /// As [`Keys::evaluate`].
    pub fn evaluate_lt(self, points: &[u128]) -> Result<Vec<u128>, SpecError> {
        self.into_reusable().evaluate_lt(points)
    }
}

impl ReusableKeys<EarlyDpfSpec> {
    /// As [`Keys::evaluate_lt`], without consuming the keys.
    ///
    /// # Errors
    /// As [`Keys::evaluate`].
    pub fn evaluate_lt(&self, points: &[u128]) -> Result<Vec<u128>, SpecError> {
        self.check(points)?;
        let keys = self.keys();
        let engine = keys.format().evaluator();
        let end = |last: bool, x: u128, leaf: u128, control: u128| below(last, x, leaf, control);
        Ok(Comparison::Below.evaluate(&engine, keys.party(), keys.words(), points, end))
    }
}

/// What a leaf adds to the parity of the points below alpha. `last`: the last bit of x that was
/// walked. The walk goes on into the half of the leaf that holds x, and there the bits up to x
/// or beyond it are counted, whichever side the walk's direction asks for.
fn below(last: bool, x: u128, leaf: u128, control: u128) -> u128 {
    let direction = x >> (LEAF_BITS - 1) & 1 == 1;
    let turned = if last == direction { 0 } else { control };
    let half = if direction { leaf as u64 } else { (leaf >> 64) as u64 };
    let q = (x % 64) as u32;
    let upto = u64::MAX << (63 - q);
    let counted = if direction { half & !upto } else { half & upto };
    (turned & 1) ^ u128::from(counted.count_ones() & 1)
}
