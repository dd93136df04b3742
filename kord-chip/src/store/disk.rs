//! Counters and pairing in a redb file.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use redb::{Database, DatabaseError, ReadableDatabase, ReadableTable, TableDefinition, WriteTransaction};

use super::range::{Change, Range};
use super::{ChipStore, CounterStore, DEFAULT_RANGE, StoreError, record};
use crate::identity::{StorageKey, create_private_file, sync_dir};
use crate::pairing::Pairing;
use crate::{Lifecycle, Mark, Marks, SessionStart};

const FILE: &str = "store.redb";
const FORMAT: u64 = 1;

/// Named numbers; the names are the constants below.
const NUMBERS: TableDefinition<'_, &str, u64> = TableDefinition::new("numbers");
/// Stream id to the end of its reserved range.
const STREAMS: TableDefinition<'_, u64, u64> = TableDefinition::new("streams");
/// The sealed pairing record, under [`RECORD`].
const PAIRING: TableDefinition<'_, &str, &[u8]> = TableDefinition::new("pairing");

const FORMAT_KEY: &str = "format";
const SESSION: &str = "session";
const COUNTER: &str = "counter";
const PEER_SESSION: &str = "peer session";
const PEER_COUNTER: &str = "peer counter";
const REVOKED: &str = "revoked";
const RECORD: &str = "record";

/// The durable state of one chip, in `store.redb` (mode 0600) of its state directory.
///
/// One handle at a time may have it open; the file is locked.
pub struct DiskStore {
    db: Database,
    dir: PathBuf,
    path: PathBuf,
    key: StorageKey,
    range: u64,
    session: u32,
    counter: Range,
    peer: Mark,
    /// What of `peer` is durable.
    peer_written: Mark,
    streams: HashMap<u64, Range>,
}

/// Names what was tried in an error of the database.
fn failed<E: Into<redb::Error>>(action: &'static str, path: &Path) -> impl Fn(E) -> StoreError {
    move |source| StoreError::Database { action, path: path.to_owned(), source: Box::new(source.into()) }
}

fn number(table: &impl ReadableTable<&'static str, u64>, name: &'static str) -> Result<u64, redb::Error> {
    Ok(table.get(name)?.map_or(0, |value| value.value()))
}

impl DiskStore {
    /// Opens the store of the state directory `dir`, or creates it.
    ///
    /// # Errors
    /// [`StoreError::StoreInUse`] if it is open elsewhere; otherwise what opening gives.
    pub fn open(dir: &Path, key: StorageKey) -> Result<Self, StoreError> {
        Self::open_with_range(dir, key, DEFAULT_RANGE)
    }

    /// As [`open`](Self::open), reserving `range` counters at a time (0 acts as 1).
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub fn open_with_range(dir: &Path, key: StorageKey, range: u64) -> Result<Self, StoreError> {
        let path = dir.join(FILE);
        create_private_file(&path)
            .and_then(|()| sync_dir(dir))
            .map_err(|source| StoreError::Create { path: path.clone(), source })?;
        let db = Database::create(&path).map_err(|error| match error {
            DatabaseError::DatabaseAlreadyOpen | DatabaseError::LockProtocolMismatch => {
                StoreError::StoreInUse { path: path.clone() }
            }
            error => failed("open", &path)(error),
        })?;
        Self::create_tables(&db).map_err(failed("write", &path))?;
        let [format, session, counter, peer_session, peer_counter] =
            Self::read_numbers(&db).map_err(failed("read", &path))?;
        if format != FORMAT {
            return Err(StoreError::Format { path, found: format, expected: FORMAT });
        }
        let session = u32::try_from(session).map_err(|_| StoreError::Corrupt { field: SESSION })?;
        let peer_session =
            u32::try_from(peer_session).map_err(|_| StoreError::Corrupt { field: PEER_SESSION })?;
        let peer = Mark { session: peer_session, counter: peer_counter };
        Ok(Self {
            db,
            dir: dir.to_owned(),
            path,
            key,
            range: range.max(1),
            session,
            counter: Range::reopened(counter),
            peer,
            peer_written: peer,
            streams: HashMap::new(),
        })
    }

