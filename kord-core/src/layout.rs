//! Byte offsets inside a native key.
//!
//! | part | bytes |
//! |---|---|
//! | root seed, clamp bit (bit 96) 0 | 16 |
//! | n correction seeds, clamp bit = t_L | 16 each |
//! | t_R bits, level i in bit i mod 8 of byte ⌊i/8⌋ | ⌈n/8⌉ |
//! | DCF: n value words | payload bytes each |
//! | final word | payload bytes |

use crate::block::Block;
use crate::error::DecodeError;
use crate::group::Group;
use crate::spec::KeySpec;
use crate::tree::{CorrectionWord, CorrectionWords, Tree, Walk};

/// The clamp bit's byte within a block.
const CLAMP_BYTE: usize = 12;

/// Offsets of one key's parts, all in bytes from its start.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Layout {
    pub(crate) domain_bits: usize,
    pub(crate) right_bits: usize,
    pub(crate) values: usize,
    pub(crate) final_word: usize,
    pub(crate) payload_bytes: usize,
    pub(crate) key_bytes: usize,
}

impl Layout {
    pub(crate) fn new(spec: &KeySpec) -> Self {
        let n = usize::from(spec.domain_bits());
        let right_bits = 16 + 16 * n;
        let values = right_bits + n.div_ceil(8);
        let key_bytes = spec.key_bytes();
        Self {
            domain_bits: n,
            right_bits,
            values,
            final_word: key_bytes - spec.payload_bytes(),
            payload_bytes: spec.payload_bytes(),
            key_bytes,
        }
    }

    /// Writes a level's correction word. The key's t_R bytes must start at zero.
    pub(crate) fn put_word(&self, key: &mut [u8], tree: &Tree<'_>, level: usize, word: &CorrectionWord) {
        let seed = tree.with_control(word.seed, word.left);
        key[16 + 16 * level..][..16].copy_from_slice(&seed.to_bytes());
        key[self.right_bits + level / 8] |= word.right << (level % 8);
    }

    /// Writes a level's value word.
    pub(crate) fn put_value(&self, key: &mut [u8], level: usize, group: Group, word: &[u128]) {
        put_elements(&mut key[self.values + level * self.payload_bytes..], group, word);
    }

    /// Writes the final word.
    pub(crate) fn put_final(&self, key: &mut [u8], group: Group, word: &[u128]) {
        put_elements(&mut key[self.final_word..], group, word);
    }
}

/// Elements at ⌈k/8⌉ bytes each, little-endian, back to back.
pub(crate) fn put_elements(bytes: &mut [u8], group: Group, elements: &[u128]) {
    let width = group.element_bytes();
    for (bytes, element) in bytes.chunks_exact_mut(width).zip(elements) {
        bytes.copy_from_slice(&element.to_le_bytes()[..width]);
    }
}

fn get_elements(bytes: &[u8], group: Group, elements: &mut [u128]) {
    let width = group.element_bytes();
    for (bytes, element) in bytes.chunks_exact(width).zip(elements) {
        let mut wide = [0; 16];
        wide[..width].copy_from_slice(bytes);
        *element = u128::from_le_bytes(wide);
    }
}

/// One native key, read in place.
#[derive(Clone, Copy)]
pub(crate) struct NativeKey<'a> {
    pub(crate) layout: Layout,
    pub(crate) group: Group,
    pub(crate) bytes: &'a [u8],
}

impl NativeKey<'_> {
    fn block(&self, offset: usize) -> Block {
        let mut bytes = [0; 16];
        bytes.copy_from_slice(&self.bytes[offset..offset + 16]);
        Block::from_bytes(bytes)
    }

    /// This party's root seed.
    pub(crate) fn root(&self) -> Block {
        self.block(0)
    }

    /// The walk from this key's root to `x`.
    pub(crate) fn walk(&self, tree: &Tree<'_>, party: crate::Party, x: u64) -> Walk {
        Walk { seed: tree.seed(self.root()), control: party.sign_mask(), x: u128::from(x) }
    }

    /// Checks everything that a well-formed key promises beyond its length.
    pub(crate) fn check(&self) -> Result<(), DecodeError> {
        if self.bytes[CLAMP_BYTE] & 1 != 0 {
            return Err(DecodeError::Field { field: "root seed", problem: "clamp bit is set" });
        }
        let spare = self.domain_bits_over();
        if spare != 0 && self.bytes[self.layout.values - 1] >> (8 - spare) != 0 {
            return Err(DecodeError::Field { field: "t_R bits", problem: "padding is not zero" });
        }
        let payloads = &self.bytes[self.layout.values..];
        let mut element = [0];
        for bytes in payloads.chunks_exact(self.group.element_bytes()) {
            get_elements(bytes, self.group, &mut element);
            if !self.group.contains(element[0]) {
                return Err(DecodeError::Field { field: "payload word", problem: "not a group element" });
            }
        }
        Ok(())
    }

    /// Unused bits of the last t_R byte.
    const fn domain_bits_over(&self) -> usize {
        (8 - self.layout.domain_bits % 8) % 8
    }
}

impl CorrectionWords for NativeKey<'_> {
    fn word(&self, level: usize) -> CorrectionWord {
        let node = self.block(16 + 16 * level).to_u128();
        CorrectionWord {
            seed: Block::from_u128(node & !(1 << 96)),
            left: ((node >> 96) & 1) as u8,
            right: (self.bytes[self.layout.right_bits + level / 8] >> (level % 8)) & 1,
        }
    }

    fn value(&self, level: usize, out: &mut [u128]) {
        let start = self.layout.values + level * self.layout.payload_bytes;
        get_elements(&self.bytes[start..][..self.layout.payload_bytes], self.group, out);
    }

    fn final_word(&self, out: &mut [u128]) {
        get_elements(&self.bytes[self.layout.final_word..], self.group, out);
    }
}
