//! Output groups of keys: Z_2^k, Z_m and XOR strings, chosen at run time.
//!
//! Every operation here is free of branches on element values. Source: BGI16 and BGI21 ask only
//! for a finite abelian group; elements are integers in canonical form.

use core::fmt;

use crate::error::SpecError;

/// The kind of an output group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub enum GroupKind {
    /// Integers modulo 2^k.
    Ring,
    /// Integers modulo m.
    Modular,
    /// k-bit strings under XOR.
    Xor,
}

/// An output group whose elements fit 128 bits. Elements are `u128` in canonical form
/// (see [`Group::contains`]).
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Group {
    kind: GroupKind,
    bits: u8,
    /// All-ones mask of `bits` for rings and XOR strings; m − 1 for Z_m.
    max: u128,
}

impl Group {
    /// Z_2^64, a machine word.
    pub(crate) const WORD: Self = Self { kind: GroupKind::Ring, bits: 64, max: u64::MAX as u128 };
    /// One bit under XOR.
    pub(crate) const BIT: Self = Self { kind: GroupKind::Xor, bits: 1, max: 1 };
    /// A whole block under XOR.
    pub(crate) const BLOCK: Self = Self { kind: GroupKind::Xor, bits: 128, max: u128::MAX };

    /// Z_2^k, 1 ≤ k ≤ 128.
    ///
    /// # Errors
    /// [`SpecError::ElementBits`] outside that range.
    pub const fn ring(bits: u8) -> Result<Self, SpecError> {
        Self::power_of_two(GroupKind::Ring, bits)
    }

    /// k-bit strings under XOR, 1 ≤ k ≤ 128.
    ///
    /// # Errors
    /// [`SpecError::ElementBits`] outside that range.
    pub const fn xor(bits: u8) -> Result<Self, SpecError> {
        Self::power_of_two(GroupKind::Xor, bits)
    }

    /// Z_m, m ≥ 2. An element takes ⌈log2 m⌉ bits.
    ///
    /// # Errors
    /// [`SpecError::Modulus`] if m < 2.
    pub const fn modular(modulus: u128) -> Result<Self, SpecError> {
        if modulus < 2 {
            return Err(SpecError::Modulus { modulus });
        }
        let max = modulus - 1;
        Ok(Self { kind: GroupKind::Modular, bits: (128 - max.leading_zeros()) as u8, max })
    }

    const fn power_of_two(kind: GroupKind, bits: u8) -> Result<Self, SpecError> {
        if bits == 0 || bits > 128 {
            return Err(SpecError::ElementBits { bits: bits as u32 });
        }
        Ok(Self { kind, bits, max: u128::MAX >> (128 - bits as u32) })
    }

    /// The group's kind.
    #[must_use]
    pub const fn kind(self) -> GroupKind {
        self.kind
    }

    /// Bits of an element.
    #[must_use]
    pub const fn bits(self) -> u8 {
        self.bits
    }

    /// Bytes of an encoded element, ⌈bits / 8⌉, little-endian.
    #[must_use]
    pub const fn element_bytes(self) -> usize {
        (self.bits as usize).div_ceil(8)
    }

    /// m of Z_m; `None` for the power-of-two groups.
    #[must_use]
    pub const fn modulus(self) -> Option<u128> {
        match self.kind {
            GroupKind::Modular => Some(self.max + 1),
            _ => None,
        }
    }

    /// The largest canonical element.
    #[must_use]
    pub const fn max_element(self) -> u128 {
        self.max
    }

    /// Whether `value` is a canonical element: below 2^k, or below m.
    #[must_use]
    pub const fn contains(self, value: u128) -> bool {
        value <= self.max
    }

    /// Whether all `values` are canonical elements. Takes the same time whichever is not.
    pub(crate) fn contains_all(self, values: impl Iterator<Item = u128>) -> bool {
        match self.kind {
            GroupKind::Ring | GroupKind::Xor => values.fold(0, |excess, v| excess | (v & !self.max)) == 0,
            GroupKind::Modular => values.fold(true, |all, v| all & self.contains(v)),
        }
    }

    /// a + b (or a ⊕ b). Both canonical.
    #[must_use]
    pub fn add(self, a: u128, b: u128) -> u128 {
        match self.kind {
            GroupKind::Ring => a.wrapping_add(b) & self.max,
            GroupKind::Xor => a ^ b,
            GroupKind::Modular => {
                let (sum, carry) = a.overflowing_add(b);
                let (reduced, borrow) = sum.overflowing_sub(self.max.wrapping_add(1));
                // Keep the unreduced sum only when it fits and is already below m.
                select(mask(borrow & !carry), sum, reduced)
            }
        }
    }

    /// −a (a itself for XOR). Canonical.
    #[must_use]
    pub fn neg(self, a: u128) -> u128 {
        match self.kind {
            GroupKind::Ring => a.wrapping_neg() & self.max,
            GroupKind::Xor => a,
            GroupKind::Modular => {
                let difference = self.max.wrapping_add(1).wrapping_sub(a);
                difference & !mask(is_zero(a))
            }
        }
    }

