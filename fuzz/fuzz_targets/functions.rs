//! Fuzzes payloads of `FUNCTION RESTORE`: any bytes, checked by `check_functions`.
#![no_main]

#[path = "../../crates/respire-script/tests/checks/mod.rs"]
mod checks;

libfuzzer_sys::fuzz_target!(|data: &[u8]| checks::functions::check_functions(data));
