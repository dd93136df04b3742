//! The text formats that users write: numbers, groups, share files, point files.
//!
//! All files have one element a line, fields separated by blanks; `#` begins a comment, and
//! empty lines are skipped. Numbers are decimal, or hexadecimal after `0x`. Errors name the file,
//! line and column, and never repeat a field: it may be a share.

mod group;
mod number;
mod points;
mod shares;

use std::path::PathBuf;

pub use group::{GroupName, GroupNameError};
pub use number::{NumberError, parse_u64, parse_u128};
pub use points::read_points;
pub use shares::{Columns, ShareFile, ShareWriter};

use thiserror::Error;

/// What is wrong with a text file.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum TextError {
    /// The file cannot be opened, read or written.
    #[error("{}: cannot {operation} it", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What was tried.
        operation: &'static str,
        /// Why it failed.
        #[source]
        source: std::io::Error,
    },
    /// A line with too few or too many fields.
    #[error("{}, line {line}: {have} fields, but each line holds {want}: {names}", path.display())]
    Fields {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: u64,
        /// Fields of the line.
        have: usize,
        /// Fields that fit.
        want: usize,
        /// What they are.
        names: String,
    },
    /// A field that is no number.
    #[error("{}, line {line}, column {column}, {field}: {problem}", path.display())]
    Number {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: u64,
        /// The column of the field's first character, from 1.
        column: usize,
        /// What the field is.
        field: String,
        /// What is wrong with it.
        problem: NumberError,
    },
    /// A number outside the field's range.
    #[error("{}, line {line}, column {column}, {field}: must be at most {max}", path.display())]
    Range {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: u64,
        /// The column of the field's first character, from 1.
        column: usize,
        /// What the field is.
        field: String,
        /// The largest value allowed.
        max: u128,
    },
    /// A file without any element.
    #[error("{}: no elements in it; write one a line: {names}", path.display())]
    Empty {
        /// The file.
        path: PathBuf,
        /// What a line holds.
        names: String,
    },
    /// Another number of elements than the caller needs.
    #[error("{}: {have} elements, but {want} are needed", path.display())]
    Count {
        /// The file.
        path: PathBuf,
        /// Elements of the file.
        have: u64,
        /// Elements needed.
        want: u64,
    },
}

/// A field of a line and its column, from 1.
type Field<'a> = (usize, &'a str);

/// The fields of a line, without its comment.
fn fields(line: &str) -> impl Iterator<Item = Field<'_>> {
    let text = line.split('#').next().unwrap_or("");
    text.split(char::is_whitespace).filter(|field| !field.is_empty()).map(move |field| {
        let offset = field.as_ptr() as usize - line.as_ptr() as usize;
        (line[..offset].chars().count() + 1, field)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_know_their_columns() {
        let found: Vec<Field<'_>> = fields("  1\t0x2 é 3 # 4 5").collect();
        assert_eq!(found, [(3, "1"), (5, "0x2"), (9, "é"), (11, "3")]);
        assert_eq!(fields("# only a comment").count(), 0);
        assert_eq!(fields("").count(), 0);
        assert_eq!(fields("7#8").collect::<Vec<_>>(), [(1, "7")]);
    }
}