    fn create_tables(db: &Database) -> Result<(), redb::Error> {
        let txn = db.begin_write()?;
        {
            let mut numbers = txn.open_table(NUMBERS)?;
            if numbers.get(FORMAT_KEY)?.is_none() {
                numbers.insert(FORMAT_KEY, FORMAT)?;
            }
            txn.open_table(STREAMS)?;
            txn.open_table(PAIRING)?;
        }
        Ok(txn.commit()?)
    }

    fn read_numbers(db: &Database) -> Result<[u64; 5], redb::Error> {
        let table = db.begin_read()?.open_table(NUMBERS)?;
        let mut values = [0; 5];
        for (value, name) in values.iter_mut().zip([FORMAT_KEY, SESSION, COUNTER, PEER_SESSION, PEER_COUNTER])
        {
            *value = number(&table, name)?;
        }
        Ok(values)
    }

    /// One durable transaction; the memory of the peer goes with it.
    fn write(
        &mut self,
        change: impl FnOnce(&WriteTransaction) -> Result<(), redb::Error>,
    ) -> Result<(), StoreError> {
        let peer = self.peer;
        let run = || -> Result<(), redb::Error> {
            let txn = self.db.begin_write()?;
            {
                let mut numbers = txn.open_table(NUMBERS)?;
                numbers.insert(PEER_SESSION, u64::from(peer.session))?;
                numbers.insert(PEER_COUNTER, peer.counter)?;
            }
            change(&txn)?;
            Ok(txn.commit()?)
        };
        run().map_err(failed("write", &self.path))?;
        self.peer_written = peer;
        Ok(())
    }

    /// Makes the memory of the peer durable now. Dropping the store does it too, as well as it
    /// can.
    ///
    /// # Errors
    /// [`StoreError::Database`].
    pub fn flush(&mut self) -> Result<(), StoreError> {
        if self.peer == self.peer_written { Ok(()) } else { self.write(|_| Ok(())) }
    }

    fn apply_counter(&mut self, change: &Change) -> Result<(), StoreError> {
        if let Some(end) = change.write {
            self.write(|txn| {
                txn.open_table(NUMBERS)?.insert(COUNTER, end)?;
                Ok(())
            })?;
        }
        self.counter = change.after;
        Ok(())
    }

    fn stream(&mut self, stream: u64) -> Result<Range, StoreError> {
        if let Some(range) = self.streams.get(&stream) {
            return Ok(*range);
        }
        let read = || -> Result<u64, redb::Error> {
            let table = self.db.begin_read()?.open_table(STREAMS)?;
            Ok(table.get(stream)?.map_or(0, |value| value.value()))
        };
        let range = Range::reopened(read().map_err(failed("read", &self.path))?);
        self.streams.insert(stream, range);
        Ok(range)
    }

    fn apply_stream(&mut self, stream: u64, change: &Change) -> Result<(), StoreError> {
        if let Some(end) = change.write {
            self.write(|txn| {
                txn.open_table(STREAMS)?.insert(stream, end)?;
                Ok(())
            })?;
        }
        self.streams.insert(stream, change.after);
        Ok(())
    }
}

impl CounterStore for DiskStore {
    fn marks(&self) -> Marks {
        Marks { own: Mark { session: self.session, counter: self.counter.next }, peer: self.peer }
    }

    fn start_session(&mut self, start: &SessionStart) -> Result<(), StoreError> {
        let session = start.own.session;
        if session <= self.session {
            return Err(StoreError::SessionNotNewer { session, last: self.session });
        }
        let change = self.counter.skip_to(start.own.counter);
        let before = self.peer;
        self.peer = before.max(start.peer);
        let written = self.write(|txn| {
            let mut numbers = txn.open_table(NUMBERS)?;
            numbers.insert(SESSION, u64::from(session))?;
            if let Some(end) = change.write {
                numbers.insert(COUNTER, end)?;
            }
            Ok(())
        });
        if written.is_err() {
            self.peer = before;
            return written;
        }
        self.session = session;
        self.counter = change.after;
        Ok(())
    }

