//! Compares the compiler's messages about mistakes with the expected ones: they must say how to fix
//! each.

use std::process::Command;

/// The compiler release of the expected messages. Other releases word their own part differently.
const RELEASE: &str = "release: 1.95.";

#[test]
fn compiler_errors_explain_mistakes() {
    let rustc = std::env::var("RUSTC").unwrap_or_else(|_| "rustc".to_owned());
    let version = Command::new(rustc).arg("-vV").output();
    let version = version.expect("cargo runs tests where it has a compiler");
    let cases = trybuild::TestCases::new();
    if String::from_utf8_lossy(&version.stdout).contains(RELEASE) {
        cases.compile_fail("tests/ui/*.rs");
    }
    // The correct case compiles with any release.
    cases.pass("tests/ui/right/*.rs");
}
