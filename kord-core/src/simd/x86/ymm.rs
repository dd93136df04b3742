//! Two blocks in a 256-bit register: VAES with AVX2.

use core::arch::x86_64::*;

use super::Vaes256;
use super::rounds::{define_round, define_round_each, round};
use crate::block::Block;
use crate::simd::lanes::{Lanes, Schedule};

/// Two blocks.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub(super) struct Ymm(__m256i);

/// An intrinsic on registers alone.
macro_rules! cpu {
    ($e:expr) => {
        // SAFETY: a `Ymm` or its token exists only where VAES and AVX2 and BMI2 do.
        unsafe { $e }
    };
}

define_round!(middle_round, __m256i, ymm_reg, "avx2,vaes", "vmovdqa", "vaesenc");
define_round!(last_round, __m256i, ymm_reg, "avx2,vaes", "vmovdqa", "vaesenclast");
define_round_each!(middle_round_each, __m256i, ymm_reg, "avx2,vaes", "vaesenc");
define_round_each!(last_round_each, __m256i, ymm_reg, "avx2,vaes", "vaesenclast");

impl Lanes for Ymm {
    type Cpu = Vaes256;
    const BLOCKS: usize = 2;

    #[inline(always)]
    fn splat(_: Vaes256, block: u128) -> Self {
        let (low, high) = (block as i64, (block >> 64) as i64);
        Self(cpu!(_mm256_set_epi64x(high, low, high, low)))
    }

    #[inline(always)]
    fn load(_: Vaes256, from: &[Block]) -> Self {
        let from = &from[..2];
        // SAFETY: 32 bytes are in bounds, and the token proves AVX2.
        Self(unsafe { _mm256_loadu_si256(from.as_ptr().cast()) })
    }

    #[inline(always)]
    fn spread(_: Vaes256, from: &[u64]) -> Self {
        let from = &from[..2];
        // SAFETY: 16 bytes are in bounds, and the token proves AVX2.
        Self(unsafe {
            let two = _mm256_castsi128_si256(_mm_loadu_si128(from.as_ptr().cast()));
            _mm256_permute4x64_epi64::<0b01_01_00_00>(two)
        })
    }

    #[inline(always)]
    fn store(self, to: &mut [Block]) {
        let to = &mut to[..2];
        // SAFETY: 32 bytes are in bounds, and `self` proves AVX2.
        unsafe { _mm256_storeu_si256(to.as_mut_ptr().cast(), self.0) }
    }

    #[inline(always)]
    unsafe fn scatter(self, to: *mut u8, stride: usize) {
        // SAFETY: the caller vouches for the addresses, `self` for AVX2.
        unsafe {
            _mm_storeu_si128(to.cast(), _mm256_castsi256_si128(self.0));
            _mm_storeu_si128(to.add(stride).cast(), _mm256_extracti128_si256::<1>(self.0));
        }
    }

    #[inline(always)]
    unsafe fn gather(_: Vaes256, from: &[*const u8], offset: usize) -> Self {
        let from = &from[..2];
        // SAFETY: the caller vouches for the addresses, the token for AVX2.
        unsafe {
            Self(_mm256_inserti128_si256::<1>(
                _mm256_castsi128_si256(_mm_loadu_si128(from[0].add(offset).cast())),
                _mm_loadu_si128(from[1].add(offset).cast()),
            ))
        }
    }

    #[inline(always)]
    fn round<const R: usize>(left: &Schedule<Self>, right: &Schedule<Self>, states: &mut [[Self; 2]; 4]) {
        let keys = [left.0.as_ptr().cast(), right.0.as_ptr().cast()];
        // SAFETY: a schedule is 11 registers in memory; `Self` has the layout of its register;
        // `states` proves the target features. (Maps over arrays would become calls here.)
        unsafe {
            let raw = core::mem::transmute::<[[Self; 2]; 4], [[__m256i; 2]; 4]>(*states);
            let raw = if R < 10 { middle_round::<R>(keys, raw) } else { last_round::<R>(keys, raw) };
            *states = core::mem::transmute::<[[__m256i; 2]; 4], [[Self; 2]; 4]>(raw);
        }
    }

    #[inline(always)]
    fn round_each<const R: usize>(keys: &[&Schedule<Self>; 8], states: &mut [Self; 8]) {
        // SAFETY: references and pointers to a schedule are alike, and a schedule is 11 registers
        // in memory; `Self` has the layout of its register; `states` proves the target features.
        unsafe {
            let keys = core::mem::transmute::<[&Schedule<Self>; 8], [*const __m256i; 8]>(*keys);
            let raw = core::mem::transmute::<[Self; 8], [__m256i; 8]>(*states);
            let raw =
                if R < 10 { middle_round_each::<R>(keys, raw) } else { last_round_each::<R>(keys, raw) };
            *states = core::mem::transmute::<[__m256i; 8], [Self; 8]>(raw);
        }
    }

    #[inline(always)]
    fn deposit(_: Vaes256, bits: u64, mask: u64) -> u64 {
        cpu!(_pdep_u64(bits, mask))
    }

    #[inline(always)]
    fn xor(self, b: Self) -> Self {
        Self(cpu!(_mm256_xor_si256(self.0, b.0)))
    }

    #[inline(always)]
    fn and(self, b: Self) -> Self {
        Self(cpu!(_mm256_and_si256(self.0, b.0)))
    }

    #[inline(always)]
    fn clear(self, b: Self) -> Self {
        Self(cpu!(_mm256_andnot_si256(b.0, self.0)))
    }

    #[inline(always)]
    fn add(self, b: Self) -> Self {
        Self(cpu!(_mm256_add_epi64(self.0, b.0)))
    }

    #[inline(always)]
    fn sub(self, b: Self) -> Self {
        Self(cpu!(_mm256_sub_epi64(self.0, b.0)))
    }

    #[inline(always)]
    fn shift_left(self, bits: u32) -> Self {
        Self(cpu!(_mm256_sll_epi64(self.0, _mm_cvtsi32_si128(bits as i32))))
    }

    #[inline(always)]
    fn rotate_right(self) -> Self {
        Self(cpu!(_mm256_or_si256(_mm256_srli_epi64::<1>(self.0), _mm256_slli_epi64::<63>(self.0))))
    }

    #[inline(always)]
    fn sign(self) -> Self {
        Self(cpu!(_mm256_cmpgt_epi64(_mm256_setzero_si256(), self.0)))
    }

    #[inline(always)]
    fn spread_control(self) -> Self {
        Self(cpu!(_mm256_shuffle_epi32::<0xFF>(self.0)))
    }

    #[inline(always)]
    fn control_mask(self) -> Self {
        Self(cpu!(_mm256_srai_epi32::<31>(_mm256_slli_epi32::<31>(self.0))))
    }

    #[inline(always)]
    fn interleave_low(a: Self, b: Self) -> Self {
        Self(cpu!(_mm256_unpacklo_epi64(a.0, b.0)))
    }
}
