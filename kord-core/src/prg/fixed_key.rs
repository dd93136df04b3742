//! Fixed-key AES-128 in Matyas–Meyer–Oseas mode.

use core::fmt;

use aes::Aes128;
use aes::cipher::{Array, BlockCipherEncrypt, KeyInit};
use sha2::{Digest, Sha256};

use super::Prg;
use crate::block::Block;

/// The five public AES-128 keys of the fixed-key profile.
///
/// A DPF uses the two seed keys. A DCF uses both pairs, in the order
/// (s_L, v_L, s_R, v_R), so that hardware lanes share the seed keys. `expand` stretches payloads
/// of more than 96 bits.
#[derive(Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct PrgKeys {
    /// S_L: left child seeds.
    pub seed_left: [u8; 16],
    /// S_R: right child seeds.
    pub seed_right: [u8; 16],
    /// V_L: left value blocks (DCF).
    pub value_left: [u8; 16],
    /// V_R: right value blocks (DCF).
    pub value_right: [u8; 16],
    /// X: payload expansion.
    pub expand: [u8; 16],
}

impl PrgKeys {
    /// KORD's default keys: the first 16 bytes of SHA-256 of "KORD v1 seed left",
    /// "KORD v1 seed right", "KORD v1 value left", "KORD v1 value right", "KORD v1 expand"
    /// (a test recomputes them).
    pub const KORD_V1: Self = Self {
        seed_left: 0x3e9f1e9660033fc42355e7e04e1ac02a_u128.to_be_bytes(),
        seed_right: 0x69fee41e5bfe68afb81c31c14e85fce7_u128.to_be_bytes(),
        value_left: 0x04c9499131284176084614e4a74bf1ba_u128.to_be_bytes(),
        value_right: 0x1609e5072901214968d82338f62c7a13_u128.to_be_bytes(),
        expand: 0x7588837f46d273f6793b727c9e016df2_u128.to_be_bytes(),
    };

    /// The first 8 bytes of SHA-256 of the five keys, concatenated: names them in key files.
    #[must_use]
    pub fn id(&self) -> [u8; 8] {
        let mut hash = Sha256::new();
        for key in self.all() {
            hash.update(key);
        }
        let digest = hash.finalize();
        let mut id = [0; 8];
        id.copy_from_slice(&digest[..8]);
        id
    }

    /// The keys in the order in which their id and files list them.
    pub(crate) const fn all(&self) -> [&[u8; 16]; 5] {
        [&self.seed_left, &self.seed_right, &self.value_left, &self.value_right, &self.expand]
    }
}

impl fmt::Debug for PrgKeys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PrgKeys {:016x}", u64::from_be_bytes(self.id()))
    }
}

/// `AES_K(s) ⊕ s` under fixed keys (BGI16 with the MMO instantiation; bit-identical with
/// myl7/fss `Aes128Mmo`).
///
/// Security: a public-permutation hash with no re-keying. With N on-path nodes under one key an
/// adversary who guesses 2^127/N nodes hits one; session-keyed PRG keys restart that count.
#[derive(Clone)]
pub struct FixedKeyMmo {
    pub(crate) seed: [Aes128; 2],
    pub(crate) value: [Aes128; 2],
    pub(crate) expand: Aes128,
    /// The keys themselves, for back ends that schedule them in their own form.
    pub(crate) keys: PrgKeys,
}

/// Walks whose AES inputs are encrypted by one call: enough to fill any AES unit.
const CHUNK: usize = 32;

impl FixedKeyMmo {
    /// The PRG under `keys`.
    #[must_use]
    pub fn new(keys: &PrgKeys) -> Self {
        let schedule = |key: &[u8; 16]| Aes128::new(&Array(*key));
        Self {
            seed: [schedule(&keys.seed_left), schedule(&keys.seed_right)],
            value: [schedule(&keys.value_left), schedule(&keys.value_right)],
            expand: schedule(&keys.expand),
            keys: *keys,
        }
    }

    /// The keys.
    #[must_use]
    pub const fn keys(&self) -> &PrgKeys {
        &self.keys
    }
}

/// `out[j] = AES(seeds[j]) ⊕ seeds[j]`. Encrypts in place, so that no copy is left to wipe.
pub(crate) fn mmo(aes: &Aes128, seeds: &[Block], out: &mut [Block]) {
    assert_eq!(seeds.len(), out.len(), "seeds and outputs differ in number");
    for (o, s) in out.iter_mut().zip(seeds) {
        *o = Block::from_u128(s.to_u128().to_le());
    }
    aes.encrypt_blocks(Array::cast_slice_from_core_mut(bytemuck::cast_slice_mut::<Block, [u8; 16]>(out)));
    for (o, s) in out.iter_mut().zip(seeds) {
        *o = Block::from_u128(u128::from_le(o.to_u128())) ^ *s;
    }
}

/// The same with a public choice of key for each seed: seeds of one side are gathered, so that
/// each key still encrypts a full chunk.
fn mmo_by_side(aes: &[Aes128; 2], seeds: &[Block], right: &[bool], out: &mut [Block]) {
    assert!(
        seeds.len() == right.len() && seeds.len() == out.len(),
        "seeds, sides and outputs differ in number"
    );
    let mut gathered = [Block::ZERO; CHUNK];
    let mut hashed = [Block::ZERO; CHUNK];
    for ((seeds, right), out) in seeds.chunks(CHUNK).zip(right.chunks(CHUNK)).zip(out.chunks_mut(CHUNK)) {
        for side in [false, true] {
            let mut count = 0;
            for (s, r) in seeds.iter().zip(right) {
                if *r == side {
                    gathered[count] = *s;
                    count += 1;
                }
            }
            mmo(&aes[usize::from(side)], &gathered[..count], &mut hashed[..count]);
            let mut next = 0;
            for (o, r) in out.iter_mut().zip(right) {
                if *r == side {
                    *o = hashed[next];
                    next += 1;
                }
            }
        }
    }
    zeroize::Zeroize::zeroize(&mut gathered[..]);
    zeroize::Zeroize::zeroize(&mut hashed[..]);
}

impl Prg for FixedKeyMmo {
    fn expand2(&self, seeds: &[Block], left: &mut [Block], right: &mut [Block]) {
        mmo(&self.seed[0], seeds, left);
        mmo(&self.seed[1], seeds, right);
    }

    fn expand4(&self, seeds: &[Block], out: [&mut [Block]; 4]) {
        let keys = [&self.seed[0], &self.value[0], &self.seed[1], &self.value[1]];
        for (aes, out) in keys.into_iter().zip(out) {
            mmo(aes, seeds, out);
        }
    }

    fn child2(&self, seeds: &[Block], right: &[bool], child: &mut [Block]) {
        mmo_by_side(&self.seed, seeds, right, child);
    }

    fn child4(&self, seeds: &[Block], right: &[bool], child: &mut [Block], value: &mut [Block]) {
        mmo_by_side(&self.seed, seeds, right, child);
        mmo_by_side(&self.value, seeds, right, value);
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn default_keys_are_the_published_derivation() {
        let first = |label: &str| -> [u8; 16] { Sha256::digest(label)[..16].try_into().unwrap() };
        let keys = PrgKeys::KORD_V1;
        assert_eq!(keys.seed_left, first("KORD v1 seed left"));
        assert_eq!(keys.seed_right, first("KORD v1 seed right"));
        assert_eq!(keys.value_left, first("KORD v1 value left"));
        assert_eq!(keys.value_right, first("KORD v1 value right"));
        assert_eq!(keys.expand, first("KORD v1 expand"));
    }
}
