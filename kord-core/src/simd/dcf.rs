//! DCF Gen: the walk of one tile, with values of at most 64 bits.

use super::REGS;
use super::lanes::{Lanes, Schedule};
use super::path::{Inputs, Path, PathKeys};
use super::slots::Slots;
use super::values::Values;
use crate::block::Block;
use crate::layout::Layout;

/// Keys in a tile: one group, because the rounds of values and of seeds hide each other's
/// arithmetic.
pub(super) const fn tile<L: Lanes>() -> usize {
    REGS * L::BLOCKS
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
    /// The bits of a payload element, in low halves.
    element: L,
}

impl<L: Lanes> DcfKeys<L> {
    /// `rounds`: round keys of S_L, V_L, S_R, V_R. `element`: mask of an element's bits.
    #[inline(always)]
    pub(super) fn new(cpu: L::Cpu, rounds: [&[u128; 11]; 4], greater: bool, element: u64) -> Self {
        let [seed_left, value_left, seed_right, value_right] = rounds;
        Self {
            path: PathKeys::new(cpu, seed_left, seed_right),
            value_left: Schedule::splat(cpu, value_left),
            value_right: Schedule::splat(cpu, value_right),
            value_from_left: [
                L::splat(cpu, value_left[0] ^ seed_left[0]),
                L::splat(cpu, value_right[0] ^ seed_left[0]),
            ],
            greater: L::splat(cpu, if greater { u128::MAX } else { 0 }),
            element: L::splat(cpu, u128::from(element) * ((1 << 64) + 1)),
        }
    }
}

/// What each path owes and has paid, in low halves.
struct Payout<L> {
    beta: [L; REGS],
    paid: [L; REGS],
}

/// The value words of a level: key i's in the low half of block i, key BLOCKS + i's in the high.
type Words = [Block; 4];

/// Walks a full tile and writes its correction seeds and value words. Returns the leaves and what
/// each path has paid.
#[inline(always)]
pub(super) fn walk<L: Lanes, V: Values>(
    cpu: L::Cpu,
    keys: &DcfKeys<L>,
    inputs: &Inputs<'_>,
    layout: &Layout,
    slots: &mut Slots<'_>,
) -> (Path<L>, [L; REGS]) {
    slots.check(tile::<L>(), inputs.levels);
    let mut path = Path::new(cpu, &keys.path, inputs, 0);
    let mut payout = Payout { beta: [L::splat(cpu, 0); REGS], paid: [L::splat(cpu, 0); REGS] };
    for r in 0..REGS {
        payout.beta[r] = L::load(cpu, &inputs.betas[r * L::BLOCKS..]);
    }
    let mut words: Words = [Block::ZERO; 4];
    for level in 0..inputs.levels {
        let mut e = path.whiten(&keys.path);
        let mut v = e;
        for r in 0..REGS {
            v[0][r] = e[0][r].xor(keys.value_from_left[0]);
            v[1][r] = e[0][r].xor(keys.value_from_left[1]);
            v[2][r] = e[2][r].xor(keys.value_from_left[0]);
            v[3][r] = e[2][r].xor(keys.value_from_left[1]);
        }
        L::encrypt(&keys.path.left, &keys.path.right, &mut e);
        let (node, difference, control) = (path.node, path.difference, path.control);
        let mut alpha = path.node;
        for r in 0..REGS {
            alpha[r] = path.next_alpha(r);
            let word = path.step(&keys.path, r, alpha[r], &e);
            // SAFETY: the tile's shape is checked above.
            unsafe { slots.put(r * L::BLOCKS, level.wrapping_mul(16).wrapping_add(16), word) }
        }
        // The level before's, which have long left their registers.
        if level > 0 {
            put_words::<L>(layout, slots, level - 1, &words);
        }
        L::encrypt(&keys.value_left, &keys.value_right, &mut v);
        let mut word = path.node;
        for r in 0..REGS {
            word[r] = payout.step::<V>(keys, r, alpha[r], (node[r], difference[r], control[r]), &v);
        }
        let word = L::interleave_low(word[0], word[1]).and(keys.element);
        word.store(&mut words);
    }
    put_words::<L>(layout, slots, inputs.levels - 1, &words);
    (path, payout.paid)
}

#[inline(always)]
fn put_words<L: Lanes>(layout: &Layout, slots: &mut Slots<'_>, level: usize, words: &Words) {
    let (width, offset) = (layout.payload_bytes, layout.values + level * layout.payload_bytes);
    for (i, pair) in words[..L::BLOCKS].iter().enumerate() {
        let pair = pair.to_u128();
        slots.put_word(i, offset, pair as u64, width);
        slots.put_word(L::BLOCKS + i, offset, (pair >> 64) as u64, width);
    }
}

impl<L: Lanes> Payout<L> {
    /// The value words of register `r`: in low halves; high halves hold nothing of use. The node,
    /// difference and control bits are those before the level.
    #[inline(always)]
    fn step<V: Values>(
        &mut self,
        keys: &DcfKeys<L>,
        r: usize,
        a: L,
        (node, difference, control): (L, L, L),
        v: &[[L; REGS]; 4],
    ) -> L {
        // Party 0's value less party 1's, on each side.
        let left = V::sub(v[0][r].xor(node), L::xor3(v[2][r], node, difference));
        let right = V::sub(v[1][r].xor(node), L::xor3(v[3][r], node, difference));
        let (keep, lose) = (L::select(a, right, left), L::select(a, left, right));
        let owed = V::sub(L::and_xor(self.beta[r], a, keys.greater), lose);
        // Party 1's sign is the complement of party 0's control bit.
        let word = V::neg_if(control, V::sub(self.paid[r], owed));
        self.paid[r] = V::add(owed, keep);
        word
    }
}
