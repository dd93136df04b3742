//! Reading a key file batch by batch, strictly.

use std::fs::File;
use std::io::{self, Read, Seek};
use std::path::Path;

use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;
use zeroize::Zeroizing;

use super::DIGEST_BYTES;
use super::error::KeyFileError;
use super::header::{KeyFileHeader, PREAMBLE_BYTES};
use crate::key_batch::KeyBatch;
use crate::layout::{Layout, NativeKey};
use crate::secret_bytes::SecretBytes;

/// First size of a buffer for keys; larger ones are filled before they grow.
const STEP: usize = 1 << 20;
/// Size of the buffer that only hashes.
const HASH_STEP: usize = 1 << 15;

/// Reads a header, then keys in batches of any size, then checks the digest.
#[derive(Debug)]
pub struct KeyFileReader<R> {
    source: R,
    header: KeyFileHeader,
    read: u64,
    hash: Sha256,
}

impl KeyFileReader<File> {
    /// Opens the file `path`, checks its header, length and digest in one pass over all of it,
    /// and then stands before its first key.
    ///
    /// Keys themselves are checked as they are read, and the digest again by
    /// [`KeyFileReader::finish`], which notices a file that changed meanwhile.
    ///
    /// # Errors
    /// [`KeyFileError::Io`], or the variant that says what is wrong with the file.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, KeyFileError> {
        let opening = |source| KeyFileError::Io { operation: "opening", source };
        let mut file = File::open(path).map_err(opening)?;
        KeyFileReader::new(&file)?.finish()?;
        file.rewind().map_err(opening)?;
        Self::new(file)
    }
}

impl<R: Read> KeyFileReader<R> {
    /// Reads the header from `source`. Reads are large, so `source` needs no buffer.
    ///
    /// # Errors
    /// [`KeyFileError::Truncated`], or the variant that names the first field at fault.
    pub fn new(mut source: R) -> Result<Self, KeyFileError> {
        let short = |have| truncated("header", 0, have, KeyFileHeader::BYTES as u64);
        let mut preamble = [0; PREAMBLE_BYTES];
        let have = fill(&mut source, &mut preamble)?;
        if !KeyFileHeader::could_begin_with(&preamble[..have]) {
            return Err(KeyFileError::Magic);
        }
        if have < PREAMBLE_BYTES {
            return Err(short(have));
        }
        KeyFileHeader::check_preamble(&preamble)?;
        let mut bytes = [0; KeyFileHeader::BYTES];
        bytes[..PREAMBLE_BYTES].copy_from_slice(&preamble);
        let have = PREAMBLE_BYTES + fill(&mut source, &mut bytes[PREAMBLE_BYTES..])?;
        if have < KeyFileHeader::BYTES {
            return Err(short(have));
        }
        let header = KeyFileHeader::decode(&bytes)?;
        Ok(Self { source, header, read: 0, hash: Sha256::new_with_prefix(bytes) })
    }

    /// The header.
    #[must_use]
    pub const fn header(&self) -> &KeyFileHeader {
        &self.header
    }

    /// Keys not read yet.
    #[must_use]
    pub const fn remaining(&self) -> u64 {
        self.header.count() - self.read
    }

    /// The next keys, at most `max_keys` (at least one) and fewer only at the end; `None` after
    /// the last.
    ///
    /// # Errors
    /// [`KeyFileError::Truncated`], [`KeyFileError::Key`] or [`KeyFileError::Io`]; after any of
    /// them the reader is of no more use.
    pub fn next_batch(&mut self, max_keys: usize) -> Result<Option<KeyBatch>, KeyFileError> {
        let spec = *self.header.spec();
        let layout = Layout::new(&spec);
        let stride = layout.key_bytes;
        let most = max_keys.clamp(1, usize::MAX / stride) as u64;
        // Not above `most`, so it fits.
        let count = most.min(self.remaining()) as usize;
        if count == 0 {
            return Ok(None);
        }
        let start = self.header.key_offset(self.read);
        let bytes = read_growing(&mut self.source, count * stride)?;
        if bytes.len() < count * stride {
            return Err(truncated("keys", start, bytes.len(), (count * stride) as u64));
        }
        self.hash.update(&*bytes);
        for (index, bytes) in (self.read..).zip(bytes.chunks_exact(stride)) {
            let key = NativeKey { layout, group: spec.group(), bytes };
            let at = self.header.key_offset(index);
            key.check().map_err(|source| KeyFileError::Key { index, at, source })?;
        }
        self.read += count as u64;
        Ok(Some(KeyBatch::from_parts(spec, self.header.party(), SecretBytes::copy_of(&bytes))))
    }

    /// Checks the digest and that nothing follows it. Keys not read yet are hashed, not decoded.
    ///
    /// # Errors
    /// [`KeyFileError::Truncated`], [`KeyFileError::Digest`], [`KeyFileError::TrailingBytes`] or
    /// [`KeyFileError::Io`].
    pub fn finish(mut self) -> Result<(), KeyFileError> {
        let end = self.header.key_offset(self.header.count());
        let mut position = self.header.key_offset(self.read);
        let mut buffer = Zeroizing::new([0; HASH_STEP]);
        while position < end {
            let want = (end - position).min(HASH_STEP as u64) as usize;
            let have = fill(&mut self.source, &mut buffer[..want])?;
            if have < want {
                return Err(truncated("keys", position, have, end - position));
            }
            self.hash.update(&buffer[..want]);
            position += want as u64;
        }
        let mut digest = [0; DIGEST_BYTES];
        let have = fill(&mut self.source, &mut digest)?;
        if have < DIGEST_BYTES {
            return Err(truncated("digest", end, have, DIGEST_BYTES as u64));
        }
        if !bool::from(self.hash.finalize().as_slice().ct_eq(&digest)) {
            return Err(KeyFileError::Digest { at: end });
        }
        match fill(&mut self.source, &mut [0])? {
            0 => Ok(()),
            _ => Err(KeyFileError::TrailingBytes { at: self.header.file_bytes() }),
        }
    }
}

/// A part that starts at `start` and needs `want` bytes, of which there are `have`.
const fn truncated(part: &'static str, start: u64, have: usize, want: u64) -> KeyFileError {
    let have = have as u64;
    KeyFileError::Truncated { part, at: start + have, missing: want - have }
}

/// Reads until `buffer` is full or the source ends; returns the bytes read.
fn fill(source: &mut impl Read, buffer: &mut [u8]) -> Result<usize, KeyFileError> {
    let mut filled = 0;
    while filled < buffer.len() {
        match source.read(&mut buffer[filled..]) {
            Ok(0) => break,
            Ok(n) => filled += n,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(source) => return Err(KeyFileError::Io { operation: "reading", source }),
        }
    }
    Ok(filled)
}

/// Reads up to `want` bytes. The buffer doubles as bytes arrive, so that a header that claims
/// more than the source holds costs no memory; outgrown buffers are zeroized.
fn read_growing(source: &mut impl Read, want: usize) -> Result<Zeroizing<Vec<u8>>, KeyFileError> {
    let mut bytes = Zeroizing::new(Vec::new());
    while bytes.len() < want {
        let have = bytes.len();
        let size = want.min((2 * have).max(STEP));
        let mut larger = Zeroizing::new(Vec::with_capacity(size));
        larger.extend_from_slice(&bytes);
        larger.resize(size, 0);
        bytes = larger;
        let filled = fill(source, &mut bytes[have..])?;
        if have + filled < size {
            bytes.truncate(have + filled);
            break;
        }
    }
    Ok(bytes)
}
