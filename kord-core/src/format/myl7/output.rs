//! myl7/fss's output groups and how blocks hold their elements.

use crate::block::Block;
use crate::error::SpecError;
use crate::group::{Group, GroupKind};

/// An output group of the library: `Bytes` or `Uint<T, mod>`.
///
/// An element is a `u128`: for [`Output::BYTES`] the block as a little-endian integer, whose bit
/// 96 (the clamp bit) is zero; for integers their value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Output {
    group: Group,
    /// Bytes of T.
    bytes: u8,
}

/// The clamp bit of a block.
const CLAMP: u128 = 1 << 96;
/// Bits below the clamp bit.
const LOW: u128 = CLAMP - 1;

impl Output {
    /// `Bytes`: 16 bytes under XOR, of which 127 bits are usable.
    pub const BYTES: Self = Self { group: Group::BLOCK, bytes: 16 };

    /// `Uint<T, modulus>` with T of `bits` bits; modulus 0 stands for 2^bits.
    ///
    /// # Errors
    /// [`SpecError::Unrepresentable`] unless `bits` is 8, 16, 32, 64 or 128 and the modulus fits T
    /// (128 bits: is given and at most 2^127); [`SpecError::Modulus`] for a modulus of 1.
    pub const fn uint(bits: u8, modulus: u128) -> Result<Self, SpecError> {
        let largest = match bits {
            8 | 16 | 32 | 64 => (1 << bits) - 1,
            128 => 1 << 127,
            _ => {
                let what = "integers of other than 8, 16, 32, 64 or 128 bits";
                return Err(SpecError::Unrepresentable { format: "myl7/fss", what });
            }
        };
        if modulus > largest || (bits == 128 && modulus == 0) {
            let what = "a modulus that does not fit its integer type";
            return Err(SpecError::Unrepresentable { format: "myl7/fss", what });
        }
        let group = if modulus == 0 {
            Group::ring(bits)
        } else if modulus.is_power_of_two() && modulus > 1 {
            Group::ring(modulus.trailing_zeros() as u8)
        } else {
            Group::modular(modulus)
        };
        match group {
            Ok(group) => Ok(Self { group, bytes: bits / 8 }),
            Err(error) => Err(error),
        }
    }

    /// The smallest `Uint<T, 2^k>` that is Z_2^k, k ≤ 64.
    pub(super) const fn ring(k: u8) -> Result<Self, SpecError> {
        let bits = match k {
            0..=8 => 8,
            9..=16 => 16,
            17..=32 => 32,
            _ => 64,
        };
        Self::uint(bits, if k == bits { 0 } else { 1 << k })
    }

    /// The group as the tree computes in it.
    #[must_use]
    pub const fn group(self) -> Group {
        self.group
    }

    /// Whether `value` is an element.
    #[must_use]
    pub const fn contains(self, value: u128) -> bool {
        self.group.contains(value) && (!self.is_bytes() || value & CLAMP == 0)
    }

    /// The library's `From`: the element that a block stands for, its clamp bit ignored.
    #[must_use]
    pub fn element(self, block: Block) -> u128 {
        let bits = block.to_u128() & !CLAMP;
        if self.is_bytes() {
            return bits;
        }
        if self.bytes == 16 {
            return self.group.reduce((bits & LOW) | (bits >> 97 << 96));
        }
        self.group.reduce_bytes(&bits.to_le_bytes()[..usize::from(self.bytes)])
    }

    /// The library's `Into`: an element as a block, unused bits zero.
    #[must_use]
    pub const fn block(self, element: u128) -> Block {
        if self.is_bytes() || self.bytes < 16 {
            return Block::from_u128(element);
        }
        Block::from_u128((element & LOW) | (element >> 96 << 97))
    }

    const fn is_bytes(self) -> bool {
        matches!(self.group.kind(), GroupKind::Xor)
    }
}
