//! Names of output groups: `z2^32`, `xor:16`, `mod:4294967291`.

use core::fmt;
use core::str::FromStr;

use kord_core::{Group, GroupKind, SpecError};
use thiserror::Error;

use super::number::{NumberError, parse_u128};

/// An output group as the command line writes it.
///
/// | name | group |
/// |---|---|
/// | `z2^k` | integers modulo 2^k, 1 ≤ k ≤ 128 |
/// | `xor:k` | k-bit strings under XOR, 1 ≤ k ≤ 128 |
/// | `mod:m` | integers modulo m, m ≥ 2 |
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GroupName(pub Group);

/// Why a text names no group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum GroupNameError {
    /// Not one of the three forms.
    #[error("unknown group; write z2^32, xor:16 or mod:4294967291 (any width or modulus)")]
    Form,
    /// The width or modulus is no number.
    #[error("{field}: {problem}")]
    Number {
        /// Width or modulus.
        field: &'static str,
        /// What is wrong with it.
        problem: NumberError,
    },
    /// A width or modulus that gives no group.
    #[error(transparent)]
    Spec(#[from] SpecError),
}

impl FromStr for GroupName {
    type Err = GroupNameError;

    fn from_str(name: &str) -> Result<Self, GroupNameError> {
        let number =
            |field, text| parse_u128(text).map_err(|problem| GroupNameError::Number { field, problem });
        let bits = |text| {
            let wide = number("element bits", text)?;
            let bits = u32::try_from(wide).unwrap_or(u32::MAX);
            u8::try_from(bits).map_err(|_| GroupNameError::Spec(SpecError::ElementBits { bits }))
        };
        let group = if let Some(text) = name.strip_prefix("z2^") {
            Group::ring(bits(text)?)?
        } else if let Some(text) = name.strip_prefix("xor:") {
            Group::xor(bits(text)?)?
        } else if let Some(text) = name.strip_prefix("mod:") {
            Group::modular(number("modulus", text)?)?
        } else {
            return Err(GroupNameError::Form);
        };
        Ok(Self(group))
    }
}

impl fmt::Display for GroupName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.0.kind(), self.0.modulus()) {
            (GroupKind::Ring, _) => write!(f, "z2^{}", self.0.bits()),
            (GroupKind::Xor, _) => write!(f, "xor:{}", self.0.bits()),
            (_, modulus) => write!(f, "mod:{}", modulus.unwrap_or_default()),
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn names_survive() {
        for name in ["z2^1", "z2^32", "z2^128", "xor:1", "xor:16", "xor:128", "mod:2", "mod:4294967291"] {
            assert_eq!(name.parse::<GroupName>().unwrap().to_string(), name);
        }
        assert_eq!("mod:0x10".parse::<GroupName>().unwrap().to_string(), "mod:16");
    }

    #[test]
    fn what_names_no_group_is_refused() {
        let refused = |name: &str| name.parse::<GroupName>().unwrap_err();
        for name in ["", "z2", "ring:32", "Z2^8", "32", "xor16"] {
            assert_eq!(refused(name), GroupNameError::Form, "{name}");
        }
        assert_eq!(refused("z2^0"), SpecError::ElementBits { bits: 0 }.into());
        assert_eq!(refused("xor:129"), SpecError::ElementBits { bits: 129 }.into());
        assert_eq!(refused("xor:300"), SpecError::ElementBits { bits: 300 }.into());
        assert_eq!(refused("mod:1"), SpecError::Modulus { modulus: 1 }.into());
        assert!(refused("mod:x").to_string().starts_with("modulus: character 1 is no decimal digit"));
        assert!(refused("z2^").to_string().starts_with("element bits: no digits"));
    }
}
