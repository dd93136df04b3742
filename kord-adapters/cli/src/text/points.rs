//! Point files: line j holds the points at which key j is evaluated.

use std::path::Path;

use super::number::parse_u64;
use super::{TextError, fields};

/// The points of `path`, key after key, the same number for each of `keys` keys. Points are
/// public: masked and opened inputs.
///
/// # Arguments
/// `max`: the largest point, 2^n − 1.
///
/// # Errors
/// [`TextError`], naming the line and column.
pub fn read_points(path: &Path, keys: u64, max: u64) -> Result<Vec<u64>, TextError> {
    let io = |source| TextError::Io { path: path.to_owned(), operation: "read", source };
    let text = std::fs::read_to_string(path).map_err(io)?;
    let names = || "point …".to_owned();
    let (mut points, mut per_key, mut have_keys) = (Vec::new(), None, 0);
    for (line, text) in (1..).zip(text.lines()) {
        let before = points.len();
        for (column, field) in fields(text) {
            let at = || (path.to_owned(), "point".to_owned());
            let point = parse_u64(field).map_err(|problem| {
                let (path, field) = at();
                TextError::Number { path, line, column, field, problem }
            })?;
            if point > max {
                let (path, field) = at();
                return Err(TextError::Range { path, line, column, field, max: u128::from(max) });
            }
            points.push(point);
        }
        let have = points.len() - before;
        if have == 0 {
            continue;
        }
        have_keys += 1;
        let want = *per_key.get_or_insert(have);
        if have != want {
            return Err(TextError::Fields { path: path.to_owned(), line, have, want, names: names() });
        }
    }
    match have_keys {
        0 => Err(TextError::Empty { path: path.to_owned(), names: names() }),
        have if have == keys => Ok(points),
        have => Err(TextError::Count { path: path.to_owned(), have, want: keys }),
    }
}
