//! DCF Gen: the walk of one tile, with values of at most 64 bits.

use super::lanes::{Lanes, Schedule, encrypt};
use super::path::{Path, PathKeys, Tile};
use super::slots::Slots;
use super::{DCF_GROUPS, REGS};
use crate::block::Block;

/// The most value words of a tile, as blocks of two.
pub(super) const MAX_WORDS: usize = 64 * DCF_GROUPS * 4;

/// Where key `j`'s value word of a level lies among a tile's, in 64-bit words. Registers 0 and 1
/// of a group take turns.
#[inline(always)]
pub(super) const fn word_index<L: Lanes>(level: usize, j: usize) -> usize {
    let per_group = REGS * L::BLOCKS;
    let (g, r, lane) = (j / per_group, j / L::BLOCKS % REGS, j % L::BLOCKS);
    (level * DCF_GROUPS + g) * per_group + 2 * lane + r
}

/// A group of values: the ring of 64-bit integers, or 64-bit strings. Narrower groups are the low
/// bits of these.
pub(super) trait Values {
    /// a + b.
    fn add<L: Lanes>(a: L, b: L) -> L;
    /// a − b.
    fn sub<L: Lanes>(a: L, b: L) -> L;
    /// −a where `mask` is set.
    fn neg_if<L: Lanes>(mask: L, a: L) -> L;
    /// −a where `mask` is set, for one element.
    fn neg_if_64(mask: u64, a: u64) -> u64;
    /// a + b for one element.
    fn add_64(a: u64, b: u64) -> u64;
    /// a − b for one element.
    fn sub_64(a: u64, b: u64) -> u64;
}

/// Integers modulo 2^64.
pub(super) struct Ring;
/// Strings under XOR.
pub(super) struct Xor;

impl Values for Ring {
    #[inline(always)]
    fn add<L: Lanes>(a: L, b: L) -> L {
        a.add(b)
    }
    #[inline(always)]
    fn sub<L: Lanes>(a: L, b: L) -> L {
        a.sub(b)
    }
    #[inline(always)]
    fn neg_if<L: Lanes>(mask: L, a: L) -> L {
        a.xor(mask).sub(mask)
    }
    #[inline(always)]
    fn neg_if_64(mask: u64, a: u64) -> u64 {
        (a ^ mask).wrapping_sub(mask)
    }
    #[inline(always)]
    fn add_64(a: u64, b: u64) -> u64 {
        a.wrapping_add(b)
    }
    #[inline(always)]
    fn sub_64(a: u64, b: u64) -> u64 {
        a.wrapping_sub(b)
    }
}

impl Values for Xor {
    #[inline(always)]
    fn add<L: Lanes>(a: L, b: L) -> L {
        a.xor(b)
    }
    #[inline(always)]
    fn sub<L: Lanes>(a: L, b: L) -> L {
        a.xor(b)
    }
    #[inline(always)]
    fn neg_if<L: Lanes>(_: L, a: L) -> L {
        a
    }
    #[inline(always)]
    fn neg_if_64(_: u64, a: u64) -> u64 {
        a
    }
    #[inline(always)]
    fn add_64(a: u64, b: u64) -> u64 {
        a ^ b
    }
    #[inline(always)]
    fn sub_64(a: u64, b: u64) -> u64 {
        a ^ b
    }
}

/// The round keys of a DCF walk.
pub(super) struct DcfKeys<L> {
    pub(super) path: PathKeys<L>,
    value_left: Schedule<L>,
    value_right: Schedule<L>,
    /// Turns the left seed's whitening key into each side's value key.
    value_from_left: [L; 2],
    /// All ones for x > alpha, whose lost side pays where alpha's bit is 0.
    greater: L,
}

impl<L: Lanes> DcfKeys<L> {
    /// `rounds`: round keys of S_L, V_L, S_R, V_R.
    #[inline(always)]
    pub(super) fn new(cpu: L::Cpu, rounds: [&[u128; 11]; 4], greater: bool) -> Self {
        let [seed_left, value_left, seed_right, value_right] = rounds;
        Self {
            path: PathKeys::new(cpu, seed_left, seed_right),
            value_left: Schedule::splat(cpu, value_left),
            value_right: Schedule::splat(cpu, value_right),
            value_from_left: [value_left, value_right].map(|v| L::splat(cpu, v[0] ^ seed_left[0])),
            greater: L::splat(cpu, if greater { u128::MAX } else { 0 }),
        }
    }
}

