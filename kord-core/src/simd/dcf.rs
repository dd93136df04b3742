//! DCF Gen: the walk of one tile, with values of at most 64 bits.

use core::marker::PhantomData;

use super::REGS;
use super::lanes::{Filler, Lanes, Schedule, encrypt};
use super::path::{Inputs, Path, PathKeys, Step};
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

    /// The AES inputs of values, from the whitened ones of seeds.
    #[inline(always)]
    fn whiten_values(&self, seeds: &[[L; REGS]; 4]) -> [[L; REGS]; 4] {
        let mut values = *seeds;
        for r in 0..REGS {
            values[0][r] = seeds[0][r].xor(self.value_from_left[0]);
            values[1][r] = seeds[0][r].xor(self.value_from_left[1]);
            values[2][r] = seeds[2][r].xor(self.value_from_left[0]);
            values[3][r] = seeds[2][r].xor(self.value_from_left[1]);
        }
        values
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
    let mut e = path.whiten(&keys.path);
    let mut v = keys.whiten_values(&e);
    encrypt(&keys.path.left, &keys.path.right, &mut e, &mut ());
    for level in 0..inputs.levels {
        let before = (path.node, path.difference, path.control);
        // SAFETY: the tile's shape is checked above.
        let mut step = unsafe { Step::new(&keys.path, &mut path, slots, (0, level), &mut e) };
        encrypt(&keys.value_left, &keys.value_right, &mut v, &mut step);
        let alpha = step.alpha;
        let mut pay = Pay::<L, V>::new(keys, &mut payout, alpha, before, v, &mut words);
        if level + 1 < inputs.levels {
            v = keys.whiten_values(&e);
            encrypt(&keys.path.left, &keys.path.right, &mut e, &mut pay);
        } else {
            pay.run();
        }
        put_words::<L>(layout, slots, level, &words);
    }
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

/// A level's value words as pieces to put between the AES rounds of the next level's seeds.
struct Pay<'a, L, V> {
    keys: &'a DcfKeys<L>,
    payout: &'a mut Payout<L>,
    words: &'a mut Words,
    /// A of the level.
    alpha: [L; REGS],
    /// Nodes, differences and control bits before the level.
    node: [L; REGS],
    difference: [L; REGS],
    control: [L; REGS],
    /// E of the value keys.
    v: [[L; REGS]; 4],
    keep: [L; REGS],
    owed: [L; REGS],
    group: PhantomData<V>,
}

impl<'a, L: Lanes, V: Values> Pay<'a, L, V> {
    #[inline(always)]
    fn new(
        keys: &'a DcfKeys<L>,
        payout: &'a mut Payout<L>,
        alpha: [L; REGS],
        (node, difference, control): ([L; REGS], [L; REGS], [L; REGS]),
        v: [[L; REGS]; 4],
        words: &'a mut Words,
    ) -> Self {
        let (keep, owed, group) = (node, node, PhantomData);
        Self { keys, payout, words, alpha, node, difference, control, v, keep, owed, group }
    }

    /// Everything at once.
    #[inline(always)]
    fn run(&mut self) {
        self.piece::<1>();
        self.piece::<2>();
        self.piece::<3>();
        self.piece::<4>();
        self.piece::<5>();
        self.piece::<6>();
        self.piece::<7>();
        self.piece::<8>();
    }
}

impl<L: Lanes, V: Values> Filler for Pay<'_, L, V> {
    #[inline(always)]
    fn piece<const R: usize>(&mut self) {
        let (v, payout) = (&mut self.v, &mut *self.payout);
        for r in 0..REGS {
            match R {
                1 => {
                    v[0][r] = v[0][r].xor(self.node[r]);
                    v[2][r] = L::xor3(v[2][r], self.node[r], self.difference[r]);
                }
                2 => {
                    v[1][r] = v[1][r].xor(self.node[r]);
                    v[3][r] = L::xor3(v[3][r], self.node[r], self.difference[r]);
                }
                // Party 0's value less party 1's, on each side.
                3 => {
                    v[0][r] = V::sub(v[0][r], v[2][r]);
                    v[1][r] = V::sub(v[1][r], v[3][r]);
                    self.owed[r] = L::and_xor(payout.beta[r], self.alpha[r], self.keys.greater);
                }
                4 => {
                    let lose = L::select(self.alpha[r], v[0][r], v[1][r]);
                    self.owed[r] = V::sub(self.owed[r], lose);
                }
                5 => self.keep[r] = L::select(self.alpha[r], v[1][r], v[0][r]),
                // Party 1's sign is the complement of party 0's control bit.
                6 => {
                    let negated = V::sub(payout.paid[r], self.owed[r]);
                    v[0][r] = V::neg_if(self.control[r], negated);
                }
                7 => payout.paid[r] = V::add(self.owed[r], self.keep[r]),
                8 if r == 0 => {
                    // Low halves are the words; high halves hold nothing of use.
                    let words = L::interleave_low(v[0][0], v[0][1]);
                    words.and(self.keys.element).store(self.words);
                }
                _ => {}
            }
        }
    }
}
