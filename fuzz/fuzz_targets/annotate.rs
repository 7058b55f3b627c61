//! Fuzzes annotations and diagnoses: any bytes, checked by `check_annotate_once`.
#![no_main]

#[path = "../../crates/resp-codec/tests/checks/mod.rs"]
mod checks;

libfuzzer_sys::fuzz_target!(|data: &[u8]| checks::check_annotate_once(data));
