//! Share and point files: what is read, what is refused, and how it is named.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::fs;
use std::path::{Path, PathBuf};

use kord_cli::text::{Columns, ShareFile, ShareWriter, TextError, read_points};
use kord_core::request::{KeyPart, Mask, Part, Payload, Request, ShareChunk, ShareReader};
use kord_core::{Group, KeySpec};
use tempfile::TempDir;

fn request(mask: Mask, payload: Payload, arity: u32) -> Request {
    let spec = KeySpec::dpf(8, Group::ring(16).unwrap()).unwrap().with_arity(arity).unwrap();
    Request::new(3, mask, vec![Part::Key(KeyPart { spec, payload })]).unwrap()
}

fn write(dir: &TempDir, text: &str) -> PathBuf {
    let path = dir.path().join("shares.txt");
    fs::write(&path, text).unwrap();
    path
}

fn refusal(path: &Path, columns: Columns) -> String {
    ShareFile::open(path, columns).unwrap_err().to_string().replace(path.to_str().unwrap(), "FILE")
}

#[test]
fn shares_are_read_in_pieces_of_any_length() {
    let dir = TempDir::new().unwrap();
    let path = write(&dir, "# alpha beta beta\n\n1 2 3\n 0xff\t0xffff 0 # last of its kind\n7 8 9");
    let columns = Columns::given(&request(Mask::given(8), Payload::Given, 2));
    let mut file = ShareFile::open(&path, columns).unwrap();
    assert_eq!(file.count(), 3);
    assert!(file.expect_count(3).is_ok());
    assert!(file.expect_count(4).unwrap_err().to_string().contains("3 elements, but 4 are needed"));
    let (mut masks, mut payloads) = (Vec::new(), Vec::new());
    for count in [1, 2] {
        let mut chunk = ShareChunk::default();
        file.read(count, &mut chunk).unwrap();
        masks.extend_from_slice(&chunk.masks);
        payloads.extend_from_slice(&chunk.payloads);
    }
    assert_eq!((masks, payloads), (vec![1, 255, 7], vec![2, 3, 65535, 0, 8, 9]));
    assert!(file.read(1, &mut ShareChunk::default()).is_err());
}

#[test]
fn errors_name_line_column_field_and_remedy_but_no_value() {
    let dir = TempDir::new().unwrap();
    let given = || Columns::given(&request(Mask::given(8), Payload::Given, 1));
    for (text, want) in [
        ("1 2\n3", "FILE, line 2: 1 fields, but each line holds 2: alpha_share beta_share"),
        ("1 2\n3 4 5", "FILE, line 2: 3 fields, but each line holds 2: alpha_share beta_share"),
        ("#\n1 2\n  256 4", "FILE, line 3, column 3, alpha share: must be at most 255"),
        ("1 65536", "FILE, line 1, column 3, beta share: must be at most 65535"),
        (
            "1 2\n3  4z",
            "FILE, line 2, column 4, beta share: character 2 is no decimal digit; write a decimal number, or a \
             hexadecimal one after 0x",
        ),
        ("# none\n", "FILE: no elements in it; write one a line: alpha_share beta_share"),
    ] {
        assert_eq!(refusal(&write(&dir, text), given()), want);
    }
    let wide = Columns::given(&request(Mask::derived(8), Payload::Given, 3));
    let names = "beta_share_1 … beta_share_3";
    let want = format!("FILE, line 1: 2 fields, but each line holds 3: {names}");
    assert_eq!(refusal(&write(&dir, "1 2"), wide.clone()), want);
    assert!(
        refusal(&write(&dir, "1 2 70000"), wide).contains("column 5, beta share 3: must be at most 65535")
    );
    assert_eq!(refusal(&dir.path().join("absent"), given()), "FILE: cannot open it");
}

#[test]
fn derived_shares_are_written_as_they_are_read() {
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("derived.txt");
    let derived = Columns::derived(&request(Mask::derived(8), Payload::Derived, 2));
    assert_eq!(derived.len(), 3);
    let mut writer = ShareWriter::create(&path, derived.clone()).unwrap();
    writer.write(&[1, 2], &[10, 11, 20, 21]).unwrap();
    writer.write(&[3], &[30, 31]).unwrap();
    assert!(writer.write(&[4], &[40]).is_err());
    writer.finish().unwrap();
    let error = ShareWriter::create(&path, derived.clone()).unwrap_err();
    assert!(matches!(error, TextError::Io { operation: "create", .. }));

    // Derived shares of one request are the given shares of another.
    let given = Columns::given(&request(Mask::given(8), Payload::Given, 2));
    assert_eq!(given, derived);
    let mut chunk = ShareChunk::default();
    ShareFile::open(&path, given).unwrap().read(3, &mut chunk).unwrap();
    assert_eq!((&chunk.masks[..], &chunk.payloads[..]), (&[1, 2, 3][..], &[10, 11, 20, 21, 30, 31][..]));
}

#[test]
fn nothing_given_or_nothing_derived_has_no_columns() {
    assert!(Columns::given(&request(Mask::derived(8), Payload::One, 1)).is_empty());
    assert!(Columns::derived(&request(Mask::given(8), Payload::Given, 1)).is_empty());
    assert_eq!(Columns::derived(&request(Mask::derived(8), Payload::OneAndMask, 2)).len(), 1);
}

#[test]
fn points_are_the_same_number_for_every_key() {
    let dir = TempDir::new().unwrap();
    let read = |text: &str, keys| {
        let path = write(&dir, text);
        read_points(&path, keys, 255).map_err(|e| e.to_string().replace(path.to_str().unwrap(), "FILE"))
    };
    assert_eq!(read("1 2\n# no key\n0xff 0", 2).unwrap(), [1, 2, 255, 0]);
    assert_eq!(read("1 2\n3", 2).unwrap_err(), "FILE, line 2: 1 fields, but each line holds 2: point …");
    assert_eq!(read("1\n300", 2).unwrap_err(), "FILE, line 2, column 1, point: must be at most 255");
    assert!(read("1\n-3", 2).unwrap_err().starts_with("FILE, line 2, column 1, point: character 1 is no"));
    assert_eq!(read("1\n2", 3).unwrap_err(), "FILE: 2 elements, but 3 are needed");
    assert_eq!(read("", 3).unwrap_err(), "FILE: no elements in it; write one a line: point …");
}
