#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::path::Path;

use kord_core::Party;
use proptest::prelude::*;
use tempfile::TempDir;
use zeroize::Zeroizing;

use super::*;
use crate::attest::PeerIdentity;
use crate::identity::{Fingerprint, StorageKey};
use crate::measurement::Measurement;
use crate::pairing::Pairing;
use crate::{Lifecycle, SoftwareVersion, Tier};

const fn mark(session: u32, counter: u64) -> Mark {
    Mark { session, counter }
}

fn dir() -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    StorageKey::create(dir.path()).unwrap();
    dir
}

fn open(dir: &Path, range: u64) -> DiskStore {
    DiskStore::open_with_range(dir, StorageKey::load(dir).unwrap(), range).unwrap()
}

fn pairing(secret: u8) -> Pairing {
    let peer = PeerIdentity {
        serial: "peer-7".parse().unwrap(),
        public_key: [4; 32],
        root: Fingerprint::from_bytes([5; 32]),
        measurement: Measurement::from_bytes([6; 32]),
        version: SoftwareVersion::CURRENT,
        lowest_tier: Tier::Mac,
    };
    Pairing::new([7; 16], Zeroizing::new([secret; 32]), peer, Party::P1, Tier::Mac)
}

#[test]
fn reserved_counters_never_repeat_after_reopening() {
    let dir = dir();
    let mut end = 0;
    for _ in 0..4 {
        let mut store = open(dir.path(), 100);
        for count in [1, 7, 60, 250, 60] {
            let first = store.reserve(count).unwrap();
            assert!(first >= end, "{first} was given out before {end}");
            end = first + count;
        }
        assert_eq!(store.marks().own.counter, end);
    }
    // The last range of 100 was used to 60: the rest is skipped.
    assert_eq!(open(dir.path(), 100).marks().own.counter, end + 40);
}

/// What is in the file while the store is open is what a crash leaves behind.
#[test]
fn a_crash_skips_the_rest_of_the_range() {
    let (dir, crashed) = (dir(), tempfile::tempdir().unwrap());
    let mut store = open(dir.path(), 1000);
    assert_eq!(store.reserve(10).unwrap(), 0);
    assert_eq!(store.reserve_stream(42, 10).unwrap(), 0);
    for file in ["store.redb", "storage.key"] {
        std::fs::copy(dir.path().join(file), crashed.path().join(file)).unwrap();
    }
    assert_eq!(store.reserve(10).unwrap(), 10);
    let mut after = open(crashed.path(), 1000);
    assert_eq!(after.reserve(1).unwrap(), 1000);
    assert_eq!(after.reserve_stream(42, 1).unwrap(), 1000);
    assert_eq!(after.stream_position(43).unwrap(), 0);
}

#[test]
fn a_second_handle_is_refused() {
    let dir = dir();
    let first = open(dir.path(), 1);
    let key = StorageKey::load(dir.path()).unwrap();
    let Err(error) = DiskStore::open(dir.path(), key) else { panic!("opened twice") };
    assert!(matches!(&error, StoreError::StoreInUse { path } if path.ends_with("store.redb")));
    drop(first);
    open(dir.path(), 1);
}

#[test]
fn sessions_and_marks_are_durable() {
    let dir = dir();
    let mut store = open(dir.path(), 10);
    store.reserve(5).unwrap();
    let start = SessionStart { own: mark(3, 500), peer: mark(2, 400) };
    store.start_session(&start).unwrap();
    assert_eq!(store.marks(), Marks { own: start.own, peer: start.peer });
    assert_eq!(store.reserve(1).unwrap(), 500);
    // Neither a session nor a mark of the peer goes back.
    for session in [0, 2, 3] {
        let older = SessionStart { own: mark(session, 900), peer: mark(9, 900) };
        assert!(matches!(store.start_session(&older), Err(StoreError::SessionNotNewer { last: 3, .. })));
    }
    assert_eq!(store.marks(), Marks { own: mark(3, 501), peer: start.peer });
    store.saw_peer(mark(3, 450));
    store.saw_peer(mark(1, 420));
    drop(store);
    let marks = open(dir.path(), 10).marks();
    assert_eq!(marks, Marks { own: mark(3, 510), peer: mark(3, 450) });
}

