//! The GGM tree, one level at a time over many independent keys.
//!
//! Generation and evaluation are written once, over any PRG, control-bit position and payload
//! rule, so that every key format shares them. The SIMD back ends repeat the default profile
//! faster; tests hold them to this code.

mod evaluate;
mod generate;

pub(crate) use evaluate::{CorrectionWords, Shape, Walk, eval_all, eval_points, walk_points};
pub(crate) use generate::{Nodes, dcf_walk, dpf_final_words, dpf_walk};

use crate::block::Block;
use crate::prg::Prg;

/// Keys walked together. 32 independent AES inputs fill every AES unit we know of.
pub(crate) const TILE: usize = 32;

/// How a format keeps control bits and seeds apart inside a 128-bit node.
#[derive(Clone, Copy)]
pub(crate) struct Tree<'a> {
    pub(crate) prg: &'a dyn Prg,
    /// Position of the control bit.
    control_bit: u32,
    /// Bits cleared from a node to make a seed.
    clamp: u128,
    /// Whether value blocks are clamped too before they are converted.
    clamp_values: bool,
}

impl<'a> Tree<'a> {
    /// KORD native and myl7/fss: the control bit is bit 96, seeds and values have 127 bits.
    pub(crate) const fn clamped_at_bit_96(prg: &'a dyn Prg) -> Self {
        Self { prg, control_bit: 96, clamp: 1 << 96, clamp_values: true }
    }

    /// LLAMA's DPFs: control bit 0.
    pub(crate) const fn clamped_at_bit_0(prg: &'a dyn Prg) -> Self {
        Self { prg, control_bit: 0, clamp: 1, clamp_values: false }
    }

    /// LLAMA's DCFs: control bit 0, bit 1 ignored; value blocks use all 128 bits.
    pub(crate) const fn clamped_at_bits_0_and_1(prg: &'a dyn Prg) -> Self {
        Self { prg, control_bit: 0, clamp: 3, clamp_values: false }
    }

    /// The seed of a node.
    pub(crate) fn seed(&self, node: Block) -> Block {
        Block::from_u128(node.to_u128() & !self.clamp)
    }

    /// The control bit of a node, as a mask: zero or all ones.
    pub(crate) fn control(&self, node: Block) -> u128 {
        ((node.to_u128() >> self.control_bit) & 1).wrapping_neg()
    }

    /// A seed with a control bit (0 or 1) put back.
    pub(crate) fn with_control(&self, seed: Block, bit: u8) -> Block {
        Block::from_u128(seed.to_u128() | (u128::from(bit) << self.control_bit))
    }

    fn value(&self, block: Block) -> Block {
        if self.clamp_values { self.seed(block) } else { block }
    }
}

/// One level's correction: a seed without control bits, and the two control-bit corrections
/// (0 or 1).
#[derive(Clone, Copy, Default)]
pub(crate) struct CorrectionWord {
    pub(crate) seed: Block,
    pub(crate) left: u8,
    pub(crate) right: u8,
}
