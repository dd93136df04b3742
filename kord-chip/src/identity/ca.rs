//! The development certificate authority: software, for development and tests only.

use core::time::Duration;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use ed25519_dalek::{Signer, SigningKey};
use rcgen::{
    BasicConstraints, Certificate, CertificateParams, DistinguishedName, DnType, IsCa, Issuer,
    KeyUsagePurpose, PKCS_ED25519, PublicKeyData, SerialNumber, SignatureAlgorithm,
};

use super::chain::{self, certificates_of_pem};
use super::{DeviceSerial, Fingerprint, IdentityError, files};
use crate::random;

const KEY_FILE: &str = "ca.key";
const CHAIN_FILE: &str = "ca.pem";

/// The subject attribute of the device serial (`serialNumber`).
const SERIAL_OID: [u64; 4] = [2, 5, 4, 5];

const DAY: Duration = Duration::from_secs(86_400);

/// From when and how long a certificate is valid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Validity {
    /// The first moment; `None` is an hour ago, for clocks that differ.
    pub from: Option<SystemTime>,
    /// The length.
    pub length: Duration,
}

impl Validity {
    /// Ten years, for roots.
    pub const ROOT: Self = Self { from: None, length: DAY.saturating_mul(3653) };
}

impl Default for Validity {
    /// Two years from now.
    fn default() -> Self {
        Self { from: None, length: DAY.saturating_mul(730) }
    }
}

/// A certificate authority whose key lies in a file. Its certificates prove nothing about
/// hardware.
pub struct DevelopmentCa {
    key: SigningKey,
    /// Its own certificate first, root last.
    chain: Vec<Vec<u8>>,
}

/// An Ed25519 key in the form that the certificate library wants.
struct CaKey<'a> {
    key: &'a SigningKey,
    public: [u8; 32],
}

impl<'a> CaKey<'a> {
    fn new(key: &'a SigningKey) -> Self {
        Self { key, public: key.verifying_key().to_bytes() }
    }
}

impl PublicKeyData for CaKey<'_> {
    fn der_bytes(&self) -> &[u8] {
        &self.public
    }

    fn algorithm(&self) -> &'static SignatureAlgorithm {
        &PKCS_ED25519
    }
}

impl rcgen::SigningKey for CaKey<'_> {
    fn sign(&self, message: &[u8]) -> Result<Vec<u8>, rcgen::Error> {
        Ok(self.key.sign(message).to_bytes().to_vec())
    }
}

fn failed(problem: &'static str) -> impl Fn(rcgen::Error) -> IdentityError {
    move |source| IdentityError::Certify { problem, source: Some(source) }
}

pub(super) fn params(name: &str, validity: Validity) -> Result<CertificateParams, IdentityError> {
    let from = validity.from.unwrap_or_else(|| SystemTime::now() - Duration::from_secs(3600));
    let outside = || IdentityError::Certify { problem: "validity outside 1970..2500", source: None };
    let since = from.duration_since(UNIX_EPOCH).map_err(|_| outside())?;
    let end = since.checked_add(validity.length).filter(|end| *end < DAY * 193_000).ok_or_else(outside)?;
    let epoch = rcgen::date_time_ymd(1970, 1, 1);
    let mut subject = DistinguishedName::new();
    subject.push(DnType::CommonName, name);
    let mut params = CertificateParams::default();
    params.not_before = epoch + since;
    params.not_after = epoch + end;
    params.distinguished_name = subject;
    params.use_authority_key_identifier_extension = true;
    // Positive, as X.509 wants it.
    let mut serial = random::public::<16>()?;
    serial[0] = serial[0] & 0x7f | 0x40;
    params.serial_number = Some(SerialNumber::from_slice(&serial));
    Ok(params)
}

pub(super) fn ca_params(name: &str, validity: Validity) -> Result<CertificateParams, IdentityError> {
    let mut params = params(name, validity)?;
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
    Ok(params)
}

impl DevelopmentCa {
    /// Whoever holds `key`, certified by `chain`, its own certificate first.
    pub(super) const fn from_parts(key: SigningKey, chain: Vec<Vec<u8>>) -> Self {
        Self { key, chain }
    }

