//! LLAMA as first published: EzPC `FSS`, commit f24bf3e.
//!
//! Only a DCF exists there. Its PRG is AES-128 with the seed as the key, so it shares no key with
//! KORD's native format, which hashes with fixed-key AES.

use super::engine::Engine;
use super::wire::Reader;
use super::words::{StoredKey, StoredKeyMut};
use super::{Internals, KeyFormat, llama};
use crate::block::Block;
use crate::error::{DecodeError, SpecError};
use crate::group::Group;
use crate::spec::KeySpec;

/// LLAMA's DCF (BGI21): beta where x < alpha, m elements modulo 2^bout.
///
/// # Encoding
/// What `send_dcf_keypack` writes, little-endian, with c = 1, 2, 4 or 8 bytes an integer
/// (the smallest that holds bout bits). No lengths, no version, no party.
///
/// | part | bytes |
/// |---|---|
/// | k\[0\]: root; bit 0 is the control bit, bit 1 is random and ignored | 16 |
/// | k\[1..=n\]: correction seed, t_L in bit 1, t_R in bit 0 | 16 each |
/// | g: final word | m·c |
/// | v: value words, level after level | n·m·c |
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DcfSpec {
    domain_bits: u8,
    group: Group,
    group_size: u32,
}

impl DcfSpec {
    /// Keys over `domain_bits` bits (LLAMA's Bin) that pay `group_size` elements of `output_bits`
    /// bits (Bout).
    ///
    /// # Errors
    /// [`SpecError`] unless 1 ≤ Bin ≤ 64, 1 ≤ Bout ≤ 64 and 1 ≤ group size ≤ 2^16.
    pub const fn new(domain_bits: u8, output_bits: u8, group_size: u32) -> Result<Self, SpecError> {
        if let Err(error) = llama::check_domain(domain_bits, 1) {
            return Err(error);
        }
        if group_size == 0 || group_size > KeySpec::MAX_ARITY {
            return Err(SpecError::Arity { arity: group_size, max: KeySpec::MAX_ARITY });
        }
        match llama::output_group("LLAMA FSS DCF", output_bits) {
            Ok(group) => Ok(Self { domain_bits, group, group_size }),
            Err(error) => Err(error),
        }
    }
}

impl KeyFormat for DcfSpec {
    fn name(&self) -> &'static str {
        "LLAMA FSS DCF"
    }

    fn domain_bits(&self) -> u8 {
        self.domain_bits
    }

    fn group(&self) -> Group {
        self.group
    }

    fn arity(&self) -> u32 {
        self.group_size
    }

    fn key_bytes(&self) -> usize {
        let words = usize::from(self.domain_bits) + 1;
        words * (16 + self.group_size as usize * llama::container(self.group.bits()))
    }
}

impl Internals for DcfSpec {
    fn generator(&self) -> Engine {
        llama::dcf_engine(self.domain_bits, self.group.bits(), self.group_size, self.group)
    }

    fn roots(&self, drawn: [Block; 2]) -> [Block; 2] {
        llama::dcf_roots(drawn)
    }

    fn encode(&self, key: &StoredKey<'_>, out: &mut Vec<u8>) {
        llama::encode_dcf(key, self.group.bits(), out);
    }

    fn decode(&self, bytes: &mut Reader<'_>, key: &mut StoredKeyMut<'_>) -> Result<(), DecodeError> {
        llama::decode_dcf(bytes, self.group.bits(), Some(self.group), key)
    }
}
