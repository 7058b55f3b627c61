//! Fuzzes `HyperLogLogs`: any bytes, as the string of one, checked by `check_hll`.
#![no_main]

#[path = "../../crates/respire-commands/tests/hll_checks/mod.rs"]
mod hll_checks;

libfuzzer_sys::fuzz_target!(|data: &[u8]| hll_checks::check_hll(data));
