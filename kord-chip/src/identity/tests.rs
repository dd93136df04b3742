#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use core::time::Duration;
use std::fs;
use std::time::SystemTime;

use super::*;

fn root() -> DevelopmentCa {
    DevelopmentCa::generate(Validity::ROOT).unwrap()
}

fn verify(chain: &[Vec<u8>], root: Fingerprint) -> Result<VerifiedChain, ChainError> {
    verify_chain(chain, &[root], SystemTime::now())
}

fn issue(ca: &DevelopmentCa) -> DeviceIdentity {
    DeviceIdentity::issue(ca, &ProvisionOptions::default()).unwrap()
}

#[test]
fn provision_and_load() {
    let dir = tempfile::tempdir().unwrap();
    let state = dir.path().join("party-0");
    let options = ProvisionOptions { serial: Some("card-7".parse().unwrap()), ..Default::default() };
    let made = DeviceIdentity::provision(&state, None, &options).unwrap();
    let loaded = DeviceIdentity::load(&state).unwrap();
    assert_eq!(loaded.serial().as_str(), "card-7");
    assert_eq!(loaded.public_key(), made.public_key());
    assert_eq!(loaded.chain(), made.chain());
    let expected =
        VerifiedChain { serial: made.serial().clone(), public_key: made.public_key(), root: made.root() };
    assert_eq!(verify(loaded.chain(), loaded.root()), Ok(expected));
    StorageKey::load(&state).unwrap();
    // The root that it made certifies a second device.
    let root = DevelopmentCa::load(&state.join("development-root")).unwrap();
    assert_eq!(root.root(), made.root());
    let other =
        DeviceIdentity::provision(&dir.path().join("party-1"), Some(&root), &ProvisionOptions::default());
    let other = other.unwrap();
    assert!(!dir.path().join("party-1/development-root").exists());
    assert!(verify(other.chain(), made.root()).is_ok());
    assert_ne!(other.serial(), made.serial());
    assert_ne!(other.public_key(), made.public_key());
    // A provisioning that broke off before its key was written is taken up again.
    fs::remove_file(state.join("device.key")).unwrap();
    fs::remove_file(state.join("development-root/ca.key")).unwrap();
    let made = DeviceIdentity::provision(&state, None, &options).unwrap();
    assert_eq!(DeviceIdentity::load(&state).unwrap().public_key(), made.public_key());
    // Nothing that is complete is overwritten.
    assert!(root.save(&state.join("development-root")).is_err());
    assert!(matches!(
        DeviceIdentity::provision(&state, None, &options),
        Err(IdentityError::AlreadyProvisioned { .. })
    ));
}

#[cfg(unix)]
#[test]
fn files_are_private_and_open_ones_are_refused() {
    use std::os::unix::fs::PermissionsExt;
    let dir = tempfile::tempdir().unwrap();
    let state = dir.path().join("state");
    DeviceIdentity::provision(&state, None, &ProvisionOptions::default()).unwrap();
    let mode = |name: &str| fs::metadata(state.join(name)).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(""), 0o700);
    for secret in ["device.key", "storage.key", "development-root/ca.key"] {
        assert_eq!(mode(secret), 0o600, "{secret}");
    }
    for secret in ["device.key", "storage.key"] {
        fs::set_permissions(state.join(secret), fs::Permissions::from_mode(0o640)).unwrap();
    }
    let errors = [
        DeviceIdentity::load(&state).map(|_| ()).unwrap_err(),
        StorageKey::load(&state).map(|_| ()).unwrap_err(),
    ];
    for (error, name) in errors.iter().zip(["device.key", "storage.key"]) {
        assert!(matches!(error, IdentityError::Permissions { mode: 0o640, .. }));
        let text = error.to_string();
        assert!(text.contains(name) && text.contains("chmod 600") && text.contains("640"), "{text}");
    }
}

#[test]
fn load_errors_name_the_file() {
    let dir = tempfile::tempdir().unwrap();
    let state = dir.path();
    let error = |name: &str| {
        let error = DeviceIdentity::load(state).map(|_| ()).unwrap_err();
        assert!(error.to_string().contains(name), "{error}");
        error
    };
    assert!(matches!(error("device.key"), IdentityError::Missing { .. }));
    let identity = DeviceIdentity::provision(state, None, &ProvisionOptions::default()).unwrap();
    fs::write(state.join("device.pem"), "").unwrap();
    assert!(matches!(error("device.pem"), IdentityError::NotAChain { .. }));
    fs::remove_file(state.join("device.pem")).unwrap();
    assert!(matches!(error("device.pem"), IdentityError::Missing { .. }));
    // The root's own certificate is no device's.
    fs::write(state.join("device.pem"), chain::to_pem(&identity.chain()[1..]).unwrap()).unwrap();
    assert!(matches!(error("device.pem"), IdentityError::NotAChain { .. }));
    let other = issue(&root());
    fs::write(state.join("device.pem"), chain::to_pem(other.chain()).unwrap()).unwrap();
    assert!(matches!(error("device.pem"), IdentityError::KeyMismatch { .. }));
    fs::write(state.join("device.key"), "no key").unwrap();
    assert!(matches!(error("device.key"), IdentityError::NotAKey { .. }));
    fs::write(state.join("storage.key"), "0011").unwrap();
    assert!(matches!(StorageKey::load(state), Err(IdentityError::NotAKey { .. })));
}