/// A group's payouts.
struct Payout<L> {
    beta: [L; REGS],
    paid: [L; REGS],
}

/// Walks a full tile, `DCF_GROUPS · REGS · BLOCKS` keys: correction seeds to `slots`, value words
/// (not yet cut to the element's bits) to `words`, see [`word_index`].
#[inline(always)]
pub(super) fn walk<L: Lanes, V: Values>(
    cpu: L::Cpu,
    keys: &DcfKeys<L>,
    levels: usize,
    tile: &mut Tile,
    slots: &mut Slots<'_>,
    words: &mut [Block; MAX_WORDS],
) {
    let mut paths: [Path<L>; DCF_GROUPS] =
        core::array::from_fn(|g| Path::new(cpu, tile, g * REGS * L::BLOCKS));
    let mut payouts: [Payout<L>; DCF_GROUPS] = core::array::from_fn(|g| {
        let mut payout = Payout { beta: [L::splat(cpu, 0); REGS], paid: [L::splat(cpu, 0); REGS] };
        for r in 0..REGS {
            payout.beta[r] = L::load(cpu, &tile.beta[(g * REGS + r) * L::BLOCKS..]);
        }
        payout
    });
    let aes = [&keys.path.left, &keys.path.right, &keys.path.left, &keys.path.right];
    let value_aes = [&keys.value_left, &keys.value_right, &keys.value_left, &keys.value_right];
    for level in 0..levels {
        for g in 0..DCF_GROUPS {
            let (path, payout) = (&mut paths[g], &mut payouts[g]);
            let mut e = path.whiten(&keys.path);
            let mut v = e;
            for r in 0..REGS {
                for side in 0..2 {
                    v[side][r] = e[0][r].xor(keys.value_from_left[side]);
                    v[2 + side][r] = e[2][r].xor(keys.value_from_left[side]);
                }
            }
            encrypt(aes, &mut e);
            let seeds = (path.node, path.difference);
            let control = path.control;
            let mut alpha = path.node;
            for r in 0..REGS {
                alpha[r] = path.next_alpha(r);
                let word = path.step(&keys.path, r, alpha[r], &e);
                slots.put((g * REGS + r) * L::BLOCKS, 16 + 16 * level, word);
            }
            encrypt(value_aes, &mut v);
            let mut word = path.node;
            for r in 0..REGS {
                word[r] = payout.step::<V>(keys, r, alpha[r], control[r], (seeds.0[r], seeds.1[r]), &v);
            }
            L::interleave_low(word[0], word[1]).store(&mut words[(level * DCF_GROUPS + g) * L::BLOCKS..]);
        }
    }
    for (g, (path, payout)) in paths.into_iter().zip(payouts).enumerate() {
        path.finish(&keys.path, tile, g * REGS * L::BLOCKS);
        for r in 0..REGS {
            payout.paid[r].store(&mut tile.paid[(g * REGS + r) * L::BLOCKS..]);
        }
    }
}

impl<L: Lanes> Payout<L> {
    /// The value word of register `r`: in low halves; high halves hold nothing of use. `control`
    /// and `seeds` (party 0's, difference) are those before the level.
    #[inline(always)]
    fn step<V: Values>(
        &mut self,
        keys: &DcfKeys<L>,
        r: usize,
        a: L,
        control: L,
        seeds: (L, L),
        v: &[[L; REGS]; 4],
    ) -> L {
        // Party 0's value less party 1's, on each side.
        let gap = |side: usize| {
            let value0 = v[side][r].xor(seeds.0);
            V::sub(value0, L::xor3(v[2 + side][r], seeds.0, seeds.1))
        };
        let (left, right) = (gap(0), gap(1));
        let (keep, lose) = (L::select(a, right, left), L::select(a, left, right));
        let owed = V::sub(L::and_xor(self.beta[r], a, keys.greater), lose);
        // Party 1's sign is the complement of party 0's control bit.
        let word = V::neg_if(control, V::sub(self.paid[r], owed));
        self.paid[r] = V::add(owed, keep);
        word
    }
}