    fn reserve(&mut self, count: u64) -> Result<u64, StoreError> {
        let first = self.counter.next;
        let change = self.counter.take(count, self.range)?;
        self.apply_counter(&change)?;
        Ok(first)
    }

    fn skip_to(&mut self, counter: u64) -> Result<(), StoreError> {
        let change = self.counter.skip_to(counter);
        self.apply_counter(&change)
    }

    fn stream_position(&mut self, stream: u64) -> Result<u64, StoreError> {
        Ok(self.stream(stream)?.next)
    }

    fn reserve_stream(&mut self, stream: u64, count: u64) -> Result<u64, StoreError> {
        let range = self.stream(stream)?;
        let change = range.take(count, self.range)?;
        self.apply_stream(stream, &change)?;
        Ok(range.next)
    }

    fn skip_stream_to(&mut self, stream: u64, position: u64) -> Result<(), StoreError> {
        let change = self.stream(stream)?.skip_to(position);
        self.apply_stream(stream, &change)
    }

    fn saw_peer(&mut self, mark: Mark) {
        self.peer = self.peer.max(mark);
    }
}

impl ChipStore for DiskStore {
    fn pairing(&self) -> Result<Option<Pairing>, StoreError> {
        let read = || -> Result<Option<Vec<u8>>, redb::Error> {
            let table = self.db.begin_read()?.open_table(PAIRING)?;
            Ok(table.get(RECORD)?.map(|value| value.value().to_vec()))
        };
        let Some(sealed) = read().map_err(failed("read", &self.path))? else { return Ok(None) };
        let plain = self
            .key
            .open(record::PURPOSE, &sealed)
            .ok_or_else(|| StoreError::Sealed { path: self.path.clone() })?;
        record::decode(&plain).map(Some).ok_or(StoreError::Corrupt { field: "pairing record" })
    }

    fn set_pairing(&mut self, pairing: &Pairing) -> Result<(), StoreError> {
        let sealed = self.key.seal(record::PURPOSE, &record::encode(pairing))?;
        let peer = core::mem::take(&mut self.peer);
        let written = self.write(|txn| {
            txn.open_table(PAIRING)?.insert(RECORD, sealed.as_slice())?;
            txn.open_table(NUMBERS)?.remove(REVOKED)?;
            txn.open_table(STREAMS)?.retain(|_, _| false)?;
            Ok(())
        });
        if written.is_err() {
            self.peer = peer;
            return written;
        }
        self.streams.clear();
        Ok(())
    }

    /// Deletes the record, then replaces the storage key, so that copies of the record left in
    /// free pages of the file can no longer be opened. If replacing fails
    /// ([`StoreError::StorageKey`]) the record is deleted, but the old key is still in its file.
    fn revoke(&mut self) -> Result<(), StoreError> {
        self.write(|txn| {
            txn.open_table(PAIRING)?.remove(RECORD)?;
            txn.open_table(NUMBERS)?.insert(REVOKED, 1)?;
            Ok(())
        })?;
        self.key = StorageKey::rotate(&self.dir)?;
        Ok(())
    }

    fn lifecycle(&self) -> Result<Lifecycle, StoreError> {
        let read = || -> Result<Lifecycle, redb::Error> {
            let txn = self.db.begin_read()?;
            Ok(if txn.open_table(PAIRING)?.get(RECORD)?.is_some() {
                Lifecycle::Paired
            } else if number(&txn.open_table(NUMBERS)?, REVOKED)? != 0 {
                Lifecycle::Revoked
            } else {
                Lifecycle::Provisioned
            })
        };
        read().map_err(failed("read", &self.path))
    }
}

impl Drop for DiskStore {
    fn drop(&mut self) {
        // An older memory of the peer only makes a rollback of the peer harder to see.
        let _ = self.flush();
    }
}
