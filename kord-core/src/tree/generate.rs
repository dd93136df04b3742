//! Gen: walking the special path of many keys, both parties at once.

use zeroize::Zeroize;

use super::{CorrectionWord, TILE, Tree};
use crate::block::Block;
use crate::convert::Convert;
use crate::group::{Group, select};
use crate::spec::Predicate;

/// The on-path nodes of both parties for a tile of keys: seeds, and control bits as masks
/// (zero or all ones).
pub(crate) struct Nodes {
    pub(crate) seeds: [[Block; TILE]; 2],
    pub(crate) control: [[u128; TILE]; 2],
}

impl Nodes {
    /// Roots with control bits 0 and 1, as in every scheme but LLAMA's DCF.
    pub(crate) fn from_roots(tree: &Tree<'_>, roots: [&[Block]; 2]) -> Self {
        let mut nodes = Self { seeds: [[Block::ZERO; TILE]; 2], control: [[0; TILE], [u128::MAX; TILE]] };
        for (seeds, roots) in nodes.seeds.iter_mut().zip(roots) {
            for (seed, root) in seeds.iter_mut().zip(roots) {
                *seed = tree.seed(*root);
            }
        }
        nodes
    }

    /// Roots that carry their own control bits.
    pub(crate) fn from_roots_with_control(tree: &Tree<'_>, roots: [&[Block]; 2]) -> Self {
        let mut nodes = Self::from_roots(tree, roots);
        for (control, roots) in nodes.control.iter_mut().zip(roots) {
            for (control, root) in control.iter_mut().zip(roots) {
                *control = tree.control(*root);
            }
        }
        nodes
    }
}

impl Drop for Nodes {
    fn drop(&mut self) {
        self.seeds.zeroize();
        self.control.zeroize();
    }
}

/// Alpha's bit of a level, most significant first, as a mask.
fn alpha_bit(alpha: u128, domain_bits: usize, level: usize) -> u128 {
    ((alpha >> (domain_bits - 1 - level)) & 1).wrapping_neg()
}

fn select_block(mask: u128, a: Block, b: Block) -> Block {
    Block::from_u128(select(mask, a.to_u128(), b.to_u128()))
}

fn and(mask: u128, block: Block) -> Block {
    Block::from_u128(mask & block.to_u128())
}

/// The correction word of one key at one level, and both parties' next nodes (BGI16 Figure 1;
/// the DCF's seed part is the same). `a` is alpha's bit as a mask; children are `[party][side]`.
fn step(tree: &Tree<'_>, a: u128, children: [[Block; 2]; 2], nodes: &mut Nodes, j: usize) -> CorrectionWord {
    let across = [children[0][0] ^ children[1][0], children[0][1] ^ children[1][1]];
    let seed = tree.seed(select_block(a, across[0], across[1]));
    let left = tree.control(across[0]) ^ !a;
    let right = tree.control(across[1]) ^ a;
    let keep_control = select(a, right, left);
    for (party, children) in children.iter().enumerate() {
        let keep = select_block(a, children[1], children[0]);
        let control = nodes.control[party][j];
        nodes.seeds[party][j] = tree.seed(keep) ^ and(control, seed);
        nodes.control[party][j] = tree.control(keep) ^ (control & keep_control);
    }
    CorrectionWord { seed, left: (left & 1) as u8, right: (right & 1) as u8 }
}

/// Walks `alphas.len()` ≤ [`TILE`] DPF keys down their first `levels` levels; `emit` gets
/// (level, key, word).
pub(crate) fn dpf_walk(
    tree: &Tree<'_>,
    domain_bits: usize,
    levels: usize,
    alphas: &[u128],
    nodes: &mut Nodes,
    mut emit: impl FnMut(usize, usize, CorrectionWord),
) {
    let count = alphas.len();
    let mut children = [[[Block::ZERO; TILE]; 2]; 2];
    for level in 0..levels {
        for (seeds, children) in nodes.seeds.iter().zip(&mut children) {
            let [left, right] = children;
            tree.prg.expand2(&seeds[..count], &mut left[..count], &mut right[..count]);
        }
        for (j, alpha) in alphas.iter().enumerate() {
            let a = alpha_bit(*alpha, domain_bits, level);
            let pair = [[children[0][0][j], children[0][1][j]], [children[1][0][j], children[1][1][j]]];
            emit(level, j, step(tree, a, pair, nodes, j));
        }
    }
    children.zeroize();
}

