//! Who a chip is: an Ed25519 key under an X.509 certificate chain, and its storage key.
//!
//! | file in the state directory | content | mode |
//! |---|---|---|
//! | `device.key` | the identity key, PKCS#8 PEM | 0600 |
//! | `device.pem` | the chain, device certificate first, root last | 0644 |
//! | `storage.key` | 32 random bytes in hexadecimal: seals the pairing record | 0600 |
//! | `development-root/ca.key`, `ca.pem` | the development root, if this device made one | 0600, 0644 |
//!
//! The directory has mode 0700. Key files that others may read are refused.
//!
//! # Security
//!
//! The certificate authority here is *software for development*. Its key lies in a file, so its
//! certificates say who made them and nothing about hardware. A deployment has device keys and
//! certificates from a vendor or a manufacturing step; the checks in
//! [`verify_chain`] are the same.

mod ca;
mod chain;
mod error;
mod files;
mod serial;
mod storage_key;

#[cfg(test)]
mod tests;

pub use ca::{DevelopmentCa, Validity};
pub(crate) use chain::certificates_of_pem;
pub use chain::{ChainError, Fingerprint, MAX_CERTIFICATE_BYTES, MAX_CHAIN, VerifiedChain, verify_chain};
pub use error::IdentityError;
pub(crate) use files::{create_private_file, sync_dir};
pub use serial::{DeviceSerial, NotASerial};
pub use storage_key::StorageKey;

use std::path::Path;

use ed25519_dalek::{Signer, SigningKey};

const KEY_FILE: &str = "device.key";
const CHAIN_FILE: &str = "device.pem";
const ROOT_DIR: &str = "development-root";

/// What [`DeviceIdentity::provision`] makes.
#[derive(Clone, Debug, Default)]
pub struct ProvisionOptions {
    /// The device's serial; random when `None`.
    pub serial: Option<DeviceSerial>,
    /// How long the device certificate is valid.
    pub validity: Validity,
}

/// A device's identity key and certificate chain. The key is zeroized on drop.
pub struct DeviceIdentity {
    key: SigningKey,
    chain: Vec<Vec<u8>>,
    serial: DeviceSerial,
}

impl DeviceIdentity {
    /// Creates identity and storage key in the state directory `dir`, certified by `ca`.
    ///
    /// Without a `ca` it makes a development root in `dir/development-root`. Two devices that
    /// shall pair need one root, or each other's root in their policies.
    ///
    /// # Errors
    /// [`IdentityError::AlreadyProvisioned`] if there is a key: nothing is overwritten. Otherwise
    /// what writing or certifying gives.
    pub fn provision(
        dir: &Path,
        ca: Option<&DevelopmentCa>,
        options: &ProvisionOptions,
    ) -> Result<Self, IdentityError> {
        files::create_private_dir(dir)?;
        let key_path = dir.join(KEY_FILE);
        if key_path.exists() {
            return Err(IdentityError::AlreadyProvisioned { path: key_path });
        }
        let own_ca;
        let ca = match ca {
            Some(ca) => ca,
            None => {
                let root_dir = dir.join(ROOT_DIR);
                own_ca = if DevelopmentCa::is_in(&root_dir) {
                    DevelopmentCa::load(&root_dir)?
                } else {
                    let root = DevelopmentCa::generate(Validity::ROOT)?;
                    root.save(&root_dir)?;
                    root
                };
                &own_ca
            }
        };
        let identity = Self::issue(ca, options)?;
        if !dir.join(storage_key::FILE).exists() {
            StorageKey::create(dir)?;
        }
        files::replace(&dir.join(CHAIN_FILE), chain::to_pem(&identity.chain)?.as_bytes(), false)?;
        // The key comes last: with it the directory counts as provisioned.
        files::write_key(&key_path, &identity.key)?;
        Ok(identity)
    }

    /// A fresh identity certified by `ca`, in memory only.
    ///
    /// # Errors
    /// [`IdentityError::Certify`] or [`IdentityError::Random`].
    pub fn issue(ca: &DevelopmentCa, options: &ProvisionOptions) -> Result<Self, IdentityError> {
        let serial = match &options.serial {
            Some(serial) => serial.clone(),
            None => DeviceSerial::random()?,
        };
        let key = SigningKey::from_bytes(&*crate::random::secret()?);
        let chain = ca.certify_device(&key, &serial, options.validity)?;
        Ok(Self { key, chain, serial })
    }

    /// Loads the identity from the state directory `dir`.
    ///
    /// # Errors
    /// [`IdentityError`] names the file and the remedy: missing, readable by others, not a key,
    /// not a chain, or key and certificate of different devices. Expiry is the verifier's matter.
    pub fn load(dir: &Path) -> Result<Self, IdentityError> {
        let key_path = dir.join(KEY_FILE);
        let chain_path = dir.join(CHAIN_FILE);
        let key = files::read_key(&key_path)?;
        let chain = certificates_of_pem(&files::read_public(&chain_path)?)
            .ok_or_else(|| IdentityError::NotAChain { path: chain_path.clone() })?;
        let (serial, public) = chain
            .first()
            .and_then(|leaf| chain::serial_and_key(leaf).ok())
            .ok_or_else(|| IdentityError::NotAChain { path: chain_path.clone() })?;
        if public != key.verifying_key().to_bytes() {
            return Err(IdentityError::KeyMismatch { key: key_path, chain: chain_path });
        }
        Ok(Self { key, chain, serial })
    }

    /// The device's serial, as certified.
    #[must_use]
    pub const fn serial(&self) -> &DeviceSerial {
        &self.serial
    }

    /// The Ed25519 public key.
    #[must_use]
    pub fn public_key(&self) -> [u8; 32] {
        self.key.verifying_key().to_bytes()
    }

    /// The certificates in DER, device first, root last.
    #[must_use]
    pub fn chain(&self) -> &[Vec<u8>] {
        &self.chain
    }

    /// The fingerprint of the chain's root, for the peer's policy.
    #[must_use]
    pub fn root(&self) -> Fingerprint {
        Fingerprint::of(self.chain.last().map_or(&[], Vec::as_slice))
    }

    /// This device's key certified under a new random serial.
    #[cfg(test)]
    #[allow(clippy::unwrap_used)]
    pub(crate) fn renamed(&self, ca: &DevelopmentCa) -> Self {
        let serial = DeviceSerial::random().unwrap();
        let chain = ca.certify_device(&self.key, &serial, Validity::default()).unwrap();
        Self { key: self.key.clone(), chain, serial }
    }

    /// Signs a statement that its caller has put under a domain string.
    pub(crate) fn sign(&self, message: &[u8]) -> [u8; 64] {
        self.key.sign(message).to_bytes()
    }
}
