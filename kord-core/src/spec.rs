//! The public shape of a key: scheme, domain, output group, PRG.

use core::fmt;

use crate::error::SpecError;
use crate::group::{Group, GroupKind};
use crate::prg::PrgKeys;

/// Which inputs a DCF pays out on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Predicate {
    /// beta where x < alpha.
    Lt,
    /// beta where x > alpha.
    Gt,
}

/// A function secret sharing scheme.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub enum Scheme {
    /// Distributed point function (BGI16): beta at x = alpha, else 0.
    Dpf,
    /// Distributed comparison function (BGI21, BCG+21): beta where the predicate holds, else 0.
    Dcf(Predicate),
}

impl Scheme {
    /// AES blocks that one level of Gen takes: both parties' children, seeds and values.
    #[must_use]
    pub const fn gen_blocks_per_level(self) -> u64 {
        match self {
            Self::Dpf => 4,
            Self::Dcf(_) => 8,
        }
    }

    /// Whether each level carries a value correction word.
    #[must_use]
    pub const fn has_value_words(self) -> bool {
        matches!(self, Self::Dcf(_))
    }
}

impl fmt::Display for Scheme {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Dpf => "DPF",
            Self::Dcf(Predicate::Lt) => "DCF x < alpha",
            Self::Dcf(Predicate::Gt) => "DCF x > alpha",
        })
    }
}

/// Everything public about a key in KORD's native format, and its exact size.
///
/// Both parties and every layer (files, descriptors, requests) name a key by this value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeySpec {
    scheme: Scheme,
    domain_bits: u8,
    group: Group,
    arity: u32,
    prg_keys: PrgKeys,
}

impl KeySpec {
    /// Most domain bits of a native key.
    pub const MAX_DOMAIN_BITS: u8 = 64;
    /// Most elements of a payload.
    pub const MAX_ARITY: u32 = 1 << 16;

    /// A DPF whose payload is one group element, under the default PRG keys.
    ///
    /// # Errors
    /// [`SpecError::DomainBits`] unless 1 ≤ `domain_bits` ≤ 64.
    pub const fn dpf(domain_bits: u8, group: Group) -> Result<Self, SpecError> {
        Self::new(Scheme::Dpf, domain_bits, group)
    }

    /// A DCF whose payload is one group element, under the default PRG keys.
    ///
    /// # Errors
    /// [`SpecError::DomainBits`] unless 1 ≤ `domain_bits` ≤ 64.
    pub const fn dcf(domain_bits: u8, predicate: Predicate, group: Group) -> Result<Self, SpecError> {
        Self::new(Scheme::Dcf(predicate), domain_bits, group)
    }

    /// A key of any scheme whose payload is one group element, under the default PRG keys.
    ///
    /// # Errors
    /// [`SpecError::DomainBits`] unless 1 ≤ `domain_bits` ≤ 64.
    pub const fn new(scheme: Scheme, domain_bits: u8, group: Group) -> Result<Self, SpecError> {
        if domain_bits == 0 || domain_bits > Self::MAX_DOMAIN_BITS {
            return Err(SpecError::DomainBits {
                bits: domain_bits as u32,
                min: 1,
                max: Self::MAX_DOMAIN_BITS as u32,
            });
        }
        Ok(Self { scheme, domain_bits, group, arity: 1, prg_keys: PrgKeys::KORD_V1 })
    }

    /// The same key with a payload of `arity` elements.
    ///
    /// # Errors
    /// [`SpecError::Arity`] unless 1 ≤ `arity` ≤ 2^16.
    pub const fn with_arity(mut self, arity: u32) -> Result<Self, SpecError> {
        if arity == 0 || arity > Self::MAX_ARITY {
            return Err(SpecError::Arity { arity, max: Self::MAX_ARITY });
        }
        self.arity = arity;
        Ok(self)
    }

    /// The same key under other fixed PRG keys.
    #[must_use]
    pub const fn with_prg_keys(mut self, keys: PrgKeys) -> Self {
        self.prg_keys = keys;
        self
    }

    /// The scheme.
    #[must_use]
    pub const fn scheme(&self) -> Scheme {
        self.scheme
    }

    /// n: alpha and x are n-bit integers.
    #[must_use]
    pub const fn domain_bits(&self) -> u8 {
        self.domain_bits
    }

    /// The group of each payload element.
    #[must_use]
    pub const fn group(&self) -> Group {
        self.group
    }

    /// Elements in a payload.
    #[must_use]
    pub const fn arity(&self) -> u32 {
        self.arity
    }

    /// The fixed AES keys of the PRG.
    #[must_use]
    pub const fn prg_keys(&self) -> &PrgKeys {
        &self.prg_keys
    }

    /// 2^n − 1.
    #[must_use]
    pub const fn max_alpha(&self) -> u64 {
        u64::MAX >> (64 - self.domain_bits as u32)
    }

    /// Bytes of an encoded payload: arity · ⌈k/8⌉.
    #[must_use]
    pub const fn payload_bytes(&self) -> usize {
        self.arity as usize * self.group.element_bytes()
    }

    /// Bytes of a key: root seed, n correction seeds, t_R bits, value words (DCF), final word.
    #[must_use]
    pub const fn key_bytes(&self) -> usize {
        let n = self.domain_bits as usize;
        let words = if self.scheme.has_value_words() { n + 1 } else { 1 };
        16 + 16 * n + n.div_ceil(8) + words * self.payload_bytes()
    }

    /// AES blocks of one Gen on the special path, without payload expansion: 4n for a DPF,
    /// 8n for a DCF *(paper)*. Lane utilisation counts these.
    #[must_use]
    pub const fn gen_blocks(&self) -> u64 {
        self.scheme.gen_blocks_per_level() * self.domain_bits as u64
    }

    /// Whether a payload is read straight from bytes 0–11 of a block; otherwise it is expanded.
    #[must_use]
    pub(crate) const fn payload_is_direct(&self) -> bool {
        self.payload_bytes() <= 12 && !matches!(self.group.kind(), GroupKind::Modular)
    }
}

impl fmt::Display for KeySpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, {} domain bits, {}", self.scheme, self.domain_bits, self.group)?;
        if self.arity > 1 {
            write!(f, " × {}", self.arity)?;
        }
        Ok(())
    }
}
