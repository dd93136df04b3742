//! One level of Eval for eight registers of walkers.
//!
//! A walker is a key and a point. The point is public, so its bit of a level may choose memory:
//! the four blocks of a register go left or right each for itself, and their round keys are read
//! from a table of all combinations of sides. Keys, seeds, control bits and outputs choose nothing.

use super::lanes::{Filler, Lanes, Schedule};
use super::{CLAMP, values::Values};
use crate::block::Block;
use crate::layout::Layout;

/// Registers in a group: AES chains in flight.
pub(super) const WALKERS: usize = 8;
/// Most walkers in a group.
pub(super) const MAX_GROUP: usize = WALKERS * 4;
/// Combinations of sides in the widest register.
const MAX_SIDES: usize = 16;

/// What the lanes of a register need that go to one combination of sides.
///
/// Walkers carry seeds with the seed key's whitening added. So the last round keys have that added
/// too, for the feed-forward; and a value key's first is what turns the one whitening into the
/// other.
#[derive(Clone, Copy)]
pub(super) struct Side<L> {
    pub(super) seed: Schedule<L>,
    pub(super) value: Schedule<L>,
    /// The clamp bits of lanes that go right.
    goes_right: L,
}

/// What all walkers share: a [`Side`] for each combination, bit b of the index being lane b's side.
pub(super) struct WalkKeys<L> {
    sides: [Side<L>; MAX_SIDES],
    clamp: L,
}

impl<L: Lanes> WalkKeys<L> {
    /// No keys yet.
    #[inline(always)]
    pub(super) fn empty(cpu: L::Cpu) -> Self {
        let zero = Schedule([L::splat(cpu, 0); 11]);
        Self {
            sides: [Side { seed: zero, value: zero, goes_right: zero.0[0] }; MAX_SIDES],
            clamp: L::splat(cpu, CLAMP),
        }
    }

    /// `seeds`, `values`: round keys of either side; a DPF has no values.
    #[inline(always)]
    pub(super) fn fill(&mut self, cpu: L::Cpu, seeds: [&[u128; 11]; 2], values: Option<[&[u128; 11]; 2]>) {
        for (index, side) in self.sides[..1 << L::BLOCKS].iter_mut().enumerate() {
            let lane = |b: usize| Block::from_u128(if (index >> b) & 1 == 1 { u128::MAX } else { 0 });
            side.goes_right = L::load(cpu, &[lane(0), lane(1), lane(2), lane(3)]);
        }
        for r in 0..11 {
            let added = |s: usize| if r == 10 { seeds[s][0] } else { 0 };
            let [left, right] =
                [L::splat(cpu, seeds[0][r] ^ added(0)), L::splat(cpu, seeds[1][r] ^ added(1))];
            for side in &mut self.sides[..1 << L::BLOCKS] {
                side.seed.0[r] = L::select(side.goes_right, right, left);
            }
            let Some(values) = values else { continue };
            let added = |s: usize| if r % 10 == 0 { seeds[s][0] } else { 0 };
            let [left, right] =
                [L::splat(cpu, values[0][r] ^ added(0)), L::splat(cpu, values[1][r] ^ added(1))];
            for side in &mut self.sides[..1 << L::BLOCKS] {
                side.value.0[r] = L::select(side.goes_right, right, left);
            }
        }
        for side in &mut self.sides[..1 << L::BLOCKS] {
            side.goes_right = side.goes_right.and(self.clamp);
        }
    }
}

/// The keys and points of a group, in memory. Unused walkers repeat another.
pub(super) struct Group {
    /// Each walker's key: its bytes and 16 more can be read.
    pub(super) keys: [*const u8; MAX_GROUP],
    /// Each walker's point, its first bit at bit 63.
    pub(super) points: [u64; MAX_GROUP],
}

