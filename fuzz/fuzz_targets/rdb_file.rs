//! Fuzzes snapshot files: any bytes, checked by `check_file`.
#![no_main]

#[path = "../../crates/respire-disk/tests/file_checks/mod.rs"]
mod file_checks;

libfuzzer_sys::fuzz_target!(|data: &[u8]| file_checks::check_file(data));
