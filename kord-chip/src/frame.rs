//! Frames between the chips: the 36-byte authenticated envelope and the plain tier.
//!
//! # Layout
#![doc = include_str!("frame/layout.md")]
//!
//! * **Nonce** (12 bytes): bytes 4..16 of the header, session ‖ first counter. Each direction has
//!   its own key, and no counter of a session is sealed twice, so no (key, nonce) repeats.
//! * **Associated data**: the 20 header bytes, then the 64-byte descriptors of the request in
//!   order. Descriptors are not sent: both hosts know them, and a frame opens only under the same
//!   ones. A control frame (resync, abandon, digest) is sealed under one descriptor of 64 zero
//!   bytes, so that it authenticates whatever is pending.
//! * **Plain tier**: the body is XORed with the AES-128 counter keystream that GCM would use
//!   under the same key and nonce (32-bit big-endian block counter, from 2); there is no tag.
//!
//! # Security
//!
//! A frame is copied before anything in it is read, so a host that rewrites its memory meanwhile
//! gains nothing. The tag is checked before a byte is decrypted, and what fails changes nothing.
//! A wrong key, descriptor, header bit or body bit all give the same [`FrameError::AuthFailed`].
//! The plain tier has none of this; see [`Tier::Plain`](crate::Tier::Plain).

mod cipher;
mod error;
mod header;
mod open;
mod seal;

#[cfg(test)]
mod tests;

pub use error::FrameError;
pub use header::{FrameKind, Header};
pub use open::{Opener, Received};
pub use seal::Sealer;

/// Bytes of the header, in both tiers.
pub const HEADER_BYTES: usize = 20;

/// Bytes of the GCM tag.
pub const TAG_BYTES: usize = 16;

/// Bytes of the authenticated envelope: header and tag.
pub const ENVELOPE_BYTES: usize = HEADER_BYTES + TAG_BYTES;

/// The most bytes a frame's body may have.
pub const MAX_BODY_BYTES: usize = 65_536;

/// A descriptor as it enters the associated data.
pub type DescriptorBytes = [u8; 64];

/// Bytes in front of the body at this tier: 36, or 20 in the plain tier.
#[must_use]
pub const fn overhead(tier: crate::Tier) -> usize {
    match tier {
        crate::Tier::Plain => HEADER_BYTES,
        crate::Tier::Mac => ENVELOPE_BYTES,
    }
}

/// Header ‖ descriptors; a control frame has one zero descriptor.
fn associated_data(
    header: &[u8; HEADER_BYTES],
    kind: FrameKind,
    descriptors: &[DescriptorBytes],
) -> Result<Vec<u8>, FrameError> {
    let zero = [[0; 64]];
    let descriptors = match (kind, descriptors) {
        (FrameKind::Keys, []) => return Err(FrameError::Descriptors { problem: "a keys frame needs one" }),
        (FrameKind::Keys, given) => given,
        (_, []) => &zero,
        (_, _) => return Err(FrameError::Descriptors { problem: "a control frame takes none" }),
    };
    let mut aad = Vec::with_capacity(HEADER_BYTES + descriptors.len() * 64);
    aad.extend_from_slice(header);
    aad.extend_from_slice(descriptors.as_flattened());
    Ok(aad)
}
