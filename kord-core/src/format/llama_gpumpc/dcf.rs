//! GPU-MPC's DCF.

use super::super::engine::Engine;
use super::super::wire::Reader;
use super::super::words::{StoredKey, StoredKeyMut};
use super::super::{Internals, KeyFormat, llama};
use super::{SENTINEL_BYTES, check_sentinel, put_sentinel};
use crate::block::Block;
use crate::error::{DecodeError, SpecError};
use crate::group::Group;

/// GPU-MPC's DCF (`keyGenDCF`): beta where x < alpha, one element modulo 2^bout.
///
/// The algorithm is that of [`crate::format::llama_fss::DcfSpec`], computed modulo 2^64. Payloads
/// of several elements are not well defined there, because Gen reads beyond each element and
/// never drops the excess, so this takes one element only.
///
/// # Encoding
/// As [`crate::format::llama_fss::DcfSpec`] with m = 1, then the sentinel (8 bytes). Where bout is
/// not 8, 16, 32 or 64, integers carry pseudorandom bits above bout; decoding keeps them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DcfSpec {
    domain_bits: u8,
    group: Group,
}

impl DcfSpec {
    /// Keys over `domain_bits` bits (Bin) that pay one element of `output_bits` bits (Bout).
    ///
    /// # Errors
    /// [`SpecError`] unless 1 ≤ Bin ≤ 64 and 1 ≤ Bout ≤ 64.
    pub const fn new(domain_bits: u8, output_bits: u8) -> Result<Self, SpecError> {
        if let Err(error) = llama::check_domain(domain_bits, 1) {
            return Err(error);
        }
        match llama::output_group("GPU-MPC DCF", output_bits) {
            Ok(group) => Ok(Self { domain_bits, group }),
            Err(error) => Err(error),
        }
    }
}

impl KeyFormat for DcfSpec {
    fn name(&self) -> &'static str {
        "GPU-MPC DCF"
    }

    fn domain_bits(&self) -> u8 {
        self.domain_bits
    }

    fn group(&self) -> Group {
        self.group
    }

    fn arity(&self) -> u32 {
        1
    }

    fn key_bytes(&self) -> usize {
        let words = usize::from(self.domain_bits) + 1;
        words * (16 + llama::container(self.group.bits())) + SENTINEL_BYTES
    }
}

impl Internals for DcfSpec {
    fn generator(&self) -> Engine {
        llama::dcf_engine(self.domain_bits, self.group.bits(), 1, Group::WORD)
    }

    fn evaluator(&self) -> Engine {
        llama::dcf_engine(self.domain_bits, self.group.bits(), 1, self.group)
    }

    fn roots(&self, drawn: [Block; 2]) -> [Block; 2] {
        llama::dcf_roots(drawn)
    }

    fn encode(&self, key: &StoredKey<'_>, out: &mut Vec<u8>) {
        llama::encode_dcf(key, self.group.bits(), out);
        put_sentinel(out);
    }

    fn decode(&self, bytes: &mut Reader<'_>, key: &mut StoredKeyMut<'_>) -> Result<(), DecodeError> {
        llama::decode_dcf(bytes, self.group.bits(), None, key)?;
        check_sentinel(bytes)
    }
}
