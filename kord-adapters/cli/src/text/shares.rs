//! Share files: one element a line, `mask_share payload_share…`, whatever of these there is.

use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};

use kord_core::Group;
use kord_core::request::{Part, Payload, Request, ShareChunk, ShareReader};
use kord_core::source::SourceError;
use zeroize::{Zeroize, Zeroizing};

use super::number::parse_u128;
use super::{TextError, fields};

/// What a line of a share file holds: the mask's share first, then the payload's elements.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Columns {
    mask: Option<Group>,
    payloads: Vec<Group>,
}

impl Columns {
    /// The shares that a party gives for each element of `request`.
    #[must_use]
    pub fn given(request: &Request) -> Self {
        let mask = request.gives_mask().then(|| request.mask_group());
        Self { mask, payloads: payload_groups(request, Payload::Given) }
    }

    /// The shares that a party gets for each element of `request`: those that were derived.
    #[must_use]
    pub fn derived(request: &Request) -> Self {
        let mask = (!request.gives_mask()).then(|| request.mask_group());
        Self { mask, payloads: payload_groups(request, Payload::Derived) }
    }

    /// Fields of a line.
    #[must_use]
    pub fn len(&self) -> usize {
        usize::from(self.mask.is_some()) + self.payloads.len()
    }

    /// Whether a line would hold nothing.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn group(&self, column: usize) -> (Group, String) {
        match self.mask {
            Some(group) if column == 0 => (group, "alpha share".to_owned()),
            mask => {
                let element = column - usize::from(mask.is_some());
                let number =
                    if self.payloads.len() > 1 { format!(" {}", element + 1) } else { String::new() };
                (self.payloads[element], format!("beta share{number}"))
            }
        }
    }

    fn names(&self) -> String {
        let payloads = match self.payloads.len() {
            0 => None,
            1 => Some("beta_share".to_owned()),
            n => Some(format!("beta_share_1 … beta_share_{n}")),
        };
        let mask = self.mask.map(|_| "alpha_share".to_owned());
        mask.into_iter().chain(payloads).collect::<Vec<_>>().join(" ")
    }
}

fn payload_groups(request: &Request, payload: Payload) -> Vec<Group> {
    let keys = request.parts().iter().filter_map(|part| match part {
        Part::Key(key) if key.payload == payload => Some(key.spec),
        _ => None,
    });
    keys.flat_map(|spec| std::iter::repeat_n(spec.group(), spec.arity() as usize)).collect()
}

/// A checked share file, read as a stream: memory does not grow with it.
///
/// Reading text takes time that depends on the digits. Where that matters, give shares through
/// the library.
#[derive(Debug)]
pub struct ShareFile {
    path: PathBuf,
    columns: Columns,
    lines: BufReader<File>,
    line: u64,
    count: u64,
}

impl ShareFile {
    /// Opens `path`, reads and checks all of it, and stands before the first element: nothing is
    /// sent to anybody on account of a file with an error in it.
    ///
    /// # Errors
    /// [`TextError`], naming the line and column.
    pub fn open(path: &Path, columns: Columns) -> Result<Self, TextError> {
        let mut file = Self::start(path, columns.clone())?;
        let mut count = 0;
        let mut values = Zeroizing::new(Vec::with_capacity(columns.len()));
        while file.next_line(&mut values)? {
            count += 1;
        }
        if count == 0 {
            return Err(TextError::Empty { path: path.to_owned(), names: columns.names() });
        }
        Ok(Self { count, ..Self::start(path, columns)? })
    }

    /// Elements in the file.
    #[must_use]
    pub const fn count(&self) -> u64 {
        self.count
    }

    /// Refuses a file of another length.
    ///
    /// # Errors
    /// [`TextError::Count`].
    pub fn expect_count(&self, want: u64) -> Result<(), TextError> {
        if self.count == want {
            return Ok(());
        }
        Err(TextError::Count { path: self.path.clone(), have: self.count, want })
    }

    fn start(path: &Path, columns: Columns) -> Result<Self, TextError> {
        let open = |source| TextError::Io { path: path.to_owned(), operation: "open", source };
        let lines = BufReader::new(File::open(path).map_err(open)?);
        Ok(Self { path: path.to_owned(), columns, lines, line: 0, count: 0 })
    }

