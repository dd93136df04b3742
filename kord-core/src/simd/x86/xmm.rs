//! One block in a 128-bit register: AES-NI with AVX2.

use core::arch::x86_64::*;

use super::AesNi;
use super::rounds::{define_round, define_round_each, round};
use crate::block::Block;
use crate::simd::lanes::{Lanes, Schedule};

/// One block.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub(super) struct Xmm(__m128i);

/// An intrinsic on registers alone.
macro_rules! cpu {
    ($e:expr) => {
        // SAFETY: a `Xmm` or its token exists only where AES-NI and AVX2 and BMI2 do.
        unsafe { $e }
    };
}

define_round!(middle_round, __m128i, xmm_reg, "avx,aes", "vmovdqa", "vaesenc");
define_round!(last_round, __m128i, xmm_reg, "avx,aes", "vmovdqa", "vaesenclast");
define_round_each!(middle_round_each, __m128i, xmm_reg, "avx,aes", "vaesenc");
define_round_each!(last_round_each, __m128i, xmm_reg, "avx,aes", "vaesenclast");

impl Lanes for Xmm {
    type Cpu = AesNi;
    const BLOCKS: usize = 1;

    #[inline(always)]
    fn splat(_: AesNi, block: u128) -> Self {
        let (low, high) = (block as i64, (block >> 64) as i64);
        Self(cpu!(_mm_set_epi64x(high, low)))
    }

    #[inline(always)]
    fn load(_: AesNi, from: &[Block]) -> Self {
        let from = &from[..1];
        // SAFETY: 16 bytes are in bounds, and the token proves AVX2.
        Self(unsafe { _mm_loadu_si128(from.as_ptr().cast()) })
    }

    #[inline(always)]
    fn spread(_: AesNi, from: &[u64]) -> Self {
        Self(cpu!(_mm_set1_epi64x(from[0] as i64)))
    }

    #[inline(always)]
    fn store(self, to: &mut [Block]) {
        let to = &mut to[..1];
        // SAFETY: 16 bytes are in bounds, and `self` proves AVX2.
        unsafe { _mm_storeu_si128(to.as_mut_ptr().cast(), self.0) }
    }

    #[inline(always)]
    unsafe fn scatter(self, to: *mut u8, _: usize) {
        // SAFETY: the caller vouches for the address, `self` for AVX2.
        unsafe { _mm_storeu_si128(to.cast(), self.0) }
    }

    #[inline(always)]
    unsafe fn gather(_: AesNi, from: &[*const u8], offset: usize) -> Self {
        // SAFETY: the caller vouches for the address, the token for AVX2.
        Self(unsafe { _mm_loadu_si128(from[0].add(offset).cast()) })
    }

    #[inline(always)]
    fn round<const R: usize>(left: &Schedule<Self>, right: &Schedule<Self>, states: &mut [[Self; 2]; 4]) {
        let keys = [left.0.as_ptr().cast(), right.0.as_ptr().cast()];
        // SAFETY: a schedule is 11 registers in memory; `Self` has the layout of its register;
        // `states` proves the target features. (Maps over arrays would become calls here.)
        unsafe {
            let raw = core::mem::transmute::<[[Self; 2]; 4], [[__m128i; 2]; 4]>(*states);
            let raw = if R < 10 { middle_round::<R>(keys, raw) } else { last_round::<R>(keys, raw) };
            *states = core::mem::transmute::<[[__m128i; 2]; 4], [[Self; 2]; 4]>(raw);
        }
    }

    #[inline(always)]
    fn round_each<const R: usize>(keys: &[&Schedule<Self>; 8], states: &mut [Self; 8]) {
        // SAFETY: references and pointers to a schedule are alike, and a schedule is 11 registers
        // in memory; `Self` has the layout of its register; `states` proves the target features.
        unsafe {
            let keys = core::mem::transmute::<[&Schedule<Self>; 8], [*const __m128i; 8]>(*keys);
            let raw = core::mem::transmute::<[Self; 8], [__m128i; 8]>(*states);
            let raw =
                if R < 10 { middle_round_each::<R>(keys, raw) } else { last_round_each::<R>(keys, raw) };
            *states = core::mem::transmute::<[__m128i; 8], [Self; 8]>(raw);
        }
    }

    #[inline(always)]
    fn deposit(_: AesNi, bits: u64, mask: u64) -> u64 {
        cpu!(_pdep_u64(bits, mask))
    }

    #[inline(always)]
    fn xor(self, b: Self) -> Self {
        Self(cpu!(_mm_xor_si128(self.0, b.0)))
    }

    #[inline(always)]
    fn and(self, b: Self) -> Self {
        Self(cpu!(_mm_and_si128(self.0, b.0)))
    }

    #[inline(always)]
    fn clear(self, b: Self) -> Self {
        Self(cpu!(_mm_andnot_si128(b.0, self.0)))
    }

    #[inline(always)]
    fn add(self, b: Self) -> Self {
        Self(cpu!(_mm_add_epi64(self.0, b.0)))
    }

    #[inline(always)]
    fn sub(self, b: Self) -> Self {
        Self(cpu!(_mm_sub_epi64(self.0, b.0)))
    }

    #[inline(always)]
    fn shift_left(self, bits: u32) -> Self {
        Self(cpu!(_mm_sll_epi64(self.0, _mm_cvtsi32_si128(bits as i32))))
    }

    #[inline(always)]
    fn rotate_right(self) -> Self {
        Self(cpu!(_mm_or_si128(_mm_srli_epi64::<1>(self.0), _mm_slli_epi64::<63>(self.0))))
    }

    #[inline(always)]
    fn sign(self) -> Self {
        Self(cpu!(_mm_cmpgt_epi64(_mm_setzero_si128(), self.0)))
    }

    #[inline(always)]
    fn spread_control(self) -> Self {
        Self(cpu!(_mm_shuffle_epi32::<0xFF>(self.0)))
    }

    #[inline(always)]
    fn control_mask(self) -> Self {
        Self(cpu!(_mm_srai_epi32::<31>(_mm_slli_epi32::<31>(self.0))))
    }

    #[inline(always)]
    fn interleave_low(a: Self, b: Self) -> Self {
        Self(cpu!(_mm_unpacklo_epi64(a.0, b.0)))
    }
}
