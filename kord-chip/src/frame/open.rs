//! Receiving and opening.

use aes_gcm::AeadInOut;
use aes_gcm::aead::inout::InOutBuf;
use kord_core::{Party, SecretBytes};

use super::cipher::Cipher;
use super::header::nonce;
use super::{
    DescriptorBytes, ENVELOPE_BYTES, FrameError, HEADER_BYTES, Header, MAX_BODY_BYTES, TAG_BYTES,
    associated_data, overhead,
};
use crate::Tier;

/// Opens the peer's frames of one session. Zeroizes its key on drop.
pub struct Opener {
    peer: Party,
    session: u32,
    cipher: Cipher,
}

/// A frame copied out of host memory, its header valid and of this session and direction, its
/// body still sealed. Not authenticated.
pub struct Received {
    header: Header,
    header_bytes: [u8; HEADER_BYTES],
    tag: [u8; TAG_BYTES],
    body: SecretBytes,
}

impl Received {
    /// The header: compare its kind, first counter and count with what is pending before
    /// opening. Not authenticated.
    #[must_use]
    pub const fn header(&self) -> &Header {
        &self.header
    }

    /// Bytes of the sealed body.
    #[must_use]
    pub fn body_len(&self) -> usize {
        self.body.len()
    }
}

impl Opener {
    /// The opener of frames that `peer` seals in `session`, under the key from it.
    #[must_use]
    pub fn new(tier: Tier, peer: Party, session: u32, key: &[u8; 16]) -> Self {
        Self { peer, session, cipher: Cipher::new(tier, key) }
    }

    /// The only tier it opens.
    #[must_use]
    pub const fn tier(&self) -> Tier {
        self.cipher.tier()
    }

    /// Copies one whole frame and checks its header.
    ///
    /// # Errors
    /// [`FrameError::Length`], [`FrameError::Field`] (also for a frame of another tier or of this
    /// party's own direction, such as a reflected one) or [`FrameError::OtherSession`].
    pub fn receive(&self, frame: &[u8]) -> Result<Received, FrameError> {
        let min = overhead(self.tier());
        let length = FrameError::Length { have: frame.len(), min, max: min + MAX_BODY_BYTES };
        if frame.len() < min || frame.len() > min + MAX_BODY_BYTES {
            return Err(length);
        }
        // Every byte is read from the host's memory once, here.
        let (head, body) = frame.split_at(min);
        let mut envelope = [0; ENVELOPE_BYTES];
        envelope[..min].copy_from_slice(head);
        let body = SecretBytes::copy_of(body);

        let mut header_bytes = [0; HEADER_BYTES];
        let mut tag = [0; TAG_BYTES];
        header_bytes.copy_from_slice(&envelope[..HEADER_BYTES]);
        tag.copy_from_slice(&envelope[HEADER_BYTES..]);
        let header = Header::parse(&header_bytes)?;
        if header.tier() != self.tier() {
            return Err(FrameError::Field { field: "tier", problem: "is not the session's" });
        }
        if header.sender() != self.peer {
            return Err(FrameError::Field { field: "direction", problem: "is not from the peer" });
        }
        if header.session() != self.session {
            return Err(FrameError::OtherSession { frame: header.session(), open: self.session });
        }
        Ok(Received { header, header_bytes, tag, body })
    }

    /// Checks the tag under `descriptors` (none for a control frame), then decrypts the body.
    ///
    /// In the plain tier nothing is checked and the body may be anything.
    ///
    /// # Errors
    /// [`FrameError::AuthFailed`] for every mismatch; nothing is decrypted then.
    /// [`FrameError::Descriptors`] if their number does not fit the frame's kind.
    pub fn open(
        &self,
        received: Received,
        descriptors: &[DescriptorBytes],
    ) -> Result<SecretBytes, FrameError> {
        let Received { header, header_bytes, tag, mut body } = received;
        let aad = associated_data(&header_bytes, header.kind(), descriptors)?;
        match &self.cipher {
            Cipher::Plain(keystream) => keystream.apply(&nonce(&header_bytes), &mut body),
            Cipher::Mac(gcm) => {
                let buffer = InOutBuf::from(&mut body[..]);
                // This call computes the tag over the ciphertext and compares it in constant time
                // before it decrypts.
                gcm.decrypt_inout_detached(&nonce(&header_bytes).into(), &aad, buffer, &tag.into())
                    .map_err(|_| FrameError::AuthFailed { header })?;
            }
        }
        Ok(body)
    }
}
