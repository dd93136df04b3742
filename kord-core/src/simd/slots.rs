//! The key buffer of a tile, written lane by lane.

use super::lanes::Lanes;

/// Keys of `stride` bytes, back to back.
pub(super) struct Slots<'a> {
    bytes: &'a mut [u8],
    stride: usize,
    keys: usize,
}

impl<'a> Slots<'a> {
    /// # Panics
    /// Unless `bytes` has room for exactly `keys` keys.
    pub(super) fn new(bytes: &'a mut [u8], stride: usize, keys: usize) -> Self {
        assert!(bytes.len() == keys * stride, "a tile's buffer is {keys} keys");
        Self { bytes, stride, keys }
    }

    /// Each lane of `blocks` to byte `offset` of its own key, `first` being the first lane's.
    ///
    /// # Panics
    /// If a lane would fall outside its key.
    #[inline(always)]
    pub(super) fn put<L: Lanes>(&mut self, first: usize, offset: usize, blocks: L) {
        assert!(first + L::BLOCKS <= self.keys && offset + 16 <= self.stride, "outside the tile");
        // SAFETY: key `first + i` begins at `(first + i) · stride` and lies in `bytes`, of which
        // there are `keys · stride`; the 16 bytes at `offset` lie in that key.
        unsafe { blocks.scatter(self.bytes.as_mut_ptr().add(first * self.stride + offset), self.stride) }
    }
}
