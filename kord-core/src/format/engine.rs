//! The shared tree code, set up for one format.

use zeroize::Zeroizing;

use super::words::{Dims, StoredKey, Words};
use crate::block::Block;
use crate::convert::Convert;
use crate::party::Party;
use crate::prg::Prg;
use crate::spec::Predicate;
use crate::tree::{self, Nodes, Shape, TILE, Tree, Walk};

/// Where a root's control bit comes from.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum RootControl {
    /// 0 for party 0, 1 for party 1.
    Party,
    /// The root block holds it.
    Block,
}

/// What a format plugs into the tree.
pub struct Engine {
    pub(crate) prg: Box<dyn Prg>,
    pub(crate) convert: Box<dyn Convert>,
    pub(crate) tree: for<'a> fn(&'a dyn Prg) -> Tree<'a>,
    pub(crate) root_control: RootControl,
    pub(crate) domain_bits: usize,
    /// Fewer than `domain_bits` where a leaf packs several one-bit points.
    pub(crate) levels: usize,
    /// `None` for a DPF.
    pub(crate) predicate: Option<Predicate>,
}

impl Engine {
    pub(crate) fn tree(&self) -> Tree<'_> {
        (self.tree)(&*self.prg)
    }

    pub(crate) fn shape(&self) -> Shape {
        Shape { domain_bits: self.domain_bits, levels: self.levels, values: self.predicate.is_some() }
    }

    pub(crate) fn dims(&self) -> Dims {
        Dims { levels: self.levels, arity: self.convert.arity(), values: self.predicate.is_some() }
    }

    /// Points that share a leaf, as a power of two.
    pub(crate) fn packed_bits(&self) -> usize {
        self.domain_bits - self.levels
    }

    /// The correction words of every key; roots are as keys hold them. Leaves the roots of the
    /// result to the caller, because they alone differ between the parties.
    pub(crate) fn generate(&self, alphas: &[u128], payloads: &[u128], roots: [&[Block]; 2]) -> Words {
        let (tree, arity) = (self.tree(), self.convert.arity());
        let mut words = Words::zeroed(self.dims(), alphas.len());
        for (tile, alphas) in alphas.chunks(TILE).enumerate() {
            let first = tile * TILE;
            let keys = first..first + alphas.len();
            let payloads = &payloads[keys.start * arity..keys.end * arity];
            let roots = roots.map(|r| &r[keys.clone()]);
            let mut nodes = match self.root_control {
                RootControl::Party => Nodes::from_roots(&tree, roots),
                RootControl::Block => Nodes::from_roots_with_control(&tree, roots),
            };
            let mut finals = Zeroizing::new(vec![0; payloads.len()]);
            match self.predicate {
                None => {
                    let emit = |level, j, word| words.put(first + j, level, &word, &[]);
                    tree::dpf_walk(&tree, self.domain_bits, self.levels, alphas, &mut nodes, emit);
                    tree::dpf_final_words(&*self.convert, &nodes, payloads, &mut finals);
                }
                Some(predicate) => tree::dcf_walk(
                    &tree,
                    &*self.convert,
                    (self.domain_bits, predicate),
                    (alphas, payloads),
                    &mut nodes,
                    |level, j, word, value| words.put(first + j, level, &word, value),
                    |j, word| finals[j * arity..][..arity].copy_from_slice(word),
                ),
            }
            words.finals[keys.start * arity..keys.end * arity].copy_from_slice(&finals);
        }
        words
    }

    /// The walk from a key's root to `x`.
    pub(crate) fn walk(&self, tree: &Tree<'_>, party: Party, key: &StoredKey<'_>, x: u128) -> Walk {
        let control = match self.root_control {
            RootControl::Party => party.sign_mask(),
            RootControl::Block => tree.control(key.root),
        };
        Walk { seed: tree.seed(key.root), control, x }
    }

    /// Walks to `points`, `per_key` of them in each key, a tile at a time. `visit` gets the index
    /// of the tile's first point.
    pub(crate) fn tiles(
        &self,
        party: Party,
        words: &Words,
        points: &[u128],
        mut visit: impl FnMut(usize, &[StoredKey<'_>], &[Walk]),
    ) {
        let tree = self.tree();
        let per_key = points.len() / words.len().max(1);
        for (tile, points) in points.chunks(TILE).enumerate() {
            let first = tile * TILE;
            let keys: Vec<_> = (first..first + points.len()).map(|i| words.key(i / per_key)).collect();
            let walks: Zeroizing<Vec<_>> = Zeroizing::new(
                keys.iter().zip(points).map(|(key, x)| self.walk(&tree, party, key, *x)).collect(),
            );
            visit(first, &keys, &walks);
        }
    }

    /// Shares at each point, `arity` elements each.
    pub(crate) fn evaluate(&self, party: Party, words: &Words, points: &[u128]) -> Vec<u128> {
        let arity = self.convert.arity();
        let mut out = vec![0; points.len() * arity];
        self.tiles(party, words, points, |first, keys, walks| {
            let out = &mut out[first * arity..][..walks.len() * arity];
            tree::eval_points(&self.tree(), &*self.convert, self.shape(), party, keys, walks, out);
            if self.packed_bits() > 0 {
                for (bit, walk) in out.iter_mut().zip(walks) {
                    *bit = self.point_of_leaf(*bit, walk.x);
                }
            }
        });
        out
    }

    /// Walks without paying anything. `trace` sees (point, level, control bit before it, as a mask);
    /// `finish` (point, its key, leaf seed, control bit as a mask).
    pub(crate) fn walk_only(
        &self,
        party: Party,
        words: &Words,
        points: &[u128],
        mut trace: impl FnMut(usize, usize, u128),
        mut finish: impl FnMut(usize, &StoredKey<'_>, Block, u128),
    ) {
        self.tiles(party, words, points, |first, keys, walks| {
            let trace = |level, j, control| trace(first + j, level, control);
            let (tree, shape) = (self.tree(), self.shape());
            let leaves = tree::walk_points(&tree, &*self.convert, shape, keys, walks, &mut [], trace);
            for (j, key) in keys.iter().enumerate() {
                finish(first + j, key, leaves.seeds[j], leaves.control[j]);
            }
        });
    }

    /// Shares of one key over the whole domain, in order of x, some at a time.
    pub(crate) fn evaluate_all(
        &self,
        party: Party,
        key: &StoredKey<'_>,
        visit: &mut dyn FnMut(u64, &[u128]),
    ) {
        let (tree, shape) = (self.tree(), self.shape());
        let root = self.walk(&tree, party, key, 0);
        if self.packed_bits() == 0 {
            tree::eval_all(&tree, &*self.convert, shape, party, key, root, visit);
            return;
        }
        let mut unpack = |first: u64, leaves: &[u128]| {
            let per_leaf = 0..1_u128 << self.packed_bits();
            let points =
                leaves.iter().flat_map(|leaf| per_leaf.clone().map(|q| self.point_of_leaf(*leaf, q)));
            let points = Zeroizing::new(points.collect::<Vec<_>>());
            visit(first << self.packed_bits(), &points);
        };
        tree::eval_all(&tree, &*self.convert, shape, party, key, root, &mut unpack);
    }

    /// The bit of point x in its leaf: the first point is the most significant bit.
    fn point_of_leaf(&self, leaf: u128, x: u128) -> u128 {
        let last = (1 << self.packed_bits()) - 1;
        (leaf >> (last - (x & last))) & 1
    }
}
