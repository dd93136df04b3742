//! Eval at points, and over the whole domain.
//!
//! x is public here: it is the opened, masked input. Branches on its bits are therefore allowed;
//! nothing branches on seeds, control bits or outputs.

use zeroize::{Zeroize, Zeroizing};

use super::{CorrectionWord, TILE, Tree};
use crate::block::Block;
use crate::convert::Convert;
use crate::party::Party;

/// Read access to the correction words of one key, whatever its layout.
pub(crate) trait CorrectionWords {
    /// The correction word of a level.
    fn word(&self, level: usize) -> CorrectionWord;
    /// Writes the value word of a level (`arity` elements); called for DCF keys only.
    fn value(&self, level: usize, out: &mut [u128]);
    /// Writes the final word (`arity` elements).
    fn final_word(&self, out: &mut [u128]);
}

/// Where a walk starts and where it goes.
#[derive(Clone, Copy, Default)]
pub(crate) struct Walk {
    /// Root seed, without its control bit.
    pub(crate) seed: Block,
    /// Root control bit, as a mask.
    pub(crate) control: u128,
    /// The point, `domain_bits` bits.
    pub(crate) x: u128,
}

impl zeroize::DefaultIsZeroes for Walk {}

/// How deep the tree is and whether each level pays a value (DCF).
#[derive(Clone, Copy)]
pub(crate) struct Shape {
    /// Domain bits: positions of x's bits.
    pub(crate) domain_bits: usize,
    /// Levels to walk; fewer than `domain_bits` when leaves pack several points.
    pub(crate) levels: usize,
    /// DCF: a value block and word at every level.
    pub(crate) values: bool,
}

/// Where walks ended: seeds and control bits (masks) of a tile.
pub(crate) struct Leaves {
    pub(crate) seeds: [Block; TILE],
    pub(crate) control: [u128; TILE],
}

impl Drop for Leaves {
    fn drop(&mut self) {
        self.seeds.zeroize();
        self.control.zeroize();
    }
}

/// out += Convert(block) + control · word, element by element.
fn accumulate(convert: &dyn Convert, block: Block, control: u128, scratch: &mut Scratch, out: &mut [u128]) {
    let group = convert.group();
    convert.convert(block, &mut scratch.value);
    for ((o, v), w) in out.iter_mut().zip(scratch.value.iter()).zip(scratch.word.iter()) {
        *o = group.add(*o, group.add(*v, w & control));
    }
}

struct Scratch {
    value: Zeroizing<Vec<u128>>,
    word: Zeroizing<Vec<u128>>,
}

impl Scratch {
    fn new(arity: usize) -> Self {
        Self { value: Zeroizing::new(vec![0; arity]), word: Zeroizing::new(vec![0; arity]) }
    }
}

/// Walks at most [`TILE`] independent (key, point) pairs to their leaves, interleaved. For a DCF
/// the values on the way are added to `sums` (`arity` elements a walk). `trace` sees every
/// control bit (mask) on the way: (level, walk, control before that level).
pub(crate) fn walk_points<K: CorrectionWords>(
    tree: &Tree<'_>,
    convert: &dyn Convert,
    shape: Shape,
    keys: &[K],
    walks: &[Walk],
    sums: &mut [u128],
    mut trace: impl FnMut(usize, usize, u128),
) -> Leaves {
    let (count, arity) = (walks.len(), convert.arity());
    let mut leaves = Leaves { seeds: [Block::ZERO; TILE], control: [0; TILE] };
    for (j, walk) in walks.iter().enumerate() {
        leaves.seeds[j] = walk.seed;
        leaves.control[j] = walk.control;
    }
    let mut right = [false; TILE];
    let mut child = [Block::ZERO; TILE];
    let mut value = [Block::ZERO; TILE];
    let mut scratch = Scratch::new(arity);
    for level in 0..shape.levels {
        for (r, walk) in right.iter_mut().zip(walks) {
            *r = (walk.x >> (shape.domain_bits - 1 - level)) & 1 == 1;
        }
        let seeds = &leaves.seeds[..count];
        if shape.values {
            tree.prg.child4(seeds, &right[..count], &mut child[..count], &mut value[..count]);
        } else {
            tree.prg.child2(seeds, &right[..count], &mut child[..count]);
        }
        for (j, key) in keys.iter().enumerate() {
            let control = leaves.control[j];
            trace(level, j, control);
            if shape.values {
                key.value(level, &mut scratch.word);
                let sum = &mut sums[j * arity..][..arity];
                accumulate(convert, tree.value(value[j]), control, &mut scratch, sum);
            }
            let word = key.word(level);
            let (seed, control) = correct(tree, child[j], control, &word, right[j]);
            leaves.seeds[j] = seed;
            leaves.control[j] = control;
        }
    }
    child.zeroize();
    value.zeroize();
    leaves
}

/// A raw child node, corrected where its parent's control bit is set.
fn correct(
    tree: &Tree<'_>,
    child: Block,
    control: u128,
    word: &CorrectionWord,
    right: bool,
) -> (Block, u128) {
    let bit = if right { word.right } else { word.left };
    let seed = tree.seed(child) ^ Block::from_u128(word.seed.to_u128() & control);
    (seed, tree.control(child) ^ (control & u128::from(bit).wrapping_neg()))
}

