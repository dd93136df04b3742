//! One level of Gen for a few registers of keys, both parties at once.
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
use zeroize::Zeroize;

/// Keys whose walks may share a tile: `REGS` registers of the widest kind, twice.
pub(super) const MAX_TILE: usize = 16;

/// What a tile of keys starts from and ends with, in memory.
pub(super) struct Tile {
    /// Alpha, its first bit at bit 63, in both halves.
    pub(super) alpha: [Block; MAX_TILE],
    /// Both parties' seeds, clamped: roots before a walk, leaves after it.
    pub(super) seeds: [[Block; MAX_TILE]; 2],
    /// Party 0's control bits as masks, after a walk.
    pub(super) control: [Block; MAX_TILE],
    /// t_R bits without alpha's part, in the high half, rotated (see [`right_bits`]).
    pub(super) right: [Block; MAX_TILE],
    /// DCF: beta, in the low half.
    pub(super) beta: [Block; MAX_TILE],
    /// DCF: what each path has paid out, in the low half.
    pub(super) paid: [Block; MAX_TILE],
}

impl Tile {
    pub(super) const fn new() -> Self {
        let zero = [Block::ZERO; MAX_TILE];
        Self { alpha: zero, seeds: [zero; 2], control: zero, right: zero, beta: zero, paid: zero }
    }
}

impl Drop for Tile {
    fn drop(&mut self) {
        self.alpha.zeroize();
        self.seeds.zeroize();
        self.control.zeroize();
        self.right.zeroize();
        self.beta.zeroize();
        self.paid.zeroize();
    }
}

/// t_R of every level, level i in bit i: what [`step`] collected is in `right`'s high half, bit
/// 32 holding the last level and earlier levels below it (rotating), still without alpha's bits.
#[inline(always)]
pub(super) fn right_bits(right: Block, alpha: u64, levels: u32) -> u64 {
    let collected = ((right.to_u128() >> 64) as u64).rotate_left(levels + 31);
    // `alpha` has its first bit at bit 63, so reversed it lies at bit 0.
    collected ^ alpha.reverse_bits()
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
    right: [L; REGS],
}

impl<L: Lanes> Path<L> {
    /// The roots of the keys from `first` on.
    #[inline(always)]
    pub(super) fn new(cpu: L::Cpu, tile: &Tile, first: usize) -> Self {
        let zero = L::splat(cpu, 0);
        let mut path = Self {
            node: [zero; REGS],
            difference: [zero; REGS],
            control: [zero; REGS],
            alpha: [zero; REGS],
            right: [zero; REGS],
        };
        for r in 0..REGS {
            let at = first + r * L::BLOCKS;
            path.node[r] = L::load(cpu, &tile.seeds[0][at..]);
            path.difference[r] = path.node[r].xor(L::load(cpu, &tile.seeds[1][at..]));
            path.alpha[r] = L::load(cpu, &tile.alpha[at..]);
        }
        path
    }

    /// The leaves, back to memory.
    #[inline(always)]
    pub(super) fn finish(self, keys: &PathKeys<L>, tile: &mut Tile, first: usize) {
        for r in 0..REGS {
            let at = first + r * L::BLOCKS;
            let seed = self.node[r].clear(keys.clamp);
            seed.store(&mut tile.seeds[0][at..]);
            seed.xor(self.difference[r]).store(&mut tile.seeds[1][at..]);
            self.control[r].store(&mut tile.control[at..]);
            self.right[r].store(&mut tile.right[at..]);
        }
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
        // t_L = left ⊕ ¬a.
        let published = L::select_not(clamp, left.xor(a), word);
        self.right[r] = L::select(clamp, right, self.right[r].rotate_right());
        let keep = L::select(a, e[1][r], e[0][r]);
        let corrected = L::xor_and(self.node[r], self.control[r], word);
        self.node[r] = keep.xor(corrected);
        self.difference[r] = L::xor_clear(left, right, clamp);
        self.control[r] = self.node[r].control();
        published
    }
}
