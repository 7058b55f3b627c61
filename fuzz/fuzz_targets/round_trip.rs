//! Fuzzes encoding: any value must round-trip through every protocol.
#![no_main]

#[path = "../../crates/resp-codec/tests/checks/mod.rs"]
mod checks;

libfuzzer_sys::fuzz_target!(|value: resp_codec::Value| checks::check_round_trip(&value));
