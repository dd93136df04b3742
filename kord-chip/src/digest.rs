//! 32-byte SHA-256 values that are public and shown in hexadecimal.

use thiserror::Error;

/// Text that is no 32-byte hexadecimal value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("must be 64 hexadecimal digits")]
pub struct NotADigest;

pub(crate) fn parse(text: &str) -> Result<[u8; 32], NotADigest> {
    let mut bytes = [0; 32];
    hex::decode_to_slice(text, &mut bytes).map_err(|_| NotADigest)?;
    Ok(bytes)
}

/// Gives a `struct Name([u8; 32])` hexadecimal `Display`, `Debug`, `FromStr` and serde as text.
macro_rules! hex_digest {
    ($name:ident) => {
        impl $name {
            /// The value of these bytes.
            #[must_use]
            pub const fn from_bytes(bytes: [u8; 32]) -> Self {
                Self(bytes)
            }

            /// The 32 bytes.
            #[must_use]
            pub const fn as_bytes(&self) -> &[u8; 32] {
                &self.0
            }
        }

        impl core::fmt::Display for $name {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                f.write_str(&hex::encode(self.0))
            }
        }

        impl core::fmt::Debug for $name {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                write!(f, "{}({self})", stringify!($name))
            }
        }

        impl core::str::FromStr for $name {
            type Err = $crate::digest::NotADigest;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                $crate::digest::parse(text).map(Self)
            }
        }

        impl TryFrom<String> for $name {
            type Error = $crate::digest::NotADigest;

            fn try_from(text: String) -> Result<Self, Self::Error> {
                text.parse()
            }
        }

        impl From<$name> for String {
            fn from(digest: $name) -> Self {
                digest.to_string()
            }
        }
    };
}

pub(crate) use hex_digest;
