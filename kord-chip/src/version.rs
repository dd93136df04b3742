//! Versions of what runs.

use core::fmt;
use core::str::FromStr;

use serde::{Deserialize, Serialize};
use thiserror::Error;

/// The version of the pairing and session protocols. Both sides must speak the same.
pub const PROTOCOL_VERSION: u8 = 1;

/// A release of this crate: major, minor, patch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct SoftwareVersion {
    /// Major.
    pub major: u16,
    /// Minor.
    pub minor: u16,
    /// Patch.
    pub patch: u16,
}

/// Text that is no version.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("must be three numbers up to 65535, as in \"0.1.0\"")]
pub struct NotAVersion;

/// A number of Cargo's, which are decimal.
const fn number(text: &str) -> u16 {
    match u16::from_str_radix(text, 10) {
        Ok(number) => number,
        Err(_) => 0,
    }
}

impl SoftwareVersion {
    /// The version of this build.
    pub const CURRENT: Self = Self {
        major: number(env!("CARGO_PKG_VERSION_MAJOR")),
        minor: number(env!("CARGO_PKG_VERSION_MINOR")),
        patch: number(env!("CARGO_PKG_VERSION_PATCH")),
    };

    /// Little-endian bytes, major first.
    #[must_use]
    pub const fn to_bytes(self) -> [u8; 6] {
        let ([a, b], [c, d], [e, f]) =
            (self.major.to_le_bytes(), self.minor.to_le_bytes(), self.patch.to_le_bytes());
        [a, b, c, d, e, f]
    }

    /// The version that [`to_bytes`](Self::to_bytes) wrote.
    #[must_use]
    pub const fn from_bytes(bytes: [u8; 6]) -> Self {
        let [a, b, c, d, e, f] = bytes;
        Self {
            major: u16::from_le_bytes([a, b]),
            minor: u16::from_le_bytes([c, d]),
            patch: u16::from_le_bytes([e, f]),
        }
    }
}

impl fmt::Display for SoftwareVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.major, self.minor, self.patch)
    }
}

impl FromStr for SoftwareVersion {
    type Err = NotAVersion;

    fn from_str(text: &str) -> Result<Self, NotAVersion> {
        let mut parts = text.split('.').map(str::parse);
        match (parts.next(), parts.next(), parts.next(), parts.next()) {
            (Some(Ok(major)), Some(Ok(minor)), Some(Ok(patch)), None) => Ok(Self { major, minor, patch }),
            _ => Err(NotAVersion),
        }
    }
}

impl TryFrom<String> for SoftwareVersion {
    type Error = NotAVersion;

    fn try_from(text: String) -> Result<Self, NotAVersion> {
        text.parse()
    }
}

impl From<SoftwareVersion> for String {
    fn from(version: SoftwareVersion) -> Self {
        version.to_string()
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn text_bytes_and_order() {
        let version: SoftwareVersion = "1.2.300".parse().unwrap();
        assert_eq!(version.to_string(), "1.2.300");
        assert_eq!(SoftwareVersion::from_bytes(version.to_bytes()), version);
        assert!(version > "1.1.999".parse().unwrap());
        assert_eq!(SoftwareVersion::CURRENT.to_string(), env!("CARGO_PKG_VERSION"));
        for wrong in ["", "1.2", "1.2.3.4", "1.2.x", "1.2.65536", "1.2.3-rc1"] {
            assert_eq!(wrong.parse::<SoftwareVersion>(), Err(NotAVersion), "{wrong}");
        }
    }
}