    /// a − b.
    #[must_use]
    pub fn sub(self, a: u128, b: u128) -> u128 {
        self.add(a, self.neg(b))
    }

    /// a if `mask` is zero, −a if it is all ones.
    #[must_use]
    pub(crate) fn neg_if(self, mask: u128, a: u128) -> u128 {
        select(mask, self.neg(a), a)
    }

    /// a · b modulo 2^k or m; for XOR strings the bitwise AND. What a Beaver triple multiplies.
    #[must_use]
    pub fn mul(self, a: u128, b: u128) -> u128 {
        match self.kind {
            GroupKind::Ring => a.wrapping_mul(b) & self.max,
            GroupKind::Xor => a & b,
            GroupKind::Modular => {
                // Double-and-add over all bits of b: constant time for every modulus.
                let mut product = 0;
                for i in (0..self.bits).rev() {
                    product = self.add(product, product);
                    product = self.add(product, a & mask((b >> i) & 1 == 1));
                }
                product
            }
        }
    }

    /// The element congruent to a little-endian integer of any length: low k bits, or reduced
    /// modulo m bit by bit, which takes the same time for every value.
    #[must_use]
    pub fn reduce_bytes(self, bytes: &[u8]) -> u128 {
        match self.kind {
            GroupKind::Ring | GroupKind::Xor => {
                let mut low = [0; 16];
                let n = bytes.len().min(16);
                low[..n].copy_from_slice(&bytes[..n]);
                u128::from_le_bytes(low) & self.max
            }
            GroupKind::Modular => {
                let mut r = 0;
                for byte in bytes.iter().rev() {
                    for i in (0..8).rev() {
                        r = self.add(r, r);
                        r = self.add(r, u128::from((byte >> i) & 1));
                    }
                }
                r
            }
        }
    }

    /// The element congruent to `value`.
    #[must_use]
    pub fn reduce(self, value: u128) -> u128 {
        self.reduce_bytes(&value.to_le_bytes())
    }
}

impl fmt::Display for Group {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.kind {
            GroupKind::Ring => write!(f, "Z_2^{}", self.bits),
            GroupKind::Xor => write!(f, "{}-bit XOR", self.bits),
            GroupKind::Modular => write!(f, "Z_m, m − 1 = {}", self.max),
        }
    }
}

impl fmt::Debug for Group {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// All ones if `bit`, else zero. Compiles to arithmetic, not to a branch.
#[inline]
pub(crate) fn mask(bit: bool) -> u128 {
    core::hint::black_box(u128::from(bit)).wrapping_neg()
}

/// `a` where `mask` is all ones, `b` where it is zero.
#[inline]
pub(crate) const fn select(mask: u128, a: u128, b: u128) -> u128 {
    (a & mask) | (b & !mask)
}

#[inline]
fn is_zero(a: u128) -> bool {
    bool::from(subtle::ConstantTimeEq::ct_eq(&a, &0))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn groups() -> Vec<Group> {
        let mut all: Vec<Group> =
            (1..=128).flat_map(|k| [Group::ring(k).unwrap(), Group::xor(k).unwrap()]).collect();
        let moduli = [
            2,
            3,
            5,
            200,
            256,
            65_537,
            (1 << 61) - 1,
            u128::from(u64::MAX),
            1 << 127,
            (1 << 127) + 1,
            u128::MAX,
        ];
        all.extend(moduli.map(|m| Group::modular(m).unwrap()));
        all
    }

    #[test]
    fn refuses_what_is_no_group() {
        assert!(Group::ring(0).is_err());
        assert!(Group::ring(129).is_err());
        assert!(Group::xor(0).is_err());
        assert!(Group::modular(0).is_err());
        assert!(Group::modular(1).is_err());
    }

    #[test]
    fn small_moduli_match_integers_exhaustively() {
        for m in 2..40_u128 {
            let group = Group::modular(m).unwrap();
            for a in 0..m {
                assert_eq!(group.neg(a), (m - a) % m);
                for b in 0..m {
                    assert_eq!(group.add(a, b), (a + b) % m);
                    assert_eq!(group.sub(a, b), (a + m - b) % m);
                    assert_eq!(group.mul(a, b), (a * b) % m);
                }
            }
        }
    }

    proptest! {
        #[test]
        fn group_laws(a: u128, b: u128, c: u128) {
            for group in groups() {
                let (a, b, c) = (group.reduce(a), group.reduce(b), group.reduce(c));
                prop_assert!(group.contains(a));
                prop_assert!(group.contains(group.add(a, b)));
                prop_assert_eq!(group.add(a, b), group.add(b, a));
                prop_assert_eq!(group.add(group.add(a, b), c), group.add(a, group.add(b, c)));
                prop_assert_eq!(group.add(a, group.neg(a)), 0);
                prop_assert_eq!(group.sub(group.add(a, b), b), a);
                prop_assert_eq!(group.mul(a, group.add(b, c)), group.add(group.mul(a, b), group.mul(a, c)));
            }
        }

        #[test]
        fn reduce_matches_the_integers(value: u128, m in 2..u128::MAX) {
            prop_assert_eq!(Group::modular(m).unwrap().reduce(value), value % m);
        }
    }
}
