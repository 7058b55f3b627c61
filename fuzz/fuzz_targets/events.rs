//! Fuzzes the event decoder: any bytes, checked by `check_events`.
#![no_main]

#[path = "../../crates/resp-codec/tests/checks/mod.rs"]
mod checks;

libfuzzer_sys::fuzz_target!(|data: &[u8]| checks::check_events(data));
