//! Device serials.

use core::fmt;
use core::str::FromStr;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::random::{self, RandomError};

/// The name of a device in its certificate and in revocation lists: 1 to 64 ASCII letters,
/// digits, dots and hyphens.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct DeviceSerial(String);

/// Text that is no device serial.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("a device serial has 1 to 64 ASCII letters, digits, dots and hyphens")]
pub struct NotASerial;

impl DeviceSerial {
    /// A random serial of 32 hexadecimal digits.
    ///
    /// # Errors
    /// If the operating system gives no randomness.
    pub fn random() -> Result<Self, RandomError> {
        Ok(Self(hex::encode(random::public::<16>()?)))
    }

    /// The serial as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for DeviceSerial {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromStr for DeviceSerial {
    type Err = NotASerial;

    fn from_str(text: &str) -> Result<Self, NotASerial> {
        Self::try_from(text.to_owned())
    }
}

impl TryFrom<String> for DeviceSerial {
    type Error = NotASerial;

    fn try_from(text: String) -> Result<Self, NotASerial> {
        let allowed = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'.' || byte == b'-';
        if (1..=64).contains(&text.len()) && text.bytes().all(allowed) {
            Ok(Self(text))
        } else {
            Err(NotASerial)
        }
    }
}

impl From<DeviceSerial> for String {
    fn from(serial: DeviceSerial) -> Self {
        serial.0
    }
}
