//! What the compiler says to those who make a mistake: it must tell them what to do.

use std::process::Command;

/// The compiler whose words are written down beside the cases: others word their own part of it
/// differently.
const RELEASE: &str = "release: 1.95.";

#[test]
fn mistakes_are_explained() {
    let rustc = std::env::var("RUSTC").unwrap_or_else(|_| "rustc".to_owned());
    let version = Command::new(rustc).arg("-vV").output();
    let version = version.expect("cargo runs tests where it has a compiler");
    let cases = trybuild::TestCases::new();
    if String::from_utf8_lossy(&version.stdout).contains(RELEASE) {
        cases.compile_fail("tests/ui/*.rs");
    }
    // The right way compiles with any.
    cases.pass("tests/ui/right/*.rs");
}
