//! The device-local key that seals what the store keeps secret.

use std::path::Path;

use aes_gcm_siv::aead::{Aead, Payload};
use aes_gcm_siv::{Aes256GcmSiv, KeyInit};
use zeroize::Zeroizing;

use super::{IdentityError, files};
use crate::random;

pub(super) const FILE: &str = "storage.key";

const NONCE_BYTES: usize = 12;

/// A random AES-256-GCM-SIV key in a file of mode 0600. Zeroized on drop; no `Debug`.
///
/// It keeps the pairing secret from whoever copies the store alone. Whoever copies the whole
/// state directory has both; a deployment puts this key in a TPM or a keyring.
pub struct StorageKey(Zeroizing<[u8; 32]>);

impl StorageKey {
    /// A fresh key, in memory only.
    ///
    /// # Errors
    /// [`IdentityError::Random`].
    pub fn generate() -> Result<Self, IdentityError> {
        Ok(Self(random::secret()?))
    }

    /// Creates the key file in the state directory.
    ///
    /// # Errors
    /// [`IdentityError::Io`], also if there is a key file.
    pub fn create(dir: &Path) -> Result<Self, IdentityError> {
        files::create_private_dir(dir)?;
        let key = Self::generate()?;
        files::write_private(&dir.join(FILE), &key.to_text())?;
        Ok(key)
    }

    /// Loads the key from the state directory.
    ///
    /// # Errors
    /// [`IdentityError::Missing`], `Permissions`, `NotAKey` or `Io`.
    pub fn load(dir: &Path) -> Result<Self, IdentityError> {
        let path = dir.join(FILE);
        let text = files::read_private(&path)?;
        let mut key = Zeroizing::new([0; 32]);
        hex::decode_to_slice(text.trim_ascii(), key.as_mut_slice())
            .map_err(|_| IdentityError::NotAKey { path })?;
        Ok(Self(key))
    }

    /// Replaces the key file by a fresh key. What was sealed before can no longer be opened.
    ///
    /// # Errors
    /// [`IdentityError::Io`] or [`IdentityError::Random`].
    pub fn rotate(dir: &Path) -> Result<Self, IdentityError> {
        let key = Self::generate()?;
        files::replace(&dir.join(FILE), &key.to_text(), true)?;
        Ok(key)
    }

    fn to_text(&self) -> Zeroizing<Vec<u8>> {
        let mut text = Zeroizing::new(vec![b'\n'; 65]);
        // Fits: 64 digits for 32 bytes.
        let _ = hex::encode_to_slice(self.0.as_slice(), &mut text[..64]);
        text
    }

    /// Nonce (12 bytes, random) ‖ AES-256-GCM-SIV of `plain` under the purpose `aad`.
    pub(crate) fn seal(&self, aad: &[u8], plain: &[u8]) -> Result<Vec<u8>, IdentityError> {
        let nonce = random::public::<NONCE_BYTES>()?;
        let cipher = Aes256GcmSiv::new((&*self.0).into());
        let Ok(sealed) = cipher.encrypt(&nonce.into(), Payload { msg: plain, aad }) else {
            unreachable!("GCM-SIV takes 2^36 bytes")
        };
        Ok([nonce.as_slice(), &sealed].concat())
    }

    /// What [`seal`](Self::seal) sealed under the same key and purpose, or nothing.
    pub(crate) fn open(&self, aad: &[u8], sealed: &[u8]) -> Option<Zeroizing<Vec<u8>>> {
        let (nonce, msg) = sealed.split_first_chunk::<NONCE_BYTES>()?;
        let cipher = Aes256GcmSiv::new((&*self.0).into());
        cipher.decrypt(&(*nonce).into(), Payload { msg, aad }).ok().map(Zeroizing::new)
    }
}
