#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use core::time::Duration;
use std::sync::Mutex;
use std::time::SystemTime;

use proptest::prelude::*;

use super::*;
use crate::SoftwareVersion;
use crate::attest::{AttestError, Binding, SoftwareAttester, SoftwareVerifier};
use crate::identity::{
    ChainError, DevelopmentCa, DeviceIdentity, DeviceSerial, Fingerprint, ProvisionOptions, Validity,
};
use crate::measurement::Measurement;
use crate::policy::Policy;

const RUNS: Measurement = Measurement::from_bytes([7; 32]);

fn ca() -> DevelopmentCa {
    DevelopmentCa::generate(Validity::ROOT).unwrap()
}

fn device(ca: &DevelopmentCa) -> Arc<DeviceIdentity> {
    Arc::new(DeviceIdentity::issue(ca, &ProvisionOptions::default()).unwrap())
}

fn policy(ca: &DevelopmentCa) -> Policy {
    Policy::new(vec![ca.root()], vec![RUNS])
}

fn attester(device: &Arc<DeviceIdentity>) -> Arc<dyn Attester> {
    Arc::new(SoftwareAttester::new(device.clone(), RUNS, Tier::Mac))
}

fn config(attester: Arc<dyn Attester>, policy: Policy) -> PairingConfig {
    PairingConfig { attester, verifier: Arc::new(SoftwareVerifier::new(policy)) }
}

fn honest(ca: &DevelopmentCa) -> PairingConfig {
    config(attester(&device(ca)), policy(ca))
}

/// What came of both sides: party 0's result (none if it heard nothing) and party 1's.
type Outcome = (Option<Result<Pairing, PairingError>>, Option<Result<Pairing, PairingError>>);

fn pair_at(config_0: PairingConfig, config_1: PairingConfig, now: SystemTime) -> Outcome {
    let (initiator, m1) = Initiator::start(config_0).unwrap();
    let (responder, m2) = Responder::start(config_1, &m1).unwrap();
    let (confirm, m3) = match initiator.receive(&m2, now) {
        Ok(accepted) => accepted,
        Err(error) => return (Some(Err(error)), None),
    };
    let (result_1, m4) = match responder.receive(&m3, now) {
        Ok((pairing, m4)) => (Ok(pairing), Some(m4)),
        Err(PairingRefusal { error, reply }) => (Err(error), reply),
    };
    (m4.map(|m4| confirm.receive(&m4)), Some(result_1))
}

fn pair(config_0: PairingConfig, config_1: PairingConfig) -> Outcome {
    pair_at(config_0, config_1, SystemTime::now())
}

/// Party 0 refuses party 1, and with the roles swapped party 1 refuses the same peer, and party 0
/// hears the reason.
fn refused(bad: impl Fn() -> PairingConfig, good: impl Fn() -> PairingConfig, code: u8) -> PairingError {
    let (Some(Err(error)), None) = pair(good(), bad()) else { panic!("party 0 did not refuse") };
    let (Some(Err(told)), Some(Err(same))) = pair(bad(), good()) else { panic!("party 1 did not refuse") };
    assert_eq!(core::mem::discriminant(&error), core::mem::discriminant(&same));
    let PairingError::RefusedByPeer { reason } = told else { panic!("told {told}") };
    assert_eq!(reason.code(), code, "{reason}");
    error
}

