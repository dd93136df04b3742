//! The key buffer of a tile, written lane by lane.

use super::lanes::Lanes;

/// Keys of `stride` ≥ 8 bytes, back to back.
pub(super) struct Slots<'a> {
    bytes: &'a mut [u8],
    stride: usize,
    keys: usize,
}

impl<'a> Slots<'a> {
    /// # Panics
    /// Unless `bytes` is exactly `keys` keys of at least 8 bytes.
    pub(super) fn new(bytes: &'a mut [u8], stride: usize, keys: usize) -> Self {
        assert!(stride >= 8 && bytes.len() == keys * stride, "a tile's buffer is {keys} keys");
        Self { bytes, stride, keys }
    }

    /// Each lane of `blocks` to byte `offset` of its own key, `first` being the first lane's.
    ///
    /// Unchecked, because a branch between two groups' levels lets the compiler move the first
    /// group's arithmetic behind the second group's AES.
    ///
    /// # Safety
    /// `first + BLOCKS` ≤ keys and `offset + 16` ≤ stride.
    #[inline(always)]
    pub(super) unsafe fn put<L: Lanes>(&mut self, first: usize, offset: usize, blocks: L) {
        debug_assert!(first + L::BLOCKS <= self.keys && offset + 16 <= self.stride, "outside the tile");
        let at = first.wrapping_mul(self.stride).wrapping_add(offset);
        // SAFETY: key `first + i` begins at `(first + i) · stride` and lies in `bytes`, of which
        // there are `keys · stride`; the 16 bytes at `offset` lie in that key.
        unsafe { blocks.scatter(self.bytes.as_mut_ptr().add(at), self.stride) }
    }

    /// Panics unless there are `keys` keys of at least `levels` correction seeds.
    #[inline(always)]
    pub(super) fn check(&self, keys: usize, levels: usize) {
        assert!(self.keys == keys && 16 + 16 * levels <= self.stride, "a tile of another shape");
    }

    /// A word of `width` ≤ 8 bytes to byte `offset` of key `j`. `value` has no bits above. May
    /// write zeros over what follows in the key: words that are put so are put front to back.
    ///
    /// # Panics
    /// If the word would fall outside its key.
    #[inline(always)]
    pub(super) fn put_word(&mut self, j: usize, offset: usize, value: u64, width: usize) {
        if offset + 8 <= self.stride {
            self.store(j, offset, value);
        } else {
            self.merge_word(j, offset, value, width);
        }
    }

    /// As [`Slots::put_word`], and leaves everything else as it was.
    ///
    /// # Panics
    /// If the word would fall outside its key.
    #[inline(always)]
    pub(super) fn merge_word(&mut self, j: usize, offset: usize, value: u64, width: usize) {
        if width == 8 {
            return self.store(j, offset, value);
        }
        assert!(j < self.keys && offset + width <= self.stride, "outside the tile");
        let start = offset.min(self.stride - 8);
        let shift = 8 * (offset - start) as u32;
        let word = ((1 << (8 * width)) - 1) << shift;
        let bytes = &mut self.bytes[j * self.stride + start..][..8];
        let mut old = [0; 8];
        old.copy_from_slice(bytes);
        let new = (u64::from_le_bytes(old) & !word) | (value << shift);
        bytes.copy_from_slice(&new.to_le_bytes());
    }

    /// The bytes of key `j`.
    pub(super) fn key(&mut self, j: usize) -> &mut [u8] {
        &mut self.bytes[j * self.stride..][..self.stride]
    }

    #[inline(always)]
    fn store(&mut self, j: usize, offset: usize, value: u64) {
        assert!(j < self.keys && offset + 8 <= self.stride, "outside the tile");
        // SAFETY: as in `put`, for the 8 bytes at `offset` of key `j`.
        unsafe {
            let at = j.wrapping_mul(self.stride).wrapping_add(offset);
            self.bytes.as_mut_ptr().add(at).cast::<u64>().write_unaligned(value.to_le());
        }
    }
}
