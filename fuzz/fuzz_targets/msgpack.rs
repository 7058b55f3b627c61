//! Fuzzes `cmsgpack`: any bytes as MessagePack, checked by `check_msgpack`.
#![no_main]

#[path = "../../crates/respire-script/tests/checks/mod.rs"]
mod checks;

libfuzzer_sys::fuzz_target!(|data: &[u8]| checks::msgpack::check_msgpack(data));
