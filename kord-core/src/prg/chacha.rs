//! myl7/fss's ChaCha PRG.

use super::Prg;
use crate::block::Block;

/// ChaCha20's permutation over `constant ‖ seed ‖ seed ‖ (0, 0, nonce)`, fed forward by XOR
/// with the initial state.
///
/// That feed-forward is myl7/fss's: RFC 7539 adds. So this is not ChaCha20, and no ChaCha crate
/// can stand in for it. Rows of the state are the outputs: rows 0, 1 of two; rows 0–3 of four.
#[derive(Clone, Copy, Debug)]
pub struct ChaChaXor {
    nonce: [u32; 2],
}

const ROUNDS: usize = 20;

impl ChaChaXor {
    /// The PRG under a public 8-byte nonce (two little-endian words).
    #[must_use]
    pub const fn new(nonce: [u8; 8]) -> Self {
        let [a, b, c, d, e, f, g, h] = nonce;
        Self { nonce: [u32::from_le_bytes([a, b, c, d]), u32::from_le_bytes([e, f, g, h])] }
    }

    fn rows(&self, constant: &[u8; 16], seed: Block) -> [Block; 4] {
        let seed = seed.to_bytes();
        let mut bytes = [0; 64];
        bytes[..16].copy_from_slice(constant);
        bytes[16..32].copy_from_slice(&seed);
        bytes[32..48].copy_from_slice(&seed);
        bytes[56..60].copy_from_slice(&self.nonce[0].to_le_bytes());
        bytes[60..].copy_from_slice(&self.nonce[1].to_le_bytes());
        let mut initial = [0_u32; 16];
        for (word, four) in initial.iter_mut().zip(bytes.as_chunks::<4>().0) {
            *word = u32::from_le_bytes(*four);
        }
        let mut state = initial;
        for _ in 0..ROUNDS / 2 {
            for [a, b, c, d] in COLUMNS {
                quarter_round(&mut state, a, b, c, d);
            }
            for [a, b, c, d] in DIAGONALS {
                quarter_round(&mut state, a, b, c, d);
            }
        }
        let mut rows = [Block::ZERO; 4];
        for (row, words) in rows.iter_mut().enumerate().map(|(i, r)| (r, 4 * i)) {
            let mut value = 0_u128;
            for w in 0..4 {
                value |= u128::from(state[words + w] ^ initial[words + w]) << (32 * w);
            }
            *row = Block::from_u128(value);
        }
        rows
    }
}

const COLUMNS: [[usize; 4]; 4] = [[0, 4, 8, 12], [1, 5, 9, 13], [2, 6, 10, 14], [3, 7, 11, 15]];
const DIAGONALS: [[usize; 4]; 4] = [[0, 5, 10, 15], [1, 6, 11, 12], [2, 7, 8, 13], [3, 4, 9, 14]];

fn quarter_round(s: &mut [u32; 16], a: usize, b: usize, c: usize, d: usize) {
    for (rotate_d, rotate_b) in [(16, 12), (8, 7)] {
        s[a] = s[a].wrapping_add(s[b]);
        s[d] = (s[d] ^ s[a]).rotate_left(rotate_d);
        s[c] = s[c].wrapping_add(s[d]);
        s[b] = (s[b] ^ s[c]).rotate_left(rotate_b);
    }
}

const TWO_OUTPUTS: &[u8; 16] = b"expand 16-byte k";
const FOUR_OUTPUTS: &[u8; 16] = b"expand 32-byte k";

impl Prg for ChaChaXor {
    fn expand2(&self, seeds: &[Block], left: &mut [Block], right: &mut [Block]) {
        for (j, s) in seeds.iter().enumerate() {
            [left[j], right[j], _, _] = self.rows(TWO_OUTPUTS, *s);
        }
    }

    fn expand4(&self, seeds: &[Block], [seed_l, value_l, seed_r, value_r]: [&mut [Block]; 4]) {
        for (j, s) in seeds.iter().enumerate() {
            [seed_l[j], value_l[j], seed_r[j], value_r[j]] = self.rows(FOUR_OUTPUTS, *s);
        }
    }

    fn child2(&self, seeds: &[Block], right: &[bool], child: &mut [Block]) {
        for ((s, r), c) in seeds.iter().zip(right).zip(child) {
            *c = self.rows(TWO_OUTPUTS, *s)[usize::from(*r)];
        }
    }

    fn child4(&self, seeds: &[Block], right: &[bool], child: &mut [Block], value: &mut [Block]) {
        for (((s, r), c), v) in seeds.iter().zip(right).zip(child).zip(value) {
            let rows = self.rows(FOUR_OUTPUTS, *s);
            *c = rows[2 * usize::from(*r)];
            *v = rows[2 * usize::from(*r) + 1];
        }
    }
}