#[test]
fn two_devices_pair() {
    let ca = ca();
    let (device_0, device_1) = (device(&ca), device(&ca));
    let (Some(Ok(a)), Some(Ok(b))) =
        pair(config(attester(&device_0), policy(&ca)), config(attester(&device_1), policy(&ca)))
    else {
        panic!("refused")
    };
    assert_eq!(a.id(), b.id());
    assert_eq!(a.secret(), b.secret());
    assert_eq!((a.party(), b.party()), (Party::P0, Party::P1));
    assert_eq!((a.tier(), b.tier()), (Tier::Mac, Tier::Mac));
    for (pairing, peer) in [(&a, &device_1), (&b, &device_0)] {
        assert_eq!(&pairing.peer().serial, peer.serial());
        assert_eq!(pairing.peer().public_key, peer.public_key());
        assert_eq!(pairing.peer().root, ca.root());
        assert_eq!(pairing.peer().measurement, RUNS);
        assert_eq!(pairing.peer().version, SoftwareVersion::CURRENT);
    }
    // Another run of the same devices gives another pairing.
    let (Some(Ok(c)), _) =
        pair(config(attester(&device_0), policy(&ca)), config(attester(&device_1), policy(&ca)))
    else {
        panic!("refused")
    };
    assert_ne!(a.id(), c.id());
    assert_ne!(a.secret(), c.secret());
}

/// Made with Python's `cryptography` 48.0.
#[test]
fn derivation_known_answer() {
    let (id, secret) = noise::derive(&[0x0a; 32], &[1; 32], &[2; 32]);
    assert_eq!(hex::encode(id), "b9b07dd4e7718454476f04edeb935022");
    assert_eq!(
        hex::encode(secret.as_slice()),
        "de789cf5cf431fd18d869e9e383da58f5c6c6d19e4aedc51c72fd7dbf482cdca"
    );
}

#[test]
fn intermediates_are_followed() {
    let root = ca();
    let intermediate = root.intermediate(Validity::ROOT).unwrap();
    let config_0 = config(attester(&device(&intermediate)), policy(&root));
    assert!(matches!(pair(config_0, honest(&root)), (Some(Ok(_)), Some(Ok(_)))));
}

#[test]
fn wrong_chain_is_refused() {
    let (ours, theirs) = (ca(), ca());
    let error = refused(|| config(attester(&device(&theirs)), policy(&ours)), || honest(&ours), 1);
    let root = theirs.root();
    assert_eq!(error, PairingError::WrongChain(ChainError::UnknownRoot { root }));
}

#[test]
fn expired_is_refused() {
    let ca = ca();
    let now = SystemTime::now();
    let past = Validity { from: Some(now - Duration::from_secs(7200)), length: Duration::from_secs(3600) };
    let options = ProvisionOptions { serial: None, validity: past };
    let old = Arc::new(DeviceIdentity::issue(&ca, &options).unwrap());
    let error = refused(|| config(attester(&old), policy(&ca)), || honest(&ca), 2);
    assert_eq!(error, PairingError::Expired { index: 0 });
    // By a clock of that time it was good.
    let then = now - Duration::from_secs(5400);
    let good = DeviceIdentity::issue(&ca, &options).unwrap();
    let (old, good) = (config(attester(&old), policy(&ca)), config(attester(&Arc::new(good)), policy(&ca)));
    // The root was made an hour before now at the earliest.
    assert!(matches!(pair_at(old, good, then), (Some(Err(PairingError::Expired { index: 1 })), None)));
}

#[test]
fn revoked_is_refused() {
    let ca = ca();
    let stolen = device(&ca);
    let mut policy = policy(&ca);
    policy.revoked.push(stolen.serial().clone());
    let error = refused(
        || config(attester(&stolen), self::policy(&ca)),
        || config(attester(&device(&ca)), policy.clone()),
        3,
    );
    assert_eq!(error, PairingError::Revoked { serial: stolen.serial().clone() });
}

#[test]
fn measurement_is_refused() {
    let ca = ca();
    let found = Measurement::from_bytes([8; 32]);
    let bad = || config(Arc::new(SoftwareAttester::new(device(&ca), found, Tier::Mac)), policy(&ca));
    assert_eq!(refused(bad, || honest(&ca), 4), PairingError::Measurement { found });
}

/// Delegates to an attester, but changes the binding or the evidence.
struct Tampering<F> {
    inner: Arc<dyn Attester>,
    with: F,
}