/// Where a group's walkers are.
pub(super) struct Walkers<'a, L> {
    keys: &'a [*const u8; MAX_GROUP],
    /// Sides of all levels: fields of `BLOCKS` bits, the first level's on top.
    all_sides: [[u64; 4]; WALKERS],
    /// The sides of levels from the next on.
    sides: [u64; WALKERS],
    /// Where this level goes.
    pub(super) side: [&'a Side<L>; WALKERS],
    /// Seeds, clamped, with the whitening of this level added.
    pub(super) whitened: [L; WALKERS],
    /// Control bits as masks.
    pub(super) control: [L; WALKERS],
    /// t_R bits, this level's in bit 96 after one rotation.
    right: [L; WALKERS],
}

impl<'a, L: Lanes> Walkers<'a, L> {
    /// Levels whose sides fit a word.
    const LEVELS: usize = 64 / L::BLOCKS;

    /// Walkers at their roots. `control`: root control bits as a mask.
    ///
    /// # Safety
    /// Every key of the group can be read.
    #[inline(always)]
    pub(super) unsafe fn new(
        cpu: L::Cpu,
        keys: &'a WalkKeys<L>,
        layout: &Layout,
        control: u128,
        group: &'a Group,
    ) -> Self {
        let zero = [L::splat(cpu, 0); WALKERS];
        let mut walkers = Self {
            keys: &group.keys,
            all_sides: [[0; 4]; WALKERS],
            sides: [0; WALKERS],
            side: [&keys.sides[0]; WALKERS],
            whitened: zero,
            control: [L::splat(cpu, control); WALKERS],
            right: zero,
        };
        let field = u64::MAX / ((1 << L::BLOCKS) - 1);
        for r in 0..WALKERS {
            let mut right = [0; 4];
            for b in 0..L::BLOCKS {
                let (key, x) = (group.keys[r * L::BLOCKS + b], group.points[r * L::BLOCKS + b]);
                for word in 0..layout.domain_bits.div_ceil(Self::LEVELS) {
                    let bits = (x << (word * Self::LEVELS)) >> (64 - Self::LEVELS);
                    walkers.all_sides[r][word] |= L::deposit(cpu, bits, field << b);
                }
                // Level 0's bit is to be in bit 32 of a half after one rotation.
                // SAFETY: the t_R bytes and more can be read.
                right[b] =
                    unsafe { key.add(layout.right_bits).cast::<u64>().read_unaligned() }.rotate_left(33);
            }
            walkers.right[r] = L::spread(cpu, &right);
            walkers.sides[r] = walkers.all_sides[r][0];
            walkers.turn(keys, r);
            // SAFETY: the root seed begins a key.
            let root = unsafe { L::gather(cpu, &group.keys[r * L::BLOCKS..], 0) };
            walkers.whitened[r] = L::clear_xor(root, keys.clamp, walkers.side[r].seed.0[0]);
        }
        walkers
    }

    /// Takes the next level's sides of register `r`.
    #[inline(always)]
    fn turn(&mut self, keys: &'a WalkKeys<L>, r: usize) {
        let index = (self.sides[r] >> (64 - L::BLOCKS)) as usize;
        self.side[r] = &keys.sides[index & (MAX_SIDES - 1)];
        self.sides[r] <<= L::BLOCKS;
    }

    /// To be called before the step from `level` to the next.
    #[inline(always)]
    fn refill(&mut self, level: usize) {
        let next = level.wrapping_add(1);
        if next.is_multiple_of(Self::LEVELS) {
            for r in 0..WALKERS {
                self.sides[r] = self.all_sides[r][(next / Self::LEVELS) & 3];
            }
        }
    }

    /// The seed schedules of this level.
    #[inline(always)]
    pub(super) fn seed_schedules(&self) -> [&'a Schedule<L>; WALKERS] {
        let mut schedules = [&self.side[0].seed; WALKERS];
        for r in 1..WALKERS {
            schedules[r] = &self.side[r].seed;
        }
        schedules
    }

    /// The value schedules of this level.
    #[inline(always)]
    pub(super) fn value_schedules(&self) -> [&'a Schedule<L>; WALKERS] {
        let mut schedules = [&self.side[0].value; WALKERS];
        for r in 1..WALKERS {
            schedules[r] = &self.side[r].value;
        }
        schedules
    }

