//! Fuzzes the store: any bytes, as operations on a store and on a model of it, checked by
//! `check_store_ops`.
#![no_main]

#[path = "../../crates/respire-store/tests/checks/mod.rs"]
mod checks;

libfuzzer_sys::fuzz_target!(|data: &[u8]| checks::check_store_ops(data));
