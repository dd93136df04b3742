//! Key files under damage: no bytes make the decoder panic, and none decode to anything but what
//! was written.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[path = "support/key_file.rs"]
mod support;

use std::fs;
use std::path::Path;

use kord_core::key_file::KeyFileHeader;
use kord_core::keygen::deterministic::generate_party;
use kord_core::{Block, Group, KeyBatch, KeySpec, Label, Party, Predicate, PrgKeys, Scheme};
use proptest::prelude::*;
use proptest::sample::Index;
use support::{decode, decode_never_panics, encode, with_right_digest};

/// Valid keys for given roots: as good as any for a file, and the same in every run.
fn keys(spec: &KeySpec, party: Party, count: u64) -> KeyBatch {
    let alphas: Vec<u64> = (0..count).map(|i| i & spec.max_alpha()).collect();
    let elements = count * u64::from(spec.arity());
    let betas: Vec<u128> = (1..=elements).map(|i| spec.group().reduce(u128::from(i))).collect();
    let roots = |side: u128| -> Vec<Block> {
        (1..=u128::from(count)).map(|i| Block::from_u128(i << 64 | side)).collect()
    };
    generate_party(spec, &alphas, &betas, [&roots(1), &roots(2)], party).unwrap()
}

fn file(spec: &KeySpec, party: Party, label: Label) -> Vec<u8> {
    let header = KeyFileHeader::new(*spec, party, label).unwrap();
    encode(header, &[keys(spec, party, label.count)])
}

/// Files that decode, small and of every kind.
fn valid_files() -> Vec<(&'static str, Vec<u8>)> {
    let label = |count| Label { session: 3, stream: 9, first: 1 << 40, count };
    let lt = Scheme::Dcf(Predicate::Lt);
    let gt = Scheme::Dcf(Predicate::Gt);
    let spec = |scheme, bits, group: Result<Group, _>| KeySpec::new(scheme, bits, group.unwrap()).unwrap();
    let other_prg = PrgKeys { seed_left: [7; 16], ..PrgKeys::KORD_V1 };
    let ring_64 = Group::ring(64);
    vec![
        ("dpf_1_bit", file(&spec(Scheme::Dpf, 1, Group::xor(1)), Party::P0, label(1))),
        ("dpf_ring", file(&spec(Scheme::Dpf, 12, ring_64), Party::P1, label(3))),
        ("dpf_widest", file(&spec(Scheme::Dpf, 64, Group::ring(128)), Party::P0, label(1))),
        ("dcf_lt_vector", {
            file(&spec(lt, 5, Group::ring(20)).with_arity(3).unwrap(), Party::P0, label(4))
        }),
        ("dcf_gt_modular", file(&spec(gt, 7, Group::modular(1_000_003)), Party::P1, label(2))),
        ("dcf_xor", file(&spec(lt, 3, Group::xor(40)), Party::P1, label(2))),
        ("other_prg_keys", file(&spec(lt, 4, Group::ring(32)).with_prg_keys(other_prg), Party::P0, label(2))),
        ("last_counter", {
            let label = Label { session: u32::MAX, stream: u64::MAX, first: u64::MAX - 2, count: 2 };
            file(&spec(Scheme::Dpf, 6, Group::ring(8)), Party::P1, label)
        }),
    ]
}

/// Files that are refused, each for another reason.
fn refused_files() -> Vec<(&'static str, Vec<u8>)> {
    let good = valid_files().swap_remove(1).1;
    let patched = |at: usize, bytes: &[u8]| {
        let mut file = good.clone();
        file[at..at + bytes.len()].copy_from_slice(bytes);
        with_right_digest(&file)
    };
    vec![
        ("empty", Vec::new()),
        ("magic_only", good[..8].to_vec()),
        ("header_only", good[..160].to_vec()),
        ("cut_in_keys", good[..200].to_vec()),
        ("cut_in_digest", good[..good.len() - 1].to_vec()),
        ("trailing_byte", [good.as_slice(), &[0]].concat()),
        ("wrong_digest", [&good[..good.len() - 1], &[!good[good.len() - 1]]].concat()),
        ("no_keys", patched(128, &[0; 8])),
        ("many_keys", patched(128, &[0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0])),
        ("counter_overflow", patched(148, &[0xff; 8])),
        ("wide_payload", patched(20, &[0, 0, 1, 0])),
        ("clamp_bit", patched(172, &[0xff])),
    ]
}

/// The corpus is committed so that a fuzzer finds it. After a change of the format, run this test
/// with `KORD_WRITE_CORPUS=1` to write it anew.
#[test]
fn corpus_is_what_this_file_makes() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus/key_file");
    let files: Vec<_> = valid_files().into_iter().chain(refused_files()).collect();
    if std::env::var_os("KORD_WRITE_CORPUS").is_some() {
        for (name, bytes) in &files {
            fs::write(folder.join(name), bytes).unwrap();
        }
    }
    for (name, bytes) in &files {
        assert!(fs::read(folder.join(name)).unwrap() == *bytes, "{name} differs");
        decode_never_panics(bytes);
    }
    assert_eq!(fs::read_dir(&folder).unwrap().count(), files.len(), "files of no name in the corpus");
}

#[test]
fn corpus_decodes_or_is_refused_as_it_should() {
    for (name, bytes) in valid_files() {
        let (header, _) = decode(&bytes, 2).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(header.file_bytes(), bytes.len() as u64, "{name}");
    }
    for (name, bytes) in refused_files() {
        assert!(decode(&bytes, 2).is_err(), "{name} was accepted");
    }
}

