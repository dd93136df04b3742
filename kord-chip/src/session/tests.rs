#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use proptest::prelude::*;

use super::*;
use crate::store::{CounterStore, MemoryStore, StoreError};
use crate::{Mark, SessionStart};

const SECRET: [u8; 32] = [0x42; 32];
const ID: [u8; 16] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15];

const fn mark(session: u32, counter: u64) -> Mark {
    Mark { session, counter }
}

const fn config(marks: Marks) -> SessionConfig<'static> {
    SessionConfig { pairing_id: ID, secret: &SECRET, lowest_tier: Tier::Mac, tier: Tier::Mac, marks }
}

/// Both sides with these marks, up to message 2.
fn until_2(marks: [Marks; 2]) -> (Initiator, Responder, Vec<u8>) {
    let (initiator, m1) = Initiator::start(&config(marks[0])).unwrap();
    let (responder, m2) = Responder::start(&config(marks[1]), &m1).unwrap();
    (initiator, responder, m2)
}

fn establish(stores: &mut [MemoryStore; 2]) -> [Established; 2] {
    let (initiator, responder, m2) = until_2([stores[0].marks(), stores[1].marks()]);
    let mut party_0 = initiator.receive(&m2).unwrap().store(&mut stores[0]).unwrap();
    let party_1 = responder.receive(&party_0.reply.take().unwrap()).unwrap().store(&mut stores[1]).unwrap();
    [party_0, party_1]
}

fn error<T>(result: Result<T, impl Into<SessionRefusal>>) -> SessionError {
    match result {
        Ok(_) => panic!("accepted"),
        Err(refusal) => refusal.into().error,
    }
}

/// Every byte, made with Python's `cryptography` 48.0 (X25519, HKDF) and `hmac`.
#[test]
fn known_answers() {
    let marks_0 = Marks { own: mark(3, 1000), peer: mark(4, 1200) };
    let marks_1 = Marks { own: mark(4, 1500), peer: mark(3, 1000) };
    let fresh = |key, nonce| Fresh::fixed(&[key; 32], [nonce; 32]);
    let (initiator, m1) = Initiator::with_fresh(&config(marks_0), fresh(0x11, 0xa0)).unwrap();
    let hello = |number: &str, nonce: &str, key: &str, marks: &str| {
        let id = "000102030405060708090a0b0c0d0e0f";
        format!("01{number}{id}{}{key}{marks}", nonce.repeat(32))
    };
    let key_0 = "7b4e909bbe7ffe44c465a220037d608ee35897d31ef972f07f74892cb0f73f13";
    let key_1 = "0faa684ed28867b97f4a6a2dee5df8ce974e76b7018e3f22a1c4cf2678570f20";
    assert_eq!(
        hex::encode(&m1),
        hello("010100", "a0", key_0, "03000000e80300000000000004000000b004000000000000")
    );
    let (responder, m2) = Responder::with_fresh(&config(marks_1), &m1, fresh(0x22, 0xb1)).unwrap();
    let (hello_1, mac) = m2.split_at(108);
    assert_eq!(
        hex::encode(hello_1),
        hello("020101", "b1", key_1, "04000000dc0500000000000003000000e803000000000000")
    );
    assert_eq!(hex::encode(mac), "9f53ae971022eb9ee23ba7ef0896b15d5953ac676606c67ea9cedb22c372f931");
    let party_0 = initiator.receive(&m2).unwrap();
    let m3 = party_0.reply.as_ref().unwrap();
    assert_eq!(hex::encode(m3), "01030000867af3b4307b84303204d6ab2a96d73db17fd4dfa06913a7d18e0919b2d42f85");
    let party_1 = responder.receive(m3).unwrap();
    for (verified, to, from) in [(&party_0, 0, 1), (&party_1, 1, 0)] {
        let link = ["24203f1708527da6cfdd6dc4f6aedd23", "53a1b36d26849063ebd5489429fb6b25"];
        assert_eq!(hex::encode(verified.keys.to_peer()), link[to]);
        assert_eq!(hex::encode(verified.keys.from_peer()), link[from]);
        assert_eq!(hex::encode(verified.keys.roots()), "14ae5c65cff95b50a276c5ecc84c6b90");
        assert_eq!(verified.keys.session(), 5);
    }
    // Party 0 expects of party 1 what it presented; party 1 knows that party 0 has stored.
    assert_eq!(party_0.start(), &SessionStart { own: mark(5, 1500), peer: mark(4, 1500) });
    assert_eq!(party_1.start(), &SessionStart { own: mark(5, 1500), peer: mark(5, 1500) });
}

