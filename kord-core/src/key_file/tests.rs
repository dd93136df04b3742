//! One test for each way in which a file, a header or a writer can be refused.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::io::{self, Read, Write};

use sha2::{Digest, Sha256};

use super::header::at;
use super::*;
use crate::keygen::deterministic::generate_party;
use crate::source::Label;
use crate::{Block, DecodeError, Group, KeyBatch, KeySpec, Party, Predicate, PrgKeys};

const COUNT: u64 = 5;
const KEYS_AT: usize = KeyFileHeader::BYTES;

fn label(count: u64) -> Label {
    Label { session: 7, stream: 0x0102_0304_0506_0708, first: 1000, count }
}

fn spec() -> KeySpec {
    KeySpec::dcf(9, Predicate::Lt, Group::modular(1_000_003).unwrap()).unwrap().with_arity(2).unwrap()
}

/// Keys for alphas `first`, `first + 1`, …, from roots that count up.
fn keys(spec: &KeySpec, party: Party, first: u64, count: u64) -> KeyBatch {
    let alphas: Vec<u64> = (first..first + count).collect();
    let arity = u64::from(spec.arity());
    let betas: Vec<u128> = (first * arity..(first + count) * arity)
        .map(|element| spec.group().reduce(u128::from(element)))
        .collect();
    let roots = |side: u128| -> Vec<Block> {
        alphas.iter().map(|a| Block::from_u128(u128::from(*a) << 32 | side)).collect()
    };
    generate_party(spec, &alphas, &betas, [&roots(1), &roots(2)], party).unwrap()
}

fn header() -> KeyFileHeader {
    KeyFileHeader::new(spec(), Party::P1, label(COUNT)).unwrap()
}

fn valid_file() -> Vec<u8> {
    let mut writer = KeyFileWriter::new(Vec::new(), header()).unwrap();
    writer.write(&keys(&spec(), Party::P1, 0, 2)).unwrap();
    writer.write(&keys(&spec(), Party::P1, 2, 3)).unwrap();
    assert_eq!(writer.remaining(), 0);
    writer.finish().unwrap()
}

fn read(file: &[u8]) -> Result<Vec<KeyBatch>, KeyFileError> {
    let mut reader = KeyFileReader::new(file)?;
    let mut batches = Vec::new();
    while let Some(batch) = reader.next_batch(2)? {
        batches.push(batch);
    }
    reader.finish()?;
    Ok(batches)
}

/// The valid file with some bytes replaced and the digest made right again, so that nothing but
/// the replaced field is at fault.
fn patched(at: usize, bytes: &[u8]) -> Vec<u8> {
    let mut file = valid_file();
    file[at..at + bytes.len()].copy_from_slice(bytes);
    let end = file.len() - DIGEST_BYTES;
    let digest = Sha256::digest(&file[..end]);
    file[end..].copy_from_slice(&digest);
    file
}

/// Asserts that a file is refused by this error, in a message that holds this text.
macro_rules! assert_refused {
    ($file:expr, $error:pat, $text:expr) => {
        let error = read(&$file[..]).expect_err("a file that must be refused");
        assert!(matches!(error, $error), "{error:?}");
        assert!(error.to_string().contains($text), "{error}");
    };
}

#[test]
fn the_header_is_laid_out_as_documented() {
    let file = valid_file();
    let mut expected = Vec::new();
    expected.extend(b"KORDKEYS");
    expected.extend([1, 0, 160, 0]);
    expected.extend([2, 0, 2, 9, 20, 0, 1, 0, 2, 0, 0, 0]);
    expected.extend(1_000_003_u128.to_le_bytes());
    expected.extend(PrgKeys::KORD_V1.id());
    let prg = PrgKeys::KORD_V1;
    for key in [prg.seed_left, prg.seed_right, prg.value_left, prg.value_right, prg.expand] {
        expected.extend(key);
    }
    expected.extend([5, 0, 0, 0, 0, 0, 0, 0]);
    expected.extend([7, 0, 0, 0]);
    expected.extend([8, 7, 6, 5, 4, 3, 2, 1]);
    expected.extend([0xe8, 3, 0, 0, 0, 0, 0, 0]);
    // 16 + 9·16 + 2 + 10 words of two elements of 3 bytes.
    expected.extend([222, 0, 0, 0]);
    assert_eq!(file[..KEYS_AT], expected);
    assert_eq!(file.len() as u64, header().file_bytes());
    assert_eq!(file.len(), 160 + 5 * 222 + 32);
}