#[test]
fn storage_key_seals_for_one_purpose() {
    let dir = tempfile::tempdir().unwrap();
    let key = StorageKey::create(dir.path()).unwrap();
    let sealed = key.seal(b"purpose", b"secret").unwrap();
    let loaded = StorageKey::load(dir.path()).unwrap();
    assert_eq!(loaded.open(b"purpose", &sealed).unwrap().as_slice(), b"secret");
    assert_ne!(key.seal(b"purpose", b"secret").unwrap(), sealed, "nonces are fresh");
    assert!(loaded.open(b"other", &sealed).is_none());
    for at in 0..sealed.len() {
        let mut wrong = sealed.clone();
        wrong[at] ^= 1;
        assert!(loaded.open(b"purpose", &wrong).is_none());
    }
    assert!(loaded.open(b"purpose", &sealed[..11]).is_none());
    assert!(StorageKey::create(dir.path()).is_err(), "no key is overwritten");
    let new = StorageKey::rotate(dir.path()).unwrap();
    assert!(new.open(b"purpose", &sealed).is_none());
    assert!(StorageKey::load(dir.path()).unwrap().open(b"purpose", &sealed).is_none());
}

#[test]
fn chains_with_intermediates() {
    let root = root();
    let one = root.intermediate(Validity::ROOT).unwrap();
    let two = one.intermediate(Validity::ROOT).unwrap();
    for (ca, length) in [(&root, 2), (&one, 3), (&two, 4)] {
        let identity = issue(ca);
        assert_eq!(identity.chain().len(), length);
        let verified = verify(identity.chain(), root.root()).unwrap();
        assert_eq!(verified.public_key, identity.public_key());
        assert_eq!(&verified.serial, identity.serial());
    }
    let three = two.intermediate(Validity::ROOT).unwrap();
    assert_eq!(verify(issue(&three).chain(), root.root()), Err(ChainError::Length { have: 5 }));
}

#[test]
fn wrong_chains() {
    let root = root();
    let ca = root.intermediate(Validity::ROOT).unwrap();
    let identity = issue(&ca);
    let good = identity.chain();
    let fingerprint = root.root();
    assert_eq!(verify(&good[..1], fingerprint), Err(ChainError::Length { have: 1 }));
    assert_eq!(verify(&[], fingerprint), Err(ChainError::Length { have: 0 }));
    assert_eq!(
        verify(good, Fingerprint::from_bytes([0; 32])),
        Err(ChainError::UnknownRoot { root: fingerprint })
    );
    // Ends at the intermediate, which is no allowed root.
    assert!(matches!(verify(&good[..2], fingerprint), Err(ChainError::UnknownRoot { .. })));
    // Allowed as a root, it does not sign itself.
    assert_eq!(verify(&good[..2], Fingerprint::of(&good[1])), Err(ChainError::Signature { index: 1 }));
    // The intermediate is left out.
    let skipped = [good[0].clone(), good[2].clone()];
    assert_eq!(verify(&skipped, fingerprint), Err(ChainError::Signature { index: 0 }));
    // Another root's device in front of this root.
    let stranger = issue(&self::root());
    let mixed = [stranger.chain()[0].clone(), good[2].clone()];
    assert_eq!(verify(&mixed, fingerprint), Err(ChainError::Signature { index: 0 }));
    // An authority is no device.
    assert!(matches!(verify(&good[1..], fingerprint), Err(ChainError::Usage { index: 0, .. })));
    // Everything signed, and the signature. (The parser takes another tag for the algorithm that
    // is repeated between the two; its value is compared.)
    let signed = chain::signed_bytes(&good[0]);
    let signature = good[0].len() - 64..good[0].len();
    assert!(signed.len() > 200);
    for at in (0..4).chain(signed).chain(signature) {
        let mut wrong = good.to_vec();
        wrong[0][at] ^= 1;
        assert!(verify(&wrong, fingerprint).is_err(), "byte {at} of {}", hex::encode(&good[0]));
    }
    let mut longer = good.to_vec();
    longer[0].push(0);
    assert_eq!(verify(&longer, fingerprint), Err(ChainError::Malformed { index: 0 }));
}

