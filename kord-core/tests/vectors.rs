//! Known answers of the real libraries, and what the runner says of files that are wrong.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::io::Read;
use std::path::{Path, PathBuf};

use kord_core::vectors::{self, Report, VectorError};
use proptest::prelude::*;
use serde_json::{Value, json};

/// (file, cases, of which skipped).
const FILES: [(&str, u64, u64); 7] = [
    ("llama_fss/llama_fss_dcf.json.gz", 89, 0),
    ("llama_gpumpc/llama_gpumpc_dcf.json.gz", 66, 0),
    ("llama_gpumpc/llama_gpumpc_dpf.json.gz", 69, 0),
    ("llama_gpumpc/llama_gpumpc_dpfet.json.gz", 52, 0),
    ("myl7/myl7_dpf.json.gz", 103, 0),
    ("myl7/myl7_dcf.json.gz", 110, 0),
    ("primitives/prg_kats.json.gz", 178, 48),
];

fn path(file: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/vectors").join(file)
}

fn load(file: &str) -> Value {
    let mut text = Vec::new();
    let bytes = std::fs::read(path(file)).unwrap();
    flate2::read::GzDecoder::new(&bytes[..]).read_to_end(&mut text).unwrap();
    serde_json::from_slice(&text).unwrap()
}

fn check(value: &Value) -> Result<Report, VectorError> {
    vectors::check(&serde_json::to_vec(value).unwrap())
}

fn refusal(value: &Value) -> String {
    check(value).unwrap_err().to_string()
}

/// A file of one case: the first of the file that `wanted` accepts.
fn one_case(file: &str, wanted: impl Fn(&Value) -> bool) -> Value {
    let mut value = load(file);
    let case = value["cases"].as_array().unwrap().iter().find(|c| wanted(c)).unwrap().clone();
    value["cases"] = json!([case]);
    value
}

#[test]
fn every_committed_vector_passes() {
    for (file, cases, skipped) in FILES {
        let report = vectors::check_file(&path(file)).unwrap();
        assert_eq!(report.failures, [], "{file}");
        assert_eq!((report.failed, report.skipped), (0, skipped), "{file}");
        assert_eq!(report.passed, cases - skipped, "{file}");
    }
}

/// A larger set than the committed one: every vector file in the folder `KORD_VECTORS`.
#[test]
fn every_vector_of_the_folder_named_in_the_environment_passes() {
    let Some(folder) = std::env::var_os("KORD_VECTORS") else { return };
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|e| e == "gz" || e == "json") {
            let report = vectors::check_file(&path).unwrap();
            let Report { scheme, passed, failed, skipped, failures, .. } = report;
            println!("{scheme}: {passed} passed, {failed} failed, {skipped} skipped");
            assert_eq!(failures, [], "{}", path.display());
        }
    }
}

/// Every answer of a case with its path: leaves below `under`, but for points.
fn leaves(value: &Value, path: String, out: &mut Vec<String>) {
    match value {
        Value::Object(fields) => {
            for (name, field) in fields.iter().filter(|(name, _)| *name != "x") {
                leaves(field, format!("{path}.{name}"), out);
            }
        }
        Value::Array(items) => {
            for (i, item) in items.iter().enumerate() {
                leaves(item, format!("{path}[{i}]"), out);
            }
        }
        _ => out.push(path),
    }
}

/// The value at a path such as `key0.k[3]`.
fn at<'a>(case: &'a mut Value, path: &str) -> &'a mut Value {
    let mut value = case;
    for part in path.split(['.', '[']) {
        value = match part.strip_suffix(']') {
            Some(index) => &mut value[index.parse::<usize>().unwrap()],
            None => &mut value[part],
        };
    }
    value
}

/// The same answer with one bit of byte `byte` flipped (integers: the lowest bit).
fn flip(value: &mut Value, byte: usize) {
    *value = match &*value {
        Value::Number(bit) => json!(bit.as_u64().unwrap() ^ 1),
        Value::String(text) => match text.strip_prefix("0x") {
            Some(digits) => json!(format!("{:#x}", u128::from_str_radix(digits, 16).unwrap() ^ 1)),
            None => {
                let mut bytes = hex::decode(text).unwrap();
                bytes[byte % text.len().div_ceil(2)] ^= 1;
                json!(hex::encode(bytes))
            }
        },
        other => panic!("{other} is no answer"),
    };
}