#[test]
fn sessions_follow_each_other_with_unrelated_keys() {
    let mut stores = [MemoryStore::new(), MemoryStore::new()];
    let mut seen = Vec::new();
    for session in 1..=3 {
        let [a, b] = establish(&mut stores);
        assert_eq!(a.keys.session(), session);
        assert_eq!(b.keys.session(), session);
        assert_eq!(a.first_counter, b.first_counter);
        assert_eq!(a.keys.to_peer(), b.keys.from_peer());
        assert_eq!(a.keys.from_peer(), b.keys.to_peer());
        assert_eq!(a.keys.roots(), b.keys.roots());
        assert!(b.reply.is_none());
        seen.extend([*a.keys.to_peer(), *a.keys.from_peer(), *a.keys.roots()]);
        // One side draws more than the other; the next session starts above both.
        stores[session as usize % 2].reserve(100).unwrap();
    }
    assert_eq!(stores[0].marks().own.counter.max(stores[1].marks().own.counter), 300);
    seen.sort_unstable();
    seen.dedup();
    assert_eq!(seen.len(), 9, "no key occurs twice");
}

#[test]
fn keys_seal_and_open() {
    use crate::frame::FrameKind;
    for tier in [Tier::Mac, Tier::Plain] {
        let config = SessionConfig { tier, lowest_tier: Tier::Plain, ..config(Marks::default()) };
        let (initiator, m1) = Initiator::start(&config).unwrap();
        let (responder, m2) = Responder::start(&config, &m1).unwrap();
        let Verified { keys: keys_0, reply, .. } = initiator.receive(&m2).unwrap();
        let keys_1 = responder.receive(&reply.unwrap()).unwrap().keys;
        assert_eq!(keys_0.tier(), tier);
        let mut frame = Vec::new();
        keys_0.sealer().seal(FrameKind::Keys, 0, 1, &[[9; 64]], b"share", &mut frame).unwrap();
        let received = keys_1.opener().receive(&frame).unwrap();
        assert_eq!(keys_1.opener().open(received, &[[9; 64]]).unwrap()[..], *b"share");
    }
}

/// A restored store that replays the peer's recorded message 2 to a fresh message 1.
#[test]
fn replayed_message_2_fails() {
    let (_, _, recorded) = until_2([Marks::default(); 2]);
    let (initiator, _) = Initiator::start(&config(Marks::default())).unwrap();
    assert_eq!(error(initiator.receive(&recorded)), SessionError::AuthFailed);
}

#[test]
fn replayed_message_3_fails() {
    let (initiator, _, m2) = until_2([Marks::default(); 2]);
    let recorded = initiator.receive(&m2).unwrap().reply.unwrap();
    let (_, responder, _) = until_2([Marks::default(); 2]);
    assert_eq!(error(responder.receive(&recorded)), SessionError::AuthFailed);
}

#[test]
fn other_secret_fails_and_other_pairing_is_named() {
    let other_secret = SessionConfig { secret: &[1; 32], ..config(Marks::default()) };
    let (initiator, m1) = Initiator::start(&other_secret).unwrap();
    let (_, m2) = Responder::start(&config(Marks::default()), &m1).unwrap();
    assert_eq!(error(initiator.receive(&m2)), SessionError::AuthFailed);
    let other = SessionConfig { pairing_id: [9; 16], ..config(Marks::default()) };
    assert_eq!(error(Responder::start(&other, &m1)), SessionError::OtherPairing);
}

#[test]
fn tiers_must_be_equal_and_paired() {
    let plain = SessionConfig { tier: Tier::Plain, lowest_tier: Tier::Plain, ..config(Marks::default()) };
    let (_, m1) = Initiator::start(&config(Marks::default())).unwrap();
    assert_eq!(
        error(Responder::start(&plain, &m1)),
        SessionError::Tier { this: Tier::Plain, peer: Tier::Mac }
    );
    let below = SessionConfig { tier: Tier::Plain, ..config(Marks::default()) };
    let expected = SessionError::TierNotPaired { asked: Tier::Plain, lowest: Tier::Mac };
    assert_eq!(error(Initiator::start(&below)), expected);
    assert_eq!(error(Responder::start(&below, &m1)), expected);
}

#[test]
fn every_flipped_byte_is_refused() {
    let (_, m1) = Initiator::start(&config(Marks::default())).unwrap();
    for at in 0..m1.len() {
        let (initiator, mut wrong) = Initiator::start(&config(Marks::default())).unwrap();
        wrong[at] ^= 1;
        // Party 1 cannot tell yet; then its answer must not satisfy party 0.
        if let Ok((_, m2)) = Responder::start(&config(Marks::default()), &wrong) {
            assert_eq!(error(initiator.receive(&m2)), SessionError::AuthFailed, "message 1, byte {at}");
        } else {
            assert!(at < 20, "message 1, byte {at}");
        }
    }
    let (_, _, m2) = until_2([Marks::default(); 2]);
    for at in 0..m2.len() {
        let (initiator, _, mut wrong) = until_2([Marks::default(); 2]);
        wrong[at] ^= 1;
        let error = error(initiator.receive(&wrong));
        assert!(at < 20 || error == SessionError::AuthFailed, "message 2, byte {at}: {error}");
    }
    for at in 0..36 {
        let (initiator, responder, m2) = until_2([Marks::default(); 2]);
        let mut wrong = initiator.receive(&m2).unwrap().reply.unwrap();
        wrong[at] ^= 1;
        let error = error(responder.receive(&wrong));
        assert!(at < 4 || error == SessionError::AuthFailed, "message 3, byte {at}: {error}");
    }
    // A verdict that is valid but was not meant.
    let (initiator, responder, m2) = until_2([Marks::default(); 2]);
    let mut wrong = initiator.receive(&m2).unwrap().reply.unwrap();
    wrong[2] = 1;
    assert_eq!(error(responder.receive(&wrong)), SessionError::AuthFailed);
}

