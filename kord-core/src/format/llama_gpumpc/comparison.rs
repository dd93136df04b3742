//! Comparison by parity of a DPF's control bits.
//!
//! The control bits of all leaves on one side of x, added modulo 2, say whether alpha is there. A
//! subtree's leaves have the parity of its root's control bit, so one walk to x is enough: the
//! sum is over the nodes where x's direction changes.

use super::super::engine::Engine;
use super::super::words::Words;
use crate::party::Party;
use crate::tree::CorrectionWords;

/// Which side of alpha a point is asked to be on.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Comparison {
    /// x > alpha.
    Above,
    /// x < alpha.
    Below,
}

impl Comparison {
    /// The direction before the first level.
    const fn start(self) -> bool {
        matches!(self, Self::Below)
    }

    /// All ones if the leaf itself counts after a last step in direction `last`.
    pub(super) fn counts_end(self, last: bool) -> u128 {
        u128::from(last != self.start()).wrapping_neg()
    }

    /// XOR shares at each point. `end` gives what a leaf adds: (last direction, x, corrected leaf
    /// as the final word leaves it, control bit as a mask).
    pub(super) fn evaluate(
        self,
        engine: &Engine,
        party: Party,
        words: &Words,
        points: &[u128],
        end: impl Fn(bool, u128, u128, u128) -> u128,
    ) -> Vec<u128> {
        let mut parity = vec![0; points.len()];
        let (top, levels) = (engine.domain_bits - 1, engine.levels);
        let direction = |x: u128, level: usize| x >> (top - level) & 1 == 1;
        let mut ends = vec![0; points.len()];
        let trace = |i: usize, level: usize, control: u128| {
            let before = if level == 0 { self.start() } else { direction(points[i], level - 1) };
            if direction(points[i], level) != before {
                parity[i] ^= control & 1;
            }
        };
        engine.walk_only(party, words, points, trace, |i, key, seed, control| {
            let mut word = [0];
            key.final_word(&mut word);
            let leaf = seed.to_u128() ^ (word[0] & control);
            ends[i] = end(direction(points[i], levels - 1), points[i], leaf, control) & 1;
        });
        for (parity, end) in parity.iter_mut().zip(ends) {
            *parity ^= end;
        }
        parity
    }
}
