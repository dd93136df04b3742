//! What the kernels need of a vector register that holds one or more 128-bit blocks.
//!
//! Kernels are written once over [`Lanes`]. A value of a `Lanes` type can only be made with its
//! `Cpu` token, and a token only by run-time detection, so that holding one proves that the
//! instructions exist and every operation here is safe to call.
//!
//! Every method is `#[inline(always)]`: it must end up inside a `#[target_feature]` entry point,
//! or the intrinsics below it would be calls.

use crate::block::Block;

/// A register of [`Lanes::BLOCKS`] blocks. Masks are blocks of all ones or zero.
pub(super) trait Lanes: Copy {
    /// Proof that this CPU has the instructions.
    type Cpu: Copy;
    /// Blocks in a register.
    const BLOCKS: usize;

    /// The same block in every lane.
    fn splat(cpu: Self::Cpu, block: u128) -> Self;
    /// The first `BLOCKS` blocks of a slice. Panics if there are fewer.
    fn load(cpu: Self::Cpu, from: &[Block]) -> Self;
    /// Integer i of a slice in both halves of lane i. Panics if there are fewer than `BLOCKS`.
    fn spread(cpu: Self::Cpu, from: &[u64]) -> Self;
    /// Into the first `BLOCKS` blocks of a slice. Panics if there are fewer.
    fn store(self, to: &mut [Block]);
    /// Lane i to `to + i · stride` bytes, unaligned.
    ///
    /// # Safety
    /// Those 16 bytes must be writable for every lane.
    unsafe fn scatter(self, to: *mut u8, stride: usize);
    /// Lane i from `offset` bytes after `from[i]`, unaligned. Panics if there are fewer pointers
    /// than `BLOCKS`.
    ///
    /// # Safety
    /// 16 bytes can be read there.
    unsafe fn gather(cpu: Self::Cpu, from: &[*const u8], offset: usize) -> Self;

    /// AES round R ≤ 10 of four pairs of states, under `left`, `right`, `left`, `right`.
    fn round<const R: usize>(left: &Schedule<Self>, right: &Schedule<Self>, states: &mut [[Self; 2]; 4]);

    /// AES round R ≤ 10 of eight states, each under a schedule of its own.
    fn round_each<const R: usize>(keys: &[&Schedule<Self>; 8], states: &mut [Self; 8]);

    /// The low bits of `bits`, in order, to where `mask` has ones.
    fn deposit(cpu: Self::Cpu, bits: u64, mask: u64) -> u64;

    /// a ⊕ b.
    fn xor(self, b: Self) -> Self;
    /// a ∧ b.
    fn and(self, b: Self) -> Self;
    /// a ∧ ¬b.
    fn clear(self, b: Self) -> Self;
    /// a + b in 64-bit halves.
    fn add(self, b: Self) -> Self;
    /// a − b in 64-bit halves.
    fn sub(self, b: Self) -> Self;
    /// Each 64-bit half shifted left by `bits` ≤ 63.
    fn shift_left(self, bits: u32) -> Self;
    /// Each 64-bit half rotated right by one bit.
    fn rotate_right(self) -> Self;
    /// The top bit of each 64-bit half over that half.
    fn sign(self) -> Self;
    /// Bits 96–127 of each lane over that lane.
    fn spread_control(self) -> Self;
    /// Bit 0 of each 32-bit part over that part: after [`Lanes::spread_control`], bit 96 over the
    /// lane.
    fn control_mask(self) -> Self;
    /// The low 64-bit halves of `a` and `b`, by turns: a_0, b_0, a_1, b_1, ….
    fn interleave_low(a: Self, b: Self) -> Self;

