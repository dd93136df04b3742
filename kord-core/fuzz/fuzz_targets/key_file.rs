//! Any bytes as a key file: no panic, and what is accepted encodes to the same bytes.
#![no_main]

#[path = "../../tests/support/key_file.rs"]
mod support;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| support::decode_never_panics(bytes));
