//! Fuzzes `struct`: any bytes as a format and data, checked by `check_structs`.
#![no_main]

#[path = "../../crates/respire-script/tests/checks/mod.rs"]
mod checks;

libfuzzer_sys::fuzz_target!(|data: &[u8]| checks::structs::check_structs(data));
