//! Writing a key file batch by batch.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::Path;

use sha2::{Digest, Sha256};

use super::error::KeyFileError;
use super::header::KeyFileHeader;
use crate::key_batch::KeyBatch;

/// Writes a header, then any number of batches, then the digest.
///
/// The count of keys is fixed by the header, so the sink need not seek: a socket, a pipe or a
/// compressor will do. Batches go to the sink as they are, without a buffer between that would
/// hold copies of keys. A file whose writer is dropped before [`KeyFileWriter::finish`] has no
/// digest, and readers refuse it.
#[derive(Debug)]
pub struct KeyFileWriter<W> {
    sink: W,
    header: KeyFileHeader,
    written: u64,
    hash: Sha256,
}

impl KeyFileWriter<File> {
    /// Creates the file `path`, readable and writable by its owner only (on Unix).
    ///
    /// # Errors
    /// [`KeyFileError::Io`], also if the file exists: keys are never overwritten.
    pub fn create(path: impl AsRef<Path>, header: KeyFileHeader) -> Result<Self, KeyFileError> {
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let file = options.open(path).map_err(|source| KeyFileError::Io { operation: "creating", source })?;
        Self::new(file, header)
    }
}

impl<W: Write> KeyFileWriter<W> {
    /// Writes the header to `sink`.
    ///
    /// # Errors
    /// [`KeyFileError::Io`].
    pub fn new(sink: W, header: KeyFileHeader) -> Result<Self, KeyFileError> {
        let mut writer = Self { sink, header, written: 0, hash: Sha256::new() };
        writer.put(&header.encode())?;
        Ok(writer)
    }

    /// The header that was written.
    #[must_use]
    pub const fn header(&self) -> &KeyFileHeader {
        &self.header
    }

    /// Keys that are still to be written.
    #[must_use]
    pub const fn remaining(&self) -> u64 {
        self.header.count() - self.written
    }

    /// Writes the next keys.
    ///
    /// # Errors
    /// [`KeyFileError::Foreign`] or [`KeyFileError::TooManyKeys`] before anything is written;
    /// [`KeyFileError::Io`], after which the file is spoilt.
    pub fn write(&mut self, keys: &KeyBatch) -> Result<(), KeyFileError> {
        if keys.spec() != self.header.spec() {
            return Err(KeyFileError::Foreign { field: "spec" });
        }
        if keys.party() != self.header.party() {
            return Err(KeyFileError::Foreign { field: "party" });
        }
        let count = self.header.count();
        let total = self.written.saturating_add(keys.len() as u64);
        if total > count {
            return Err(KeyFileError::TooManyKeys { keys: total, count });
        }
        self.put(keys.as_bytes())?;
        self.written = total;
        Ok(())
    }

    /// Writes the digest, flushes, and gives the sink back. Where a file must survive a crash of
    /// the machine, call [`File::sync_all`] on it.
    ///
    /// # Errors
    /// [`KeyFileError::Incomplete`] if keys are missing; [`KeyFileError::Io`].
    pub fn finish(mut self) -> Result<W, KeyFileError> {
        let count = self.header.count();
        if self.written != count {
            return Err(KeyFileError::Incomplete { keys: self.written, count });
        }
        let digest = self.hash.finalize();
        self.sink.write_all(&digest).and_then(|()| self.sink.flush()).map_err(writing)?;
        Ok(self.sink)
    }

    fn put(&mut self, bytes: &[u8]) -> Result<(), KeyFileError> {
        self.hash.update(bytes);
        self.sink.write_all(bytes).map_err(writing)
    }
}

const fn writing(source: io::Error) -> KeyFileError {
    KeyFileError::Io { operation: "writing", source }
}