#[test]
fn wrong_lengths_versions_and_reflections_are_named() {
    let (initiator, m1) = Initiator::start(&config(Marks::default())).unwrap();
    for len in (0..m1.len()).chain([m1.len() + 1]) {
        let mut message = m1.clone();
        message.resize(len, 0);
        assert!(matches!(
            error(Responder::start(&config(Marks::default()), &message)),
            SessionError::Malformed { .. }
        ));
    }
    let mut newer = m1.clone();
    newer[0] = 2;
    assert_eq!(
        error(Responder::start(&config(Marks::default()), &newer)),
        SessionError::Version { this: 1, peer: 2 }
    );
    let mut reflected = m1;
    reflected.extend([0; 32]);
    assert!(matches!(error(initiator.receive(&reflected)), SessionError::Malformed { .. }));
    let (_, responder, _) = until_2([Marks::default(); 2]);
    assert!(matches!(error(responder.receive(&[1; 35])), SessionError::Malformed { .. }));
}

#[test]
fn low_order_ephemerals_are_refused() {
    let (_, mut m1) = Initiator::start(&config(Marks::default())).unwrap();
    m1[52..84].fill(0);
    assert_eq!(
        error(Responder::start(&config(Marks::default()), &m1)),
        SessionError::Malformed { what: "ephemeral key of low order" }
    );
    let (initiator, _, mut m2) = until_2([Marks::default(); 2]);
    m2[52..84].fill(0);
    m2[52] = 1;
    assert!(matches!(error(initiator.receive(&m2)), SessionError::Malformed { .. }));
}

#[test]
fn a_rolled_back_side_fails_closed_on_both_sides() {
    let up_to_date = Marks { own: mark(9, 900), peer: mark(9, 900) };
    for (old, by) in [(mark(8, 900), "session"), (mark(9, 899), "counter")] {
        let rolled_back = Marks { own: old, ..up_to_date };
        for (marks, sides) in [
            ([rolled_back, up_to_date], [Side::This, Side::Peer]),
            ([up_to_date, rolled_back], [Side::Peer, Side::This]),
        ] {
            let (initiator, responder, m2) = until_2(marks);
            let Err(refusal) = initiator.receive(&m2) else { panic!("accepted") };
            assert_eq!(refusal.error, SessionError::RolledBack { side: sides[0] }, "{by}");
            let told = error(responder.receive(&refusal.reply.unwrap()));
            assert_eq!(told, SessionError::RolledBack { side: sides[1] }, "{by}");
            assert!(told.to_string().contains("pair anew"));
        }
    }
}

/// Party 0 stored, message 3 was lost: the next handshake goes through.
#[test]
fn a_lost_message_3_costs_one_session_number() {
    let mut stores = [MemoryStore::new(), MemoryStore::new()];
    let (initiator, _, m2) = until_2([stores[0].marks(), stores[1].marks()]);
    initiator.receive(&m2).unwrap().store(&mut stores[0]).unwrap();
    assert_eq!(stores[1].marks(), Marks::default());
    let [a, b] = establish(&mut stores);
    assert_eq!([a.keys.session(), b.keys.session()], [2, 2]);
}

#[test]
fn session_numbers_run_out() {
    let last = Marks { own: mark(u32::MAX - 1, 0), peer: Mark::default() };
    let (initiator, responder, m2) = until_2([last, Marks::default()]);
    let verified = initiator.receive(&m2).unwrap();
    assert_eq!(verified.start().own.session, u32::MAX);
    assert!(responder.receive(verified.reply.as_ref().unwrap()).is_ok());
    let done = Marks { own: mark(u32::MAX, 0), peer: Mark::default() };
    let (_, m1) = Initiator::start(&config(done)).unwrap();
    assert_eq!(error(Responder::start(&config(Marks::default()), &m1)), SessionError::SessionsExhausted);
}

/// A store that moved on meanwhile (two handshakes at once) refuses the older session.
#[test]
fn the_store_refuses_an_older_session() {
    let mut stores = [MemoryStore::new(), MemoryStore::new()];
    let (initiator, _, m2) = until_2([Marks::default(); 2]);
    let older = initiator.receive(&m2).unwrap();
    establish(&mut stores);
    assert!(matches!(older.store(&mut stores[0]), Err(StoreError::SessionNotNewer { session: 1, last: 1 })));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn random_messages_never_panic(mut bytes in proptest::collection::vec(any::<u8>(), 0..200), number in 0u8..4) {
        if let [version, kind, ..] = bytes.as_mut_slice() {
            (*version, *kind) = (1, number);
        }
        let (initiator, responder, _) = until_2([Marks::default(); 2]);
        prop_assert!(initiator.receive(&bytes).is_err());
        prop_assert!(responder.receive(&bytes).is_err());
        let _ = Responder::start(&config(Marks::default()), &bytes);
    }
}
