//! `kord inspect` and `kord eval` as a user runs them, and the batches they read.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::thread;

use kord_cli::batch::{BatchError, Destination, write_batch};
use kord_core::dealer::Dealer;
use kord_core::key_file::{KeyFileError, KeyFileReader};
use kord_core::request::{KeyPart, Mask, Part, Payload, Request, Shares};
use kord_core::{Group, KeySpec, Label, Predicate};
use rand::SeedableRng;
use rand::rngs::StdRng;
use tempfile::TempDir;

fn kord(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_kord")).args(args).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// Standard error of a run that must fail with exit code `code` and print nothing else.
fn failure(args: &[&str], code: i32) -> String {
    let output = kord(args);
    assert_eq!(output.status.code(), Some(code), "{args:?}: {}", text(&output.stderr));
    assert_eq!(text(&output.stdout), "", "{args:?}");
    text(&output.stderr)
}

fn spec(arity: u32) -> KeySpec {
    KeySpec::dcf(8, Predicate::Lt, Group::modular(1009).unwrap()).unwrap().with_arity(arity).unwrap()
}

fn request(count: u64, mask: Mask, payload: Payload, arity: u32) -> Request {
    Request::new(count, mask, vec![Part::Key(KeyPart { spec: spec(arity), payload })]).unwrap().on_stream(9)
}

/// Both parties' key files and share files, from a dealer.
fn write_pair(
    dir: &TempDir,
    request: &Request,
    masks: [&[u64]; 2],
    payloads: [&[u128]; 2],
) -> [(Result<Label, BatchError>, PathBuf, PathBuf); 2] {
    let [end0, end1] = Dealer::pair(&mut StdRng::seed_from_u64(5));
    let run = |mut end: Dealer, party: usize| {
        let keys = dir.path().join(format!("p{party}.keys"));
        let shares = dir.path().join(format!("p{party}.shares"));
        let given = Shares::Slices { masks: masks[party], payloads: payloads[party] };
        let destination = Destination { keys: &keys, shares: &shares };
        let mut made = 0;
        let label = write_batch(&mut end, request, given, destination, &mut |n| made += n);
        if label.is_ok() {
            assert_eq!(made, request.count());
        }
        (label, keys, shares)
    };
    thread::scope(|s| {
        let peer = s.spawn(|| run(end1, 1));
        [run(end0, 0), peer.join().unwrap()]
    })
}

/// alpha 100 and beta 7, alpha 0 and beta 1008, alpha 255 and beta 1.
fn given_pair(dir: &TempDir) -> [PathBuf; 2] {
    let masks: [&[u64]; 2] = [&[90, 1, 255], &[10, 255, 0]];
    let payloads: [&[u128]; 2] = [&[1008, 1000, 1], &[8, 8, 0]];
    let made = write_pair(dir, &request(3, Mask::given(8), Payload::Given, 1), masks, payloads);
    made.map(|(label, keys, shares)| {
        assert_eq!(label.unwrap(), Label { session: 0, stream: 9, first: 0, count: 3 });
        assert!(!shares.exists());
        keys
    })
}

fn as_str(path: &Path) -> &str {
    path.to_str().unwrap()
}

#[test]
fn inspect_names_every_public_field() {
    let dir = TempDir::new().unwrap();
    let [file, _] = given_pair(&dir);
    let output = kord(&["inspect", as_str(&file)]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let rows = text(&output.stdout);
    let row = |name: &str| {
        let row = rows.lines().find(|row| row.starts_with(name)).unwrap_or_else(|| panic!("{name}: {rows}"));
        row[name.len()..].trim().to_owned()
    };
    let id: String = spec(1).prg_keys().id().iter().map(|b| format!("{b:02x}")).collect();
    for (name, value) in [
        ("format version", "1".to_owned()),
        ("scheme", "DCF x < alpha".to_owned()),
        ("domain bits", "8".to_owned()),
        ("group", "mod:1009".to_owned()),
        ("arity", "1".to_owned()),
        ("party", "0".to_owned()),
        ("keys", "3".to_owned()),
        ("bytes a key", spec(1).key_bytes().to_string()),
        ("file bytes", fs::metadata(&file).unwrap().len().to_string()),
        ("PRG", format!("fixed-key AES-128 MMO, default keys, id {id}")),
        ("session", "0".to_owned()),
        ("stream", "0x9".to_owned()),
        ("counters", "0 to 2".to_owned()),
        ("digest", "correct".to_owned()),
    ] {
        assert_eq!(row(name), value, "{name}");
    }
}

#[test]
fn inspect_says_what_is_wrong_with_a_file() {
    let dir = TempDir::new().unwrap();
    let [file, _] = given_pair(&dir);
    let good = fs::read(&file).unwrap();
    let refused = |bytes: &[u8]| {
        fs::write(&file, bytes).unwrap();
        failure(&["inspect", as_str(&file)], 1)
    };
    let mut flipped = good.clone();
    flipped[200] ^= 1;
    let mut version = good.clone();
    version[8] = 2;
    let longer = [good.as_slice(), &[0]].concat();
    for (bytes, field) in [
        (flipped.as_slice(), "digest"),
        (&version, "version"),
        (&longer, "bytes after the end"),
        (&good[..good.len() - 1], "digest"),
        (&good[..100], "header"),
        (b"no key file", "magic"),
    ] {
        let message = refused(bytes);
        assert!(message.contains(field) && message.contains("p0.keys"), "{field}: {message}");
    }
    let absent = failure(&["inspect", as_str(&dir.path().join("absent.keys"))], 1);
    assert!(absent.contains("absent.keys") && absent.contains("No such file"), "{absent}");
}

/// The shares that `kord eval` prints, without its heading.
fn shares(stdout: &[u8]) -> Vec<Vec<u128>> {
    let text = text(stdout);
    let rows = text.lines().filter(|line| !line.starts_with('#'));
    rows.map(|row| row.split(' ').map(|field| field.parse().unwrap()).collect()).collect()
}

#[test]
fn eval_gives_shares_of_the_function_and_removes_the_key_file() {
    let dir = TempDir::new().unwrap();
    let files = given_pair(&dir);
    let [y0, y1] = files.each_ref().map(|file| {
        let output = kord(&["eval", as_str(file), "--at", "0,0x63,100", "--at", "254"]);
        assert!(output.status.success(), "{}", text(&output.stderr));
        assert!(
            text(&output.stdout).starts_with("# key point share…; add both parties' shares in mod:1009\n")
        );
        assert!(!file.exists());
        shares(&output.stdout)
    });
    let want = [
        [(0, 7), (99, 7), (100, 0), (254, 0)],
        [(0, 0), (99, 0), (100, 0), (254, 0)],
        [(0, 1), (99, 1), (100, 1), (254, 1)],
    ];
    for (i, (row0, row1)) in y0.iter().zip(&y1).enumerate() {
        let (point, value) = want[i / 4][i % 4];
        assert_eq!((row0[0], row0[1]), (i as u128 / 4, point));
        assert_eq!((row0[2] + row1[2]) % 1009, value, "row {i}");
    }
    assert_eq!(y0.len(), 12);
}

#[test]
fn eval_takes_points_for_each_key_and_writes_a_file() {
    let dir = TempDir::new().unwrap();
    let files = given_pair(&dir);
    let points = dir.path().join("points.txt");
    fs::write(&points, "99 100\n0 255\n254 255\n").unwrap();
    let results = files.each_ref().map(|file| {
        let out = file.with_extension("out");
        let args = ["eval", as_str(file), "--points", as_str(&points), "--out", as_str(&out), "--keep"];
        let output = kord(&args);
        assert!(output.status.success(), "{}", text(&output.stderr));
        assert_eq!(text(&output.stdout), "");
        assert!(file.exists());
        // Output shares are not overwritten.
        assert!(failure(&args, 1).contains("--out"));
        shares(&fs::read(out).unwrap())
    });
    let sums: Vec<u128> = results[0].iter().zip(&results[1]).map(|(a, b)| (a[2] + b[2]) % 1009).collect();
    assert_eq!(sums, [7, 0, 0, 0, 1, 0]);
}

#[test]
fn eval_refuses_what_does_not_fit_and_keeps_the_key_file() {
    let dir = TempDir::new().unwrap();
    let [file, _] = given_pair(&dir);
    let points = dir.path().join("points.txt");
    fs::write(&points, "1\n256\n3\n").unwrap();
    let name = as_str(&file);
    let outside = failure(&["eval", name, "--at", "256"], 1);
    assert!(outside.contains("--at: 256 is outside the keys' domain of 8 bits"), "{outside}");
    let outside = failure(&["eval", name, "--points", as_str(&points)], 1);
    assert!(outside.contains("points.txt, line 2, column 1, point: must be at most 255"), "{outside}");
    assert!(failure(&["eval", name], 2).contains("--at"));
    assert!(failure(&["eval", name, "--at", "x"], 2).contains("decimal"));
    let mut bytes = fs::read(&file).unwrap();
    bytes[300] ^= 1;
    fs::write(&file, bytes).unwrap();
    assert!(failure(&["eval", name, "--at", "1"], 1).contains("digest"));
    assert!(file.exists());
}

#[test]
fn derived_shares_come_with_the_keys() {
    let dir = TempDir::new().unwrap();
    let request = request(2000, Mask::derived(8), Payload::Derived, 2);
    let made = write_pair(&dir, &request, [&[]; 2], [&[]; 2]);
    let columns = |path: &Path| -> Vec<Vec<u128>> {
        let text = fs::read_to_string(path).unwrap();
        assert!(text.starts_with("# one key a line: alpha_share beta_share_1 … beta_share_2\n"));
        text.lines().skip(1).map(|l| l.split(' ').map(|f| f.parse().unwrap()).collect()).collect()
    };
    let shares = made.each_ref().map(|(_, _, shares)| columns(shares));
    assert_eq!(shares[0].len(), 2000);
    let points: Vec<u64> =
        shares[0].iter().zip(&shares[1]).map(|(a, b)| ((a[0] + b[0]) % 256) as u64).collect();
    // At alpha − 1 the keys pay out beta, wherever alpha is not 0.
    let below: Vec<u64> = points.iter().map(|alpha| alpha.wrapping_sub(1) & 255).collect();
    let values = made.each_ref().map(|(_, keys, _)| {
        let mut reader = KeyFileReader::open(keys).unwrap();
        let batch = reader.next_batch(2000).unwrap().unwrap();
        reader.finish().unwrap();
        batch.evaluate(&below).unwrap()
    });
    for (j, alpha) in points.iter().enumerate() {
        for e in 0..2 {
            let beta = (shares[0][j][e + 1] + shares[1][j][e + 1]) % 1009;
            let value = (values[0][2 * j + e] + values[1][2 * j + e]) % 1009;
            assert_eq!(value, if *alpha == 0 { 0 } else { beta });
        }
    }
}

#[test]
fn nothing_is_overwritten_and_nothing_incomplete_stays() {
    let dir = TempDir::new().unwrap();
    let request = request(2, Mask::given(8), Payload::One, 1);
    fs::write(dir.path().join("p0.keys"), "precious").unwrap();
    // Party 1 is left alone by party 0, which refuses before it sends anything.
    let made = write_pair(&dir, &request, [&[1, 2], &[3, 4]], [&[]; 2]);
    assert!(matches!(made[0].0, Err(BatchError::Exists { .. })));
    assert!(matches!(made[1].0, Err(BatchError::Source(_))));
    assert_eq!(fs::read(&made[0].1).unwrap(), b"precious");
    assert!(!made[1].1.exists());

    let two_parts = Request::new(1, Mask::given(8), vec![request.parts()[0]; 2]).unwrap();
    let made = write_pair(&dir, &two_parts, [&[1], &[1]], [&[]; 2]);
    assert!(made.iter().all(|(label, ..)| matches!(label, Err(BatchError::Parts))));

    let elsewhere = dir.path().join("absent/keys");
    let [mut end, _peer] = Dealer::pair(&mut StdRng::seed_from_u64(1));
    let derived = Request::new(1, Mask::derived(8), vec![request.parts()[0]]).unwrap();
    let shares = dir.path().join("p9.shares");
    let destination = Destination { keys: &elsewhere, shares: &shares };
    let error = write_batch(&mut end, &derived, Shares::Derived, destination, &mut |_| ()).unwrap_err();
    let BatchError::KeyFile { path, source: KeyFileError::Io { .. } } = error else {
        panic!("{error:?}");
    };
    assert_eq!(path, elsewhere);
    assert!(!shares.exists());
}
