//! One level of Gen for a pair of registers of keys, both parties at once.
//!
//! On alpha's path the parties' control bits always differ and the difference of their seeds is
//! the sum of both children's differences, so party 1's node is never computed by itself: the
//! state is party 0's node, the seeds' difference and party 0's control bit. That, and folding
//! the feed-forward into the next formula, is what makes the level fit beside the AES rounds.
//!
//! Names: E is an AES output without its feed-forward, `[s_0 L, s_0 R, s_1 L, s_1 R]` in order;
//! A is alpha's bit of this level as a mask.

use super::lanes::{Filler, Lanes, Schedule};
use super::slots::Slots;
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
}

/// A level of a group as pieces to put between another group's AES rounds: corrects the nodes,
/// writes the correction seeds and whitens the next level's AES inputs.
pub(super) struct Step<'a, 'b, L> {
    keys: &'a PathKeys<L>,
    path: &'a mut Path<L>,
    slots: &'a mut Slots<'b>,
    /// The group's first key, and the byte of its correction seed.
    first: usize,
    offset: usize,
    /// E before, the whitened states of the next level after.
    states: &'a mut [[L; REGS]; 4],
    /// A of this level.
    pub(super) alpha: [L; REGS],
    left: [L; REGS],
    right: [L; REGS],
    keep: [L; REGS],
    word: [L; REGS],
    spare: [L; REGS],
}

impl<'a, 'b, L: Lanes> Step<'a, 'b, L> {
    /// # Safety
    /// The group's keys, `first` on, lie in `slots` and have more than `level` correction seeds.
    #[inline(always)]
    pub(super) unsafe fn new(
        keys: &'a PathKeys<L>,
        path: &'a mut Path<L>,
        slots: &'a mut Slots<'b>,
        (first, level): (usize, usize),
        states: &'a mut [[L; REGS]; 4],
    ) -> Self {
        let any = path.node;
        let offset = level.wrapping_mul(16).wrapping_add(16);
        Self {
            keys,
            path,
            slots,
            first,
            offset,
            states,
            alpha: any,
            left: any,
            right: any,
            keep: any,
            word: any,
            spare: any,
        }
    }

    /// Everything at once.
    #[inline(always)]
    pub(super) fn run(&mut self) {
        self.piece::<1>();
        self.piece::<2>();
        self.piece::<3>();
        self.piece::<4>();
        self.piece::<5>();
        self.piece::<6>();
        self.piece::<7>();
        self.piece::<8>();
        self.piece::<9>();
    }
}

impl<L: Lanes> Filler for Step<'_, '_, L> {
    #[inline(always)]
    fn piece<const R: usize>(&mut self) {
        let (keys, path) = (self.keys, &mut *self.path);
        let clamp = keys.clamp;
        for r in 0..REGS {
            match R {
                1 => {
                    let e = &*self.states;
                    self.left[r] = L::xor3(e[0][r], e[2][r], path.difference[r]);
                    self.right[r] = L::xor3(e[1][r], e[3][r], path.difference[r]);
                    self.alpha[r] = path.alpha[r].sign();
                }
                2 => {
                    let e = &*self.states;
                    self.word[r] = self.alpha[r].xor(clamp);
                    self.keep[r] = L::select(self.alpha[r], e[1][r], e[0][r]);
                    path.alpha[r] = path.alpha[r].add(path.alpha[r]);
                }
                // The lost side's difference; in the clamp bit, the kept side's. A node that enters
                // the feed-forward with its control bit in place cancels the constant 1 in t_keep.
                3 => {
                    self.word[r] = L::select(self.word[r], self.left[r], self.right[r]);
                    path.difference[r] = L::xor_clear(self.left[r], self.right[r], clamp);
                    self.spare[r] = self.left[r].xor(self.alpha[r]);
                }
                4 => {
                    path.node[r] = L::xor_and(path.node[r], path.control[r], self.word[r]);
                    // t_L = left ⊕ ¬a.
                    self.word[r] = L::select_not(clamp, self.spare[r], self.word[r]);
                    path.right[r] = path.right[r].rotate_right();
                }
                5 => {
                    path.node[r] = self.keep[r].xor(path.node[r]);
                    // t_R = right ⊕ a.
                    self.right[r] = self.right[r].xor(self.alpha[r]);
                }
                6 => {
                    self.states[0][r] = L::clear_xor(path.node[r], clamp, keys.left.0[0]);
                    self.spare[r] = path.node[r].spread_control();
                    path.right[r] = L::select(clamp, self.right[r], path.right[r]);
                }
                7 => {
                    self.states[1][r] = self.states[0][r].xor(keys.right_from_left);
                    self.states[2][r] = self.states[0][r].xor(path.difference[r]);
                }
                8 => path.control[r] = self.spare[r].control_mask(),
                9 => self.states[3][r] = self.states[1][r].xor(path.difference[r]),
                _ => {}
            }
        }
        match R {
            5 => self.put(0),
            7 => self.put(1),
            _ => {}
        }
    }
}

impl<L: Lanes> Step<'_, '_, L> {
    /// Writes the correction seeds of register `r`.
    #[inline(always)]
    fn put(&mut self, r: usize) {
        // SAFETY: as `new`'s caller vouches.
        unsafe { self.slots.put(self.first + r * L::BLOCKS, self.offset, self.word[r]) }
    }
}

/// Level i's t_R in bit i, from a high half of [`Path::right`] after `levels` levels: the last
/// level's is in bit 32 and each earlier one below it, rotating.
#[inline(always)]
pub(super) const fn right_bits(high: u64, levels: usize) -> u64 {
    high.rotate_left(levels as u32 + 31)
}
