//! Fuzzes `cjson`: any bytes as JSON, checked by `check_json`.
#![no_main]

#[path = "../../crates/respire-script/tests/checks/mod.rs"]
mod checks;

libfuzzer_sys::fuzz_target!(|data: &[u8]| checks::json::check_json(data));