#[test]
fn certificates_are_used_as_they_allow() {
    use rcgen::{BasicConstraints, CustomExtension, DnType, IsCa, KeyUsagePurpose};

    let root = root();
    let validity = Validity::default();
    let key = || SigningKey::from_bytes(&crate::random::secret().unwrap());
    let problem = |chain: &[Vec<u8>]| match verify(chain, root.root()) {
        Err(ChainError::Usage { index, problem }) => (index, problem),
        other => panic!("{other:?}"),
    };
    // A device certifies another.
    let device = issue(&root);
    let posing = DevelopmentCa::from_parts(device.key.clone(), device.chain.clone());
    assert_eq!(problem(issue(&posing).chain()), (1, "not an authority, but it issued another"));
    // An authority without the right to sign certificates.
    let mut params = ca::ca_params("no signer", validity).unwrap();
    params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
    let ca_key = key();
    let chain = root.issue(&params, &ca_key).unwrap();
    // The certificate library refuses to sign with it, so another name signs in its place.
    let mut signer = ca::ca_params("no signer", validity).unwrap();
    signer.distinguished_name = params.distinguished_name.clone();
    let able = root.issue(&signer, &ca_key).unwrap();
    let mut below = issue(&DevelopmentCa::from_parts(ca_key, able)).chain().to_vec();
    below[1] = chain[0].clone();
    assert_eq!(problem(&below), (1, "its key may not sign certificates"));
    // A path length of 0 with an intermediate below.
    let mut params = ca::ca_params("short", validity).unwrap();
    params.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
    let ca_key = key();
    let short = DevelopmentCa::from_parts(ca_key.clone(), root.issue(&params, &ca_key).unwrap());
    assert!(verify(issue(&short).chain(), root.root()).is_ok());
    let below = issue(&short.intermediate(validity).unwrap());
    assert_eq!(problem(below.chain()), (2, "too many intermediates below it"));
    // A device without a serial, with two, or with an extension that is not understood.
    let device_params = |serials: usize| {
        let mut params = ca::params("device", validity).unwrap();
        for _ in 0..serials {
            params.distinguished_name.push(DnType::CustomDnType(vec![2, 5, 4, 5]), "a serial");
        }
        params
    };
    for serials in [0, 1] {
        let chain = root.issue(&device_params(serials), &key()).unwrap();
        assert_eq!(problem(&chain), (0, "no single device serial in its subject"), "{serials}");
    }
    let mut params = device_params(0);
    let mut extension = CustomExtension::from_oid_content(&[1, 3, 6, 1, 4, 1, 99999], vec![5, 0]);
    extension.set_criticality(true);
    params.custom_extensions.push(extension);
    assert_eq!(problem(&root.issue(&params, &key()).unwrap()), (0, "critical extension not understood"));
    let mut params = device_params(0);
    params.key_usages = vec![KeyUsagePurpose::KeyAgreement];
    assert_eq!(problem(&root.issue(&params, &key()).unwrap()), (0, "its key may not sign"));
}

#[test]
fn validity_is_checked_of_every_certificate() {
    let now = SystemTime::now();
    let day = Duration::from_secs(86_400);
    let root = root();
    let validity = Validity { from: Some(now), length: day };
    let identity = DeviceIdentity::issue(&root, &ProvisionOptions { serial: None, validity }).unwrap();
    let at = |time| verify_chain(identity.chain(), &[root.root()], time).map(|_| ());
    assert_eq!(at(now + day / 2), Ok(()));
    assert_eq!(at(now - day), Err(ChainError::Expired { index: 0 }));
    assert_eq!(at(now + 2 * day), Err(ChainError::Expired { index: 0 }));
    assert_eq!(at(SystemTime::UNIX_EPOCH - day), Err(ChainError::Expired { index: 0 }));
    // The root's validity ends before the device's.
    let short = DevelopmentCa::generate(validity).unwrap();
    let identity = issue(&short);
    assert_eq!(
        verify_chain(identity.chain(), &[short.root()], now + 2 * day),
        Err(ChainError::Expired { index: 1 })
    );
    let endless = Validity { from: None, length: Duration::MAX };
    assert!(matches!(DevelopmentCa::generate(endless), Err(IdentityError::Certify { .. })));
}

#[test]
fn serials() {
    for good in ["a", "card-7", "0.1", &"x".repeat(64)] {
        assert_eq!(good.parse::<DeviceSerial>().unwrap().as_str(), good);
    }
    for wrong in ["", "a b", "a/b", "ü", "a\n", &"x".repeat(65)] {
        assert_eq!(wrong.parse::<DeviceSerial>(), Err(NotASerial));
    }
    assert_ne!(DeviceSerial::random().unwrap(), DeviceSerial::random().unwrap());
}
