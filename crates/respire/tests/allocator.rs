//! The binary has the allocator that was measured, however it was built: its settings are part of a crate, and of
//! no configuration of Cargo's.
#![cfg(feature = "mimalloc")]

use std::process::Command;

#[test]
fn binary_runs_on_the_allocator_with_our_settings() {
    // Says at its start how it was compiled. Only what keeps huge pages whole can be seen there; the sizes, of
    // the same object file, are seen by respire-alloc's own test.
    let said = Command::new(env!("CARGO_BIN_EXE_respire-server"))
        .arg("--version")
        .env("MIMALLOC_VERBOSE", "1")
        .env_remove("MIMALLOC_ALLOW_THP")
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&said.stderr);
    assert!(said.contains("'allow_thp': 2"), "{said}");
}