#[test]
fn what_was_written_is_read() {
    let file = valid_file();
    let reader = KeyFileReader::new(file.as_slice()).unwrap();
    assert_eq!(*reader.header(), header());
    let batches = read(&file).unwrap();
    assert_eq!(batches.iter().map(KeyBatch::len).collect::<Vec<_>>(), [2, 2, 1]);
    let bytes: Vec<u8> = batches.iter().flat_map(|b| b.as_bytes().to_vec()).collect();
    assert!(bytes == keys(&spec(), Party::P1, 0, COUNT).as_bytes(), "keys differ");
    assert!(batches.iter().all(|b| b.party() == Party::P1 && *b.spec() == spec()));
}

#[test]
fn magic() {
    assert_refused!(patched(at::MAGIC + 3, b"X"), KeyFileError::Magic, "byte 0");
    assert_refused!(b"hello", KeyFileError::Magic, "not a KORD key file");
}

#[test]
fn version() {
    for found in [0, 2, 0x0101_u16] {
        assert_refused!(
            patched(at::VERSION, &found.to_le_bytes()),
            KeyFileError::Version { .. },
            "version at byte 8"
        );
    }
}

#[test]
fn header_length() {
    assert_refused!(
        patched(at::HEADER_LENGTH, &[161]),
        KeyFileError::HeaderLength { found: 161 },
        "header length at byte 10"
    );
}

#[test]
fn scheme() {
    for found in [0, 4, 255] {
        assert_refused!(patched(at::SCHEME, &[found]), KeyFileError::Scheme { .. }, "scheme at byte 12");
    }
}

#[test]
fn profile() {
    // 1 is the seed-keyed profile, which has no native keys; 2 is not for the default keys.
    for found in [1, 2, 3] {
        assert_refused!(patched(at::PROFILE, &[found]), KeyFileError::Profile { .. }, "profile at byte 13");
    }
}

#[test]
fn group_kind() {
    for found in [0, 4] {
        assert_refused!(
            patched(at::GROUP_KIND, &[found]),
            KeyFileError::GroupKind { .. },
            "group kind at byte 14"
        );
    }
}

#[test]
fn domain_bits() {
    for found in [0, 65, 255] {
        assert_refused!(
            patched(at::DOMAIN_BITS, &[found]),
            KeyFileError::DomainBits { .. },
            "domain bits at byte 15"
        );
    }
}

#[test]
fn element_bits() {
    for found in [0, 19, 21, 256 + 20_u16] {
        let file = patched(at::ELEMENT_BITS, &found.to_le_bytes());
        assert_refused!(file, KeyFileError::ElementBits { .. }, "element bits at byte 16");
    }
    // Group kind and element bits: a ring of 0 bits, XOR strings of 129.
    for bytes in [[1, 9, 0, 0], [3, 9, 129, 0]] {
        let file = patched(at::GROUP_KIND, &bytes);
        assert_refused!(file, KeyFileError::ElementBits { .. }, "element bits at byte 16");
    }
}

#[test]
fn party() {
    assert_refused!(patched(at::PARTY, &[2]), KeyFileError::Party { found: 2 }, "party at byte 18");
}

#[test]
fn reserved_byte() {
    assert_refused!(patched(at::ZERO, &[1]), KeyFileError::Reserved { found: 1 }, "byte 19");
}

#[test]
fn arity() {
    for found in [0, KeySpec::MAX_ARITY + 1, u32::MAX] {
        let file = patched(at::ARITY, &found.to_le_bytes());
        assert_refused!(file, KeyFileError::Arity { .. }, "arity at byte 20");
    }
}

#[test]
fn modulus() {
    for found in [0, 1_u128] {
        let file = patched(at::MODULUS, &found.to_le_bytes());
        assert_refused!(file, KeyFileError::Modulus { .. }, "modulus at byte 24");
    }
    // A ring has none.
    assert_refused!(patched(at::GROUP_KIND, &[1]), KeyFileError::Modulus { .. }, "modulus at byte 24");
}

#[test]
fn key_id() {
    assert_refused!(
        patched(at::KEY_ID, &[0; 8]),
        KeyFileError::KeyId { .. },
        "key id at byte 40: 0000000000000000"
    );
    assert_refused!(patched(at::PRG_KEYS + 79, &[0]), KeyFileError::KeyId { .. }, "key id at byte 40");
}

#[test]
fn count() {
    for found in [0, u64::MAX, u64::MAX / 222] {
        let file = patched(at::COUNT, &found.to_le_bytes());
        assert_refused!(file, KeyFileError::Count { .. }, "count at byte 128");
    }
}

#[test]
fn counter_range() {
    let first = u64::MAX - COUNT + 1;
    assert_refused!(
        patched(at::FIRST, &first.to_le_bytes()),
        KeyFileError::CounterRange { .. },
        "first counter at byte 148"
    );
    read(&patched(at::FIRST, &(first - 1).to_le_bytes())).unwrap();
}

