//! Fuzzes payloads of `RESTORE`: any bytes, as a value of any type, checked by `check_payload`.
#![no_main]

#[path = "../../crates/respire-commands/tests/payload_checks/mod.rs"]
mod payload_checks;

libfuzzer_sys::fuzz_target!(|data: &[u8]| payload_checks::check_payload(data));
