//! Fuzzes the decoders of the binary protocol: any bytes, checked by `check_binary`.
#![no_main]

#[path = "../../crates/resp-codec/tests/checks/mod.rs"]
mod checks;

libfuzzer_sys::fuzz_target!(|data: &[u8]| checks::check_binary(data));
