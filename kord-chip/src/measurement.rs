//! What runs: a hash that stands for program, release and configuration.
//!
//! `SHA-256("KORD measurement v1" ‖ SHA-256(executable) ‖ release (3 × 2 bytes, little-endian)
//! ‖ protocol version (1) ‖ lowest tier (1))`
//!
//! # Security
//!
//! Here the program measures itself, so the value says what honest software would say. Only
//! hardware that measures before the program starts makes it evidence against a dishonest host.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use thiserror::Error;

use crate::{PROTOCOL_VERSION, SoftwareVersion, Tier};

const LABEL: &[u8] = b"KORD measurement v1";

/// The measurement of a running chip. Public.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Measurement([u8; 32]);

crate::digest::hex_digest!(Measurement);

/// The configuration that a measurement covers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MeasuredConfig {
    /// The lowest tier that the chip will run a session at.
    pub lowest_tier: Tier,
}

/// An executable that could not be read.
#[derive(Debug, Error)]
#[error("cannot measure {}; check that it is readable", .path.display())]
pub struct MeasurementError {
    path: PathBuf,
    #[source]
    source: io::Error,
}

impl Measurement {
    /// The measurement of the program whose bytes `executable` gives.
    ///
    /// # Errors
    /// Those of reading.
    pub fn of_program(mut executable: impl Read, config: MeasuredConfig) -> io::Result<Self> {
        let mut program = Sha256::new();
        let mut buffer = vec![0; 1 << 16];
        loop {
            match executable.read(&mut buffer) {
                Ok(0) => break,
                Ok(count) => program.update(&buffer[..count]),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        let hash = Sha256::new()
            .chain_update(LABEL)
            .chain_update(program.finalize())
            .chain_update(SoftwareVersion::CURRENT.to_bytes())
            .chain_update([PROTOCOL_VERSION, config.lowest_tier.number()]);
        Ok(Self(hash.finalize().into()))
    }

    /// The measurement that the executable at `path` has under this release.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn of_file(path: &Path, config: MeasuredConfig) -> Result<Self, MeasurementError> {
        File::open(path)
            .and_then(|file| Self::of_program(file, config))
            .map_err(|source| MeasurementError { path: path.to_owned(), source })
    }

    /// The measurement of this process.
    ///
    /// # Errors
    /// If its executable cannot be found or read.
    pub fn of_running(config: MeasuredConfig) -> Result<Self, MeasurementError> {
        let path = if cfg!(target_os = "linux") {
            // The very file that runs, even if its name was given to another since.
            PathBuf::from("/proc/self/exe")
        } else {
            std::env::current_exe()
                .map_err(|source| MeasurementError { path: PathBuf::from("the running program"), source })?
        };
        Self::of_file(&path, config)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    const MAC: MeasuredConfig = MeasuredConfig { lowest_tier: Tier::Mac };

    #[test]
    fn depends_on_program_and_configuration() {
        let a = Measurement::of_program(&b"program"[..], MAC).unwrap();
        assert_eq!(a, Measurement::of_program(&b"program"[..], MAC).unwrap());
        assert_ne!(a, Measurement::of_program(&b"Program"[..], MAC).unwrap());
        let plain = MeasuredConfig { lowest_tier: Tier::Plain };
        assert_ne!(a, Measurement::of_program(&b"program"[..], plain).unwrap());
    }

    #[test]
    fn of_this_process() {
        let exe = std::env::current_exe().unwrap();
        let running = Measurement::of_running(MAC).unwrap();
        assert_eq!(running, Measurement::of_file(&exe, MAC).unwrap());
        assert_eq!(running.to_string().parse(), Ok(running));
        let error = Measurement::of_file(Path::new("no such program"), MAC).unwrap_err();
        assert!(error.to_string().contains("no such program"));
    }
}