    /// A new self-signed root, in memory only.
    ///
    /// # Errors
    /// [`IdentityError::Certify`] or [`IdentityError::Random`].
    pub fn generate(validity: Validity) -> Result<Self, IdentityError> {
        let key = SigningKey::from_bytes(&*random::secret()?);
        // A name of its own, so that two roots are told apart.
        let name = format!("KORD development root {}", hex::encode(random::public::<4>()?));
        let certificate = ca_params(&name, validity)?
            .self_signed(&CaKey::new(&key))
            .map_err(failed("the root cannot sign itself"))?;
        let chain = vec![certificate.der().to_vec()];
        Ok(Self::from_parts(key, chain))
    }

    /// An intermediate authority below this one.
    ///
    /// # Errors
    /// [`IdentityError::Certify`] or [`IdentityError::Random`].
    pub fn intermediate(&self, validity: Validity) -> Result<Self, IdentityError> {
        let key = SigningKey::from_bytes(&*random::secret()?);
        let name = format!("KORD development intermediate {}", hex::encode(random::public::<4>()?));
        let chain = self.issue(&ca_params(&name, validity)?, &key)?;
        Ok(Self::from_parts(key, chain))
    }

    /// The chain of a device certificate over this key and serial.
    pub(super) fn certify_device(
        &self,
        key: &SigningKey,
        serial: &DeviceSerial,
        validity: Validity,
    ) -> Result<Vec<Vec<u8>>, IdentityError> {
        let mut params = params(&format!("KORD device {}", &serial.as_str()), validity)?;
        params.distinguished_name.push(DnType::CustomDnType(SERIAL_OID.to_vec()), serial.as_str());
        params.is_ca = IsCa::ExplicitNoCa;
        params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
        self.issue(&params, key)
    }

    /// The chain of a certificate with these parameters over `key`.
    pub(super) fn issue(
        &self,
        params: &CertificateParams,
        key: &SigningKey,
    ) -> Result<Vec<Vec<u8>>, IdentityError> {
        let own = self.chain.first().map_or(&[][..], Vec::as_slice);
        let issuer = Issuer::from_ca_cert_der(&own.into(), CaKey::new(&self.key))
            .map_err(failed("the authority's own certificate is not usable"))?;
        let certificate: Certificate =
            params.signed_by(&CaKey::new(key), &issuer).map_err(failed("the authority cannot sign"))?;
        let mut chain = vec![certificate.der().to_vec()];
        chain.extend_from_slice(&self.chain);
        Ok(chain)
    }

    /// The root's fingerprint, for policies.
    #[must_use]
    pub fn root(&self) -> Fingerprint {
        Fingerprint::of(self.chain.last().map_or(&[], Vec::as_slice))
    }

    /// The chain as PEM, for policies that name a file.
    ///
    /// # Errors
    /// [`IdentityError::Certify`].
    pub fn to_pem(&self) -> Result<String, IdentityError> {
        chain::to_pem(&self.chain)
    }

    /// Writes `ca.key` (0600) and `ca.pem` into `dir` (0700).
    ///
    /// # Errors
    /// [`IdentityError::AlreadyProvisioned`] if there is one; [`IdentityError::Io`].
    pub fn save(&self, dir: &Path) -> Result<(), IdentityError> {
        files::create_private_dir(dir)?;
        let key_path = dir.join(KEY_FILE);
        if key_path.exists() {
            return Err(IdentityError::AlreadyProvisioned { path: key_path });
        }
        files::replace(&dir.join(CHAIN_FILE), self.to_pem()?.as_bytes(), false)?;
        files::write_key(&key_path, &self.key)
    }

    /// Whether `dir` holds an authority.
    pub(super) fn is_in(dir: &Path) -> bool {
        dir.join(KEY_FILE).exists()
    }

    /// Loads what [`save`](Self::save) wrote.
    ///
    /// # Errors
    /// [`IdentityError`] names the file and the remedy.
    pub fn load(dir: &Path) -> Result<Self, IdentityError> {
        let (key_path, chain_path) = (dir.join(KEY_FILE), dir.join(CHAIN_FILE));
        let key = files::read_key(&key_path)?;
        let chain = certificates_of_pem(&files::read_public(&chain_path)?)
            .ok_or(IdentityError::NotAChain { path: chain_path })?;
        Ok(Self::from_parts(key, chain))
    }
}