    /// The fields of the next element, into `values`; false at the end.
    fn next_line(&mut self, values: &mut Vec<u128>) -> Result<bool, TextError> {
        let mut text = Zeroizing::new(String::new());
        loop {
            text.zeroize();
            let read = self.lines.read_line(&mut text);
            let io = |source| TextError::Io { path: self.path.clone(), operation: "read", source };
            if read.map_err(io)? == 0 {
                return Ok(false);
            }
            self.line += 1;
            if fields(&text).next().is_some() {
                break;
            }
        }
        let (path, line, want) = (|| self.path.clone(), self.line, self.columns.len());
        let have = fields(&text).count();
        if have != want {
            return Err(TextError::Fields { path: path(), line, have, want, names: self.columns.names() });
        }
        values.zeroize();
        for (i, (column, field)) in fields(&text).enumerate() {
            let (group, name) = self.columns.group(i);
            let value = parse_u128(field).map_err(|problem| {
                let field = name.clone();
                TextError::Number { path: path(), line, column, field, problem }
            })?;
            if !group.contains(value) {
                let max = group.max_element();
                return Err(TextError::Range { path: path(), line, column, field: name, max });
            }
            values.push(value);
        }
        Ok(true)
    }
}

impl ShareReader for ShareFile {
    fn read(&mut self, count: usize, chunk: &mut ShareChunk) -> Result<(), SourceError> {
        let masked = self.columns.mask.is_some();
        chunk.masks.reserve_exact(if masked { count } else { 0 });
        chunk.payloads.reserve_exact(count * self.columns.payloads.len());
        let mut values = Zeroizing::new(Vec::with_capacity(self.columns.len()));
        for _ in 0..count {
            // The file was checked to the end: it can only be short if it was changed since.
            if !self.next_line(&mut values).map_err(reader_failed)? {
                let (path, have) = (self.path.clone(), self.count);
                return Err(reader_failed(TextError::Count { path, have, want: have + 1 }));
            }
            let mut rest = values.as_slice();
            if masked && let Some((mask, payloads)) = rest.split_first() {
                // A mask's group has at most 64 bits.
                chunk.masks.push(*mask as u64);
                rest = payloads;
            }
            chunk.payloads.extend_from_slice(rest);
        }
        Ok(())
    }
}

fn reader_failed(error: TextError) -> SourceError {
    SourceError::Source(Box::new(error))
}

/// Writes derived shares in the form that [`ShareFile`] reads, readable by its owner only.
#[derive(Debug)]
pub struct ShareWriter {
    path: PathBuf,
    columns: Columns,
    out: BufWriter<File>,
}

impl ShareWriter {
    /// Creates `path`.
    ///
    /// # Errors
    /// [`TextError::Io`], also if the file exists: shares are never overwritten.
    pub fn create(path: &Path, columns: Columns) -> Result<Self, TextError> {
        let failed = |source| TextError::Io { path: path.to_owned(), operation: "create", source };
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let mut out = BufWriter::new(options.open(path).map_err(failed)?);
        writeln!(out, "# one key a line: {}", columns.names()).map_err(failed)?;
        Ok(Self { path: path.to_owned(), columns, out })
    }

    /// Writes the shares of consecutive elements.
    ///
    /// # Errors
    /// [`TextError::Io`]; [`TextError::Fields`] if the shares do not fit the columns.
    pub fn write(&mut self, masks: &[u64], payloads: &[u128]) -> Result<(), TextError> {
        let arity = self.columns.payloads.len();
        let count = if self.columns.mask.is_some() { masks.len() } else { payloads.len() / arity.max(1) };
        if payloads.len() != count * arity {
            let (path, names) = (self.path.clone(), self.columns.names());
            let have = payloads.len() / count.max(1);
            return Err(TextError::Fields { path, line: 0, have, want: arity, names });
        }
        for j in 0..count {
            let line = self.line(masks.get(j), &payloads[j * arity..(j + 1) * arity]);
            line.map_err(|source| self.failed(source))?;
        }
        Ok(())
    }

    /// Hands everything to the system.
    ///
    /// # Errors
    /// [`TextError::Io`].
    pub fn finish(mut self) -> Result<(), TextError> {
        self.out.flush().map_err(|source| self.failed(source))
    }

    fn line(&mut self, mask: Option<&u64>, payload: &[u128]) -> std::io::Result<()> {
        let mut separator = "";
        if let Some(mask) = mask {
            write!(self.out, "{mask}")?;
            separator = " ";
        }
        for element in payload {
            write!(self.out, "{separator}{element}")?;
            separator = " ";
        }
        writeln!(self.out)
    }

    fn failed(&self, source: std::io::Error) -> TextError {
        TextError::Io { path: self.path.clone(), operation: "write", source }
    }
}
