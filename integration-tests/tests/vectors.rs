//! The vectors of the real libraries, through the command that users run.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

/// Every committed vector file.
fn files(dir: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files(&path));
        } else if path.to_string_lossy().ends_with(".json.gz") {
            found.push(path);
        }
    }
    found
}

#[test]
fn every_committed_vector_passes() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../kord-core/tests/vectors");
    let files = files(&root);
    assert!(files.len() >= 7, "{files:?}");
    let output = Command::new(env!("CARGO_BIN_EXE_kord-under-test"))
        .args(["vectors", "check", "--json"])
        .args(&files)
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let json: Value = serde_json::from_slice(&output.stdout).unwrap();
    let value = |name: &str| {
        let figures = json["figures"].as_array().unwrap();
        figures.iter().find(|f| f["name"] == name).unwrap()["value"].as_f64().unwrap()
    };
    assert!(value("vectors_passed") >= 500.0, "{json}");
    assert_eq!(value("vectors_failed"), 0.0);
}
