//! Batches of Gen, tile by tile.

use core::ops::Range;

use zeroize::Zeroizing;

use super::dcf::{self, DcfKeys, MAX_WORDS, Values, word_index};
use super::lanes::Lanes;
use super::path::{PathKeys, Tile, right_bits};
use super::slots::Slots;
use super::{CLAMP, DCF_GROUPS, GROUPS, GenJob, REGS, dpf};
use crate::block::Block;
use crate::layout::Layout;
use crate::spec::{Predicate, Scheme};
use crate::tree::{self, Nodes, TILE};

/// A batch in tiles, with room beside it for the keys that fill up its last tile.
struct Tiles<'a, 'b> {
    job: &'b mut GenJob<'a>,
    layout: Layout,
    size: usize,
    tile: Tile,
    /// The last tile's keys, if it is not full.
    spare: Zeroizing<Vec<u8>>,
}

impl<'a, 'b> Tiles<'a, 'b> {
    fn new(job: &'b mut GenJob<'a>, size: usize) -> Self {
        let layout = Layout::new(job.spec);
        let partial = !job.alphas.len().is_multiple_of(size);
        let spare = Zeroizing::new(vec![0; if partial { size * layout.key_bytes } else { 0 }]);
        Self { job, layout, size, tile: Tile::new(), spare }
    }

    /// The keys of the tile that begins at `first`.
    #[inline(always)]
    fn keys(&self, first: usize) -> Range<usize> {
        first..(first + self.size).min(self.job.alphas.len())
    }

    /// Puts the inputs of the tile that begins at `first` in place and gives the bytes to write
    /// its keys to.
    #[inline(always)]
    fn begin(&mut self, first: usize) -> (&mut Tile, Slots<'_>) {
        let (keys, stride) = (self.keys(first), self.layout.key_bytes);
        let top = 64 - self.layout.domain_bits as u32;
        let [roots0, roots1] = self.job.roots.map(|roots| &roots[keys.clone()]);
        let alphas = &self.job.alphas[keys.clone()];
        for (j, ((alpha, root0), root1)) in alphas.iter().zip(roots0).zip(roots1).enumerate() {
            let alpha = u128::from(alpha << top);
            self.tile.alpha[j] = Block::from_u128(alpha | (alpha << 64));
            self.tile.seeds[0][j] = Block::from_u128(root0.to_u128() & !CLAMP);
            self.tile.seeds[1][j] = Block::from_u128(root1.to_u128() & !CLAMP);
        }
        let full = keys.len() == self.size;
        let bytes = if full { &mut self.job.out[keys.start * stride..keys.end * stride] } else { &mut self.spare[..] };
        (&mut self.tile, Slots::new(bytes, stride, self.size))
    }

    /// After the walk: roots and t_R bits. Leaves the rest of each key to the caller.
    #[inline(always)]
    fn end(&mut self, first: usize) -> (&Tile, &mut [u8]) {
        let (keys, stride) = (self.keys(first), self.layout.key_bytes);
        let roots = &self.job.roots[self.job.party.index()][keys.clone()];
        let out = &mut self.job.out[keys.start * stride..keys.end * stride];
        if keys.len() < self.size {
            out.copy_from_slice(&self.spare[..out.len()]);
        }
        let levels = self.layout.domain_bits;
        for (j, (key, root)) in out.chunks_exact_mut(stride).zip(roots).enumerate() {
            key[..16].copy_from_slice(&(root.to_u128() & !CLAMP).to_le_bytes());
            let alpha = self.tile.alpha[j].to_u128() as u64;
            let right = right_bits(self.tile.right[j], alpha, levels as u32);
            put(&mut key[self.layout.right_bits..], right, levels.div_ceil(8));
        }
        (&self.tile, out)
    }
}

/// Writes the low `width` ≤ 8 bytes of `value`, whose other bytes are zero. Where there is room
/// it writes 8 bytes, so keys are written front to back.
#[inline(always)]
fn put(bytes: &mut [u8], value: u64, width: usize) {
    if let Some(word) = bytes.first_chunk_mut::<8>() {
        *word = value.to_le_bytes();
    } else {
        bytes[..width].copy_from_slice(&value.to_le_bytes()[..width]);
    }
}

/// Element j of a DPF's final word: ±(beta − s_0 + s_1), negated where party 1's control bit is
/// set, that is where party 0's is not.
#[inline(always)]
fn final_word<V: Values>(tile: &Tile, j: usize, beta: u64) -> u64 {
    let [s0, s1] = [0, 1].map(|p: usize| tile.seeds[p][j].to_u128() as u64);
    let control = tile.control[j].to_u128() as u64;
    V::neg_if_64(!control, V::add_64(V::sub_64(beta, s0), s1))
}