impl<F> Attester for Tampering<F>
where
    F: Fn(&dyn Attester, &Binding) -> Result<Vec<u8>, AttestError> + Send + Sync,
{
    fn attest(&self, binding: &Binding) -> Result<Vec<u8>, AttestError> {
        (self.with)(&*self.inner, binding)
    }
    fn serial(&self) -> &DeviceSerial {
        self.inner.serial()
    }
    fn public_key(&self) -> [u8; 32] {
        self.inner.public_key()
    }
    fn lowest_tier(&self) -> Tier {
        self.inner.lowest_tier()
    }
}

fn tampering<F>(ca: &DevelopmentCa, with: F) -> PairingConfig
where
    F: Fn(&dyn Attester, &Binding) -> Result<Vec<u8>, AttestError> + Send + Sync + 'static,
{
    config(Arc::new(Tampering { inner: attester(&device(ca)), with }), policy(ca))
}

#[test]
fn stale_evidence_is_refused() {
    let ca = ca();
    // Replayed: the evidence of its first handshake, for ever.
    let bad = || {
        let first = Mutex::new(None);
        let config = tampering(&ca, move |inner, binding| {
            let mut first = first.lock().unwrap();
            if let Some(evidence) = &*first {
                return Ok(Vec::clone(evidence));
            }
            let evidence = inner.attest(binding)?;
            *first = Some(evidence.clone());
            Ok(evidence)
        });
        // Once as either party, so that the recording has the right party number.
        for party in Party::BOTH {
            let binding = Binding { party, handshake_hash: [0; 32], noise_static: [0; 32] };
            config.attester.attest(&binding).unwrap();
        }
        config
    };
    assert_eq!(refused(bad, || honest(&ca), 5), PairingError::Stale);
    // Relayed: made for this handshake, but for another channel's static key.
    let bad =
        || tampering(&ca, |inner, binding| inner.attest(&Binding { noise_static: [9; 32], ..*binding }));
    assert_eq!(refused(bad, || honest(&ca), 5), PairingError::Stale);
}

/// Attests as one device and compares its peer with another: a party 0 that skips the check.
struct Posing {
    inner: Arc<dyn Attester>,
    own: Arc<DeviceIdentity>,
}

impl Attester for Posing {
    fn attest(&self, binding: &Binding) -> Result<Vec<u8>, AttestError> {
        self.inner.attest(binding)
    }
    fn serial(&self) -> &DeviceSerial {
        self.own.serial()
    }
    fn public_key(&self) -> [u8; 32] {
        self.own.public_key()
    }
    fn lowest_tier(&self) -> Tier {
        self.inner.lowest_tier()
    }
}

#[test]
fn same_device_is_refused() {
    let ca = ca();
    let one = device(&ca);
    // The same key under another serial, and another key under the same serial.
    let renamed = Arc::new(one.renamed(&ca));
    assert_ne!(one.serial(), renamed.serial());
    let options = ProvisionOptions { serial: Some(one.serial().clone()), ..Default::default() };
    let twin = Arc::new(DeviceIdentity::issue(&ca, &options).unwrap());
    assert_ne!(one.public_key(), twin.public_key());
    for peer in [&one, &renamed, &twin] {
        let honest = || config(attester(peer), policy(&ca));
        let posing = || config(Arc::new(Posing { inner: attester(&one), own: device(&ca) }), policy(&ca));
        assert_eq!(refused(posing, honest, 6), PairingError::SameDevice);
        let (Some(Err(error)), None) = pair(honest(), config(attester(&one), policy(&ca))) else {
            panic!("party 0 did not refuse")
        };
        assert_eq!(error, PairingError::SameDevice);
    }
}

#[test]
fn same_party_is_refused() {
    let ca = ca();
    // Two hosts that both initiate.
    let (initiator, _) = Initiator::start(honest(&ca)).unwrap();
    let (_, m1) = Initiator::start(honest(&ca)).unwrap();
    let Err(error) = initiator.receive(&m1, SystemTime::now()) else { panic!("accepted") };
    assert_eq!(error, PairingError::SameParty { party: Party::P0 });
    // Evidence that claims the verifier's own party.
    let bad = || {
        tampering(&ca, |inner, binding| inner.attest(&Binding { party: binding.party.peer(), ..*binding }))
    };
    assert!(matches!(refused(bad, || honest(&ca), 7), PairingError::SameParty { .. }));
}

