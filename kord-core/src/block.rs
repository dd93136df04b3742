//! A 128-bit block: seeds, correction words, AES inputs and outputs.

use core::fmt;
use core::ops::{BitXor, BitXorAssign};

use bytemuck::{Pod, Zeroable};
use zeroize::DefaultIsZeroes;

/// 16 bytes, read as the little-endian integer `sum byte[i] * 256^i`.
///
/// Blocks are usually secret, so `Debug` shows no contents and there is no `PartialEq`; compare
/// with [`subtle::ConstantTimeEq`].
#[derive(Clone, Copy, Default, Pod, Zeroable)]
#[repr(transparent)]
pub struct Block(u128);

impl Block {
    /// Bytes in a block.
    pub const BYTES: usize = 16;
    /// The zero block.
    pub const ZERO: Self = Self(0);

    /// The block whose memory image is `bytes` (byte 0 first).
    #[must_use]
    pub const fn from_bytes(bytes: [u8; 16]) -> Self {
        Self(u128::from_le_bytes(bytes))
    }

    /// The memory image, byte 0 first.
    #[must_use]
    pub const fn to_bytes(self) -> [u8; 16] {
        self.0.to_le_bytes()
    }

    /// The block that is the little-endian integer `value`.
    #[must_use]
    pub const fn from_u128(value: u128) -> Self {
        Self(value)
    }

    /// The block as a little-endian integer.
    #[must_use]
    pub const fn to_u128(self) -> u128 {
        self.0
    }
}

impl DefaultIsZeroes for Block {}

impl BitXor for Block {
    type Output = Self;
    fn bitxor(self, rhs: Self) -> Self {
        Self(self.0 ^ rhs.0)
    }
}

impl BitXorAssign for Block {
    fn bitxor_assign(&mut self, rhs: Self) {
        self.0 ^= rhs.0;
    }
}

impl subtle::ConstantTimeEq for Block {
    fn ct_eq(&self, other: &Self) -> subtle::Choice {
        self.0.ct_eq(&other.0)
    }
}

impl fmt::Debug for Block {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Block(..)")
    }
}
