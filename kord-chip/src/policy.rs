//! Whom a chip pairs with.
//!
//! A policy is a TOML file:
//!
//! ```toml
//! # SHA-256 fingerprints of root certificates (DER), and PEM files whose last certificate is a
//! # root; paths are relative to this file. At least one of them.
//! roots = ["9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"]
//! root_files = ["peer-root.pem"]
//! # What the peer may run. At least one.
//! measurements = ["60303ae22b998861bce3b28f33eec1be758a213c86c93c076dbe9f558c11c752"]
//! # The oldest release of the peer. Default: any.
//! least_version = "0.1.0"
//! # The lowest tier that the peer may be configured for. Default: "mac".
//! lowest_tier = "mac"
//! # Serials of devices that are refused. Default: none.
//! revoked = ["stolen-card-7"]
//! ```

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::identity::{DeviceSerial, Fingerprint, certificates_of_pem};
use crate::measurement::Measurement;
use crate::{SoftwareVersion, Tier};

/// The least that a peer's evidence must show.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Policy {
    /// Fingerprints of the allowed roots.
    #[serde(default)]
    pub roots: Vec<Fingerprint>,
    /// Allowed measurements.
    #[serde(default)]
    pub measurements: Vec<Measurement>,
    /// The oldest release allowed.
    #[serde(default)]
    pub least_version: SoftwareVersion,
    /// The lowest tier that the peer may be configured for.
    #[serde(default)]
    pub lowest_tier: Tier,
    /// Devices that are refused.
    #[serde(default)]
    pub revoked: Vec<DeviceSerial>,
    /// Read into `roots` when the policy is loaded.
    #[serde(default, skip_serializing)]
    root_files: Vec<PathBuf>,
}

/// A policy that cannot be used.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum PolicyError {
    /// A file that cannot be read.
    #[error("cannot read {}; check its path and permissions", .path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The system's error.
        #[source]
        source: io::Error,
    },
    /// Not the TOML that a policy is.
    #[error("policy {}: {}", .path.display(), .source)]
    Syntax {
        /// The file.
        path: PathBuf,
        /// Where and what.
        #[source]
        source: Box<toml::de::Error>,
    },
    /// A root file without certificates.
    #[error("{} holds no certificates; give a PEM file whose last certificate is the root", .path.display())]
    RootFile {
        /// The file.
        path: PathBuf,
    },
    /// A policy that no peer can fulfil.
    #[error("policy {}: {field} is empty, so no peer would be accepted; list at least one", .path.display())]
    Nobody {
        /// The file.
        path: PathBuf,
        /// The empty list.
        field: &'static str,
    },
}

impl Policy {
    /// A policy of these roots and measurements, any release, tier mac, nothing revoked.
    #[must_use]
    pub fn new(roots: Vec<Fingerprint>, measurements: Vec<Measurement>) -> Self {
        Self {
            roots,
            measurements,
            least_version: SoftwareVersion::default(),
            lowest_tier: Tier::Mac,
            revoked: Vec::new(),
            root_files: Vec::new(),
        }
    }

    /// Loads a policy file, and the root files that it names.
    ///
    /// # Errors
    /// [`PolicyError`] names the file, the field and the remedy.
    pub fn load(path: &Path) -> Result<Self, PolicyError> {
        let read = |path: &Path| {
            fs::read(path).map_err(|source| PolicyError::Read { path: path.to_owned(), source })
        };
        let text = read(path)?;
        let syntax = |source| PolicyError::Syntax { path: path.to_owned(), source: Box::new(source) };
        let mut policy: Self = toml::from_slice(&text).map_err(syntax)?;
        let dir = path.parent().unwrap_or(Path::new(""));
        for file in core::mem::take(&mut policy.root_files) {
            let file = dir.join(file);
            let root = certificates_of_pem(&read(&file)?).and_then(|mut chain| chain.pop());
            let root = root.ok_or(PolicyError::RootFile { path: file })?;
            policy.roots.push(Fingerprint::of(&root));
        }
        for (field, empty) in
            [("roots", policy.roots.is_empty()), ("measurements", policy.measurements.is_empty())]
        {
            if empty {
                return Err(PolicyError::Nobody { path: path.to_owned(), field });
            }
        }
        Ok(policy)
    }

    /// The policy as TOML.
    ///
    /// # Errors
    /// Those of the TOML writer; a policy has nothing that it cannot write.
    pub fn to_toml(&self) -> Result<String, toml::ser::Error> {
        toml::to_string(self)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::identity::{DevelopmentCa, Validity};

    fn load(text: &str) -> Result<Policy, PolicyError> {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("policy.toml");
        fs::write(&path, text).unwrap();
        Policy::load(&path)
    }

    const DIGEST: &str = "60303ae22b998861bce3b28f33eec1be758a213c86c93c076dbe9f558c11c752";

    #[test]
    fn round_trip_and_defaults() {
        let mut policy = Policy::new(vec![DIGEST.parse().unwrap()], vec![DIGEST.parse().unwrap()]);
        policy.least_version = "0.2.0".parse().unwrap();
        policy.lowest_tier = Tier::Plain;
        policy.revoked.push("card-7".parse().unwrap());
        assert_eq!(load(&policy.to_toml().unwrap()).unwrap(), policy);

        let least = load(&format!("roots = [{DIGEST:?}]\nmeasurements = [{DIGEST:?}]")).unwrap();
        assert_eq!(least, Policy::new(policy.roots, policy.measurements));
        assert_eq!(least.lowest_tier, Tier::Mac);
    }

    #[test]
    fn root_files() {
        let dir = tempfile::tempdir().unwrap();
        let root = DevelopmentCa::generate(Validity::ROOT).unwrap();
        let ca = root.intermediate(Validity::ROOT).unwrap();
        fs::write(dir.path().join("root.pem"), ca.to_pem().unwrap()).unwrap();
        let path = dir.path().join("policy.toml");
        fs::write(&path, format!("root_files = [\"root.pem\"]\nmeasurements = [{DIGEST:?}]")).unwrap();
        assert_eq!(Policy::load(&path).unwrap().roots, [root.root()]);
        fs::write(dir.path().join("root.pem"), "nothing").unwrap();
        assert!(matches!(Policy::load(&path), Err(PolicyError::RootFile { .. })));
        fs::remove_file(dir.path().join("root.pem")).unwrap();
        let error = Policy::load(&path).unwrap_err();
        assert!(matches!(error, PolicyError::Read { .. }) && error.to_string().contains("root.pem"));
    }

    #[test]
    fn errors_name_the_field() {
        for (text, name) in [
            (format!("measurements = [{DIGEST:?}]"), "roots is empty"),
            (format!("roots = [{DIGEST:?}]"), "measurements is empty"),
            ("roots = [\"12\"]".into(), "64 hexadecimal digits"),
            ("lowest_tier = \"none\"".into(), "lowest_tier"),
            ("least_version = \"1\"".into(), "three numbers"),
            ("revoked = [\"\"]".into(), "device serial"),
            ("mesurements = []".into(), "mesurements"),
            ("roots".into(), "line 1"),
        ] {
            let error = load(&text).unwrap_err().to_string();
            assert!(error.contains(name) && error.contains("policy.toml"), "{text}: {error}");
        }
    }
}