/// A session that starts inside the reserved range keeps the sequence going, without a jump back.
#[test]
fn a_session_start_never_moves_counters_back() {
    let dir = dir();
    let mut store = open(dir.path(), 1000);
    store.reserve(50).unwrap();
    store.start_session(&SessionStart { own: mark(1, 20), peer: Mark::default() }).unwrap();
    assert_eq!(store.reserve(1).unwrap(), 50);
    store.start_session(&SessionStart { own: mark(2, 60), peer: Mark::default() }).unwrap();
    assert_eq!(store.reserve(1).unwrap(), 60);
    drop(store);
    assert_eq!(open(dir.path(), 1000).reserve(1).unwrap(), 1000);
}

fn sequence_rules(store: &mut dyn CounterStore) {
    assert_eq!(store.reserve(10).unwrap(), 0);
    assert!(matches!(store.reserve(0), Err(StoreError::Empty)));
    store.skip_to(5).unwrap();
    assert_eq!(store.reserve(1).unwrap(), 10);
    store.skip_to(1 << 40).unwrap();
    assert_eq!(store.reserve(1).unwrap(), 1 << 40);
    store.skip_to(u64::MAX - 2).unwrap();
    assert!(matches!(
        store.reserve(3),
        Err(StoreError::Exhausted { next, count: 3 }) if next == u64::MAX - 2
    ));
    assert_eq!(store.reserve(2).unwrap(), u64::MAX - 2);
    assert!(matches!(store.reserve(1), Err(StoreError::Exhausted { .. })));

    assert_eq!(store.reserve_stream(7, 4).unwrap(), 0);
    assert_eq!(store.reserve_stream(8, 4).unwrap(), 0);
    store.skip_stream_to(7, 2).unwrap();
    assert_eq!(store.stream_position(7).unwrap(), 4);
    store.skip_stream_to(7, 100).unwrap();
    assert_eq!(store.reserve_stream(7, 1).unwrap(), 100);
    assert!(matches!(store.reserve_stream(7, u64::MAX), Err(StoreError::Exhausted { .. })));
    assert!(matches!(store.reserve_stream(7, 0), Err(StoreError::Empty)));
    assert_eq!(store.stream_position(7).unwrap(), 101);
    assert_eq!(store.stream_position(8).unwrap(), 4);
}

#[test]
fn both_stores_keep_the_rules_of_a_sequence() {
    sequence_rules(&mut MemoryStore::new());
    for range in [0, 1, 5, DEFAULT_RANGE, u64::MAX] {
        sequence_rules(&mut open(dir().path(), range));
    }
}

#[test]
fn the_pairing_record_is_sealed_and_kept() {
    let dir = dir();
    let mut store = open(dir.path(), 1);
    assert!(store.pairing().unwrap().is_none());
    assert_eq!(store.lifecycle().unwrap(), Lifecycle::Provisioned);
    store.saw_peer(mark(5, 5));
    store.reserve(3).unwrap();
    store.reserve_stream(1, 3).unwrap();
    store.set_pairing(&pairing(0xaa)).unwrap();
    // A new peer and new streams; the sealed sequence goes on.
    assert_eq!(store.marks(), Marks { own: mark(0, 3), peer: Mark::default() });
    assert_eq!(store.stream_position(1).unwrap(), 0);
    drop(store);

    let store = open(dir.path(), 1);
    assert_eq!(store.lifecycle().unwrap(), Lifecycle::Paired);
    let (found, expected) = (store.pairing().unwrap().unwrap(), pairing(0xaa));
    assert_eq!(found.secret(), expected.secret());
    assert_eq!(found.id(), expected.id());
    assert_eq!(found.peer(), expected.peer());
    assert_eq!((found.party(), found.tier()), (Party::P1, Tier::Mac));
    assert!(!format!("{found:?}").contains("aaaa") && !format!("{found:?}").contains("170"));
    drop(store);
    let file = std::fs::read(dir.path().join("store.redb")).unwrap();
    assert!(!file.windows(16).any(|window| window == [0xaa; 16]), "the secret is in clear");
    let Ok(other) = DiskStore::open(dir.path(), StorageKey::generate().unwrap()) else { panic!("unopened") };
    assert!(matches!(other.pairing(), Err(StoreError::Sealed { .. })));
}