#[test]
fn key_length() {
    assert_refused!(
        patched(at::KEY_LENGTH, &[221]),
        KeyFileError::KeyLength { found: 221, expected: 222 },
        "key length at byte 156"
    );
}

#[test]
fn truncation_at_every_byte() {
    let file = valid_file();
    for length in 0..file.len() {
        let error = read(&file[..length]).unwrap_err();
        let KeyFileError::Truncated { at, .. } = error else { panic!("{length}: {error:?}") };
        assert_eq!(at, length as u64);
        // And when keys are skipped rather than read.
        if let Ok(reader) = KeyFileReader::new(&file[..length]) {
            let error = reader.finish().unwrap_err();
            assert!(matches!(error, KeyFileError::Truncated { at, .. } if at == length as u64), "{error}");
        }
    }
}

#[test]
fn what_is_missing_is_named() {
    let file = valid_file();
    let missing = |length: usize| read(&file[..length]).unwrap_err().to_string();
    assert_eq!(missing(100), "header: the file ends at byte 100, 60 bytes too early");
    assert_eq!(missing(160 + 4 * 222 + 200), "keys: the file ends at byte 1248, 22 bytes too early");
    assert_eq!(missing(file.len() - 1), "digest: the file ends at byte 1301, 1 bytes too early");
}

#[test]
fn a_key_that_no_generator_makes() {
    // The clamp bit of the fourth key's root.
    let file = patched(KEYS_AT + 3 * 222 + 12, &[0xff]);
    assert_refused!(file, KeyFileError::Key { index: 3, at: 826, .. }, "key 3 at byte 826");
    // The last element of the last key, not below the modulus.
    let file = patched(KEYS_AT + 5 * 222 - 3, &[0xff; 3]);
    let error = read(&file).unwrap_err();
    assert!(
        matches!(error, KeyFileError::Key { index: 4, source: DecodeError::Field { .. }, .. }),
        "{error:?}"
    );
}

#[test]
fn digest() {
    let mut file = valid_file();
    let end = file.len() - DIGEST_BYTES;
    file[end] ^= 1;
    assert_refused!(file, KeyFileError::Digest { at: 1270 }, "digest at byte 1270");
    // A byte of a correction seed: the key is as good as any other, but not what was written.
    let mut file = valid_file();
    file[KEYS_AT + 20] ^= 1;
    assert_refused!(file, KeyFileError::Digest { .. }, "damaged");
    assert!(matches!(
        KeyFileReader::new(file.as_slice()).unwrap().finish(),
        Err(KeyFileError::Digest { .. })
    ));
}

#[test]
fn trailing_bytes() {
    let mut file = valid_file();
    file.push(0);
    assert_refused!(file, KeyFileError::TrailingBytes { at: 1302 }, "at byte 1302");
}

#[test]
fn a_huge_count_costs_no_memory() {
    // 2^50 keys announced, five there, all asked for at once: refused by what is missing.
    let file = patched(at::COUNT, &(1_u64 << 50).to_le_bytes());
    let mut reader = KeyFileReader::new(file.as_slice()).unwrap();
    assert!(matches!(reader.next_batch(usize::MAX), Err(KeyFileError::Truncated { part: "keys", .. })));
}

#[test]
fn batches_larger_than_a_step_are_whole() {
    let spec = KeySpec::dpf(3, Group::ring(8).unwrap()).unwrap().with_arity(30_000).unwrap();
    let keys = keys(&spec, Party::P0, 0, 8).as_bytes().to_vec();
    let keys: Vec<u8> = core::iter::repeat_n(keys, 20).flatten().collect();
    let batch = KeyBatch::from_bytes(spec, Party::P0, keys).unwrap();
    let header = KeyFileHeader::new(spec, Party::P0, label(160)).unwrap();
    let mut writer = KeyFileWriter::new(Vec::new(), header).unwrap();
    writer.write(&batch).unwrap();
    let file = writer.finish().unwrap();
    for most in [1, 7, 160, usize::MAX] {
        let mut reader = KeyFileReader::new(file.as_slice()).unwrap();
        let mut at = 0;
        while let Some(read) = reader.next_batch(most).unwrap() {
            assert!(read.as_bytes() == &batch.as_bytes()[at..at + read.as_bytes().len()]);
            at += read.as_bytes().len();
        }
        assert_eq!(at, batch.as_bytes().len());
        reader.finish().unwrap();
    }
}

#[test]
fn a_header_must_describe_a_file() {
    let new = |label| KeyFileHeader::new(spec(), Party::P0, label);
    assert!(matches!(new(label(0)), Err(KeyFileError::Count { found: 0 })));
    assert!(matches!(new(label(u64::MAX)), Err(KeyFileError::Count { .. })));
    let label = Label { first: u64::MAX, ..label(1) };
    assert!(matches!(new(label), Err(KeyFileError::CounterRange { .. })));
}