/// The final correction words of a walked DPF tile: ±(beta − Convert(s_0) + Convert(s_1)),
/// negated where party 1's control bit is set. `words` and `betas` hold `arity` elements a key.
pub(crate) fn dpf_final_words(convert: &dyn Convert, nodes: &Nodes, betas: &[u128], words: &mut [u128]) {
    let (group, arity) = (convert.group(), convert.arity());
    let mut other = vec![0; arity];
    for (j, (word, beta)) in words.chunks_exact_mut(arity).zip(betas.chunks_exact(arity)).enumerate() {
        convert.convert(nodes.seeds[0][j], word);
        convert.convert(nodes.seeds[1][j], &mut other);
        for ((w, o), b) in word.iter_mut().zip(&other).zip(beta) {
            *w = group.neg_if(nodes.control[1][j], group.add(group.sub(*b, *w), *o));
        }
    }
    other.zeroize();
}

/// What a DCF walk keeps a key beside its nodes: V, the sum of what the path has paid out.
struct Values {
    group: Group,
    arity: usize,
    paid: Vec<u128>,
    scratch: [Vec<u128>; 4],
}

impl Values {
    fn new(convert: &dyn Convert) -> Self {
        let arity = convert.arity();
        Self {
            group: convert.group(),
            arity,
            paid: vec![0; TILE * arity],
            scratch: core::array::from_fn(|_| vec![0; arity]),
        }
    }

    /// The value word of key j (into `word`) and the new V. `keep` and `lose` are the parties'
    /// value blocks; `sign` is party 1's control bit before this level; `pays` says whether the
    /// lost subtree pays beta.
    fn step(
        &mut self,
        convert: &dyn Convert,
        j: usize,
        (keep, lose): ([Block; 2], [Block; 2]),
        (sign, pays): (u128, u128),
        beta: &[u128],
        word: &mut [u128],
    ) {
        let group = self.group;
        let [keep0, keep1, lose0, lose1] = &mut self.scratch;
        convert.convert(keep[0], keep0);
        convert.convert(keep[1], keep1);
        convert.convert(lose[0], lose0);
        convert.convert(lose[1], lose1);
        let paid = &mut self.paid[j * self.arity..][..self.arity];
        for e in 0..self.arity {
            let owed = group.sub(beta[e] & pays, paid[e]);
            word[e] = group.neg_if(sign, group.add(owed, group.sub(lose1[e], lose0[e])));
            let kept = group.sub(keep0[e], keep1[e]);
            paid[e] = group.add(group.add(paid[e], kept), group.neg_if(sign, word[e]));
        }
    }
}

impl Drop for Values {
    fn drop(&mut self) {
        self.paid.zeroize();
        self.scratch.zeroize();
    }
}

/// Walks `alphas.len()` ≤ [`TILE`] DCF keys (BGI21). `emit` gets (level, key, word, value word)
/// for each level, then `emit_final` (key, final word).
pub(crate) fn dcf_walk(
    tree: &Tree<'_>,
    convert: &dyn Convert,
    (domain_bits, predicate): (usize, Predicate),
    (alphas, betas): (&[u128], &[u128]),
    nodes: &mut Nodes,
    mut emit: impl FnMut(usize, usize, CorrectionWord, &[u128]),
    mut emit_final: impl FnMut(usize, &[u128]),
) {
    let (group, arity, count) = (convert.group(), convert.arity(), alphas.len());
    // [party][s_L, v_L, s_R, v_R]
    let mut blocks = [[[Block::ZERO; TILE]; 4]; 2];
    let mut values = Values::new(convert);
    let mut word = vec![0; arity];
    for level in 0..domain_bits {
        for (seeds, blocks) in nodes.seeds.iter().zip(&mut blocks) {
            tree.prg.expand4(&seeds[..count], blocks.each_mut().map(|b| &mut b[..count]));
        }
        for (j, alpha) in alphas.iter().enumerate() {
            let a = alpha_bit(*alpha, domain_bits, level);
            let side = |party: usize, mask: u128| {
                tree.value(select_block(mask, blocks[party][3][j], blocks[party][1][j]))
            };
            let keep = [side(0, a), side(1, a)];
            let lose = [side(0, !a), side(1, !a)];
            // The lost side lies below alpha when alpha's bit is 1.
            let pays = match predicate {
                Predicate::Lt => a,
                Predicate::Gt => !a,
            };
            let beta = &betas[j * arity..][..arity];
            values.step(convert, j, (keep, lose), (nodes.control[1][j], pays), beta, &mut word);
            let pair = [[blocks[0][0][j], blocks[0][2][j]], [blocks[1][0][j], blocks[1][2][j]]];
            let correction = step(tree, a, pair, nodes, j);
            emit(level, j, correction, &word);
        }
    }
    let [leaf0, leaf1, _, _] = &mut values.scratch;
    for j in 0..count {
        convert.convert(nodes.seeds[0][j], leaf0);
        convert.convert(nodes.seeds[1][j], leaf1);
        for e in 0..arity {
            let paid = values.paid[j * arity + e];
            let gap = group.sub(group.sub(leaf1[e], leaf0[e]), paid);
            word[e] = group.neg_if(nodes.control[1][j], gap);
        }
        emit_final(j, &word);
    }
    blocks.zeroize();
    word.zeroize();
}
