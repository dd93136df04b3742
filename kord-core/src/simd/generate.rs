//! Batches of Gen, tile by tile.

use zeroize::{Zeroize, Zeroizing};

use super::dcf::{self, DcfKeys};
use super::dpf;
use super::lanes::Lanes;
use super::path::{Inputs, Path, PathKeys, right_bits};
use super::slots::Slots;
use super::values::Values;
use super::{GenJob, REGS};
use crate::block::Block;
use crate::convert::NativeProfile;
use crate::layout::Layout;
use crate::secret_bytes::SecretBytes;
use crate::spec::{Predicate, Scheme};
use crate::tree::{self, Nodes, TILE};

/// A batch in tiles. A last tile that is not full is filled up and made beside the batch.
struct Tiles<'a> {
    job: GenJob<'a>,
    layout: Layout,
    size: usize,
    last: Padded,
}

/// The inputs and keys of a last tile that is not full.
struct Padded {
    alphas: Zeroizing<Vec<u64>>,
    roots: [Zeroizing<Vec<Block>>; 2],
    betas: Zeroizing<Vec<Block>>,
    keys: SecretBytes,
}

impl Padded {
    fn new(job: &GenJob<'_>, layout: &Layout, size: usize) -> Self {
        let count = job.alphas.len();
        let len = if count.is_multiple_of(size) { 0 } else { size };
        fn pad<T: Copy + Default + Zeroize>(from: &[T], len: usize) -> Zeroizing<Vec<T>> {
            let mut padded = Zeroizing::new(vec![T::default(); len]);
            padded.iter_mut().zip(from).for_each(|(to, from)| *to = *from);
            padded
        }
        let first = count / size * size;
        Self {
            alphas: pad(&job.alphas[first..], len),
            roots: job.roots.map(|roots| pad(&roots[first..], len)),
            betas: if job.spec.arity() == 1 { pad(&blocks(job.betas)[first..], len) } else { pad(&[], 0) },
            keys: SecretBytes::zeroed(len * layout.key_bytes),
        }
    }
}

fn blocks(betas: &[u128]) -> &[Block] {
    bytemuck::cast_slice(betas)
}

impl<'a> Tiles<'a> {
    fn new(job: GenJob<'a>, size: usize) -> Self {
        let layout = Layout::new(job.spec);
        let last = Padded::new(&job, &layout, size);
        Self { job, layout, size, last }
    }

    /// The tile that begins at key `first`.
    #[inline(always)]
    fn tile(&mut self, first: usize) -> (Inputs<'_>, Slots<'_>) {
        let (end, stride) = (first + self.size, self.layout.key_bytes);
        let levels = self.layout.domain_bits;
        if end > self.job.alphas.len() {
            let Padded { alphas, roots: [root0, root1], betas, keys } = &mut self.last;
            let inputs = Inputs { levels, alphas, roots: [root0, root1], betas };
            return (inputs, Slots::new(keys, stride, self.size));
        }
        let [root0, root1] = self.job.roots;
        let inputs = Inputs {
            levels,
            alphas: &self.job.alphas[first..end],
            roots: [&root0[first..end], &root1[first..end]],
            betas: blocks(self.job.betas.get(first..end).unwrap_or_default()),
        };
        (inputs, Slots::new(&mut self.job.out[first * stride..end * stride], stride, self.size))
    }

    /// Copies a last tile that is not full to where it belongs.
    fn finish(&mut self) {
        let start =
            self.job.out.len() / (self.size * self.layout.key_bytes) * self.size * self.layout.key_bytes;
        let rest = &mut self.job.out[start..];
        if !rest.is_empty() {
            rest.copy_from_slice(&self.last.keys[..rest.len()]);
        }
    }
}

/// What a tile's keys end with: final words in low halves, t_R in high halves.
type Ends = [Block; 2 * REGS * 4];

/// Writes this party's roots of a group, whose first key is `first`.
#[inline(always)]
fn put_roots<L: Lanes>(
    cpu: L::Cpu,
    keys: &PathKeys<L>,
    roots: &[Block],
    slots: &mut Slots<'_>,
    first: usize,
) {
    for r in 0..REGS {
        let at = first + r * L::BLOCKS;
        // SAFETY: the walk has checked the tile, which the group is part of.
        unsafe { slots.put(at, 0, L::load(cpu, &roots[at..]).clear(keys.clamp)) }
    }
}

/// ±(owed − s_0 + s_1) of register `r`, negated where party 1's control bit is set, that is where
/// party 0's is not; below it t_R.
#[inline(always)]
fn end<L: Lanes, V: Values>(cpu: L::Cpu, keys: &PathKeys<L>, path: &Path<L>, r: usize, owed: L) -> L {
    let [seed0, seed1] = path.seeds(keys, r);
    let negated = V::sub(V::sub(seed0, seed1), owed);
    let word = V::neg_if(path.control[r], negated);
    L::select(L::splat(cpu, u128::from(u64::MAX)), word, path.right(r))
}

/// Writes t_R and final words of `count` keys; with value words between them already written or
/// not.
#[inline(always)]
fn put_ends(layout: &Layout, element: u64, ends: &Ends, slots: &mut Slots<'_>, count: usize, values: bool) {
    let (levels, width) = (layout.domain_bits, layout.payload_bytes);
    for (j, end) in ends[..count].iter().enumerate() {
        let (word, right) = (end.to_u128() as u64, (end.to_u128() >> 64) as u64);
        let right = right_bits(right, levels);
        if values {
            slots.merge_word(j, layout.right_bits, right, levels.div_ceil(8));
        } else {
            slots.put_word(j, layout.right_bits, right, levels.div_ceil(8));
        }
        slots.merge_word(j, layout.final_word, word & element, width);
    }
}