    /// Seeds of register `r` after the last level.
    #[inline(always)]
    pub(super) fn leaf(&self, r: usize) -> L {
        self.whitened[r].xor(self.side[r].seed.0[0])
    }
}

/// A level of a group as pieces to put between other AES rounds.
pub(super) struct Descend<'a, 'g, L: Lanes> {
    cpu: L::Cpu,
    keys: &'g WalkKeys<L>,
    walkers: &'a mut Walkers<'g, L>,
    /// The byte of the level's correction seed.
    offset: usize,
    /// AES outputs.
    states: [L; WALKERS],
}

impl<'a, 'g, L: Lanes> Descend<'a, 'g, L> {
    /// The step from `level`. After the last level the sides are of no consequence.
    #[inline(always)]
    pub(super) fn new(
        cpu: L::Cpu,
        keys: &'g WalkKeys<L>,
        walkers: &'a mut Walkers<'g, L>,
        level: usize,
        states: [L; WALKERS],
    ) -> Self {
        walkers.refill(level);
        Self { cpu, keys, walkers, offset: level.wrapping_mul(16).wrapping_add(16), states }
    }

    /// Everything at once.
    #[inline(always)]
    pub(super) fn run(&mut self) {
        for r in 0..WALKERS {
            self.register(r);
        }
    }

    #[inline(always)]
    fn register(&mut self, r: usize) {
        let walkers = &mut *self.walkers;
        // SAFETY: a key has a correction seed for every level.
        let word = unsafe { L::gather(self.cpu, &walkers.keys[r * L::BLOCKS..], self.offset) };
        walkers.right[r] = walkers.right[r].rotate_right();
        // The correction seed's clamp bit is t_L; lanes that go right need t_R.
        let word = L::select(walkers.side[r].goes_right, walkers.right[r], word);
        let forward = L::xor_and(walkers.whitened[r], walkers.control[r], word);
        let node = self.states[r].xor(forward);
        walkers.control[r] = node.spread_control().control_mask();
        walkers.turn(self.keys, r);
        walkers.whitened[r] = L::clear_xor(node, self.keys.clamp, walkers.side[r].seed.0[0]);
    }
}

impl<L: Lanes> Filler for Descend<'_, '_, L> {
    #[inline(always)]
    fn piece<const R: usize>(&mut self) {
        if R <= WALKERS {
            self.register(R - 1);
        }
    }
}

/// The values of a level of a DCF as pieces to put between the next level's AES rounds.
pub(super) struct Collect<'a, L: Lanes, V> {
    pub(super) cpu: L::Cpu,
    pub(super) keys: &'a [*const u8; MAX_GROUP],
    /// Where the level's value word begins in a key.
    pub(super) offset: usize,
    /// Whitened seeds and control bits before the level.
    pub(super) whitened: [L; WALKERS],
    pub(super) control: [L; WALKERS],
    /// Value blocks without their feed-forward.
    pub(super) blocks: [L; WALKERS],
    /// Sums so far, in low halves.
    pub(super) sums: &'a mut [L; WALKERS],
    pub(super) group: core::marker::PhantomData<V>,
}

impl<L: Lanes, V: Values> Collect<'_, L, V> {
    /// Everything at once.
    #[inline(always)]
    pub(super) fn run(&mut self) {
        for r in 0..WALKERS {
            self.register(r);
        }
    }

    #[inline(always)]
    fn register(&mut self, r: usize) {
        // SAFETY: a key has a value word for every level, and 16 bytes more can be read. Only
        // the low bits that belong to the word reach the low bits of the sum.
        let word = unsafe { L::gather(self.cpu, &self.keys[r * L::BLOCKS..], self.offset) };
        let value = self.blocks[r].xor(self.whitened[r]);
        let sum = V::add(value, word.and(self.control[r]));
        self.sums[r] = V::add(self.sums[r], sum);
    }
}

impl<L: Lanes, V: Values> Filler for Collect<'_, L, V> {
    #[inline(always)]
    fn piece<const R: usize>(&mut self) {
        if R <= WALKERS {
            self.register(R - 1);
        }
    }
}
