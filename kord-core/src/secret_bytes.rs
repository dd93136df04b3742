//! A buffer of key material that is wiped as fast as memory allows.

use core::cell::RefCell;
use core::mem;
use core::ops::{Deref, DerefMut};

use zeroize::zeroize_bytes;

/// Secret bytes of a fixed length, wiped on drop.
///
/// `Zeroizing<Vec<u8>>` wipes byte by byte, which took a third of the time of a streamed batch;
/// this wipes the whole buffer at once. A wiped buffer of a size that streaming uses is kept for
/// the next one of the same length on the same thread, so that memory is not cleared twice.
#[derive(Default)]
pub struct SecretBytes(Box<[u8]>);

/// Most wiped buffers that a thread keeps.
const KEPT: usize = 4;
/// Bytes of a buffer worth keeping.
const WORTH_KEEPING: core::ops::RangeInclusive<usize> = 1 << 12..=1 << 20;

thread_local! {
    /// Wiped buffers.
    static WIPED: RefCell<Vec<Box<[u8]>>> = const { RefCell::new(Vec::new()) };
}

impl SecretBytes {
    /// `length` zero bytes.
    #[must_use]
    pub fn zeroed(length: usize) -> Self {
        let kept = WIPED.try_with(|wiped| {
            let mut wiped = wiped.borrow_mut();
            let index = wiped.iter().position(|buffer| buffer.len() == length)?;
            Some(wiped.swap_remove(index))
        });
        Self(kept.ok().flatten().unwrap_or_else(|| vec![0; length].into_boxed_slice()))
    }

    /// A copy of `bytes`.
    #[must_use]
    pub fn copy_of(bytes: &[u8]) -> Self {
        Self(bytes.into())
    }
}

impl Deref for SecretBytes {
    type Target = [u8];
    fn deref(&self) -> &[u8] {
        &self.0
    }
}

impl DerefMut for SecretBytes {
    fn deref_mut(&mut self) -> &mut [u8] {
        &mut self.0
    }
}

impl Drop for SecretBytes {
    fn drop(&mut self) {
        zeroize_bytes(&mut self.0);
        if !WORTH_KEEPING.contains(&self.0.len()) {
            return;
        }
        let buffer = mem::take(&mut self.0);
        // A thread that is ending keeps nothing.
        let _ = WIPED.try_with(|wiped| {
            let mut wiped = wiped.borrow_mut();
            if wiped.len() == KEPT {
                wiped.remove(0);
            }
            wiped.push(buffer);
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_buffer_that_is_used_again_is_all_zero() {
        for round in 0..20 {
            for length in [1, 1 << 12, (1 << 12) + 1, 1 << 16, (1 << 20) + 1] {
                let mut bytes = SecretBytes::zeroed(length);
                assert_eq!(bytes.len(), length);
                assert!(bytes.iter().all(|b| *b == 0), "round {round}, {length} bytes");
                bytes.fill(0xa5);
            }
        }
    }
}
