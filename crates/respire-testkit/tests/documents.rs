//! Tests that the generated documents are current. `cargo xtask docs` writes them.

use respire_testkit::documents;
use std::fs;
use std::path::Path;

fn check(name: &str, current: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../docs")
        .join(name);
    if std::env::var_os("RESPIRE_WRITE_DOCS").is_some() {
        fs::write(&path, current).expect("the documents can be written");
    }
    let written = fs::read_to_string(&path).unwrap_or_default();
    assert!(
        written == current,
        "docs/{name} is out of date; `cargo xtask docs` writes it anew"
    );
}

#[test]
fn document_of_commands_is_current() {
    check("COMMANDS.md", &documents::commands());
}

#[test]
fn document_of_limits_is_current() {
    check("LIMITS.md", &documents::limits());
}
