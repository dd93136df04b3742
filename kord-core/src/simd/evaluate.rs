//! Batches of Eval at points, tile by tile.

use core::marker::PhantomData;

use zeroize::{Zeroize, Zeroizing};

use super::EvalJob;
use super::lanes::{Lanes, encrypt_each};
use super::values::Values;
use super::walkers::{Collect, Descend, Group, MAX_GROUP, WALKERS, WalkKeys, Walkers};
use crate::block::Block;
use crate::layout::Layout;

/// The walkers of a batch, and the last key with room behind it.
struct Batch<'a> {
    job: EvalJob<'a>,
    layout: Layout,
    points_per_key: usize,
    last_key: Zeroizing<Vec<u8>>,
}

impl<'a> Batch<'a> {
    fn new(job: EvalJob<'a>) -> Self {
        let layout = Layout::new(job.spec);
        let mut last_key = Zeroizing::new(vec![0; layout.key_bytes + 16]);
        let last = job.keys.len().saturating_sub(layout.key_bytes);
        last_key[..layout.key_bytes].copy_from_slice(&job.keys[last..]);
        let points_per_key = job.points.len() / (job.keys.len() / layout.key_bytes);
        Self { job, layout, points_per_key, last_key }
    }

    /// Walkers `first` on, the last repeated where there are no more.
    fn group(&self, first: usize, len: usize) -> Group {
        let mut group = Group { keys: [core::ptr::null(); MAX_GROUP], points: [0; MAX_GROUP] };
        let last = self.job.points.len() - 1;
        let (mut key, mut used) =
            (first.min(last) / self.points_per_key, first.min(last) % self.points_per_key);
        for i in 0..len {
            let j = (first + i).min(last);
            group.keys[i] = self.key(key);
            group.points[i] = self.job.points[j] << (64 - self.layout.domain_bits);
            used += usize::from(j < last);
            if used == self.points_per_key {
                (key, used) = (key + 1, 0);
            }
        }
        group
    }

    /// Key `j`, of which 16 bytes beyond its end can be read.
    fn key(&self, j: usize) -> *const u8 {
        let start = j * self.layout.key_bytes;
        if start + self.layout.key_bytes < self.job.keys.len() {
            // The next key is longer than 16 bytes.
            self.job.keys[start..].as_ptr()
        } else {
            self.last_key.as_ptr()
        }
    }

    /// Writes the outputs of walkers `first` on.
    #[inline(always)]
    fn finish<V: Values>(&mut self, first: usize, group: &Group, leaves: &Leaves, len: usize) {
        let element = self.job.spec.group().max_element() as u64;
        let sign = self.job.party.sign_mask() as u64;
        let end = (first + len).min(self.job.points.len());
        let Some(out) = self.job.out.get_mut(first..end) else { return };
        for (i, out) in out.iter_mut().enumerate() {
            // SAFETY: the final word's bytes lie in the key, and 16 more can be read.
            let word = unsafe { group.keys[i].add(self.layout.final_word).cast::<u64>().read_unaligned() };
            let low = |blocks: &[Block; MAX_GROUP]| blocks[i].to_u128() as u64;
            let share = V::add_words(low(&leaves.seeds), u64::from_le(word) & low(&leaves.control));
            let share = V::add_words(low(&leaves.sums), share);
            *out = u128::from(V::neg_word_if(sign, share) & element);
        }
    }
}

/// Where a group's walks ended.
struct Leaves {
    seeds: [Block; MAX_GROUP],
    control: [Block; MAX_GROUP],
    sums: [Block; MAX_GROUP],
}

impl Leaves {
    const fn new() -> Self {
        let zero = [Block::ZERO; MAX_GROUP];
        Self { seeds: zero, control: zero, sums: zero }
    }

    #[inline(always)]
    fn fill<L: Lanes>(&mut self, walkers: &Walkers<'_, L>) {
        for r in 0..WALKERS {
            walkers.leaf(r).store(&mut self.seeds[r * L::BLOCKS..]);
            walkers.control[r].store(&mut self.control[r * L::BLOCKS..]);
        }
    }
}

impl Drop for Leaves {
    fn drop(&mut self) {
        self.seeds.zeroize();
        self.control.zeroize();
        self.sums.zeroize();
    }
}

