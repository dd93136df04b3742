//! Checking an X.509 chain.

use std::time::{SystemTime, UNIX_EPOCH};

use ed25519_dalek::VerifyingKey;
use ed25519_dalek::pkcs8::spki::der::pem::{self, LineEnding};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use thiserror::Error;
use x509_parser::oid_registry::{
    OID_SIG_ED25519, OID_X509_EXT_BASIC_CONSTRAINTS, OID_X509_EXT_KEY_USAGE, OID_X509_SERIALNUMBER,
};
use x509_parser::prelude::{ASN1Time, FromDer, Pem, X509Certificate, X509Version};

use super::{DeviceSerial, IdentityError};

/// The most certificates of a chain: device, two intermediates, root.
pub const MAX_CHAIN: usize = 4;

/// The most bytes of one certificate.
pub const MAX_CERTIFICATE_BYTES: usize = 4096;

/// SHA-256 of a certificate's DER bytes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Fingerprint([u8; 32]);

crate::digest::hex_digest!(Fingerprint);

impl Fingerprint {
    /// The fingerprint of a certificate in DER.
    #[must_use]
    pub fn of(der: &[u8]) -> Self {
        Self(Sha256::digest(der).into())
    }
}

/// A chain that does not lead from a device to an allowed root.
///
/// `index` counts from the device, 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ChainError {
    /// Too few or too many certificates.
    #[error("chain of {have} certificates, must be 2..={MAX_CHAIN} with the root")]
    Length {
        /// Certificates given.
        have: usize,
    },
    /// Bytes that are no X.509 v3 certificate.
    #[error("certificate {index} is malformed")]
    Malformed {
        /// Which certificate.
        index: usize,
    },
    /// A root that the policy does not list.
    #[error("root {root} is not allowed; add its fingerprint to the policy if it is to be trusted")]
    UnknownRoot {
        /// The chain's root.
        root: Fingerprint,
    },
    /// A certificate not issued by the next one.
    #[error("certificate {index} is not signed by the next in the chain")]
    Signature {
        /// Which certificate.
        index: usize,
    },
    /// A certificate used against what its extensions say.
    #[error("certificate {index}: {problem}")]
    Usage {
        /// Which certificate.
        index: usize,
        /// What is wrong.
        problem: &'static str,
    },
    /// A certificate out of its validity period.
    #[error("certificate {index} is not valid now; renew it, or check both clocks")]
    Expired {
        /// Which certificate.
        index: usize,
    },
}

/// What a chain proves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VerifiedChain {
    /// The device's serial.
    pub serial: DeviceSerial,
    /// The device's Ed25519 key.
    pub public_key: [u8; 32],
    /// The root that vouches for it.
    pub root: Fingerprint,
}

fn parse(index: usize, der: &[u8]) -> Result<X509Certificate<'_>, ChainError> {
    match X509Certificate::from_der(der) {
        Ok((&[], certificate))
            if certificate.version() == X509Version::V3
                && certificate.signature_algorithm == certificate.tbs_certificate.signature
                && certificate.signature_value.unused_bits == 0
                && der.len() <= MAX_CERTIFICATE_BYTES =>
        {
            Ok(certificate)
        }
        _ => Err(ChainError::Malformed { index }),
    }
}

/// Critical extensions beyond those that are checked here are refused.
fn check_usage(index: usize, certificate: &X509Certificate<'_>) -> Result<(), ChainError> {
    let usage = |problem| Err(ChainError::Usage { index, problem });
    let malformed = |_| ChainError::Malformed { index };
    let known = [OID_X509_EXT_BASIC_CONSTRAINTS, OID_X509_EXT_KEY_USAGE];
    if certificate.extensions().iter().any(|extension| extension.critical && !known.contains(&extension.oid))
    {
        return usage("critical extension not understood");
    }
    let constraints = certificate.basic_constraints().map_err(malformed)?.map(|extension| extension.value);
    let key_usage = certificate.key_usage().map_err(malformed)?.map(|extension| extension.value);
    if index == 0 {
        if constraints.is_some_and(|constraints| constraints.ca) {
            return usage("an authority poses as a device");
        }
        if key_usage.is_some_and(|usage| !usage.digital_signature()) {
            return usage("its key may not sign");
        }
        return Ok(());
    }
    let Some(constraints) = constraints.filter(|constraints| constraints.ca) else {
        return usage("not an authority, but it issued another");
    };
    if !key_usage.is_some_and(|usage| usage.key_cert_sign()) {
        return usage("its key may not sign certificates");
    }
    // Intermediates between this one and the device.
    let below = index - 1;
    if constraints.path_len_constraint.is_some_and(|most| (most as usize) < below) {
        return usage("too many intermediates below it");
    }
    Ok(())
}

