//! The header: everything public about the keys of a file.

use super::DIGEST_BYTES;
use super::error::KeyFileError;
use crate::group::Group;
use crate::party::Party;
use crate::prg::PrgKeys;
use crate::request::{group_number, scheme_number};
use crate::source::Label;
use crate::spec::{KeySpec, Predicate, Scheme};

/// Offsets of the header's fields.
pub(super) mod at {
    pub(in crate::key_file) const MAGIC: usize = 0;
    pub(in crate::key_file) const VERSION: usize = 8;
    pub(in crate::key_file) const HEADER_LENGTH: usize = 10;
    pub(in crate::key_file) const SCHEME: usize = 12;
    pub(in crate::key_file) const PROFILE: usize = 13;
    pub(in crate::key_file) const GROUP_KIND: usize = 14;
    pub(in crate::key_file) const DOMAIN_BITS: usize = 15;
    pub(in crate::key_file) const ELEMENT_BITS: usize = 16;
    pub(in crate::key_file) const PARTY: usize = 18;
    pub(in crate::key_file) const ZERO: usize = 19;
    pub(in crate::key_file) const ARITY: usize = 20;
    pub(in crate::key_file) const MODULUS: usize = 24;
    pub(in crate::key_file) const KEY_ID: usize = 40;
    pub(in crate::key_file) const PRG_KEYS: usize = 48;
    pub(in crate::key_file) const COUNT: usize = 128;
    pub(in crate::key_file) const SESSION: usize = 136;
    pub(in crate::key_file) const STREAM: usize = 140;
    pub(in crate::key_file) const FIRST: usize = 148;
    pub(in crate::key_file) const KEY_LENGTH: usize = 156;
}

/// Bytes of magic, version and header length: what a reader needs before it can read on.
pub(super) const PREAMBLE_BYTES: usize = 12;

const MAGIC: [u8; 8] = *b"KORDKEYS";
/// Fixed-key MMO under the default keys.
const DEFAULT_PROFILE: u8 = 0;
/// Fixed-key MMO under other keys.
const OTHER_KEYS_PROFILE: u8 = 2;

/// Everything public about a file's keys: their shape, whose they are, and the label that both
/// parties' files must share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeyFileHeader {
    spec: KeySpec,
    party: Party,
    label: Label,
}

impl KeyFileHeader {
    /// The version that is written and read.
    pub const VERSION: u16 = 1;
    /// Bytes of an encoded header.
    pub const BYTES: usize = 160;

    /// The header of a file with `label.count` keys of `party`.
    ///
    /// # Errors
    /// [`KeyFileError::Count`] if the label counts no keys or more than a file can hold;
    /// [`KeyFileError::CounterRange`] if its counters would pass 2^64.
    pub fn new(spec: KeySpec, party: Party, label: Label) -> Result<Self, KeyFileError> {
        let Label { first, count, .. } = label;
        let around_keys = (Self::BYTES + DIGEST_BYTES) as u64;
        let total = count.checked_mul(spec.key_bytes() as u64).and_then(|k| k.checked_add(around_keys));
        if count == 0 || total.is_none() {
            return Err(KeyFileError::Count { found: count });
        }
        if first.checked_add(count).is_none() {
            return Err(KeyFileError::CounterRange { first, count });
        }
        Ok(Self { spec, party, label })
    }

    /// The shape of each key.
    #[must_use]
    pub const fn spec(&self) -> &KeySpec {
        &self.spec
    }

    /// Whose keys these are.
    #[must_use]
    pub const fn party(&self) -> Party {
        self.party
    }

    /// Session, stream and counters of the keys.
    #[must_use]
    pub const fn label(&self) -> Label {
        self.label
    }

    /// Keys in the file.
    #[must_use]
    pub const fn count(&self) -> u64 {
        self.label.count
    }

    /// Bytes of the whole file.
    #[must_use]
    pub const fn file_bytes(&self) -> u64 {
        self.key_offset(self.label.count) + DIGEST_BYTES as u64
    }

    /// Where key `index` starts; for `count()`, where the digest does.
    pub(super) const fn key_offset(&self, index: u64) -> u64 {
        Self::BYTES as u64 + index * self.spec.key_bytes() as u64
    }

    /// The bytes of this header.
    #[must_use]
    pub fn encode(&self) -> [u8; Self::BYTES] {
        let mut bytes = [0; Self::BYTES];
        let mut put = |at: usize, field: &[u8]| bytes[at..at + field.len()].copy_from_slice(field);
        let group = self.spec.group();
        put(at::MAGIC, &MAGIC);
        put(at::VERSION, &Self::VERSION.to_le_bytes());
        put(at::HEADER_LENGTH, &(Self::BYTES as u16).to_le_bytes());
        put(at::SCHEME, &[scheme_number(self.spec.scheme())]);
        put(at::PROFILE, &[profile_code(self.spec.prg_keys())]);
        put(at::GROUP_KIND, &[group_number(group)]);
        put(at::DOMAIN_BITS, &[self.spec.domain_bits()]);
        put(at::ELEMENT_BITS, &u16::from(group.bits()).to_le_bytes());
        put(at::PARTY, &[self.party.number()]);
        put(at::ARITY, &self.spec.arity().to_le_bytes());
        put(at::MODULUS, &group.modulus().unwrap_or(0).to_le_bytes());
        let keys = self.spec.prg_keys();
        put(at::KEY_ID, &keys.id());
        for (i, key) in keys.all().into_iter().enumerate() {
            put(at::PRG_KEYS + 16 * i, key);
        }
        put(at::COUNT, &self.label.count.to_le_bytes());
        put(at::SESSION, &self.label.session.to_le_bytes());
        put(at::STREAM, &self.label.stream.to_le_bytes());
        put(at::FIRST, &self.label.first.to_le_bytes());
        put(at::KEY_LENGTH, &key_length(&self.spec).to_le_bytes());
        bytes
    }

