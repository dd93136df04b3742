//! AES-128 with the seed as the key: LLAMA's PRG.

use aes::Aes128;
use aes::cipher::{Array, BlockCipherEncrypt, KeyInit};

use super::Prg;
use crate::block::Block;

/// `AES_s(LE128(i))`, i = 0 left seed, 1 right seed, 2 left value, 3 right value, no
/// feed-forward (EzPC FSS `dcf.cpp`, GPU-MPC `dpf.cpp` and `dcf.cpp`).
///
/// A key schedule is run for every node, so this is several times slower than
/// [`super::FixedKeyMmo`]; its security needs only that AES is a PRF.
#[derive(Clone, Copy, Debug, Default)]
pub struct SeedKeyedAes;

impl SeedKeyedAes {
    /// `AES_seed(LE128(first)), AES_seed(LE128(first + 1)), …`
    pub(crate) fn stream(seed: Block, first: u64, out: &mut [Block]) {
        let aes = Aes128::new(&Array(seed.to_bytes()));
        for (i, o) in (first..).zip(out.iter_mut()) {
            let mut block = Array(u128::from(i).to_le_bytes());
            aes.encrypt_block(&mut block);
            *o = Block::from_bytes(block.0);
        }
    }
}

impl Prg for SeedKeyedAes {
    fn expand2(&self, seeds: &[Block], left: &mut [Block], right: &mut [Block]) {
        assert!(
            seeds.len() == left.len() && seeds.len() == right.len(),
            "seeds and outputs differ in number"
        );
        for ((s, l), r) in seeds.iter().zip(left).zip(right) {
            let mut out = [Block::ZERO; 2];
            Self::stream(*s, 0, &mut out);
            [*l, *r] = out;
        }
    }

    fn expand4(&self, seeds: &[Block], [seed_l, value_l, seed_r, value_r]: [&mut [Block]; 4]) {
        for (j, s) in seeds.iter().enumerate() {
            let mut out = [Block::ZERO; 4];
            Self::stream(*s, 0, &mut out);
            [seed_l[j], seed_r[j], value_l[j], value_r[j]] = out;
        }
    }

    fn child2(&self, seeds: &[Block], right: &[bool], child: &mut [Block]) {
        for ((s, r), c) in seeds.iter().zip(right).zip(child) {
            Self::stream(*s, u64::from(*r), core::slice::from_mut(c));
        }
    }

    fn child4(&self, seeds: &[Block], right: &[bool], child: &mut [Block], value: &mut [Block]) {
        for (((s, r), c), v) in seeds.iter().zip(right).zip(child).zip(value) {
            // One key schedule for all four outputs, then the public choice among them.
            let mut out = [Block::ZERO; 4];
            Self::stream(*s, 0, &mut out);
            *c = out[usize::from(*r)];
            *v = out[2 + usize::from(*r)];
        }
    }
}
