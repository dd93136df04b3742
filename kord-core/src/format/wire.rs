//! Bytes of one key, read in order.

use crate::block::Block;
use crate::error::DecodeError;

/// A cursor over one key. Its length is checked before, so running short is only ever a slip in
/// a format's own code; it is an error all the same, never a panic.
pub struct Reader<'a> {
    bytes: &'a [u8],
}

impl<'a> Reader<'a> {
    pub(crate) const fn new(bytes: &'a [u8]) -> Self {
        Self { bytes }
    }

    pub(crate) fn take(&mut self, count: usize) -> Result<&'a [u8], DecodeError> {
        let have = self.bytes.len();
        let Some((head, tail)) = self.bytes.split_at_checked(count) else {
            return Err(DecodeError::Length { what: "key field", have, want: count });
        };
        self.bytes = tail;
        Ok(head)
    }

    pub(crate) fn block(&mut self) -> Result<Block, DecodeError> {
        let mut bytes = [0; 16];
        bytes.copy_from_slice(self.take(16)?);
        Ok(Block::from_bytes(bytes))
    }

    /// A little-endian integer of `count` ≤ 8 bytes.
    pub(crate) fn integer(&mut self, count: usize) -> Result<u64, DecodeError> {
        let mut bytes = [0; 8];
        bytes[..count].copy_from_slice(self.take(count)?);
        Ok(u64::from_le_bytes(bytes))
    }
}