/// Serial and Ed25519 key of a device certificate.
fn device(certificate: &X509Certificate<'_>) -> Result<(DeviceSerial, [u8; 32]), ChainError> {
    let usage = |problem| ChainError::Usage { index: 0, problem };
    let mut serials = certificate.subject().iter_by_oid(&OID_X509_SERIALNUMBER);
    let serial = match (serials.next(), serials.next()) {
        (Some(serial), None) => serial.as_str().ok().and_then(|text| text.parse().ok()),
        _ => None,
    };
    let serial = serial.ok_or(usage("no single device serial in its subject"))?;
    let info = certificate.public_key();
    if info.algorithm.algorithm != OID_SIG_ED25519 {
        return Err(usage("its key is not Ed25519"));
    }
    let key = <[u8; 32]>::try_from(&*info.subject_public_key.data)
        .ok()
        .and_then(|bytes| VerifyingKey::from_bytes(&bytes).ok())
        .filter(|key| !key.is_weak())
        .ok_or(usage("its key is no valid Ed25519 key"))?;
    Ok((serial, key.to_bytes()))
}

/// Where the signed part of a certificate lies.
#[cfg(test)]
#[allow(clippy::unwrap_used)]
pub(super) fn signed_bytes(der: &[u8]) -> core::ops::Range<usize> {
    let length = parse(0, der).unwrap().tbs_certificate.as_ref().len();
    4..4 + length
}

/// Serial and Ed25519 key of a device certificate in DER.
pub(super) fn serial_and_key(der: &[u8]) -> Result<(DeviceSerial, [u8; 32]), ChainError> {
    device(&parse(0, der)?)
}

/// Checks a chain, device first and root last, against the allowed roots and a clock.
///
/// Checked of every certificate: X.509 v3, at most 4,096 bytes, validity period, no critical
/// extension besides basic constraints and key usage, issuer name and signature by the next one
/// (the root signs itself). Of authorities: basic constraints, path length, right to sign
/// certificates. Of the device: not an authority, one serial in its subject, a valid Ed25519 key.
///
/// # Errors
/// [`ChainError`]; the root's fingerprint is compared before anything else is trusted.
pub fn verify_chain(
    chain: &[Vec<u8>],
    roots: &[Fingerprint],
    now: SystemTime,
) -> Result<VerifiedChain, ChainError> {
    let length = ChainError::Length { have: chain.len() };
    if chain.len() < 2 || chain.len() > MAX_CHAIN {
        return Err(length);
    }
    let root = Fingerprint::of(chain.last().ok_or(length)?);
    if !roots.contains(&root) {
        return Err(ChainError::UnknownRoot { root });
    }
    let certificates =
        chain.iter().enumerate().map(|(index, der)| parse(index, der)).collect::<Result<Vec<_>, _>>()?;
    for (index, certificate) in certificates.iter().enumerate() {
        check_usage(index, certificate)?;
        let issuer = certificates.get(index + 1).unwrap_or(certificate);
        if certificate.issuer().as_raw() != issuer.subject().as_raw()
            || certificate.verify_signature(Some(issuer.public_key())).is_err()
        {
            return Err(ChainError::Signature { index });
        }
    }
    let seconds = now.duration_since(UNIX_EPOCH).ok().and_then(|since| i64::try_from(since.as_secs()).ok());
    let time = seconds.and_then(|seconds| ASN1Time::from_timestamp(seconds).ok());
    for (index, certificate) in certificates.iter().enumerate() {
        if !time.is_some_and(|time| certificate.validity().is_valid_at(time)) {
            return Err(ChainError::Expired { index });
        }
    }
    let (serial, public_key) = certificates.first().map_or(Err(length), device)?;
    Ok(VerifiedChain { serial, public_key, root })
}

/// The certificates of a PEM text, in order, or nothing if it holds anything else or none.
pub(crate) fn certificates_of_pem(pem: &[u8]) -> Option<Vec<Vec<u8>>> {
    let certificates = Pem::iter_from_buffer(pem)
        .map(|block| block.ok().filter(|block| block.label == "CERTIFICATE").map(|block| block.contents))
        .collect::<Option<Vec<_>>>()?;
    (!certificates.is_empty()).then_some(certificates)
}

/// PEM text of certificates, in order.
pub(super) fn to_pem(chain: &[Vec<u8>]) -> Result<String, IdentityError> {
    chain
        .iter()
        .map(|der| pem::encode_string("CERTIFICATE", LineEnding::LF, der))
        .collect::<Result<_, _>>()
        .map_err(|_| IdentityError::Certify { problem: "it has no PEM form", source: None })
}
