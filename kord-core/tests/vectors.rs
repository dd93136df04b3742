//! Known answers of the real libraries.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use kord_core::vectors;

#[test]
fn the_vectors_named_by_the_environment_pass() {
    let Some(folder) = std::env::var_os("KORD_VECTORS") else { return };
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|e| e == "gz" || e == "json") {
            let report = vectors::check_file(&path).unwrap();
            println!(
                "{}: {} passed, {} failed, {} skipped",
                report.scheme, report.passed, report.failed, report.skipped
            );
            for f in report.failures.iter().take(3) {
                println!("  {f}");
            }
        }
    }
}
