//! Fuzzes sessions: any bytes, as requests and a driver's operations, checked by `check_session_ops`
//! and `check_sessions_together`.
#![no_main]

#[path = "../../crates/respire-commands/tests/checks/mod.rs"]
mod checks;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    checks::check_session_ops(data);
    checks::check_sessions_together(data);
});
