//! Two parties as real processes over TCP, one of them killed in the middle of a batch.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::fs;
use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use kord_core::key_file::KeyFileReader;
use kord_core::{Group, KeyBatch, Label};
use tempfile::TempDir;

fn start(dir: &Path, args: &str) -> Child {
    Command::new(env!("CARGO_BIN_EXE_kord-under-test"))
        .current_dir(dir)
        .args(args.split_whitespace())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

fn success(output: &Output) {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

fn free_address() -> String {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string()
}

/// Runs one command a party, party 0 listening; `P#` stands for the party's files.
fn both(dir: &Path, args: &str) -> [Output; 2] {
    let address = free_address();
    let children = [("p0", "--listen"), ("p1", "--connect")]
        .map(|(party, link)| start(dir, &format!("{} {link} {address}", args.replace("P#", party))));
    children.map(|child| child.wait_with_output().unwrap())
}

fn paired() -> TempDir {
    let dir = TempDir::new().unwrap();
    for party in 0..2 {
        let args = format!("provision --party {party} --state p{party} --root-dir root");
        success(&start(dir.path(), &args).wait_with_output().unwrap());
    }
    both(dir.path(), "pair --state P#").iter().for_each(success);
    dir
}

fn read(path: &Path) -> (Label, KeyBatch) {
    let mut reader = KeyFileReader::open(path).unwrap();
    let label = reader.header().label();
    let keys = reader.next_batch(usize::MAX).unwrap().unwrap();
    reader.finish().unwrap();
    (label, keys)
}

const KEYGEN: &str =
    "keygen --state P# --scheme dcf-lt --domain-bits 16 --group z2^32 --alpha given --shares P#.in";

/// Share files whose alphas are 3j and payloads the constant 1.
fn write_shares(dir: &Path, count: u64) {
    let file = |share: &dyn Fn(u64) -> u64| -> String {
        (0..count).map(|j| format!("{}\n", share(j) & 0xffff)).collect()
    };
    fs::write(dir.join("p0.in"), file(&|j| j * 40_503)).unwrap();
    fs::write(dir.join("p1.in"), file(&|j| (3 * j).wrapping_sub(j * 40_503))).unwrap();
}

fn check_keys(dir: &Path, name: &str, count: u64) -> Label {
    let [(label0, keys0), (label1, keys1)] =
        ["p0", "p1"].map(|party| read(&dir.join(format!("{party}.{name}"))));
    assert_eq!(label0, label1);
    assert_eq!(label0.count, count);
    let group = Group::ring(32).unwrap();
    let points: Vec<u64> = (0..count).flat_map(|j| [(3 * j).saturating_sub(1), 3 * j]).collect();
    let (y0, y1) = (keys0.evaluate(&points).unwrap(), keys1.evaluate(&points).unwrap());
    for j in 0..count as usize {
        let y = [2 * j, 2 * j + 1].map(|i| group.add(y0[i], y1[i]));
        assert_eq!(y, [u128::from(j > 0), 0], "key {j}");
    }
    label0
}

#[test]
fn two_processes_make_keys_that_reconstruct() {
    let dir = paired();
    write_shares(dir.path(), 20_000);
    both(dir.path(), &format!("{KEYGEN} --out P#.keys")).iter().for_each(success);
    check_keys(dir.path(), "keys", 20_000);
}

#[test]
fn a_killed_process_is_noticed_and_counters_go_on_above_the_lost_batch() {
    let dir = paired();
    write_shares(dir.path(), 1000);
    both(dir.path(), &format!("{KEYGEN} --out P#.first")).iter().for_each(success);
    let first = check_keys(dir.path(), "first", 1000);

    // Party 1 is killed while a batch too large to finish first is under way.
    let address = free_address();
    let large = "keygen --state P# --scheme dpf --domain-bits 64 --count 3000000 --out P#.lost --wait 20";
    let survivor = start(dir.path(), &format!("{} --listen {address}", large.replace("P#", "p0")));
    let mut victim = start(dir.path(), &format!("{} --connect {address}", large.replace("P#", "p1")));
    let written = || fs::metadata(dir.path().join("p0.lost")).map_or(0, |m| m.len());
    let deadline = Instant::now() + Duration::from_secs(60);
    while written() < 1 << 20 {
        assert!(Instant::now() < deadline, "the batch does not start");
        assert!(victim.try_wait().unwrap().is_none(), "the batch ended before it could be killed");
        thread::sleep(Duration::from_millis(1));
    }
    victim.kill().unwrap();
    victim.wait().unwrap();
    drop(survivor.wait_with_output().unwrap());

    // Both start again from what is on disk: a later session, and no counter twice.
    for file in ["p0.lost", "p1.lost", "p0.lost.shares", "p1.lost.shares", "p0.shares", "p1.shares"] {
        let _ = fs::remove_file(dir.path().join(file));
    }
    both(dir.path(), &format!("{KEYGEN} --out P#.second")).iter().for_each(success);
    let second = check_keys(dir.path(), "second", 1000);
    assert!(second.session > first.session + 1, "{first:?}, then {second:?}");
    assert!(second.first >= first.first + first.count, "{first:?}, then {second:?}");
}