    /// `a` where `mask` is set, else `b`.
    #[inline(always)]
    fn select(mask: Self, a: Self, b: Self) -> Self {
        b.xor(a.xor(b).and(mask))
    }
    /// ¬a where `mask` is set, else b.
    #[inline(always)]
    fn select_not(mask: Self, a: Self, b: Self) -> Self {
        // ¬a = a ⊕ mask under the mask.
        b.xor(a.xor(mask).xor(b).and(mask))
    }
    /// a ⊕ b ⊕ c.
    #[inline(always)]
    fn xor3(a: Self, b: Self, c: Self) -> Self {
        a.xor(b).xor(c)
    }
    /// a ⊕ (b ∧ c).
    #[inline(always)]
    fn xor_and(a: Self, b: Self, c: Self) -> Self {
        a.xor(b.and(c))
    }
    /// (a ⊕ b) ∧ ¬c.
    #[inline(always)]
    fn xor_clear(a: Self, b: Self, c: Self) -> Self {
        a.xor(b).clear(c)
    }
    /// (a ∧ ¬b) ⊕ c.
    #[inline(always)]
    fn clear_xor(a: Self, b: Self, c: Self) -> Self {
        a.clear(b).xor(c)
    }
    /// a ∧ (b ⊕ c).
    #[inline(always)]
    fn and_xor(a: Self, b: Self, c: Self) -> Self {
        a.and(b.xor(c))
    }
}

/// AES-128 round keys, each in every lane.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub(super) struct Schedule<L>(pub(super) [L; 11]);

impl<L: Lanes> Schedule<L> {
    #[inline(always)]
    pub(super) fn splat(cpu: L::Cpu, rounds: &[u128; 11]) -> Self {
        let mut keys = [L::splat(cpu, rounds[0]); 11];
        let mut r = 1;
        while r < 11 {
            keys[r] = L::splat(cpu, rounds[r]);
            r += 1;
        }
        Self(keys)
    }
}

/// Work that fills the gaps between AES rounds: pieces 1–10 in order, each a few independent
/// vector operations, together everything.
pub(super) trait Filler {
    /// Piece `R`.
    fn piece<const R: usize>(&mut self);
}

/// Nothing to do meanwhile.
impl Filler for () {
    #[inline(always)]
    fn piece<const R: usize>(&mut self) {}
}

/// Rounds 1–10 of four pairs of whitened states, under `left`, `right`, `left`, `right`, with
/// `filler`'s pieces among them.
#[inline(always)]
pub(super) fn encrypt<L: Lanes>(
    left: &Schedule<L>,
    right: &Schedule<L>,
    states: &mut [[L; 2]; 4],
    filler: &mut impl Filler,
) {
    L::round::<1>(left, right, states);
    filler.piece::<1>();
    L::round::<2>(left, right, states);
    filler.piece::<2>();
    L::round::<3>(left, right, states);
    filler.piece::<3>();
    L::round::<4>(left, right, states);
    filler.piece::<4>();
    L::round::<5>(left, right, states);
    filler.piece::<5>();
    L::round::<6>(left, right, states);
    filler.piece::<6>();
    L::round::<7>(left, right, states);
    filler.piece::<7>();
    L::round::<8>(left, right, states);
    filler.piece::<8>();
    L::round::<9>(left, right, states);
    filler.piece::<9>();
    L::round::<10>(left, right, states);
    filler.piece::<10>();
}

/// Rounds 1–10 of eight whitened states, each under a schedule of its own, with `filler`'s pieces
/// among them.
#[inline(always)]
pub(super) fn encrypt_each<L: Lanes>(
    keys: &[&Schedule<L>; 8],
    states: &mut [L; 8],
    filler: &mut impl Filler,
) {
    L::round_each::<1>(keys, states);
    filler.piece::<1>();
    L::round_each::<2>(keys, states);
    filler.piece::<2>();
    L::round_each::<3>(keys, states);
    filler.piece::<3>();
    L::round_each::<4>(keys, states);
    filler.piece::<4>();
    L::round_each::<5>(keys, states);
    filler.piece::<5>();
    L::round_each::<6>(keys, states);
    filler.piece::<6>();
    L::round_each::<7>(keys, states);
    filler.piece::<7>();
    L::round_each::<8>(keys, states);
    filler.piece::<8>();
    L::round_each::<9>(keys, states);
    filler.piece::<9>();
    L::round_each::<10>(keys, states);
    filler.piece::<10>();
}
