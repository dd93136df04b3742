//! HKDF-SHA256 and HMAC-SHA256 with fixed lengths, so that callers have no length errors.

use hkdf::Hkdf;
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use zeroize::Zeroizing;

/// HKDF-SHA256 over one input key; expands to as many labelled keys as needed.
pub(crate) struct Kdf(Hkdf<Sha256>);

impl Kdf {
    /// HKDF-Extract.
    pub(crate) fn new(salt: &[u8], ikm: &[u8]) -> Self {
        Self(Hkdf::new(Some(salt), ikm))
    }

    /// HKDF-Expand to `N` bytes under the concatenation of `info`.
    pub(crate) fn expand<const N: usize>(&self, info: &[&[u8]]) -> Zeroizing<[u8; N]> {
        const { assert!(N <= 255 * 32, "HKDF-SHA256 gives at most 8,160 bytes") };
        let mut out = Zeroizing::new([0; N]);
        match self.0.expand_multi_info(info, out.as_mut_slice()) {
            Ok(()) => out,
            Err(_) => unreachable!("the length is checked at compile time"),
        }
    }
}

/// Bytes of an HMAC-SHA256 tag.
pub(crate) const MAC_BYTES: usize = 32;

fn hmac(key: &[u8; 32], parts: &[&[u8]]) -> Hmac<Sha256> {
    let Ok(mut mac) = <Hmac<Sha256> as KeyInit>::new_from_slice(key) else {
        unreachable!("HMAC takes a key of any length")
    };
    for part in parts {
        mac.update(part);
    }
    mac
}

/// HMAC-SHA256 over the concatenation of `parts`.
pub(crate) fn mac(key: &[u8; 32], parts: &[&[u8]]) -> [u8; MAC_BYTES] {
    hmac(key, parts).finalize().into_bytes().into()
}

/// Whether `tag` is the HMAC-SHA256 over the concatenation of `parts`, in constant time.
pub(crate) fn mac_is(key: &[u8; 32], parts: &[&[u8]], tag: &[u8; MAC_BYTES]) -> bool {
    hmac(key, parts).verify_slice(tag).is_ok()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    /// RFC 5869, test case 1.
    #[test]
    fn hkdf_known_answer() {
        let salt: Vec<u8> = (0..=0x0c).collect();
        let info: Vec<u8> = (0xf0..=0xf9).collect();
        let kdf = Kdf::new(&salt, &[0x0b; 22]);
        let okm = kdf.expand::<42>(&[&info[..4], &info[4..]]);
        assert_eq!(
            hex::encode(okm.as_slice()),
            "3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf34007208d5b887185865"
        );
    }

    #[test]
    fn mac_verifies_and_rejects() {
        let tag = mac(&[7; 32], &[b"ab", b"c"]);
        assert!(mac_is(&[7; 32], &[b"abc"], &tag));
        assert!(!mac_is(&[8; 32], &[b"abc"], &tag));
        let mut wrong = tag;
        wrong[31] ^= 1;
        assert!(!mac_is(&[7; 32], &[b"abc"], &wrong));
    }
}