    /// The header that these bytes encode; there is no other encoding of it.
    ///
    /// # Errors
    /// The variant of [`KeyFileError`] that names the first field at fault.
    pub fn decode(bytes: &[u8; Self::BYTES]) -> Result<Self, KeyFileError> {
        Self::check_preamble(&field(bytes, 0))?;
        let scheme = scheme_from(bytes[at::SCHEME])?;
        let profile = bytes[at::PROFILE];
        if !matches!(profile, DEFAULT_PROFILE | OTHER_KEYS_PROFILE) {
            return Err(KeyFileError::Profile { found: profile });
        }
        let group = decode_group(bytes)?;
        let domain_bits = bytes[at::DOMAIN_BITS];
        let spec = KeySpec::new(scheme, domain_bits, group)
            .map_err(|_| KeyFileError::DomainBits { found: domain_bits })?;
        let number = bytes[at::PARTY];
        let party = Party::from_number(number).ok_or(KeyFileError::Party { found: number })?;
        if bytes[at::ZERO] != 0 {
            return Err(KeyFileError::Reserved { found: bytes[at::ZERO] });
        }
        let arity = u32::from_le_bytes(field(bytes, at::ARITY));
        let spec = spec.with_arity(arity).map_err(|_| KeyFileError::Arity { found: arity })?;
        let spec = spec.with_prg_keys(decode_prg_keys(bytes)?);
        let label = Label {
            session: u32::from_le_bytes(field(bytes, at::SESSION)),
            stream: u64::from_le_bytes(field(bytes, at::STREAM)),
            first: u64::from_le_bytes(field(bytes, at::FIRST)),
            count: u64::from_le_bytes(field(bytes, at::COUNT)),
        };
        let header = Self::new(spec, party, label)?;
        let (found, expected) = (u32::from_le_bytes(field(bytes, at::KEY_LENGTH)), key_length(&spec));
        if found != expected {
            return Err(KeyFileError::KeyLength { found, expected });
        }
        Ok(header)
    }

    /// Checks magic, version and header length.
    pub(super) fn check_preamble(bytes: &[u8; PREAMBLE_BYTES]) -> Result<(), KeyFileError> {
        if !bytes.starts_with(&MAGIC) {
            return Err(KeyFileError::Magic);
        }
        let version = u16::from_le_bytes(field(bytes, at::VERSION));
        if version != Self::VERSION {
            return Err(KeyFileError::Version { found: version });
        }
        let length = u16::from_le_bytes(field(bytes, at::HEADER_LENGTH));
        if usize::from(length) != Self::BYTES {
            return Err(KeyFileError::HeaderLength { found: length });
        }
        Ok(())
    }

    /// Whether a file that ends within its preamble could have become a key file.
    pub(super) fn could_begin_with(bytes: &[u8]) -> bool {
        bytes.iter().zip(&MAGIC).all(|(byte, magic)| byte == magic)
    }
}

/// The `N` bytes at `at`, which callers keep inside the header.
fn field<const N: usize>(bytes: &[u8], at: usize) -> [u8; N] {
    let mut field = [0; N];
    field.copy_from_slice(&bytes[at..at + N]);
    field
}

const fn scheme_from(code: u8) -> Result<Scheme, KeyFileError> {
    match code {
        1 => Ok(Scheme::Dpf),
        2 => Ok(Scheme::Dcf(Predicate::Lt)),
        3 => Ok(Scheme::Dcf(Predicate::Gt)),
        found => Err(KeyFileError::Scheme { found }),
    }
}

fn decode_group(bytes: &[u8]) -> Result<Group, KeyFileError> {
    let modulus = u128::from_le_bytes(field(bytes, at::MODULUS));
    let element_bits = u16::from_le_bytes(field(bytes, at::ELEMENT_BITS));
    let wrong_bits = KeyFileError::ElementBits { found: element_bits };
    let wrong_modulus = KeyFileError::Modulus { found: modulus };
    // Out of a byte's range is out of every group's range.
    let bits = u8::try_from(element_bits).unwrap_or(0);
    let group = match bytes[at::GROUP_KIND] {
        1 => Group::ring(bits).map_err(|_| wrong_bits)?,
        3 => Group::xor(bits).map_err(|_| wrong_bits)?,
        2 => {
            let group = Group::modular(modulus).map_err(|_| wrong_modulus)?;
            return if group.bits() == bits { Ok(group) } else { Err(wrong_bits) };
        }
        found => return Err(KeyFileError::GroupKind { found }),
    };
    if modulus == 0 { Ok(group) } else { Err(wrong_modulus) }
}

fn profile_code(keys: &PrgKeys) -> u8 {
    if *keys == PrgKeys::KORD_V1 { DEFAULT_PROFILE } else { OTHER_KEYS_PROFILE }
}

fn decode_prg_keys(bytes: &[u8]) -> Result<PrgKeys, KeyFileError> {
    let key = |i: usize| field(bytes, at::PRG_KEYS + 16 * i);
    let keys = PrgKeys {
        seed_left: key(0),
        seed_right: key(1),
        value_left: key(2),
        value_right: key(3),
        expand: key(4),
    };
    let (found, expected) = (field(bytes, at::KEY_ID), keys.id());
    if found != expected {
        return Err(KeyFileError::KeyId { found, expected });
    }
    let profile = bytes[at::PROFILE];
    if profile == profile_code(&keys) { Ok(keys) } else { Err(KeyFileError::Profile { found: profile }) }
}

/// Bytes of a key. The largest spec has 68 MB, far below 2^32.
const fn key_length(spec: &KeySpec) -> u32 {
    spec.key_bytes() as u32
}