/// DPF keys: two groups, one's level between the AES rounds of the other.
#[inline(always)]
pub(super) fn dpf<L: Lanes, V: Values>(cpu: L::Cpu, rounds: [&[u128; 11]; 2], job: EvalJob<'_>) {
    let mut keys = WalkKeys::<L>::empty(cpu);
    keys.fill(cpu, rounds, None);
    let (size, count, control) = (WALKERS * L::BLOCKS, job.points.len(), job.party.sign_mask());
    let mut batch = Batch::new(job);
    let (layout, mut leaves) = (batch.layout, Leaves::new());
    let (keys, levels) = (&keys, layout.domain_bits);
    for first in (0..count).step_by(2 * size) {
        let groups = [batch.group(first, size), batch.group(first + size, size)];
        // SAFETY: `Batch::group` names readable keys.
        let mut a = unsafe { Walkers::new(cpu, keys, &layout, control, &groups[0]) };
        // SAFETY: as before.
        let mut b = unsafe { Walkers::new(cpu, keys, &layout, control, &groups[1]) };
        let mut a_states = a.whitened;
        encrypt_each(&a.seed_schedules(), &mut a_states, &mut ());
        for level in 0..levels {
            let mut step = Descend::new(cpu, keys, &mut a, level, a_states);
            let mut b_states = b.whitened;
            encrypt_each(&b.seed_schedules(), &mut b_states, &mut step);
            let mut step = Descend::new(cpu, keys, &mut b, level, b_states);
            if level + 1 < levels {
                a_states = a.whitened;
                encrypt_each(&a.seed_schedules(), &mut a_states, &mut step);
            } else {
                step.run();
            }
        }
        for (g, (group, walkers)) in groups.iter().zip([&a, &b]).enumerate() {
            leaves.fill(walkers);
            batch.finish::<V>(first + g * size, group, &leaves, size);
        }
    }
}

/// DCF keys: one group, whose values hide behind the next level's seeds.
#[inline(always)]
pub(super) fn dcf<L: Lanes, V: Values>(cpu: L::Cpu, rounds: [&[u128; 11]; 4], job: EvalJob<'_>) {
    let [seed_left, value_left, seed_right, value_right] = rounds;
    let mut keys = WalkKeys::<L>::empty(cpu);
    keys.fill(cpu, [seed_left, seed_right], Some([value_left, value_right]));
    let (size, count, control) = (WALKERS * L::BLOCKS, job.points.len(), job.party.sign_mask());
    let mut batch = Batch::new(job);
    let (layout, mut leaves) = (batch.layout, Leaves::new());
    let (keys, levels) = (&keys, layout.domain_bits);
    for first in (0..count).step_by(size) {
        let group = batch.group(first, size);
        // SAFETY: `Batch::group` names readable keys.
        let mut walkers = unsafe { Walkers::new(cpu, keys, &layout, control, &group) };
        let mut sums = [L::splat(cpu, 0); WALKERS];
        let mut states = walkers.whitened;
        encrypt_each(&walkers.seed_schedules(), &mut states, &mut ());
        for level in 0..levels {
            let (whitened, control) = (walkers.whitened, walkers.control);
            let schedules = walkers.value_schedules();
            let mut blocks = whitened;
            for r in 0..WALKERS {
                blocks[r] = blocks[r].xor(schedules[r].0[0]);
            }
            let mut step = Descend::new(cpu, keys, &mut walkers, level, states);
            encrypt_each(&schedules, &mut blocks, &mut step);
            let offset = layout.values + level * layout.payload_bytes;
            let mut collect = Collect::<L, V> {
                cpu,
                keys: &group.keys,
                offset,
                whitened,
                control,
                blocks,
                sums: &mut sums,
                group: PhantomData,
            };
            if level + 1 < levels {
                states = walkers.whitened;
                encrypt_each(&walkers.seed_schedules(), &mut states, &mut collect);
            } else {
                collect.run();
            }
        }
        for (r, sum) in sums.iter().enumerate() {
            sum.store(&mut leaves.sums[r * L::BLOCKS..]);
        }
        leaves.fill(&walkers);
        batch.finish::<V>(first, &group, &leaves, size);
    }
}
