//! From a key source to files: one batch, streamed.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use kord_core::key_file::{KeyFileError, KeyFileHeader, KeyFileWriter};
use kord_core::request::{Part, Request, RequestError, Shares};
use kord_core::source::{KeyChunk, KeySource, PartOutput, SourceError};
use kord_core::{KeySpec, Label, Party};
use thiserror::Error;

use crate::text::{Columns, ShareWriter, TextError};

/// Why a batch did not become files.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum BatchError {
    /// The request has other than one part, a key.
    #[error("a key file holds one key an element; ask for exactly one key part")]
    Parts,
    /// A file is in the way.
    #[error("{}: exists already; keys and shares are never overwritten, choose another name", path.display())]
    Exists {
        /// The file.
        path: PathBuf,
    },
    /// The source failed.
    #[error("no keys were made")]
    Source(#[source] SourceError),
    /// The key file could not be written.
    #[error("{}", path.display())]
    KeyFile {
        /// The file.
        path: PathBuf,
        /// What went wrong.
        #[source]
        source: KeyFileError,
    },
    /// The file of derived shares could not be written.
    #[error(transparent)]
    Shares(#[from] TextError),
}

impl From<RequestError> for BatchError {
    fn from(error: RequestError) -> Self {
        Self::Source(error.into())
    }
}

/// Where a batch goes.
#[derive(Clone, Copy, Debug)]
pub struct Destination<'a> {
    /// The key file to create.
    pub keys: &'a Path,
    /// The file of derived shares to create, if the request derives any.
    pub shares: &'a Path,
}

/// Makes the keys of `request` and writes them as they come: memory does not grow with the batch.
/// `progress` is told the number of keys of each chunk.
///
/// # Errors
/// [`BatchError`]. Files that are not complete are removed; the counters stay consumed.
pub fn write_batch(
    source: &mut dyn KeySource,
    request: &Request,
    shares: Shares<'_>,
    destination: Destination<'_>,
    progress: &mut dyn FnMut(u64),
) -> Result<Label, BatchError> {
    let [Part::Key(key)] = request.parts() else {
        return Err(BatchError::Parts);
    };
    let columns = Columns::derived(request);
    // Known before any counter is consumed.
    refuse_existing(destination.keys)?;
    if !columns.is_empty() {
        refuse_existing(destination.shares)?;
    }
    let mut files = Files {
        spec: key.spec,
        party: source.party(),
        count: request.count(),
        path: destination.keys,
        keys: None,
        shares: None,
        created: Vec::new(),
        failure: None,
    };
    let made = || -> Result<Label, BatchError> {
        if !columns.is_empty() {
            files.shares = Some(ShareWriter::create(destination.shares, columns)?);
            files.created.push(destination.shares.to_owned());
        }
        let label = source.generate(request, shares, &mut |chunk: KeyChunk| {
            let count = chunk.label.count;
            files.accept(chunk)?;
            progress(count);
            Ok(())
        });
        // A failure of a file is the cause, not the source's report that its sink gave up.
        if let Some(failure) = files.failure.take() {
            return Err(failure);
        }
        let label = label.map_err(BatchError::Source)?;
        files.finish()?;
        Ok(label)
    }();
    if made.is_err() {
        for path in &files.created {
            // Nothing complete is lost, and the first error is the one to report.
            let _ = fs::remove_file(path);
        }
    }
    made
}

fn refuse_existing(path: &Path) -> Result<(), BatchError> {
    match path.symlink_metadata() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        _ => Err(BatchError::Exists { path: path.to_owned() }),
    }
}

/// The sink of [`write_batch`].
struct Files<'a> {
    spec: KeySpec,
    party: Party,
    count: u64,
    path: &'a Path,
    /// Created with the first chunk, whose label the header needs.
    keys: Option<KeyFileWriter<File>>,
    shares: Option<ShareWriter>,
    created: Vec<PathBuf>,
    failure: Option<BatchError>,
}

impl Files<'_> {
    fn accept(&mut self, chunk: KeyChunk) -> Result<(), SourceError> {
        self.write(chunk).map_err(|failure| {
            self.failure = Some(failure);
            SourceError::Sink("a file could not be written".into())
        })
    }

    fn write(&mut self, mut chunk: KeyChunk) -> Result<(), BatchError> {
        let path = self.path;
        let key_file = |source| BatchError::KeyFile { path: path.to_owned(), source };
        let Some(PartOutput::Keys(keys)) = chunk.outputs.pop() else {
            return Err(BatchError::Parts);
        };
        let writer = match &mut self.keys {
            Some(writer) => writer,
            empty => {
                let label = Label { count: self.count, ..chunk.label };
                let header = KeyFileHeader::new(self.spec, self.party, label).map_err(key_file)?;
                let writer = KeyFileWriter::create(path, header).map_err(key_file)?;
                self.created.push(path.to_owned());
                empty.insert(writer)
            }
        };
        writer.write(&keys).map_err(key_file)?;
        if let Some(shares) = &mut self.shares {
            shares.write(&chunk.mask_shares, &chunk.payload_shares)?;
        }
        Ok(())
    }

    fn finish(&mut self) -> Result<(), BatchError> {
        let key_file = |source| BatchError::KeyFile { path: self.path.to_owned(), source };
        if let Some(writer) = self.keys.take() {
            let file = writer.finish().map_err(key_file)?;
            file.sync_all().map_err(|source| key_file(KeyFileError::Io { operation: "syncing", source }))?;
        }
        match self.shares.take() {
            Some(shares) => Ok(shares.finish()?),
            None => Ok(()),
        }
    }
}
