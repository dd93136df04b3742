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

/// Round keys for every combination of sides: bit b of the index is lane b's side.
///
/// Walkers carry seeds with the seed key's whitening added. So the last round key has that added
/// too, for the feed-forward; and a value key's first is what turns the one whitening into the
/// other.
pub(super) struct SideKeys<L>([Schedule<L>; MAX_SIDES]);

impl<L: Lanes> SideKeys<L> {
    /// `rounds`: the keys of either side. `seeds`: for value keys, the seed keys of either side.
    #[inline(always)]
    pub(super) fn new(cpu: L::Cpu, rounds: [&[u128; 11]; 2], seeds: Option<[&[u128; 11]; 2]>) -> Self {
        let mut keys = [Schedule([L::splat(cpu, 0); 11]); MAX_SIDES];
        for sides in 0..1 << L::BLOCKS {
            for r in 0..11 {
                let mut lanes = [Block::ZERO; 4];
                for (b, lane) in lanes.iter_mut().enumerate() {
                    let side = (sides >> b) & 1;
                    let added = match (r, seeds) {
                        (0, Some(seeds)) | (10, Some(seeds)) => seeds[side][0],
                        (10, None) => rounds[side][0],
                        _ => 0,
                    };
                    *lane = Block::from_u128(rounds[side][r] ^ added);
                }
                keys[sides].0[r] = L::load(cpu, &lanes);
            }
        }
        Self(keys)
    }
}

/// What all walkers share.
pub(super) struct WalkKeys<L> {
    pub(super) seeds: SideKeys<L>,
    clamp: L,
    /// The clamp bits of lanes that go right.
    goes_right: [L; MAX_SIDES],
}

impl<L: Lanes> WalkKeys<L> {
    #[inline(always)]
    pub(super) fn new(cpu: L::Cpu, rounds: [&[u128; 11]; 2]) -> Self {
        let mut goes_right = [L::splat(cpu, 0); MAX_SIDES];
        for (sides, mask) in goes_right.iter_mut().enumerate() {
            let mut lanes = [Block::ZERO; 4];
            for (b, lane) in lanes.iter_mut().enumerate() {
                *lane = Block::from_u128(if (sides >> b) & 1 == 1 { CLAMP } else { 0 });
            }
            *mask = L::load(cpu, &lanes);
        }
        Self { seeds: SideKeys::new(cpu, rounds, None), clamp: L::splat(cpu, CLAMP), goes_right }
    }
}

/// The keys and points of a group, in memory. Unused walkers repeat another.
pub(super) struct Group {
    /// Each walker's key: its bytes and 16 more can be read.
    pub(super) keys: [*const u8; MAX_GROUP],
    /// Each walker's point, its first bit at bit 63.
    pub(super) points: [u64; MAX_GROUP],
}

/// Sides of every level: fields of `BLOCKS` bits, the first level's on top.
type Sides = [[u64; 4]; WALKERS];

/// Where a group's walkers are.
pub(super) struct Walkers<'a, L> {
    keys: &'a [*const u8; MAX_GROUP],
    sides: Sides,
    /// Seeds, clamped, with the seed key of their next level's side added.
    pub(super) whitened: [L; WALKERS],
    /// Control bits as masks.
    pub(super) control: [L; WALKERS],
    /// t_R bits, this level's in bit 96 after one rotation.
    right: [L; WALKERS],
}

impl<'a, L: Lanes> Walkers<'a, L> {
    /// Walkers at their roots. `control`: root control bits as a mask.
    ///
    /// # Safety
    /// Every key of the group can be read.
    #[inline(always)]
    pub(super) unsafe fn new(
        cpu: L::Cpu,
        keys: &WalkKeys<L>,
        layout: &Layout,
        control: u128,
        group: &'a Group,
    ) -> Self {
        let zero = [L::splat(cpu, 0); WALKERS];
        let control = [L::splat(cpu, control); WALKERS];
        let mut walkers =
            Self { keys: &group.keys, sides: [[0; 4]; WALKERS], whitened: zero, control, right: zero };
        let levels = 64 / L::BLOCKS;
        let field = u64::MAX / ((1 << L::BLOCKS) - 1);
        for r in 0..WALKERS {
            let lanes = r * L::BLOCKS..(r + 1) * L::BLOCKS;
            let mut right = [0; 4];
            for (b, (key, x)) in group.keys[lanes.clone()].iter().zip(&group.points[lanes.clone()]).enumerate() {
                for word in 0..L::BLOCKS {
                    let bits = (x << (word * levels)) >> (64 - levels);
                    walkers.sides[r][word] |= L::deposit(cpu, bits, field << b);
                }
                // Level 0's bit is to be in bit 32 of a half after one rotation.
                // SAFETY: the t_R bytes and more can be read.
                right[b] = unsafe { key.add(layout.right_bits).cast::<u64>().read_unaligned() }.rotate_left(33);
            }
            walkers.right[r] = L::spread(cpu, &right);
            // SAFETY: the root seed begins a key.
            let root = unsafe { L::gather(cpu, &group.keys[lanes]) };
            let whitening = keys.seeds.0[walkers.sides(r, 0)].0[0];
            walkers.whitened[r] = L::clear_xor(root, keys.clamp, whitening);
        }
        walkers
    }

