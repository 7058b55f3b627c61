//! What is generated and committed: the tests here hold it to the sources, and write it anew when
//! `RESPIRE_WRITE_DOCS` is set.

use crate::*;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use ts_rs::{Config, TS};

/// Compares a generated file with what it ought to be, or writes it.
fn hold(path: &str, wanted: &str) {
    let path: PathBuf = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    if std::env::var_os("RESPIRE_WRITE_DOCS").is_some() {
        fs::create_dir_all(path.parent().expect("a folder")).expect("can be made");
        fs::write(&path, wanted).expect("can be written");
    }
    let found = fs::read_to_string(&path).unwrap_or_default();
    assert!(
        found == wanted,
        "{} is stale: run `cargo xtask docs`",
        path.display()
    );
}

#[test]
fn generated_names_are_those_of_the_command_table() {
    let table = crate::engine::commands();
    let mut names: Vec<String> = table
        .commands()
        .map(|entry| entry.spec().name.to_ascii_uppercase())
        .collect();
    names.sort();
    let mut text = String::from(
        "//! Generated from the command table by `cargo xtask docs`; not to be edited.\n\n\
         pub(super) static NAMES: &[&str] = &[\n",
    );
    for name in names {
        writeln!(text, "    \"{name}\",").expect("memory");
    }
    text.push_str("];\n");
    hold("src/names/list.rs", &text);
}

#[test]
fn generated_types_are_those_of_the_structs() {
    let config = Config::default();
    let types = [
        State::decl(&config),
        OpenValue::decl(&config),
        DocError::decl(&config),
        FixInfo::decl(&config),
        Verdict::decl(&config),
        Progress::decl(&config),
        CommandInfo::decl(&config),
        ArgInfo::decl(&config),
    ];
    let mut text = String::from("// Generated from crates/respire-wasm; not to be edited.\n");
    for decl in types {
        write!(
            text,
            "\nexport {}\n",
            decl.replace(" | null, }", " | null }")
        )
        .expect("memory");
    }
    hold("../../web/src/generated/types.ts", &text);
}