/// This party's output shares at each walk's point: `arity` elements a walk into `out`.
pub(crate) fn eval_points<K: CorrectionWords>(
    tree: &Tree<'_>,
    convert: &dyn Convert,
    shape: Shape,
    party: Party,
    keys: &[K],
    walks: &[Walk],
    out: &mut [u128],
) {
    let (group, arity) = (convert.group(), convert.arity());
    out.fill(0);
    let leaves = walk_points(tree, convert, shape, keys, walks, out, |_, _, _| ());
    let mut scratch = Scratch::new(arity);
    for (j, (key, out)) in keys.iter().zip(out.chunks_exact_mut(arity)).enumerate() {
        key.final_word(&mut scratch.word);
        accumulate(convert, leaves.seeds[j], leaves.control[j], &mut scratch, out);
        for o in out {
            *o = group.neg_if(party.sign_mask(), *o);
        }
    }
}

/// One level of a subtree, in order of x.
struct Layer {
    seeds: Zeroizing<Vec<Block>>,
    control: Zeroizing<Vec<u128>>,
    /// DCF: what each node's path has paid, `arity` elements a node.
    sums: Zeroizing<Vec<u128>>,
}

/// Leaves handed to the visitor at a time.
const LEAVES: usize = 1024;

/// Evaluates one key over its whole domain, depth first, so that memory stays at a few layers of
/// [`LEAVES`] nodes whatever the domain. `visit` gets (first x, shares in order of x, `arity`
/// elements a point).
pub(crate) fn eval_all<K: CorrectionWords>(
    tree: &Tree<'_>,
    convert: &dyn Convert,
    shape: Shape,
    party: Party,
    key: &K,
    root: Walk,
    visit: &mut dyn FnMut(u64, &[u128]),
) {
    let layer = Layer {
        seeds: Zeroizing::new(vec![root.seed]),
        control: Zeroizing::new(vec![root.control]),
        sums: Zeroizing::new(vec![0; convert.arity()]),
    };
    Domain { tree, convert, shape, party, key, visit }.descend(0, 0, layer);
}

struct Domain<'a, K> {
    tree: &'a Tree<'a>,
    convert: &'a dyn Convert,
    shape: Shape,
    party: Party,
    key: &'a K,
    visit: &'a mut dyn FnMut(u64, &[u128]),
}

impl<K: CorrectionWords> Domain<'_, K> {
    /// `first` is the index of the layer's first node within its level.
    fn descend(&mut self, level: usize, first: u64, layer: Layer) {
        if level == self.shape.levels {
            self.finish(first, &layer);
            return;
        }
        if layer.seeds.len() < LEAVES {
            let children = self.expand(level, &layer);
            drop(layer);
            self.descend(level + 1, 2 * first, children);
            return;
        }
        let arity = self.convert.arity();
        let half = layer.seeds.len() / 2;
        for part in 0..2 {
            let nodes = part * half..(part + 1) * half;
            let sub = Layer {
                seeds: Zeroizing::new(layer.seeds[nodes.clone()].to_vec()),
                control: Zeroizing::new(layer.control[nodes.clone()].to_vec()),
                sums: Zeroizing::new(layer.sums[nodes.start * arity..nodes.end * arity].to_vec()),
            };
            let children = self.expand(level, &sub);
            self.descend(level + 1, 2 * (first + nodes.start as u64), children);
        }
    }

    fn expand(&self, level: usize, layer: &Layer) -> Layer {
        let (count, arity) = (layer.seeds.len(), self.convert.arity());
        let blocks = || Zeroizing::new(vec![Block::ZERO; count]);
        let (mut seed_l, mut value_l, mut seed_r, mut value_r) = (blocks(), blocks(), blocks(), blocks());
        if self.shape.values {
            let out: [&mut [Block]; 4] = [&mut seed_l, &mut value_l, &mut seed_r, &mut value_r];
            self.tree.prg.expand4(&layer.seeds, out);
        } else {
            self.tree.prg.expand2(&layer.seeds, &mut seed_l, &mut seed_r);
        }
        let word = self.key.word(level);
        let mut scratch = Scratch::new(arity);
        if self.shape.values {
            self.key.value(level, &mut scratch.word);
        }
        let mut children = Layer {
            seeds: Zeroizing::new(Vec::with_capacity(2 * count)),
            control: Zeroizing::new(Vec::with_capacity(2 * count)),
            sums: Zeroizing::new(vec![0; 2 * count * arity]),
        };
        for j in 0..count {
            let control = layer.control[j];
            let sides = [(seed_l[j], value_l[j], false), (seed_r[j], value_r[j], true)];
            for (side, (child, value, right)) in sides.into_iter().enumerate() {
                let (seed, child_control) = correct(self.tree, child, control, &word, right);
                children.seeds.push(seed);
                children.control.push(child_control);
                if self.shape.values {
                    let sum = &mut children.sums[(2 * j + side) * arity..][..arity];
                    sum.copy_from_slice(&layer.sums[j * arity..][..arity]);
                    accumulate(self.convert, self.tree.value(value), control, &mut scratch, sum);
                }
            }
        }
        children
    }

    fn finish(&mut self, first: u64, layer: &Layer) {
        let (group, arity) = (self.convert.group(), self.convert.arity());
        let mut scratch = Scratch::new(arity);
        self.key.final_word(&mut scratch.word);
        let mut out = Zeroizing::new(layer.sums.to_vec());
        for (j, out) in out.chunks_exact_mut(arity).enumerate() {
            accumulate(self.convert, layer.seeds[j], layer.control[j], &mut scratch, out);
            for o in out {
                *o = group.neg_if(self.party.sign_mask(), *o);
            }
        }
        (self.visit)(first, &out);
    }
}
