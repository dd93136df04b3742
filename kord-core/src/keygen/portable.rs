//! The portable generator: every group and payload, tile by tile.

use zeroize::Zeroizing;

use crate::convert::{Convert, NativeProfile};
use crate::layout::Layout;
use crate::simd::GenJob;
use crate::spec::Scheme;
use crate::tree::{self, Nodes, TILE};

/// Makes a whole batch.
pub(super) fn generate(job: GenJob<'_>) {
    let GenJob { spec, alphas, betas, roots, party, out } = job;
    let profile = NativeProfile::new(spec);
    let (tree, layout, group) = (profile.tree(), Layout::new(spec), spec.group());
    let arity = spec.arity() as usize;
    let mut wide = Zeroizing::new([0_u128; TILE]);
    let mut finals = Zeroizing::new(vec![0; TILE * arity]);
    for (tile, out) in out.chunks_mut(TILE * layout.key_bytes).enumerate() {
        let keys = tile * TILE..(tile * TILE + TILE).min(alphas.len());
        let count = keys.len();
        for (w, a) in wide.iter_mut().zip(&alphas[keys.clone()]) {
            *w = u128::from(*a);
        }
        let alphas = &wide[..count];
        let betas = &betas[keys.start * arity..keys.end * arity];
        let roots = roots.map(|r| &r[keys.clone()]);
        let mut nodes = Nodes::from_roots(&tree, roots);
        out.fill(0);
        for (key, root) in out.chunks_exact_mut(layout.key_bytes).zip(roots[party.index()]) {
            key[..16].copy_from_slice(&tree.seed(*root).to_bytes());
        }
        let key = |j: usize| j * layout.key_bytes..(j + 1) * layout.key_bytes;
        match spec.scheme() {
            Scheme::Dpf => {
                let n = layout.domain_bits;
                tree::dpf_walk(&tree, n, n, alphas, &mut nodes, |level, j, word| {
                    layout.put_word(&mut out[key(j)], &tree, level, &word);
                });
                let finals = &mut finals[..count * arity];
                tree::dpf_final_words(&profile.convert, &nodes, betas, finals);
                for (j, word) in finals.chunks_exact(arity).enumerate() {
                    layout.put_final(&mut out[key(j)], group, word);
                }
            }
            Scheme::Dcf(predicate) => {
                let mut last = |j: usize, word: &[u128]| {
                    finals[j * arity..(j + 1) * arity].copy_from_slice(word);
                };
                tree::dcf_walk(
                    &tree,
                    &profile.convert as &dyn Convert,
                    (layout.domain_bits, predicate),
                    (alphas, betas),
                    &mut nodes,
                    |level, j, word, value| {
                        layout.put_word(&mut out[key(j)], &tree, level, &word);
                        layout.put_value(&mut out[key(j)], level, group, value);
                    },
                    &mut last,
                );
                for j in 0..count {
                    layout.put_final(&mut out[key(j)], group, &finals[j * arity..(j + 1) * arity]);
                }
            }
        }
    }
}
