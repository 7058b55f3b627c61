//! Fuzzes replies on their way through a script, checked by `check_replies`.
#![no_main]

#[path = "../../crates/respire-script/tests/checks/mod.rs"]
mod checks;

libfuzzer_sys::fuzz_target!(|data: &[u8]| checks::replies::check_replies(data));