    /// The sides of register `r`'s walkers at a level below 64.
    #[inline(always)]
    fn sides(&self, r: usize, level: usize) -> usize {
        let levels = 64 / L::BLOCKS;
        let shift = 64 - L::BLOCKS * (level % levels + 1);
        (self.sides[r][level / levels] >> shift) as usize & ((1 << L::BLOCKS) - 1)
    }

    /// The schedules of a level.
    #[inline(always)]
    pub(super) fn schedules<'k>(&self, keys: &'k SideKeys<L>, level: usize) -> [&'k Schedule<L>; WALKERS] {
        let mut schedules = [&keys.0[0]; WALKERS];
        for (r, schedule) in schedules.iter_mut().enumerate() {
            *schedule = &keys.0[self.sides(r, level)];
        }
        schedules
    }
}

/// A level of a group as pieces to put between other AES rounds.
pub(super) struct Descend<'a, 'g, L: Lanes> {
    pub(super) cpu: L::Cpu,
    pub(super) keys: &'a WalkKeys<L>,
    pub(super) walkers: &'a mut Walkers<'g, L>,
    pub(super) levels: usize,
    pub(super) level: usize,
    /// AES outputs before, the next level's inputs after. After the last level: nodes.
    pub(super) states: &'a mut [L; WALKERS],
}

impl<L: Lanes> Descend<'_, '_, L> {
    /// Everything at once.
    #[inline(always)]
    pub(super) fn run(&mut self) {
        for r in 0..WALKERS {
            self.register(r);
        }
    }

    #[inline(always)]
    fn register(&mut self, r: usize) {
        let (walkers, level) = (&mut *self.walkers, self.level);
        let keys = &walkers.keys[r * L::BLOCKS..(r + 1) * L::BLOCKS];
        let mut seeds = [core::ptr::null(); 4];
        for (seed, key) in seeds.iter_mut().zip(keys) {
            *seed = key.wrapping_add(level.wrapping_mul(16).wrapping_add(16));
        }
        // SAFETY: a key has a correction seed for every level.
        let word = unsafe { L::gather(self.cpu, &seeds) };
        walkers.right[r] = walkers.right[r].rotate_right();
        // The correction seed's clamp bit is t_L; lanes that go right need t_R.
        let mask = self.keys.goes_right[walkers.sides(r, level)];
        let word = L::select(mask, walkers.right[r], word);
        let forward = L::xor_and(walkers.whitened[r], walkers.control[r], word);
        let node = self.states[r].xor(forward);
        walkers.control[r] = node.spread_control().control_mask();
        let next = if level + 1 < self.levels { walkers.sides(r, level + 1) } else { 0 };
        walkers.whitened[r] = L::clear_xor(node, self.keys.clamp, self.keys.seeds.0[next].0[0]);
        self.states[r] = walkers.whitened[r];
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

impl<L: Lanes> Walkers<'_, L> {
    /// Seeds of register `r` after the last level.
    #[inline(always)]
    pub(super) fn leaf(&self, keys: &WalkKeys<L>, r: usize) -> L {
        self.whitened[r].xor(keys.seeds.0[0].0[0])
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
        let mut words = [core::ptr::null(); 4];
        for (word, key) in words.iter_mut().zip(&self.keys[r * L::BLOCKS..(r + 1) * L::BLOCKS]) {
            *word = key.wrapping_add(self.offset);
        }
        // SAFETY: a key has a value word for every level, and 16 bytes more can be read. Only
        // the low bits that belong to the word reach the low bits of the sum.
        let word = unsafe { L::gather(self.cpu, &words) };
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