#[test]
fn a_flipped_bit_in_any_answer_is_found_and_named() {
    let small = |c: &Value| c["n"] == 8;
    for (file, _, _) in &FILES[..6] {
        let good = one_case(file, small);
        assert_eq!(check(&good).unwrap().passed, 1, "{file}");
        let case = &good["cases"][0];
        let mut paths = Vec::new();
        for answers in ["key0", "key1", "cws", "evals", "evals_all"] {
            if let Some(value) = case.get(answers) {
                leaves(value, answers.to_owned(), &mut paths);
            }
        }
        assert!(paths.len() > 20, "{file}: {paths:?}");
        for path in paths {
            for byte in [0, 7, 12, 31] {
                let mut bad = good.clone();
                flip(at(&mut bad["cases"][0], &path), byte);
                let report = check(&bad).unwrap();
                assert_eq!((report.passed, report.failed), (0, 1), "{file}: {path}");
                let failure = &report.failures[0];
                assert_eq!(failure.field, path, "{file}");
                assert_eq!(failure.case, case["id"].to_string());
                assert_ne!(failure.expected, failure.got);
            }
        }
    }
}

#[test]
fn a_changed_question_changes_the_answer() {
    for (file, _, _) in &FILES[..6] {
        let good = one_case(file, |c| c["n"] == 16);
        for question in ["alpha", "seed0", "seed1"] {
            let mut bad = good.clone();
            flip(at(&mut bad["cases"][0], question), 1);
            assert_eq!(check(&bad).unwrap().failed, 1, "{file}: {question}");
        }
    }
    let mut bad = one_case("myl7/myl7_dpf.json.gz", |c| c["prg"] == "aes128-mmo");
    flip(&mut bad["aes_keys"][1], 0);
    assert_eq!(check(&bad).unwrap().failures[0].field, "cws[0]");
    let mut bad = one_case("myl7/myl7_dcf.json.gz", |c| c["prg"] == "chacha20");
    flip(&mut bad["chacha_nonce"], 0);
    assert_eq!(check(&bad).unwrap().failures[0].field, "cws[0]");
}

#[test]
fn a_flipped_bit_in_any_primitive_is_found_and_named() {
    let good = load("primitives/prg_kats.json.gz");
    for path in [
        "llama_seedkey[0].mask3[1]",
        "llama_seedkey[1].mask1[3]",
        "llama_convert[3].out[0]",
        "mmo.cases[2].out[3]",
        "mAesFixedKey_mmo.cases[4].out",
        "myl7_chacha.cases[0].mul1[0]",
        "myl7_chacha.cases[5].mul2[1]",
        "myl7_chacha.cases[5].mul4[2]",
    ] {
        let mut bad = good.clone();
        flip(at(&mut bad, path), 3);
        let report = check(&bad).unwrap();
        assert_eq!((report.passed, report.failed), (129, 1), "{path}");
        let failure = &report.failures[0];
        assert_eq!(format!("{}.{}", failure.case, failure.field), path);
    }
}

#[test]
fn a_missing_or_surplus_answer_differs() {
    let mut file = one_case("llama_fss/llama_fss_dcf.json.gz", |c| c["n"] == 8);
    file["cases"][0]["key1"]["k"].as_array_mut().unwrap().pop();
    let failure = check(&file).unwrap().failures.remove(0);
    assert_eq!(failure.to_string(), format!("case {}: key1.k: expected 8 items, got 9 items", failure.case));
}

#[test]
fn unknown_schemes_and_parameters_are_skipped() {
    let report = check(&json!({"scheme": "no-such-scheme", "cases": [{}, {"id": 7}, 3]})).unwrap_err();
    assert_eq!(report.to_string(), "file: cases[2]: must be an object");
    let report = check(&json!({"scheme": "no-such-scheme", "cases": [{}, {"id": 7}]})).unwrap();
    assert_eq!((report.scheme.as_str(), report.passed, report.skipped), ("no-such-scheme", 0, 2));
    let mut file = one_case("llama_gpumpc/llama_gpumpc_dcf.json.gz", |_| true);
    file["cases"][0]["group_size"] = json!(2);
    assert_eq!(check(&file).unwrap().skipped, 1);
}

