//! Fuzzes the packed forms of small collections: any bytes, as one and as edits of it, checked by `check_listpack`.
#![no_main]

#[path = "../../crates/respire-store/tests/packed_checks/mod.rs"]
#[expect(dead_code, reason = "the other target uses the rest")]
mod packed_checks;

libfuzzer_sys::fuzz_target!(|data: &[u8]| packed_checks::check_listpack(data));