/// DPF keys whose payload is one element of at most 64 bits, read straight from a block.
#[inline(always)]
pub(super) fn dpf<L: Lanes, V: Values>(cpu: L::Cpu, rounds: [&[u128; 11]; 2], job: GenJob<'_>) {
    let keys = PathKeys::<L>::new(cpu, rounds[0], rounds[1]);
    let (size, count, party) = (dpf::tile::<L>(), job.alphas.len(), job.party.index());
    let element = job.spec.group().max_element() as u64;
    let mut tiles = Tiles::new(job, size);
    let layout = tiles.layout;
    let mut ends: Ends = [Block::ZERO; 16];
    for first in (0..count).step_by(size) {
        let (inputs, mut slots) = tiles.tile(first);
        let paths = dpf::walk(cpu, &keys, &inputs, &mut slots);
        for (g, path) in paths.iter().enumerate() {
            put_roots(cpu, &keys, inputs.roots[party], &mut slots, g * REGS * L::BLOCKS);
            for r in 0..REGS {
                let at = (g * REGS + r) * L::BLOCKS;
                let beta = L::load(cpu, &inputs.betas[at..]);
                end::<L, V>(cpu, &keys, path, r, beta).store(&mut ends[at..]);
            }
        }
        put_ends(&layout, element, &ends, &mut slots, size, false);
    }
    tiles.finish();
}

/// DPF keys of any payload: the walk here, the final word from the portable code.
#[inline(always)]
pub(super) fn dpf_any<L: Lanes>(cpu: L::Cpu, rounds: [&[u128; 11]; 2], job: GenJob<'_>) {
    let keys = PathKeys::<L>::new(cpu, rounds[0], rounds[1]);
    let (size, count, party) = (dpf::tile::<L>(), job.alphas.len(), job.party.index());
    let (betas, group, arity) = (job.betas, job.spec.group(), job.spec.arity() as usize);
    let convert = NativeProfile::new(job.spec).convert;
    let mut words = Zeroizing::new(vec![0; size * arity]);
    let mut nodes = Nodes { seeds: [[Block::ZERO; TILE]; 2], control: [[0; TILE]; 2] };
    let mut tiles = Tiles::new(job, size);
    let layout = tiles.layout;
    let mut right = [Block::ZERO; 16];
    for first in (0..count).step_by(size) {
        let (inputs, mut slots) = tiles.tile(first);
        let paths = dpf::walk(cpu, &keys, &inputs, &mut slots);
        for (g, path) in paths.iter().enumerate() {
            put_roots(cpu, &keys, inputs.roots[party], &mut slots, g * REGS * L::BLOCKS);
            for r in 0..REGS {
                let at = (g * REGS + r) * L::BLOCKS;
                let [seed0, seed1] = path.seeds(&keys, r);
                seed0.store(&mut nodes.seeds[0][at..]);
                seed1.store(&mut nodes.seeds[1][at..]);
                path.control[r].store(bytemuck::cast_slice_mut(&mut nodes.control[0][at..]));
                path.right(r).store(&mut right[at..]);
            }
        }
        for j in 0..size {
            nodes.control[1][j] = !nodes.control[0][j];
        }
        let len = size.min(count - first);
        let words = &mut words[..len * arity];
        tree::dpf_final_words(&convert, &nodes, &betas[first * arity..][..len * arity], words);
        for (j, word) in words.chunks_exact(arity).enumerate() {
            let bits = right_bits((right[j].to_u128() >> 64) as u64, layout.domain_bits);
            slots.merge_word(j, layout.right_bits, bits, layout.domain_bits.div_ceil(8));
            layout.put_final(slots.key(j), group, word);
        }
    }
    tiles.finish();
}

/// DCF keys whose payload is one element of at most 64 bits, read straight from a block.
#[inline(always)]
pub(super) fn dcf<L: Lanes, V: Values>(cpu: L::Cpu, rounds: [&[u128; 11]; 4], job: GenJob<'_>) {
    let greater = job.spec.scheme() == Scheme::Dcf(Predicate::Gt);
    let element = job.spec.group().max_element() as u64;
    let keys = DcfKeys::<L>::new(cpu, rounds, greater, element);
    let (size, count, party) = (dcf::tile::<L>(), job.alphas.len(), job.party.index());
    let mut tiles = Tiles::new(job, size);
    let layout = tiles.layout;
    let mut ends: Ends = [Block::ZERO; 16];
    for first in (0..count).step_by(size) {
        let (inputs, mut slots) = tiles.tile(first);
        let (path, paid) = dcf::walk::<L, V>(cpu, &keys, &inputs, &layout, &mut slots);
        put_roots(cpu, &keys.path, inputs.roots[party], &mut slots, 0);
        for r in 0..REGS {
            // A leaf owes nothing of beta; what the path has paid is taken back.
            let owed = V::sub(L::splat(cpu, 0), paid[r]);
            end::<L, V>(cpu, &keys.path, &path, r, owed).store(&mut ends[r * L::BLOCKS..]);
        }
        put_ends(&layout, element, &ends, &mut slots, size, true);
    }
    tiles.finish();
}
