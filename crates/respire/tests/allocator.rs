//! Tests that the binary has the configured allocator however it was built: the settings are part
//! of a crate, not of Cargo's configuration.
#![cfg(feature = "mimalloc")]

use std::process::Command;

#[test]
fn binary_uses_the_allocator_with_our_settings() {
    // The allocator prints at its start how it was compiled. That shows only the setting of huge
    // pages; respire-alloc's own test checks the sizes, which are in the same object file.
    let said = Command::new(env!("CARGO_BIN_EXE_respire-server"))
        .arg("--version")
        .env("MIMALLOC_VERBOSE", "1")
        .env_remove("MIMALLOC_ALLOW_THP")
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&said.stderr);
    assert!(said.contains("'allow_thp': 2"), "{said}");
}