#[test]
fn every_flipped_bit_is_noticed() {
    let good = valid_files().swap_remove(4).1;
    for bit in 0..8 * good.len() {
        let mut damaged = good.clone();
        damaged[bit / 8] ^= 1 << (bit % 8);
        assert!(decode(&damaged, 10).is_err(), "bit {bit} flipped unnoticed");
    }
}

/// Damage that a disk, a network or an attacker might do.
#[derive(Clone, Debug)]
enum Damage {
    Set(Index, u8),
    Cut(Index),
    Remove(Index),
    Insert(Index, u8),
    Overwrite(Index, Vec<u8>),
}

impl Damage {
    fn apply(&self, bytes: &mut Vec<u8>) {
        if bytes.is_empty() {
            return;
        }
        match self {
            Self::Set(at, value) => {
                let at = at.index(bytes.len());
                bytes[at] = *value;
            }
            Self::Cut(at) => bytes.truncate(at.index(bytes.len())),
            Self::Remove(at) => {
                bytes.remove(at.index(bytes.len()));
            }
            Self::Insert(at, value) => bytes.insert(at.index(bytes.len()), *value),
            Self::Overwrite(at, with) => {
                let at = at.index(bytes.len());
                let end = bytes.len().min(at + with.len());
                bytes[at..end].copy_from_slice(&with[..end - at]);
            }
        }
    }
}

fn damage() -> impl Strategy<Value = Damage> {
    let fields = prop_oneof![
        any::<u32>().prop_map(|v| v.to_le_bytes().to_vec()),
        any::<u64>().prop_map(|v| v.to_le_bytes().to_vec()),
        (0..20_usize).prop_map(|n| vec![0; n]),
        (0..20_usize).prop_map(|n| vec![0xff; n]),
    ];
    prop_oneof![
        4 => (any::<Index>(), any::<u8>()).prop_map(|(at, v)| Damage::Set(at, v)),
        1 => any::<Index>().prop_map(Damage::Cut),
        1 => any::<Index>().prop_map(Damage::Remove),
        1 => (any::<Index>(), any::<u8>()).prop_map(|(at, v)| Damage::Insert(at, v)),
        2 => (any::<Index>(), fields).prop_map(|(at, v)| Damage::Overwrite(at, v)),
    ]
}

/// Damage to the header alone, where a right digest gets it furthest.
fn header_damage() -> impl Strategy<Value = (usize, u8)> {
    (8..KeyFileHeader::BYTES, any::<u8>())
}

fn specs() -> impl Strategy<Value = KeySpec> {
    let scheme =
        prop_oneof![Just(Scheme::Dpf), Just(Scheme::Dcf(Predicate::Lt)), Just(Scheme::Dcf(Predicate::Gt))];
    let group = prop_oneof![
        (1..=128_u8).prop_map(|k| Group::ring(k).unwrap()),
        (1..=128_u8).prop_map(|k| Group::xor(k).unwrap()),
        (2..=u128::MAX).prop_map(|m| Group::modular(m).unwrap()),
    ];
    (scheme, 1..=64_u8, group, 1..=5_u32).prop_map(|(scheme, bits, group, arity)| {
        KeySpec::new(scheme, bits, group).unwrap().with_arity(arity).unwrap()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn random_bytes_are_refused(bytes in prop::collection::vec(any::<u8>(), 0..600)) {
        prop_assert!(decode(&bytes, 3).is_err());
        decode_never_panics(&bytes);
        // Past the preamble as well.
        let begun = [b"KORDKEYS\x01\0\xa0\0".as_slice(), &bytes].concat();
        prop_assert!(decode(&begun, 3).is_err());
        decode_never_panics(&begun);
    }

    #[test]
    fn damaged_files_never_decode_to_something_else(
        which: Index,
        damages in prop::collection::vec(damage(), 1..4),
    ) {
        let files = valid_files();
        let good = &files[which.index(files.len())].1;
        let mut damaged = good.clone();
        damages.iter().for_each(|d| d.apply(&mut damaged));
        prop_assert_eq!(decode(&damaged, 2).is_ok(), damaged == *good);
        decode_never_panics(&damaged);
    }

    #[test]
    fn headers_changed_under_a_right_digest_encode_again(
        which: Index,
        changes in prop::collection::vec(header_damage(), 1..4),
    ) {
        let files = valid_files();
        let mut changed = files[which.index(files.len())].1.clone();
        for (at, value) in changes {
            changed[at] = value;
        }
        decode_never_panics(&changed);
    }

    #[test]
    fn every_spec_survives(
        spec in specs(),
        party in prop_oneof![Just(Party::P0), Just(Party::P1)],
        (session, stream, first, count) in (any::<u32>(), any::<u64>(), 0..u64::MAX - 20, 1..20_u64),
        chunk in 1..25_usize,
    ) {
        let label = Label { session, stream, first, count };
        let (header, batches) = decode(&file(&spec, party, label), chunk).unwrap();
        prop_assert_eq!(header, KeyFileHeader::new(spec, party, label).unwrap());
        let read: Vec<u8> = batches.iter().flat_map(|b| b.as_bytes().to_vec()).collect();
        prop_assert!(read == keys(&spec, party, count).as_bytes());
    }
}
