//! The body of the key file fuzzer, shared by `tests/key_file.rs` and `fuzz/`.

use kord_core::KeyBatch;
use kord_core::key_file::{KeyFileError, KeyFileHeader, KeyFileReader, KeyFileWriter};
use sha2::{Digest, Sha256};

/// Decodes any bytes, as they are and with the digest made right for them. It must not panic, and
/// what is accepted must encode to the same bytes again.
pub(crate) fn decode_never_panics(bytes: &[u8]) {
    check(bytes);
    check(&with_right_digest(bytes));
}

fn check(bytes: &[u8]) {
    let whole = decode(bytes, usize::MAX);
    let one_by_one = decode(bytes, 1);
    assert_eq!(whole.is_ok(), one_by_one.is_ok(), "the outcome depends on the size of the chunks");
    for (header, batches) in [whole, one_by_one].into_iter().flatten() {
        assert!(encode(header, &batches) == bytes, "decoded to something else");
    }
}

/// Reads a whole file, `chunk` keys at a time.
pub(crate) fn decode(bytes: &[u8], chunk: usize) -> Result<(KeyFileHeader, Vec<KeyBatch>), KeyFileError> {
    let mut reader = KeyFileReader::new(bytes)?;
    let header = *reader.header();
    let mut batches = Vec::new();
    while let Some(batch) = reader.next_batch(chunk)? {
        batches.push(batch);
    }
    reader.finish()?;
    Ok((header, batches))
}

/// Writes a whole file.
pub(crate) fn encode(header: KeyFileHeader, batches: &[KeyBatch]) -> Vec<u8> {
    let mut writer = KeyFileWriter::new(Vec::new(), header).unwrap();
    for batch in batches {
        writer.write(batch).unwrap();
    }
    writer.finish().unwrap()
}

/// The bytes with their last 32 replaced by the digest of those before.
pub(crate) fn with_right_digest(bytes: &[u8]) -> Vec<u8> {
    let end = bytes.len().saturating_sub(32);
    let digest = Sha256::digest(&bytes[..end]);
    [&bytes[..end], digest.as_slice()].concat()
}
