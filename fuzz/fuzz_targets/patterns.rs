//! Compares patterns with those of Lua's own libraries: any bytes, checked by `check_patterns`.
#![no_main]

#[path = "../../crates/respire-script/tests/checks/mod.rs"]
mod checks;

libfuzzer_sys::fuzz_target!(|data: &[u8]| checks::patterns::check_patterns(data));