/// DPF keys whose payload is one element of at most 64 bits, read straight from a block.
#[inline(always)]
pub(super) fn dpf<L: Lanes, V: Values>(cpu: L::Cpu, rounds: [&[u128; 11]; 2], mut job: GenJob<'_>) {
    let keys = PathKeys::<L>::new(cpu, rounds[0], rounds[1]);
    let size = GROUPS * REGS * L::BLOCKS;
    let (width, mask) = (job.spec.payload_bytes(), job.spec.group().max_element() as u64);
    let betas = job.betas;
    let mut tiles = Tiles::new(&mut job, size);
    let layout = tiles.layout;
    let mut first = 0;
    while first < betas.len() {
        let (tile, mut slots) = tiles.begin(first);
        dpf::walk(cpu, &keys, layout.domain_bits, tile, &mut slots);
        let (tile, out) = tiles.end(first);
        for (j, key) in out.chunks_exact_mut(layout.key_bytes).enumerate() {
            let word = final_word::<V>(tile, j, betas[first + j] as u64) & mask;
            put(&mut key[layout.final_word..], word, width);
        }
        first += size;
    }
}

/// DPF keys of any payload: the walk here, the final word from the portable code.
#[inline(always)]
pub(super) fn dpf_any<L: Lanes>(cpu: L::Cpu, rounds: [&[u128; 11]; 2], mut job: GenJob<'_>) {
    let keys = PathKeys::<L>::new(cpu, rounds[0], rounds[1]);
    let size = GROUPS * REGS * L::BLOCKS;
    let (betas, convert, group) = (job.betas, job.convert, job.spec.group());
    let (arity, count) = (job.spec.arity() as usize, job.alphas.len());
    let mut words = Zeroizing::new(vec![0; size * arity]);
    let mut nodes = Nodes { seeds: [[Block::ZERO; TILE]; 2], control: [[0; TILE]; 2] };
    let mut tiles = Tiles::new(&mut job, size);
    let layout = tiles.layout;
    let mut first = 0;
    while first < count {
        let (tile, mut slots) = tiles.begin(first);
        dpf::walk(cpu, &keys, layout.domain_bits, tile, &mut slots);
        let (tile, out) = tiles.end(first);
        let len = out.len() / layout.key_bytes;
        for j in 0..len {
            let control = tile.control[j].to_u128();
            for p in 0..2 {
                nodes.seeds[p][j] = tile.seeds[p][j];
            }
            (nodes.control[0][j], nodes.control[1][j]) = (control, !control);
        }
        let words = &mut words[..len * arity];
        tree::dpf_final_words(convert, &nodes, &betas[first * arity..][..len * arity], words);
        for (key, word) in out.chunks_exact_mut(layout.key_bytes).zip(words.chunks_exact(arity)) {
            layout.put_final(key, group, word);
        }
        first += size;
    }
}

/// DCF keys whose payload is one element of at most 64 bits, read straight from a block.
#[inline(always)]
pub(super) fn dcf<L: Lanes, V: Values>(cpu: L::Cpu, rounds: [&[u128; 11]; 4], mut job: GenJob<'_>) {
    let greater = job.spec.scheme() == Scheme::Dcf(Predicate::Gt);
    let keys = DcfKeys::<L>::new(cpu, rounds, greater);
    let size = DCF_GROUPS * REGS * L::BLOCKS;
    let (width, mask) = (job.spec.payload_bytes(), job.spec.group().max_element() as u64);
    let betas = job.betas;
    let mut words = [Block::ZERO; MAX_WORDS];
    let mut tiles = Tiles::new(&mut job, size);
    let layout = tiles.layout;
    let mut first = 0;
    while first < betas.len() {
        let (tile, mut slots) = tiles.begin(first);
        for (to, beta) in tile.beta.iter_mut().zip(&betas[first..]) {
            *to = Block::from_u128(*beta);
        }
        dcf::walk::<L, V>(cpu, &keys, layout.domain_bits, tile, &mut slots, &mut words);
        let (tile, out) = tiles.end(first);
        let words: &[u64] = bytemuck::cast_slice(&words);
        for (j, key) in out.chunks_exact_mut(layout.key_bytes).enumerate() {
            let mut at = layout.values;
            for level in 0..layout.domain_bits {
                put(&mut key[at..], words[word_index::<L>(level, j)] & mask, width);
                at += width;
            }
            // The leaf's word owes nothing: beta 0, and what the path has paid is taken back.
            let owed = V::sub_64(0, tile.paid[j].to_u128() as u64);
            put(&mut key[at..], final_word::<V>(tile, j, owed) & mask, width);
        }
        first += size;
    }
}