#[test]
fn malformed_files_are_refused_by_place_and_field() {
    let text = |bytes: &[u8]| vectors::check(bytes).unwrap_err().to_string();
    assert!(text(b"").contains("line 1 column 0"));
    assert!(text(b"{\"scheme\":\n 1,,}").contains("line 2 column 4"));
    assert_eq!(text(b"[]"), "file: top level: must be an object");
    assert_eq!(text(b"{}"), "file: scheme: is missing");
    assert_eq!(text(&[0x1f, 0x8b, 8, 0, 1]), "broken gzip data");
    let missing = vectors::check_file(Path::new("no such file")).unwrap_err();
    assert_eq!(missing.to_string(), "cannot read no such file");

    let good = one_case("myl7/myl7_dcf.json.gz", |c| c["n"] == 8);
    let id = good["cases"][0]["id"].to_string();
    let change = |path: &str, to: Value| {
        let mut bad = good.clone();
        *at(&mut bad, path) = to;
        refusal(&bad)
    };
    assert_eq!(change("scheme", json!(1)), "file: scheme: must be a string");
    assert_eq!(change("cases", json!({})), "file: cases: must be a list");
    assert_eq!(change("aes_keys", json!([])), "file: aes_keys: must be 4 keys, of which a DPF uses 2");
    assert_eq!(change("aes_keys[2]", json!("00")), "file: aes_keys[2]: must be 16 hex bytes");
    let in_case = |field: &str, to: Value| {
        let message = change(&format!("cases[0].{field}"), to);
        message.strip_prefix(&format!("case {id}: ")).unwrap_or(&message).to_owned()
    };
    assert_eq!(in_case("n", json!(0)), "domain bits 0 outside 1..=128");
    assert_eq!(in_case("n", json!(300)), "n: is too large");
    assert_eq!(in_case("n", json!(-1)), "n: must be a number or a 0x… string of at most 128 bits");
    assert_eq!(in_case("alpha", json!("0x100")), "alpha at index 0 is outside its domain");
    assert_eq!(
        in_case("alpha", json!("0x+1")),
        "alpha: must be a number or a 0x… string of at most 128 bits"
    );
    assert_eq!(in_case("seed0", json!("0g")), "seed0: must be a string of hex bytes");
    assert_eq!(in_case("pred", json!("x<=alpha")), "pred: must be x<alpha or x>alpha");
    assert_eq!(in_case("prg", json!("md5")), "prg: must be aes128-mmo or chacha20");
    assert_eq!(
        in_case("group", json!("u9")),
        "myl7/fss cannot carry integers of other than 8, 16, 32, 64 or 128 bits"
    );
    assert_eq!(in_case("group", json!("u8mod1")), "modulus 1 is below 2");
    assert_eq!(
        in_case("group", json!("u8mod2^200")),
        "group: must be bytes, or u8 … u128 with an optional mod"
    );
    assert_eq!(in_case("cws[3]", json!(5)), "cws[3]: must be a string");
    assert_eq!(
        in_case("evals[1].x", Value::Null),
        "evals[1].x: must be a number or a 0x… string of at most 128 bits"
    );
    let mut bad = good.clone();
    bad["cases"][0].as_object_mut().unwrap().remove("seed1");
    assert_eq!(refusal(&bad), format!("case {id}: seed1: is missing"));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn damaged_files_are_never_a_panic(
        file in 0..FILES.len() - 1,
        damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
        cut in any::<prop::sample::Index>(),
    ) {
        let mut text = serde_json::to_vec(&one_case(FILES[file].0, |c| c["n"] == 8)).unwrap();
        for (at, byte) in damage {
            let at = at.index(text.len());
            text[at] = byte;
        }
        let _ = vectors::check(&text);
        let _ = vectors::check(&text[..cut.index(text.len())]);
    }
}
