//! Memory does not grow with the batch.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used)]

use std::process::Command;

fn peak_kib(count: u64) -> u64 {
    let output = Command::new(env!("CARGO_BIN_EXE_stream")).arg(count.to_string()).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    println!("measured: {}", text.trim());
    text.split_whitespace().nth(3).unwrap().parse().unwrap()
}

#[test]
fn ten_times_the_keys_take_the_same_memory() {
    let (million, ten_million) = (peak_kib(1_000_000), peak_kib(10_000_000));
    // Ten million keys are 1.5 GB a party; what differs here is allocator noise.
    assert!(ten_million < million + million / 4, "{million} KiB, then {ten_million} KiB");
}