#[test]
fn old_versions_are_refused() {
    let ca = ca();
    let mut demanding = policy(&ca);
    demanding.least_version = SoftwareVersion { major: u16::MAX, minor: 0, patch: 0 };
    let least = demanding.least_version;
    let error = refused(|| honest(&ca), || config(attester(&device(&ca)), demanding.clone()), 8);
    assert_eq!(error, PairingError::Version { peer: SoftwareVersion::CURRENT, least });
    // Another protocol, by the message's first byte.
    let (_, mut m1) = Initiator::start(honest(&ca)).unwrap();
    m1[0] = 2;
    let Err(error) = Responder::start(honest(&ca), &m1) else { panic!("accepted") };
    assert_eq!(error, PairingError::Protocol { this: 1, peer: 2 });
}

#[test]
fn low_tiers_are_refused_and_agreed_ones_are_the_higher() {
    let ca = ca();
    let plain = |policy| {
        let attester = Arc::new(SoftwareAttester::new(device(&ca), RUNS, Tier::Plain));
        config(attester, policy)
    };
    let error = refused(|| plain(policy(&ca)), || honest(&ca), 9);
    assert_eq!(error, PairingError::Tier { peer: Tier::Plain, lowest: Tier::Mac });
    let mut lenient = policy(&ca);
    lenient.lowest_tier = Tier::Plain;
    for (other, tier) in
        [(plain(lenient.clone()), Tier::Plain), (config(attester(&device(&ca)), lenient.clone()), Tier::Mac)]
    {
        let (Some(Ok(a)), Some(Ok(b))) = pair(plain(lenient.clone()), other) else { panic!("refused") };
        assert_eq!((a.tier(), b.tier()), (tier, tier));
    }
}

#[test]
fn malformed_and_forged_evidence_is_refused() {
    let ca = ca();
    for (what, evidence) in [("empty", vec![]), ("garbage", vec![0x55; 900])] {
        let bad = || {
            let evidence = evidence.clone();
            tampering(&ca, move |_, _| Ok(evidence.clone()))
        };
        let error = refused(bad, || honest(&ca), 10);
        assert!(matches!(error, PairingError::Malformed { .. }), "{what}: {error}");
    }
    // A byte more, or an altered statement: byte 0 is its length, 1..22 its domain string.
    let longer = || {
        tampering(&ca, |inner, binding| {
            let mut evidence = inner.attest(binding)?;
            evidence.push(0);
            Ok(evidence)
        })
    };
    assert_eq!(refused(longer, || honest(&ca), 10), PairingError::Malformed { what: "evidence" });
    let altered = |at: usize| {
        let ca = &ca;
        move || {
            tampering(ca, move |inner, binding| {
                let mut evidence = inner.attest(binding)?;
                evidence[at] ^= 1;
                Ok(evidence)
            })
        }
    };
    assert_eq!(refused(altered(1), || honest(&ca), 10), PairingError::Malformed { what: "statement" });
    // Measurement, hash, static key, signature: all end at the signature.
    for at in [31, 62, 63, 95, 126, 130, 190] {
        assert_eq!(refused(altered(at), || honest(&ca), 11), PairingError::Signature, "byte {at}");
    }
}

#[test]
fn a_failing_attester_is_reported() {
    let ca = ca();
    let broken = AttestError { problem: "no quote" };
    let failing = || tampering(&ca, move |_, _| Err(broken));
    let (_, m1) = Initiator::start(honest(&ca)).unwrap();
    let Err(error) = Responder::start(failing(), &m1) else { panic!("accepted") };
    assert_eq!(error, PairingError::Attest(broken));
}