#[test]
fn a_writer_takes_only_the_keys_announced() {
    let mut writer = KeyFileWriter::new(Vec::new(), header()).unwrap();
    let other = KeySpec::dpf(9, Group::ring(8).unwrap()).unwrap();
    assert!(matches!(
        writer.write(&keys(&other, Party::P1, 0, 1)),
        Err(KeyFileError::Foreign { field: "spec" })
    ));
    assert!(matches!(
        writer.write(&keys(&spec(), Party::P0, 0, 1)),
        Err(KeyFileError::Foreign { field: "party" })
    ));
    writer.write(&keys(&spec(), Party::P1, 0, 3)).unwrap();
    assert!(matches!(
        writer.write(&keys(&spec(), Party::P1, 3, 3)),
        Err(KeyFileError::TooManyKeys { keys: 6, count: 5 })
    ));
    // None of the refusals wrote anything.
    writer.write(&keys(&spec(), Party::P1, 3, 2)).unwrap();
    assert!(writer.finish().unwrap() == valid_file());

    let mut writer = KeyFileWriter::new(Vec::new(), header()).unwrap();
    writer.write(&keys(&spec(), Party::P1, 0, 4)).unwrap();
    assert!(matches!(writer.finish(), Err(KeyFileError::Incomplete { keys: 4, count: 5 })));
}

#[test]
fn other_prg_keys_travel_with_the_file() {
    let prg = PrgKeys { expand: [9; 16], ..PrgKeys::KORD_V1 };
    let spec = spec().with_prg_keys(prg);
    let header = KeyFileHeader::new(spec, Party::P0, label(1)).unwrap();
    let mut writer = KeyFileWriter::new(Vec::new(), header).unwrap();
    writer.write(&keys(&spec, Party::P0, 0, 1)).unwrap();
    let mut file = writer.finish().unwrap();
    assert_eq!(file[at::PROFILE], 2);
    assert_eq!(*read(&file).unwrap()[0].spec().prg_keys(), prg);
    file[at::PROFILE] = 0;
    assert_refused!(file, KeyFileError::Profile { found: 0 }, "profile at byte 13");
}

#[test]
fn files_are_private_checked_on_opening_and_never_overwritten() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("keys");
    let mut writer = KeyFileWriter::create(&path, header()).unwrap();
    writer.write(&keys(&spec(), Party::P1, 0, COUNT)).unwrap();
    writer.finish().unwrap().sync_all().unwrap();
    assert!(std::fs::read(&path).unwrap() == valid_file());
    #[cfg(unix)]
    {
        let mode = std::os::unix::fs::PermissionsExt::mode(&std::fs::metadata(&path).unwrap().permissions());
        assert_eq!(mode & 0o777, 0o600);
    }
    let error = KeyFileWriter::create(&path, header()).unwrap_err();
    assert!(matches!(error, KeyFileError::Io { operation: "creating", .. }), "{error}");

    let mut reader = KeyFileReader::open(&path).unwrap();
    assert_eq!(reader.next_batch(10).unwrap().unwrap().len(), 5);
    assert!(reader.next_batch(10).unwrap().is_none());
    reader.finish().unwrap();

    let mut damaged = valid_file();
    damaged[KEYS_AT + 20] ^= 1;
    std::fs::write(&path, damaged).unwrap();
    assert!(matches!(KeyFileReader::open(&path), Err(KeyFileError::Digest { .. })));
    let error = KeyFileReader::open(folder.path().join("absent")).unwrap_err();
    assert!(matches!(error, KeyFileError::Io { operation: "opening", .. }), "{error}");
}

/// Fails after some bytes, in either direction.
struct Failing(usize);

impl Read for Failing {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let file = valid_file();
        let at = self.0.min(buffer.len());
        if at == 0 {
            return Err(io::ErrorKind::TimedOut.into());
        }
        buffer[..at].copy_from_slice(&file[..at]);
        self.0 -= at;
        Ok(at)
    }
}

impl Write for Failing {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let taken = self.0.min(bytes.len());
        self.0 -= taken;
        if taken == 0 { Err(io::ErrorKind::StorageFull.into()) } else { Ok(taken) }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn failures_of_the_system_are_passed_on() {
    assert!(matches!(KeyFileReader::new(Failing(5)), Err(KeyFileError::Io { operation: "reading", .. })));
    assert!(matches!(
        KeyFileWriter::new(Failing(100), header()),
        Err(KeyFileError::Io { operation: "writing", .. })
    ));
}
