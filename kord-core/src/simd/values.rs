//! Payload groups of at most 64 bits, in the 64-bit halves of registers.

use super::lanes::Lanes;

/// A payload group. Groups of fewer bits are the low bits of these.
pub(super) trait Values {
    /// a + b.
    fn add<L: Lanes>(a: L, b: L) -> L;
    /// a − b.
    fn sub<L: Lanes>(a: L, b: L) -> L;
    /// −a where `mask` is set.
    fn neg_if<L: Lanes>(mask: L, a: L) -> L;
    /// a + b, of one element.
    fn add_words(a: u64, b: u64) -> u64;
    /// −a where `mask` is set, of one element.
    fn neg_word_if(mask: u64, a: u64) -> u64;
}

/// Integers modulo 2^64.
pub(super) struct Ring;

/// 64-bit strings under XOR.
pub(super) struct Xor;

impl Values for Ring {
    #[inline(always)]
    fn add<L: Lanes>(a: L, b: L) -> L {
        a.add(b)
    }

    #[inline(always)]
    fn sub<L: Lanes>(a: L, b: L) -> L {
        a.sub(b)
    }

    #[inline(always)]
    fn neg_if<L: Lanes>(mask: L, a: L) -> L {
        a.xor(mask).sub(mask)
    }

    #[inline(always)]
    fn add_words(a: u64, b: u64) -> u64 {
        a.wrapping_add(b)
    }

    #[inline(always)]
    fn neg_word_if(mask: u64, a: u64) -> u64 {
        (a ^ mask).wrapping_sub(mask)
    }
}

impl Values for Xor {
    #[inline(always)]
    fn add<L: Lanes>(a: L, b: L) -> L {
        a.xor(b)
    }

    #[inline(always)]
    fn sub<L: Lanes>(a: L, b: L) -> L {
        a.xor(b)
    }

    #[inline(always)]
    fn neg_if<L: Lanes>(_: L, a: L) -> L {
        a
    }

    #[inline(always)]
    fn add_words(a: u64, b: u64) -> u64 {
        a ^ b
    }

    #[inline(always)]
    fn neg_word_if(_: u64, a: u64) -> u64 {
        a
    }
}
