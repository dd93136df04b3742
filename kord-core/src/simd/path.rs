//! One level of Gen for a pair of registers of keys, both parties at once.
//!
//! On alpha's path the parties' control bits always differ and the difference of their seeds is
//! the sum of both children's differences, so party 1's node is never computed by itself: the
//! state is party 0's node, the seeds' difference and party 0's control bit. That, and folding
//! the feed-forward into the next formula, is what makes the level fit beside the AES rounds.
//!
//! Names: E is an AES output without its feed-forward, `[s_0 L, s_0 R, s_1 L, s_1 R]` in order;
//! A is alpha's bit of this level as a mask.

use super::lanes::{Lanes, Schedule};
use super::{CLAMP, REGS};
use crate::block::Block;

/// The inputs of a full tile of keys, in memory.
#[derive(Clone, Copy)]
pub(super) struct Inputs<'a> {
    /// n: levels to walk.
    pub(super) levels: usize,
    /// Alphas of n bits.
    pub(super) alphas: &'a [u64],
    /// Both parties' roots, with any clamp bit.
    pub(super) roots: [&'a [Block]; 2],
    /// Payloads of one element: DCF keys, and DPF keys whose final word is computed here.
    pub(super) betas: &'a [Block],
}

/// The round keys of both sides and what the levels need beside them.
pub(super) struct PathKeys<L> {
    pub(super) left: Schedule<L>,
    pub(super) right: Schedule<L>,
    /// Turns the left whitening key into the right one.
    right_from_left: L,
    pub(super) clamp: L,
}

impl<L: Lanes> PathKeys<L> {
    #[inline(always)]
    pub(super) fn new(cpu: L::Cpu, left: &[u128; 11], right: &[u128; 11]) -> Self {
        Self {
            left: Schedule::splat(cpu, left),
            right: Schedule::splat(cpu, right),
            right_from_left: L::splat(cpu, left[0] ^ right[0]),
            clamp: L::splat(cpu, CLAMP),
        }
    }
}

/// The on-path nodes of `REGS` registers of keys.
pub(super) struct Path<L> {
    /// Party 0's nodes: seeds with their control bits in place.
    pub(super) node: [L; REGS],
    /// Party 0's seeds ⊕ party 1's, clamped.
    pub(super) difference: [L; REGS],
    /// Party 0's control bits as masks; party 1's are the complement.
    pub(super) control: [L; REGS],
    /// Alpha, shifted so that the next level's bit is on top.
    alpha: [L; REGS],
    /// t_R of the last level in bit 96, earlier ones below it, rotating.
    right: [L; REGS],
}

impl<L: Lanes> Path<L> {
    /// The roots of the keys from `first` on.
    #[inline(always)]
    pub(super) fn new(cpu: L::Cpu, keys: &PathKeys<L>, inputs: &Inputs<'_>, first: usize) -> Self {
        let zero = [L::splat(cpu, 0); REGS];
        let mut path = Self { node: zero, difference: zero, control: zero, alpha: zero, right: zero };
        for r in 0..REGS {
            let at = first + r * L::BLOCKS;
            let root0 = L::load(cpu, &inputs.roots[0][at..]);
            let root1 = L::load(cpu, &inputs.roots[1][at..]);
            path.node[r] = root0.clear(keys.clamp);
            path.difference[r] = L::xor_clear(root0, root1, keys.clamp);
            path.alpha[r] = L::spread(cpu, &inputs.alphas[at..]).shift_left(64 - inputs.levels as u32);
        }
        path
    }

    /// Both parties' seeds of register `r`.
    #[inline(always)]
    pub(super) fn seeds(&self, keys: &PathKeys<L>, r: usize) -> [L; 2] {
        let seed0 = self.node[r].clear(keys.clamp);
        [seed0, seed0.xor(self.difference[r])]
    }

    /// The t_R bits collected so far, in high halves; see [`right_bits`].
    #[inline(always)]
    pub(super) fn right(&self, r: usize) -> L {
        self.right[r]
    }

    /// AES inputs after the first key addition, in E's order.
    #[inline(always)]
    pub(super) fn whiten(&self, keys: &PathKeys<L>) -> [[L; REGS]; 4] {
        let mut states = [self.node; 4];
        for r in 0..REGS {
            let left = L::clear_xor(self.node[r], keys.clamp, keys.left.0[0]);
            let right = left.xor(keys.right_from_left);
            states[0][r] = left;
            states[1][r] = right;
            states[2][r] = left.xor(self.difference[r]);
            states[3][r] = right.xor(self.difference[r]);
        }
        states
    }

    /// A of this level, for register `r`; the next call gives the next level's.
    #[inline(always)]
    pub(super) fn next_alpha(&mut self, r: usize) -> L {
        let mask = self.alpha[r].sign();
        self.alpha[r] = self.alpha[r].add(self.alpha[r]);
        mask
    }

    /// From this level's nodes to the next, for register `r`. Returns the correction seed with
    /// t_L in its clamp bit.
    #[inline(always)]
    pub(super) fn step(&mut self, keys: &PathKeys<L>, r: usize, a: L, e: &[[L; REGS]; 4]) -> L {
        let clamp = keys.clamp;
        let left = L::xor3(e[0][r], e[2][r], self.difference[r]);
        let right = L::xor3(e[1][r], e[3][r], self.difference[r]);
        // The lost side's difference; in the clamp bit, the kept side's. A node that enters the
        // feed-forward with its control bit in place cancels the constant 1 in t_keep.
        let word = L::select(a.xor(clamp), left, right);
        let keep = L::select(a, e[1][r], e[0][r]);
        let corrected = L::xor_and(self.node[r], self.control[r], word);
        self.node[r] = keep.xor(corrected);
        self.control[r] = self.node[r].control();
        self.difference[r] = L::xor_clear(left, right, clamp);
        // t_R = right ⊕ a, t_L = left ⊕ ¬a.
        self.right[r] = L::select(clamp, right.xor(a), self.right[r].rotate_right());
        L::select_not(clamp, left.xor(a), word)
    }
}

/// Level i's t_R in bit i, from a high half of [`Path::right`] after `levels` levels: the last
/// level's is in bit 32 and each earlier one below it, rotating.
#[inline(always)]
pub(super) const fn right_bits(high: u64, levels: usize) -> u64 {
    high.rotate_left(levels as u32 + 31)
}
