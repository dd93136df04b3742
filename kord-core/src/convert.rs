//! From a pseudorandom block to payload elements.
//!
//! Each format reads elements out of a block in its own way; the tree code asks only for
//! [`Convert`]. The native rule is in the crate documentation, "The native key".

use aes::Aes128;
use zeroize::Zeroize;

use crate::block::Block;
use crate::group::{Group, GroupKind};
use crate::prg::mmo;
use crate::spec::KeySpec;
use crate::{FixedKeyMmo, Prg};

/// How a format turns a block into payload elements, and the group they live in.
pub(crate) trait Convert: Send + Sync {
    /// The group in which Gen and Eval compute.
    fn group(&self) -> Group;
    /// Elements in a payload.
    fn arity(&self) -> usize;
    /// Fills `out` (`arity` elements, canonical) from `block`.
    fn convert(&self, block: Block, out: &mut [u128]);
}

/// Bytes of a block or expansion piece that payloads may use: the clamp bit is in byte 12.
const USABLE: usize = 12;
/// Pieces made by one AES call.
const PIECES: usize = 8;

/// The native rule: at most 96 bits come straight from the block; more are expanded.
pub(crate) struct NativeConvert {
    group: Group,
    arity: usize,
    direct: bool,
    expand: Aes128,
}

impl NativeConvert {
    pub(crate) fn new(spec: &KeySpec, prg: &FixedKeyMmo) -> Self {
        Self {
            group: spec.group(),
            arity: spec.arity() as usize,
            direct: spec.payload_is_direct(),
            expand: prg.expand.clone(),
        }
    }
}

impl Convert for NativeConvert {
    fn group(&self) -> Group {
        self.group
    }

    fn arity(&self) -> usize {
        self.arity
    }

    fn convert(&self, block: Block, out: &mut [u128]) {
        if self.direct {
            let bytes = block.to_bytes();
            let width = self.group.element_bytes();
            for (element, bytes) in out.iter_mut().zip(bytes[..USABLE].chunks_exact(width)) {
                *element = self.group.reduce_bytes(bytes);
            }
            return;
        }
        let width = sample_bytes(self.group);
        let mut pieces = Pieces::new(&self.expand, block);
        let mut bytes = [0; MAX_SAMPLE_BYTES];
        for element in out {
            pieces.read(&mut bytes[..width]);
            *element = self.group.reduce_bytes(&bytes[..width]);
        }
        bytes.zeroize();
    }
}

/// Bytes of an expanded stream that one element consumes: ⌈k/8⌉, or 64 bits more than the
/// modulus for Z_m, so that reduction is biased by at most 2^-64.
pub(crate) const fn sample_bytes(group: Group) -> usize {
    match group.kind() {
        GroupKind::Ring | GroupKind::Xor => group.element_bytes(),
        GroupKind::Modular => (group.bits() as usize + 64).div_ceil(8),
    }
}

/// The most that [`sample_bytes`] returns.
pub(crate) const MAX_SAMPLE_BYTES: usize = 24;

/// The expansion stream of a block b: bytes 0–11 of `AES_X(c) ⊕ c`, c = b ⊕ LE128(j + 1),
/// for j = 0, 1, ….
struct Pieces<'a> {
    aes: &'a Aes128,
    block: Block,
    next: u128,
    bytes: [u8; USABLE * PIECES],
    used: usize,
}

impl<'a> Pieces<'a> {
    fn new(aes: &'a Aes128, block: Block) -> Self {
        Self { aes, block, next: 1, bytes: [0; USABLE * PIECES], used: USABLE * PIECES }
    }

    fn refill(&mut self) {
        let mut inputs = [Block::ZERO; PIECES];
        let mut hashed = [Block::ZERO; PIECES];
        for (i, input) in (self.next..).zip(&mut inputs) {
            *input = self.block ^ Block::from_u128(i);
        }
        mmo(self.aes, &inputs, &mut hashed);
        for (piece, out) in hashed.iter().zip(self.bytes.chunks_exact_mut(USABLE)) {
            out.copy_from_slice(&piece.to_bytes()[..USABLE]);
        }
        self.next += PIECES as u128;
        self.used = 0;
        inputs.zeroize();
        hashed.zeroize();
    }

    fn read(&mut self, out: &mut [u8]) {
        let mut filled = 0;
        while filled < out.len() {
            if self.used == self.bytes.len() {
                self.refill();
            }
            let n = (out.len() - filled).min(self.bytes.len() - self.used);
            out[filled..filled + n].copy_from_slice(&self.bytes[self.used..self.used + n]);
            filled += n;
            self.used += n;
        }
    }
}

impl Drop for Pieces<'_> {
    fn drop(&mut self) {
        self.block.zeroize();
        self.bytes.zeroize();
    }
}

/// The native key profile: PRG and payload rule of a [`KeySpec`], made once a batch.
pub(crate) struct NativeProfile {
    pub(crate) prg: FixedKeyMmo,
    pub(crate) convert: NativeConvert,
}

impl NativeProfile {
    pub(crate) fn new(spec: &KeySpec) -> Self {
        let prg = FixedKeyMmo::new(spec.prg_keys());
        let convert = NativeConvert::new(spec, &prg);
        Self { prg, convert }
    }

    pub(crate) fn tree(&self) -> crate::tree::Tree<'_> {
        crate::tree::Tree::clamped_at_bit_96(&self.prg as &dyn Prg)
    }
}
