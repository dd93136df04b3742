//! The cipher of a direction: AES-128-GCM, or its keystream alone in the plain tier.

use aes::cipher::{BlockCipherEncrypt, KeyInit};
use aes::{Aes128, Block};
use aes_gcm::Aes128Gcm;
use zeroize::Zeroize;

use crate::Tier;

/// The key of one direction, expanded. Zeroized on drop by the cipher crates.
pub(super) enum Cipher {
    Plain(Box<Keystream>),
    Mac(Box<Aes128Gcm>),
}

impl Cipher {
    pub(super) fn new(tier: Tier, key: &[u8; 16]) -> Self {
        match tier {
            Tier::Plain => Self::Plain(Box::new(Keystream(Aes128::new(key.into())))),
            Tier::Mac => Self::Mac(Box::new(Aes128Gcm::new(key.into()))),
        }
    }

    pub(super) const fn tier(&self) -> Tier {
        match self {
            Self::Plain(_) => Tier::Plain,
            Self::Mac(_) => Tier::Mac,
        }
    }
}

/// Blocks encrypted at a time; enough to fill an AES pipeline.
const BATCH: usize = 32;

/// AES-128 in counter mode with GCM's counter blocks.
pub(super) struct Keystream(Aes128);

impl Keystream {
    /// XORs `body` with the keystream of `nonce`. At most 2^32 - 2 blocks, far above a body.
    pub(super) fn apply(&self, nonce: &[u8; 12], body: &mut [u8]) {
        let mut blocks = [Block::default(); BATCH];
        // Block 1 masks the tag in GCM; the body starts at block 2.
        let mut counter = 2u32;
        for chunk in body.chunks_mut(BATCH * 16) {
            let used = &mut blocks[..chunk.len().div_ceil(16)];
            for block in used.iter_mut() {
                block[..12].copy_from_slice(nonce);
                block[12..].copy_from_slice(&counter.to_be_bytes());
                counter += 1;
            }
            self.0.encrypt_blocks(used);
            for (byte, key) in chunk.iter_mut().zip(used.iter().flatten()) {
                *byte ^= key;
            }
        }
        for block in &mut blocks {
            block.as_mut_slice().zeroize();
        }
    }
}
