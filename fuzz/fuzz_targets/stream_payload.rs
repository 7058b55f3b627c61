//! Fuzzes payloads of streams: any bytes, checked by `check_stream_payload`.
#![no_main]

#[path = "../../crates/respire-commands/tests/stream_checks/mod.rs"]
mod stream_checks;

libfuzzer_sys::fuzz_target!(|data: &[u8]| stream_checks::check_stream_payload(data));
