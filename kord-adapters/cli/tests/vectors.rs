//! `kord vectors check` as a user runs it.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::{Value, json};
use tempfile::TempDir;

/// Fixed-key AES-128 MMO: three cases that hold, and a section nobody knows.
fn primitives() -> Value {
    let case = |x: &str, out: &str| json!({"x": x, "out": out});
    json!({
        "mAesFixedKey_mmo": {
            "key": "f31dec62a0cdaaae0931e65cea329c24",
            "cases": [
                case("00000000000000000000000000000000", "c58ddf84e1aea56af819edfbcbda64b2"),
                case("ffffffffffffffffffffffffffffffff", "89e016339d01f2e397294d093987aeb2"),
                case("40d7391f1427dd28feec76d1ff1b13c6", "03d5204a9fa0b581963c730ddfe30bc2"),
            ],
        },
        "of_the_future": [{"x": "00"}, {"x": "01"}],
    })
}

fn check(dir: &Path, args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_kord"));
    command.current_dir(dir).args(["vectors", "check"]).args(args).output().unwrap()
}

fn counts(output: &Output) -> [u64; 3] {
    let json: Value = serde_json::from_slice(&output.stdout).unwrap();
    let value = |name: &str| {
        let figures = json["figures"].as_array().unwrap();
        let figure = figures.iter().find(|f| f["name"] == name).unwrap();
        assert_eq!(figure["kind"], "measured");
        figure["value"].as_u64().unwrap()
    };
    ["vectors_passed", "vectors_failed", "vectors_skipped"].map(value)
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap()
}

#[test]
fn passed_and_skipped_cases_are_counted() {
    let dir = TempDir::new().unwrap();
    fs::write(dir.path().join("good.json"), primitives().to_string()).unwrap();
    let unknown = json!({"scheme": "half-moon", "cases": [{"id": 0}, {"id": 1}, {"id": 2}]});
    fs::write(dir.path().join("unknown.json"), unknown.to_string()).unwrap();
    let output = check(dir.path(), &["good.json", "unknown.json", "--json"]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert_eq!(counts(&output), [3, 0, 5]);
    assert_eq!(text(&output.stdout).lines().count(), 1);
    let output = check(dir.path(), &["good.json", "unknown.json"]);
    assert!(output.status.success());
    let table = text(&output.stdout);
    for cells in [["good.json", "prg-kats", "3", "0", "2"], ["unknown.json", "half-moon", "0", "0", "3"]] {
        let row = table.lines().find(|line| line.contains(cells[0])).unwrap();
        let found: Vec<_> = row.split(['│', '┆']).map(str::trim).filter(|cell| !cell.is_empty()).collect();
        assert_eq!(found, cells);
    }
}

#[test]
fn a_mismatch_names_the_field_and_fails() {
    let dir = TempDir::new().unwrap();
    let mut vectors = primitives();
    vectors["mAesFixedKey_mmo"]["cases"][1]["out"] = json!("89e016339d01f2e397294d093987aeb3");
    fs::write(dir.path().join("bad.json"), vectors.to_string()).unwrap();
    fs::write(dir.path().join("good.json"), primitives().to_string()).unwrap();
    let output = check(dir.path(), &["bad.json", "good.json", "--json"]);
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(counts(&output), [5, 1, 4]);
    let message = text(&output.stderr);
    for part in [
        "bad.json",
        "out",
        "expected 89e016339d01f2e397294d093987aeb3",
        "got 89e016339d01f2e397294d093987aeb2",
    ] {
        assert!(message.contains(part), "{part}: {message}");
    }
    assert!(message.contains("1 cases failed, 0 files could not be checked"), "{message}");
}

#[test]
fn what_is_no_vector_file_fails_and_the_others_are_still_checked() {
    let dir = TempDir::new().unwrap();
    fs::write(dir.path().join("good.json"), primitives().to_string()).unwrap();
    fs::write(dir.path().join("notes.json"), "{\"scheme\": \n 3 4").unwrap();
    fs::write(dir.path().join("broken.json.gz"), b"\x1f\x8b not gzip").unwrap();
    let output = check(dir.path(), &["absent.json", "notes.json", "broken.json.gz", "good.json", "--json"]);
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(counts(&output), [3, 0, 2]);
    let message = text(&output.stderr);
    for part in ["absent.json", "notes.json: cannot be checked: no valid JSON", "line 2", "broken.json.gz"] {
        assert!(message.contains(part), "{part}: {message}");
    }
    assert!(message.contains("3 files could not be checked"), "{message}");
    assert_eq!(check(dir.path(), &[]).status.code(), Some(2));
}
