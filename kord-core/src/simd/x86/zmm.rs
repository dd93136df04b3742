//! Four blocks in a 512-bit register: VAES with AVX-512.

use core::arch::x86_64::*;

use super::Vaes512;
use super::rounds::{define_round, define_round_each, round};
use crate::block::Block;
use crate::simd::lanes::{Lanes, Schedule};

/// Four blocks.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub(super) struct Zmm(__m512i);

/// An intrinsic on registers alone.
macro_rules! cpu {
    ($e:expr) => {
        // SAFETY: a `Zmm` or its token exists only where VAES and AVX-512 F, BW, DQ and VL and BMI2 do.
        unsafe { $e }
    };
}

/// Register operations that stay where they are written (see `rounds`).
mod ops {
    use core::arch::asm;
    use core::arch::x86_64::__m512i;

    /// Defines an operation of two registers.
    macro_rules! binary {
        ($($name:ident $text:literal)*) => {
            $(
                #[inline]
                #[target_feature(enable = "avx512f")]
                pub(super) fn $name(a: __m512i, b: __m512i) -> __m512i {
                    let out;
                    // SAFETY: reads and writes registers only.
                    unsafe {
                        asm!($text, a = in(zmm_reg) a, b = in(zmm_reg) b, out = lateout(zmm_reg) out,
                            options(nomem, nostack, preserves_flags));
                    }
                    out
                }
            )*
        };
    }

    /// Defines an operation of one register.
    macro_rules! unary {
        ($($name:ident $text:literal)*) => {
            $(
                #[inline]
                #[target_feature(enable = "avx512f")]
                pub(super) fn $name(a: __m512i) -> __m512i {
                    let out;
                    // SAFETY: reads and writes registers only.
                    unsafe {
                        asm!($text, a = in(zmm_reg) a, out = lateout(zmm_reg) out,
                            options(nomem, nostack, preserves_flags));
                    }
                    out
                }
            )*
        };
    }

    binary! {
        xor "vpxorq {out}, {a}, {b}"
        and "vpandq {out}, {a}, {b}"
        and_not "vpandnq {out}, {a}, {b}"
        add "vpaddq {out}, {a}, {b}"
        sub "vpsubq {out}, {a}, {b}"
        sub32 "vpsubd {out}, {a}, {b}"
        interleave_low "vpunpcklqdq {out}, {a}, {b}"
    }

    unary! {
        rotate_right "vprorq {out}, {a}, 1"
        sign "vpsraq {out}, {a}, 63"
        spread_high "vpshufd {out}, {a}, 0xFF"
    }

    /// Three-input logic: bit 4a + 2b + c of `TABLE` is the result.
    #[inline]
    #[target_feature(enable = "avx512f")]
    pub(super) fn logic<const TABLE: u8>(mut a: __m512i, b: __m512i, c: __m512i) -> __m512i {
        // SAFETY: reads and writes registers only.
        unsafe {
            asm!("vpternlogq {a}, {b}, {c}, {table}", a = inout(zmm_reg) a, b = in(zmm_reg) b,
                c = in(zmm_reg) c, table = const TABLE, options(nomem, nostack, preserves_flags));
        }
        a
    }
}

define_round!(middle_round, __m512i, zmm_reg, "avx512f,vaes", "vmovdqa64", "vaesenc");
define_round!(last_round, __m512i, zmm_reg, "avx512f,vaes", "vmovdqa64", "vaesenclast");
define_round_each!(middle_round_each, __m512i, zmm_reg, "avx512f,vaes", "vaesenc");
define_round_each!(last_round_each, __m512i, zmm_reg, "avx512f,vaes", "vaesenclast");

impl Lanes for Zmm {
    type Cpu = Vaes512;
    const BLOCKS: usize = 4;

    #[inline(always)]
    fn splat(_: Vaes512, block: u128) -> Self {
        let (low, high) = (block as i64, (block >> 64) as i64);
        Self(cpu!(_mm512_set_epi64(high, low, high, low, high, low, high, low)))
    }

    #[inline(always)]
    fn load(_: Vaes512, from: &[Block]) -> Self {
        let from = &from[..4];
        // SAFETY: 64 bytes are in bounds, and the token proves AVX-512.
        Self(unsafe { _mm512_loadu_si512(from.as_ptr().cast()) })
    }

    #[inline(always)]
    fn spread(_: Vaes512, from: &[u64]) -> Self {
        let from = &from[..4];
        // SAFETY: 32 bytes are in bounds, and the token proves AVX-512.
        Self(unsafe {
            let four = _mm512_castsi256_si512(_mm256_loadu_si256(from.as_ptr().cast()));
            _mm512_permutexvar_epi64(_mm512_set_epi64(3, 3, 2, 2, 1, 1, 0, 0), four)
        })
    }

    #[inline(always)]
    fn store(self, to: &mut [Block]) {
        let to = &mut to[..4];
        // SAFETY: 64 bytes are in bounds, and `self` proves AVX-512.
        unsafe { _mm512_storeu_si512(to.as_mut_ptr().cast(), self.0) }
    }

    #[inline(always)]
    unsafe fn scatter(self, to: *mut u8, stride: usize) {
        // SAFETY: the caller vouches for the addresses, `self` for AVX-512.
        unsafe {
            let low = _mm512_castsi512_si256(self.0);
            let high = _mm512_extracti64x4_epi64::<1>(self.0);
            _mm_storeu_si128(to.cast(), _mm256_castsi256_si128(low));
            _mm_storeu_si128(to.add(stride).cast(), _mm256_extracti128_si256::<1>(low));
            _mm_storeu_si128(to.add(stride.wrapping_mul(2)).cast(), _mm256_castsi256_si128(high));
            _mm_storeu_si128(to.add(stride.wrapping_mul(3)).cast(), _mm256_extracti128_si256::<1>(high));
        }
    }

