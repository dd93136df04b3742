//! Sealing.

use aes_gcm::AeadInOut;
use aes_gcm::aead::inout::InOutBuf;
use kord_core::Party;

use super::cipher::Cipher;
use super::header::nonce;
use super::{
    DescriptorBytes, FrameError, FrameKind, HEADER_BYTES, Header, MAX_BODY_BYTES, TAG_BYTES, associated_data,
    overhead,
};
use crate::Tier;

/// Seals this party's frames of one session. Zeroizes its key on drop.
///
/// It refuses to seal below the end of the last frame, so a nonce cannot repeat within a session
/// even if its caller draws a counter twice.
pub struct Sealer {
    party: Party,
    session: u32,
    next: u64,
    cipher: Cipher,
}

impl Sealer {
    /// The sealer of `party` in `session`, under the key towards its peer.
    ///
    /// The key must belong to this session, tier and direction only, as
    /// [`SessionKeys`](crate::session::SessionKeys) gives it.
    #[must_use]
    pub fn new(tier: Tier, party: Party, session: u32, key: &[u8; 16]) -> Self {
        Self { party, session, next: 0, cipher: Cipher::new(tier, key) }
    }

    /// The tier of the frames it makes.
    #[must_use]
    pub const fn tier(&self) -> Tier {
        self.cipher.tier()
    }

    /// Appends the frame of `count` elements from counter `first` to `out`: header, tag (mac
    /// tier), sealed body.
    ///
    /// A keys frame is bound to its request's `descriptors`, at least one; a control frame takes
    /// none and a count of 1. The counters must be durably reserved before.
    ///
    /// # Errors
    /// [`FrameError::CounterReused`], [`FrameError::Descriptors`], [`FrameError::Field`] (count
    /// or overflow) or [`FrameError::Length`] (body above 65,536 bytes); `out` is then unchanged.
    pub fn seal(
        &mut self,
        kind: FrameKind,
        first: u64,
        count: u32,
        descriptors: &[DescriptorBytes],
        body: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<Header, FrameError> {
        self.seal_with((kind, first, count), descriptors, body.len(), |to| to.copy_from_slice(body), out)
    }

    /// As [`Sealer::seal`], with a body of `length` bytes that `write` puts where it is sealed, so
    /// that no plain copy is made.
    ///
    /// # Errors
    /// As [`Sealer::seal`].
    pub fn seal_with(
        &mut self,
        (kind, first, count): (FrameKind, u64, u32),
        descriptors: &[DescriptorBytes],
        length: usize,
        write: impl FnOnce(&mut [u8]),
        out: &mut Vec<u8>,
    ) -> Result<Header, FrameError> {
        if length > MAX_BODY_BYTES {
            return Err(FrameError::Length { have: length, min: 0, max: MAX_BODY_BYTES });
        }
        if first < self.next {
            return Err(FrameError::CounterReused { first, next: self.next });
        }
        let header = Header::new(self.tier(), self.party, kind, self.session, first, count)?;
        let bytes = header.encode();
        let aad = associated_data(&bytes, kind, descriptors)?;

        let start = out.len();
        let body_start = start + overhead(self.tier());
        out.extend_from_slice(&bytes);
        // Sized before the body is written, so that no reallocation leaves a plain copy behind.
        out.resize(body_start + length, 0);
        write(&mut out[body_start..]);
        match &self.cipher {
            Cipher::Plain(keystream) => keystream.apply(&nonce(&bytes), &mut out[body_start..]),
            Cipher::Mac(gcm) => {
                let buffer = InOutBuf::from(&mut out[body_start..]);
                let Ok(tag) = gcm.encrypt_inout_detached(&nonce(&bytes).into(), &aad, buffer) else {
                    unreachable!("GCM takes 2^36 bytes, a body has at most 2^16")
                };
                out[start + HEADER_BYTES..][..TAG_BYTES].copy_from_slice(&tag);
            }
        }
        self.next = header.end();
        Ok(header)
    }
}