#[test]
fn revoking_destroys_the_pairing_and_its_key() {
    let dir = dir();
    let mut store = open(dir.path(), 1);
    store.set_pairing(&pairing(1)).unwrap();
    let old_key = std::fs::read(dir.path().join("storage.key")).unwrap();
    store.reserve(9).unwrap();
    store.revoke().unwrap();
    assert!(store.pairing().unwrap().is_none());
    assert_eq!(store.lifecycle().unwrap(), Lifecycle::Revoked);
    assert_ne!(std::fs::read(dir.path().join("storage.key")).unwrap(), old_key);
    drop(store);
    let mut store = open(dir.path(), 1);
    assert_eq!(store.lifecycle().unwrap(), Lifecycle::Revoked);
    assert_eq!(store.reserve(1).unwrap(), 9, "counters go on");
    store.set_pairing(&pairing(2)).unwrap();
    assert_eq!(store.lifecycle().unwrap(), Lifecycle::Paired);
    assert_eq!(store.pairing().unwrap().unwrap().secret(), &[2; 32]);
}

#[test]
fn errors_name_the_file() {
    let Err(error) = DiskStore::open(Path::new("no such directory"), StorageKey::generate().unwrap()) else {
        panic!("opened")
    };
    assert!(matches!(error, StoreError::Create { .. }) && error.to_string().contains("no such directory"));
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("store.redb"), b"not a database").unwrap();
    let Err(error) = DiskStore::open(dir.path(), StorageKey::generate().unwrap()) else { panic!("opened") };
    assert!(matches!(error, StoreError::Database { action: "open", .. }));
    assert!(error.to_string().contains("store.redb"));
}

#[test]
fn a_store_of_another_format_is_refused() {
    let dir = dir();
    drop(open(dir.path(), 1));
    let db = redb::Database::open(dir.path().join("store.redb")).unwrap();
    let txn = db.begin_write().unwrap();
    let numbers = redb::TableDefinition::<&str, u64>::new("numbers");
    txn.open_table(numbers).unwrap().insert("format", 2).unwrap();
    txn.commit().unwrap();
    drop(db);
    let Err(error) = DiskStore::open(dir.path(), StorageKey::load(dir.path()).unwrap()) else {
        panic!("opened")
    };
    assert!(matches!(error, StoreError::Format { found: 2, expected: 1, .. }));
}

#[cfg(unix)]
#[test]
fn the_file_is_private() {
    use std::os::unix::fs::PermissionsExt;
    let dir = dir();
    drop(open(dir.path(), 1));
    for file in ["store.redb", "storage.key"] {
        let mode = std::fs::metadata(dir.path().join(file)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{file}");
    }
}

#[derive(Clone, Copy, Debug)]
enum Step {
    Reserve(u64),
    SkipAhead(u64),
    Reopen,
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]
    #[test]
    fn no_counter_is_given_out_twice(
        steps in proptest::collection::vec(
            prop_oneof![
                (1u64..50).prop_map(Step::Reserve),
                (0u64..100).prop_map(Step::SkipAhead),
                Just(Step::Reopen),
            ],
            1..12,
        ),
        range in 1u64..64,
    ) {
        let dir = dir();
        let mut store = Some(open(dir.path(), range));
        let (mut end, mut stream_end) = (0, 0);
        for step in steps {
            let open_store = store.as_mut().unwrap();
            match step {
                Step::Reserve(count) => {
                    let first = open_store.reserve(count).unwrap();
                    prop_assert!(first >= end);
                    end = first + count;
                    let first = open_store.reserve_stream(3, count).unwrap();
                    prop_assert!(first >= stream_end);
                    stream_end = first + count;
                }
                Step::SkipAhead(by) => open_store.skip_to(end + by).unwrap(),
                Step::Reopen => {
                    drop(store.take());
                    store = Some(open(dir.path(), range));
                }
            }
        }
        drop(store);
    }
}
