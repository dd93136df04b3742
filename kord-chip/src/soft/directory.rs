//! A software chip's state directory.
//!
//! | file | content |
//! |---|---|
//! | `device.key`, `device.pem`, `storage.key` | see [`crate::identity`] |
//! | `chip.toml` | party, lowest tier, counters reserved at a time |
//! | `policy.toml` | whom this chip pairs with, see [`crate::policy`] |
//! | `store.redb` | counters and the sealed pairing record, see [`crate::store`] |

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use kord_core::Party;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::SoftChip;
use crate::attest::{SoftwareAttester, SoftwareVerifier};
use crate::identity::{DevelopmentCa, DeviceIdentity, IdentityError, ProvisionOptions, StorageKey};
use crate::measurement::{MeasuredConfig, Measurement, MeasurementError};
use crate::policy::{Policy, PolicyError};
use crate::store::{DEFAULT_RANGE, DiskStore, StoreError};
use crate::tier::Tier;

const CONFIG_FILE: &str = "chip.toml";
const POLICY_FILE: &str = "policy.toml";

/// What `chip.toml` says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ChipConfig {
    /// The party number, 0 or 1.
    pub party: u8,
    /// The lowest tier that this chip is configured for. Part of its measurement.
    #[serde(default)]
    pub lowest_tier: Tier,
    /// Counters reserved by one durable write.
    #[serde(default = "default_range")]
    pub counter_range: u64,
}

const fn default_range() -> u64 {
    DEFAULT_RANGE
}

/// How to provision a software chip.
#[derive(Clone, Debug)]
pub struct Provision {
    /// Which party the chip is.
    pub party: Party,
    /// The lowest tier that it is configured for, and asks of its peer.
    pub lowest_tier: Tier,
    /// Device serial and validity.
    pub identity: ProvisionOptions,
}

impl Provision {
    /// A chip of this party: tier mac, a random serial, the default validity.
    #[must_use]
    pub fn new(party: Party) -> Self {
        Self { party, lowest_tier: Tier::Mac, identity: ProvisionOptions::default() }
    }
}

/// A state directory that cannot be made or used.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum DirectoryError {
    /// Identity or storage key.
    #[error(transparent)]
    Identity(#[from] IdentityError),
    /// Policy.
    #[error(transparent)]
    Policy(#[from] PolicyError),
    /// Store.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// Measurement.
    #[error(transparent)]
    Measurement(#[from] MeasurementError),
    /// A file that cannot be read.
    #[error("cannot read {}; is this a provisioned chip's directory? Run provision first", .path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The system's error.
        #[source]
        source: io::Error,
    },
    /// A file that cannot be written.
    #[error("cannot write {}; check that this user owns its directory", .path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// The system's error.
        #[source]
        source: io::Error,
    },
    /// A configuration that is not valid.
    #[error("{}: {problem}", .path.display())]
    Config {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        problem: String,
    },
    /// The store's pairing was made as the other party.
    #[error("{} says {configured}, but the stored pairing is of {paired}; restore the party number, or revoke and pair anew", .path.display())]
    OtherParty {
        /// The configuration file.
        path: PathBuf,
        /// What it says.
        configured: Party,
        /// What the pairing says.
        paired: Party,
    },
}

impl SoftChip {
    /// Makes a state directory: identity under `ca`, configuration, and a policy that accepts
    /// devices under the same root which run this very program.
    ///
    /// # Errors
    /// [`DirectoryError`]; an existing identity is never overwritten.
    pub fn provision(dir: &Path, ca: &DevelopmentCa, how: &Provision) -> Result<(), DirectoryError> {
        DeviceIdentity::provision(dir, Some(ca), &how.identity)?;
        let measured = MeasuredConfig { lowest_tier: how.lowest_tier };
        let mut policy = Policy::new(vec![ca.root()], vec![Measurement::of_running(measured)?]);
        policy.lowest_tier = how.lowest_tier;
        let config = ChipConfig {
            party: how.party.number(),
            lowest_tier: how.lowest_tier,
            counter_range: DEFAULT_RANGE,
        };
        write(&dir.join(POLICY_FILE), policy.to_toml())?;
        write(&dir.join(CONFIG_FILE), toml::to_string(&config))
    }

    /// The chip of a state directory. One process at a time may have it open.
    ///
    /// # Errors
    /// [`DirectoryError`], naming the file and the remedy.
    pub fn open(dir: &Path) -> Result<Self, DirectoryError> {
        let path = dir.join(CONFIG_FILE);
        let (config, party) = read_config(&path)?;
        let identity = Arc::new(DeviceIdentity::load(dir)?);
        let measured = MeasuredConfig { lowest_tier: config.lowest_tier };
        let attester =
            SoftwareAttester::new(identity, Measurement::of_running(measured)?, config.lowest_tier);
        let verifier = SoftwareVerifier::new(Policy::load(&dir.join(POLICY_FILE))?);
        let store = DiskStore::open_with_range(dir, StorageKey::load(dir)?, config.counter_range)?;
        let chip = Self::new(party, Box::new(store), Arc::new(attester), Arc::new(verifier))?;
        match chip.pairing() {
            Some(pairing) if pairing.party() != party => {
                Err(DirectoryError::OtherParty { path, configured: party, paired: pairing.party() })
            }
            _ => Ok(chip),
        }
    }
}

fn read_config(path: &Path) -> Result<(ChipConfig, Party), DirectoryError> {
    let refuse = |problem: String| DirectoryError::Config { path: path.to_owned(), problem };
    let text =
        fs::read_to_string(path).map_err(|source| DirectoryError::Read { path: path.to_owned(), source })?;
    let config: ChipConfig = toml::from_str(&text).map_err(|error| refuse(error.to_string()))?;
    let party = Party::from_number(config.party).ok_or_else(|| refuse("party must be 0 or 1".to_owned()))?;
    if config.counter_range == 0 {
        return Err(refuse("counter_range must be at least 1".to_owned()));
    }
    Ok((config, party))
}

fn write(path: &Path, text: Result<String, toml::ser::Error>) -> Result<(), DirectoryError> {
    let text =
        text.map_err(|error| DirectoryError::Config { path: path.to_owned(), problem: error.to_string() })?;
    fs::write(path, text).map_err(|source| DirectoryError::Write { path: path.to_owned(), source })
}