    #[inline(always)]
    unsafe fn gather(_: Vaes512, from: &[*const u8], offset: usize) -> Self {
        let from = &from[..4];
        // SAFETY: the caller vouches for the addresses, the token for AVX-512.
        unsafe {
            let low = _mm256_inserti128_si256::<1>(
                _mm256_castsi128_si256(_mm_loadu_si128(from[0].add(offset).cast())),
                _mm_loadu_si128(from[1].add(offset).cast()),
            );
            let high = _mm256_inserti128_si256::<1>(
                _mm256_castsi128_si256(_mm_loadu_si128(from[2].add(offset).cast())),
                _mm_loadu_si128(from[3].add(offset).cast()),
            );
            Self(_mm512_inserti64x4::<1>(_mm512_castsi256_si512(low), high))
        }
    }

    #[inline(always)]
    fn round<const R: usize>(left: &Schedule<Self>, right: &Schedule<Self>, states: &mut [[Self; 2]; 4]) {
        let keys = [left.0.as_ptr().cast(), right.0.as_ptr().cast()];
        // SAFETY: a schedule is 11 registers in memory; `Self` has the layout of its register;
        // `states` proves the target features. (Maps over arrays would become calls here.)
        unsafe {
            let raw = core::mem::transmute::<[[Self; 2]; 4], [[__m512i; 2]; 4]>(*states);
            let raw = if R < 10 { middle_round::<R>(keys, raw) } else { last_round::<R>(keys, raw) };
            *states = core::mem::transmute::<[[__m512i; 2]; 4], [[Self; 2]; 4]>(raw);
        }
    }

    #[inline(always)]
    fn round_each<const R: usize>(keys: &[&Schedule<Self>; 8], states: &mut [Self; 8]) {
        // SAFETY: references and pointers to a schedule are alike, and a schedule is 11 registers
        // in memory; `Self` has the layout of its register; `states` proves the target features.
        unsafe {
            let keys = core::mem::transmute::<[&Schedule<Self>; 8], [*const __m512i; 8]>(*keys);
            let raw = core::mem::transmute::<[Self; 8], [__m512i; 8]>(*states);
            let raw =
                if R < 10 { middle_round_each::<R>(keys, raw) } else { last_round_each::<R>(keys, raw) };
            *states = core::mem::transmute::<[__m512i; 8], [Self; 8]>(raw);
        }
    }

    #[inline(always)]
    fn deposit(_: Vaes512, bits: u64, mask: u64) -> u64 {
        cpu!(_pdep_u64(bits, mask))
    }

    #[inline(always)]
    fn xor(self, b: Self) -> Self {
        Self(cpu!(ops::xor(self.0, b.0)))
    }

    #[inline(always)]
    fn and(self, b: Self) -> Self {
        Self(cpu!(ops::and(self.0, b.0)))
    }

    #[inline(always)]
    fn clear(self, b: Self) -> Self {
        Self(cpu!(ops::and_not(b.0, self.0)))
    }

    #[inline(always)]
    fn add(self, b: Self) -> Self {
        Self(cpu!(ops::add(self.0, b.0)))
    }

    #[inline(always)]
    fn sub(self, b: Self) -> Self {
        Self(cpu!(ops::sub(self.0, b.0)))
    }

    #[inline(always)]
    fn shift_left(self, bits: u32) -> Self {
        Self(cpu!(_mm512_sll_epi64(self.0, _mm_cvtsi32_si128(bits as i32))))
    }

    #[inline(always)]
    fn rotate_right(self) -> Self {
        Self(cpu!(ops::rotate_right(self.0)))
    }

    #[inline(always)]
    fn sign(self) -> Self {
        Self(cpu!(ops::sign(self.0)))
    }

    #[inline(always)]
    fn spread_control(self) -> Self {
        Self(cpu!(ops::spread_high(self.0)))
    }

    #[inline(always)]
    fn control_mask(self) -> Self {
        cpu!({
            let bit = ops::and(self.0, _mm512_set1_epi32(1));
            Self(ops::sub32(_mm512_setzero_si512(), bit))
        })
    }

    #[inline(always)]
    fn interleave_low(a: Self, b: Self) -> Self {
        Self(cpu!(ops::interleave_low(a.0, b.0)))
    }

    #[inline(always)]
    fn select(mask: Self, a: Self, b: Self) -> Self {
        Self(cpu!(ops::logic::<0xCA>(mask.0, a.0, b.0)))
    }

    #[inline(always)]
    fn select_not(mask: Self, a: Self, b: Self) -> Self {
        Self(cpu!(ops::logic::<0x3A>(mask.0, a.0, b.0)))
    }

    #[inline(always)]
    fn xor3(a: Self, b: Self, c: Self) -> Self {
        Self(cpu!(ops::logic::<0x96>(a.0, b.0, c.0)))
    }

    #[inline(always)]
    fn xor_and(a: Self, b: Self, c: Self) -> Self {
        Self(cpu!(ops::logic::<0x78>(a.0, b.0, c.0)))
    }

    #[inline(always)]
    fn xor_clear(a: Self, b: Self, c: Self) -> Self {
        Self(cpu!(ops::logic::<0x14>(a.0, b.0, c.0)))
    }

    #[inline(always)]
    fn clear_xor(a: Self, b: Self, c: Self) -> Self {
        Self(cpu!(ops::logic::<0x9A>(a.0, b.0, c.0)))
    }

    #[inline(always)]
    fn and_xor(a: Self, b: Self, c: Self) -> Self {
        Self(cpu!(ops::logic::<0x60>(a.0, b.0, c.0)))
    }
}
