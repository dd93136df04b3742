//! Two parties' commands, as processes on loopback: provision, pair, keygen, serve, eval.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader};
use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};

use serde_json::Value;
use tempfile::TempDir;

fn command(dir: &Path, args: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_kord"));
    command.current_dir(dir).args(args.split_whitespace()).stdin(Stdio::null());
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

fn start(dir: &Path, args: &str) -> Child {
    command(dir, args).spawn().unwrap()
}

fn run(dir: &Path, args: &str) -> Output {
    start(dir, args).wait_with_output().unwrap()
}

fn stdout(output: &Output) -> String {
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{error}");
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn failure(output: &Output) -> String {
    assert_eq!(output.status.code(), Some(1));
    assert!(output.stdout.is_empty(), "{}", String::from_utf8_lossy(&output.stdout));
    String::from_utf8(output.stderr.clone()).unwrap()
}

/// An address that was free a moment ago.
fn free_address() -> String {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string()
}

/// Runs party 0's command listening and party 1's connecting; `P#` stands for p0 and p1.
fn both(dir: &Path, args: &str) -> [Output; 2] {
    let address = free_address();
    let of = |party: &str, link: &str| format!("{} {link} {address}", args.replace("P#", party));
    let first = start(dir, &of("p0", "--listen"));
    let second = run(dir, &of("p1", "--connect"));
    [first.wait_with_output().unwrap(), second]
}

fn provisioned() -> TempDir {
    let dir = TempDir::new().unwrap();
    for party in ["0", "1"] {
        let output = run(dir.path(), &format!("provision --party {party} --state p{party} --root-dir root"));
        assert!(stdout(&output).contains(&format!("chip of party {party}, certified under")));
    }
    dir
}

fn paired() -> TempDir {
    let dir = provisioned();
    both(dir.path(), "pair --state P#").iter().for_each(|output| {
        assert!(stdout(output).contains("paired"));
    });
    dir
}

fn figures(output: &Output) -> BTreeMap<String, f64> {
    let json: Value = serde_json::from_str(stdout(output).trim()).unwrap();
    assert_eq!(json.as_object().unwrap().keys().collect::<Vec<_>>(), ["figures", "machine"]);
    let figures = json["figures"].as_array().unwrap().iter();
    figures.map(|f| (f["name"].as_str().unwrap().to_owned(), f["value"].as_f64().unwrap())).collect()
}

fn rows(text: &str) -> Vec<Vec<u128>> {
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    lines.map(|line| line.split(' ').map(|field| field.parse().unwrap()).collect()).collect()
}

#[test]
fn the_first_key_of_the_guide() {
    let dir = provisioned();
    for output in both(dir.path(), "pair --state P# --json") {
        let figures = figures(&output);
        assert!(figures["pair_ms"] > 0.0 && figures["pair_rounds"] >= 1.0);
    }
    let made = both(
        dir.path(),
        "keygen --state P# --out P#.keys --scheme dpf --domain-bits 8 --count 3 --group z2^32 --json",
    );
    for output in &made {
        let figures = figures(output);
        assert_eq!((figures["keygen_keys"], figures["keygen_payload_bytes_per_key"]), (3.0, 0.0));
    }
    let shares =
        ["p0", "p1"].map(|p| rows(&fs::read_to_string(dir.path().join(format!("{p}.shares"))).unwrap()));
    let alphas: Vec<u128> = shares[0].iter().zip(&shares[1]).map(|(a, b)| (a[0] + b[0]) % 256).collect();
    let points = alphas.iter().map(|a| format!("{a} {}\n", (a + 1) % 256)).collect::<String>();
    fs::write(dir.path().join("points"), points).unwrap();
    let y = ["p0", "p1"].map(|p| rows(&stdout(&run(dir.path(), &format!("eval {p}.keys --points points")))));
    let sums: Vec<u128> = y[0].iter().zip(&y[1]).map(|(a, b)| (a[2] + b[2]) % (1 << 32)).collect();
    assert_eq!(sums, [1, 0, 1, 0, 1, 0]);
}

#[test]
fn given_shares_and_what_the_parties_must_agree_on() {
    let dir = paired();
    let path = dir.path();
    fs::write(path.join("p0.in"), "200 0xfff0\n1 5 # alpha 0, beta 7\n").unwrap();
    fs::write(path.join("p1.in"), "66 0x20\n255 2\n").unwrap();
    let keygen = "keygen --state P# --out P#.keys --shares P#.in --alpha given --payload given --scheme dcf-gt \
                  --domain-bits 8 --group z2^16";
    for output in both(path, &format!("{keygen} --json")) {
        let figures = figures(&output);
        assert_eq!((figures["keygen_keys"], figures["keygen_payload_bytes_per_key"]), (2.0, 3.0));
        assert_eq!((figures["keygen_frames_each_way"], figures["keygen_rounds"]), (1.0, 1.0));
        assert_eq!(figures["keygen_envelope_bytes_per_key"], 3.0 + 36.0 / 2.0);
    }
    let y = ["p0", "p1"].map(|p| rows(&stdout(&run(path, &format!("eval {p}.keys --at 0,10,11,255")))));
    let sums: Vec<u128> = y[0].iter().zip(&y[1]).map(|(a, b)| (a[2] + b[2]) % (1 << 16)).collect();
    assert_eq!(sums, [0, 0, 16, 16, 0, 7, 7, 7]);

    // A party that asks for another group is told so before a counter is consumed.
    let address = free_address();
    let ours = keygen.replace("P#", "p0");
    let theirs = keygen.replace("P#", "p1").replace("z2^16", "z2^32");
    let listening = start(path, &format!("{ours} --listen {address}"));
    let connecting = run(path, &format!("{theirs} --connect {address}"));
    for message in [failure(&listening.wait_with_output().unwrap()), failure(&connecting)] {
        assert!(message.contains("element bits") && message.contains("both parties must ask"), "{message}");
    }
    assert!(!path.join("p0.keys").exists() && !path.join("p1.keys").exists());
    for output in both(path, keygen) {
        // The refused batch never reached the chips: this is their second session.
        assert!(stdout(&output).contains(".keys: session 2, counters"), "{}", stdout(&output));
    }

    fs::write(path.join("p0.in"), "200 7\n1x 7\n").unwrap();
    let wrong = failure(&run(path, &format!("{ours} --listen {address}")));
    assert!(wrong.contains("--shares: p0.in, line 2, column 1, alpha share: character 2"), "{wrong}");
    let none = ours.replace("--shares p0.in", "");
    let absent = failure(&run(path, &format!("{none} --listen {address}")));
    assert!(absent.contains("--shares: name the file"), "{absent}");
    let uncounted = "keygen --state p0 --out x --scheme dpf --domain-bits 8 --listen 127.0.0.1:1";
    let absent = failure(&run(path, uncounted));
    assert!(absent.contains("--count: say how many keys to make"), "{absent}");
}

#[test]
fn a_serving_host_makes_derived_batches_and_refuses_others() {
    let dir = paired();
    let path = dir.path();
    let address = free_address();
    let mut serving = start(
        path,
        &format!("serve --state p0 --listen {address} --out-dir served --batches 2 --max-keys 1000"),
    );
    let mut lines = BufReader::new(serving.stdout.take().unwrap()).lines().map(Result::unwrap);
    assert_eq!(lines.next().unwrap(), format!("listening on {address}, keys go to served"));
    let ask = |options: &str, out: &str| {
        run(
            path,
            &format!(
                "keygen --state p1 --connect {address} --scheme dcf-lt --domain-bits 8 {options} --out {out}"
            ),
        )
    };
    stdout(&ask("--count 500 --payload derived --group mod:1009", "a.keys"));
    fs::write(path.join("in"), "1\n").unwrap();
    let given = failure(&ask("--alpha given --shares in", "b.keys"));
    assert!(given.contains("refuses the batch: a serving host gives no shares"), "{given}");
    let many = failure(&ask("--count 1001", "b.keys"));
    assert!(many.contains("count 1001 is above the serving host's --max-keys 1000"), "{many}");
    stdout(&ask("--count 2 --stream 5", "b.keys"));
    let first = lines.next().unwrap();
    let name = |session: u32, stream: u64, first: u64| format!("{session:08}-{stream:016x}-{first:020}");
    assert!(first.contains(&format!("{}.keys: 500 keys, DCF x < alpha", name(1, 0, 0))), "{first}");
    assert!(lines.next().unwrap().contains(&name(2, 5, 0)));
    assert!(serving.wait_with_output().unwrap().status.success());

    let served = path.join("served");
    for party in ["a", &format!("served/{}", name(1, 0, 0))] {
        let inspected = stdout(&run(path, &format!("inspect {party}.keys")));
        assert!(inspected.contains("counters        0 to 499"), "{inspected}");
        assert_eq!(rows(&fs::read_to_string(path.join(format!("{party}.shares"))).unwrap()).len(), 500);
    }
    let files = fs::read_dir(served).unwrap().count();
    assert_eq!(files, 4);
}

#[test]
fn chips_that_do_not_belong_together_are_told_apart() {
    let dir = provisioned();
    let path = dir.path();
    let again = failure(&run(path, "provision --party 0 --state p0 --root-dir root"));
    assert!(again.contains("--state p0: cannot provision it"), "{again}");
    let elsewhere = failure(&run(path, "pair --state nowhere --listen 127.0.0.1:1"));
    assert!(elsewhere.contains("--state nowhere") && elsewhere.contains("provision"), "{elsewhere}");
    let unpaired = "keygen --state P# --out P#.keys --scheme dpf --domain-bits 8 --count 1";
    for output in both(path, unpaired) {
        assert!(failure(&output).contains("pair"), "{}", failure(&output));
    }
    // The same party twice.
    let address = free_address();
    let listening = start(path, &format!("pair --state p0 --listen {address}"));
    stdout(&run(path, "provision --party 0 --state q0 --root-dir root"));
    let connecting = run(path, &format!("pair --state q0 --connect {address}"));
    for message in [failure(&listening.wait_with_output().unwrap()), failure(&connecting)] {
        assert!(message.contains("party 0"), "{message}");
    }
    // Another root.
    stdout(&run(path, "provision --party 1 --state q1 --root-dir other-root"));
    let address = free_address();
    let listening = start(path, &format!("pair --state p0 --listen {address}"));
    let connecting = run(path, &format!("pair --state q1 --connect {address}"));
    let messages = [failure(&listening.wait_with_output().unwrap()), failure(&connecting)];
    assert!(messages.iter().any(|m| m.contains("root")), "{messages:?}");
    let nobody = failure(&run(path, &format!("pair --state p0 --wait 1 --connect {}", free_address())));
    assert!(nobody.contains("no peer at"), "{nobody}");
}

#[test]
fn a_demo_party_reports_its_failure_as_an_event() {
    let dir = TempDir::new().unwrap();
    // Standard input stays open: a party whose parent is gone ends without a word.
    let mut command = command(dir.path(), "demo-party --dir absent --threshold 3");
    let mut child = command.stdin(Stdio::piped()).spawn().unwrap();
    let line = BufReader::new(child.stdout.take().unwrap()).lines().next().unwrap().unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(1));
    let event: Value = serde_json::from_str(&line).unwrap();
    assert_eq!(event["event"], "failed");
    assert!(event["message"].as_str().unwrap().contains("absent/photo.share: cannot read it"), "{event}");
}