#[test]
fn every_flipped_byte_is_refused() {
    let ca = ca();
    let (config_0, config_1) = (honest(&ca), honest(&ca));
    let now = SystemTime::now();
    let start = || {
        let (initiator, m1) = Initiator::start(config_0.clone()).unwrap();
        let (responder, m2) = Responder::start(config_1.clone(), &m1).unwrap();
        (initiator, responder, m1, m2)
    };
    let (initiator, responder, m1, m2) = start();
    let (_, m3) = initiator.receive(&m2, now).unwrap();
    let m4 = responder.receive(&m3, now).unwrap().1;
    // Every byte of the short messages, a sample of the long ones.
    for at in 0..m1.len() {
        let (initiator, mut wrong) = Initiator::start(config_0.clone()).unwrap();
        wrong[at] ^= 1;
        if let Ok((_, m2)) = Responder::start(config_1.clone(), &wrong) {
            assert!(initiator.receive(&m2, now).is_err(), "message 1, byte {at}");
        }
    }
    for at in (0..m2.len()).step_by(37).chain([0, 1, m2.len() - 1]) {
        let (initiator, _, _, mut wrong) = start();
        wrong[at] ^= 1;
        assert!(initiator.receive(&wrong, now).is_err(), "message 2, byte {at}");
    }
    for at in (0..m3.len()).step_by(37).chain([0, 1, m3.len() - 1]) {
        let (initiator, responder, _, m2) = start();
        let (_, mut wrong) = initiator.receive(&m2, now).unwrap();
        wrong[at] ^= 1;
        let Err(refusal) = responder.receive(&wrong, now) else { panic!("message 3, byte {at}") };
        assert!(refusal.reply.is_none(), "nothing is said on a broken channel");
    }
    for at in 0..m4.len() {
        let (initiator, responder, _, m2) = start();
        let (confirm, m3) = initiator.receive(&m2, now).unwrap();
        let mut wrong = responder.receive(&m3, now).unwrap().1;
        wrong[at] ^= 1;
        assert!(confirm.receive(&wrong).is_err(), "message 4, byte {at}");
    }
}

#[test]
fn messages_of_another_step_are_refused() {
    let ca = ca();
    let now = SystemTime::now();
    let (initiator, m1) = Initiator::start(honest(&ca)).unwrap();
    let (responder, m2) = Responder::start(honest(&ca), &m1).unwrap();
    assert!(matches!(Responder::start(honest(&ca), &m2).map(|_| ()), Err(PairingError::Malformed { .. })));
    assert!(matches!(responder.receive(&m1, now).unwrap_err().error, PairingError::Malformed { .. }));
    // Message 2 of another handshake.
    let (_, other_m1) = Initiator::start(honest(&ca)).unwrap();
    let (_, other_m2) = Responder::start(honest(&ca), &other_m1).unwrap();
    assert!(matches!(initiator.receive(&other_m2, now).map(|_| ()), Err(PairingError::Handshake)));
    for short in [&[][..], &[1], &[1, 1]] {
        assert!(Responder::start(honest(&ca), short).is_err());
    }
}

#[test]
fn reasons_are_codes_and_text() {
    assert_eq!(RefusalReason::from_code(0).code(), 255);
    assert_eq!(RefusalReason::from_code(12).code(), 255);
    assert_eq!(RefusalReason::from_code(3).to_string(), "it is revoked");
    assert_eq!(RefusalReason::of(&PairingError::Handshake).code(), 255);
    assert_ne!(Fingerprint::of(b"a"), Fingerprint::of(b"b"));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]
    #[test]
    fn random_evidence_never_panics(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        let ca = ca();
        let binding = Binding { party: Party::P1, handshake_hash: [0; 32], noise_static: [0; 32] };
        let verifier = SoftwareVerifier::new(policy(&ca));
        prop_assert!(verifier.verify(&bytes, &binding, SystemTime::now()).is_err());
        prop_assert!(Responder::start(honest(&ca), &bytes).is_err());
    }
}
