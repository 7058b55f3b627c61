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
        Comparison::decl(&config),
        Form::decl(&config),
        Cost::decl(&config),
        Loss::decl(&config),
        MsgPack::decl(&config),
        MsgPackToken::decl(&config),
        Words::decl(&config),
        Guess::decl(&config),
        CaptureSummary::decl(&config),
        StreamSummary::decl(&config),
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

#[test]
fn generated_tables_are_those_of_the_enums() {
    let mut text = String::from("// Generated from crates/respire-wasm; not to be edited.\n");
    let words = [
        ("FRAME_WORDS", FRAME_WORDS),
        ("MARK_WORDS", MARK_WORDS),
        ("NODE_WORDS", NODE_WORDS),
        ("READ_WORDS", READ_WORDS),
        ("SEGMENT_WORDS", SEGMENT_WORDS),
    ];
    for (name, words) in words {
        write!(text, "\nexport const {name} = {words};").expect("memory");
    }
    text.push_str(
        "\n\n/** No parent, no count. */\nexport const NONE = 0xffffffff;\n\n\
         export interface Meaning {\n  id: string;\n  label: string;\n  letter: string;\n  what: string;\n}\n",
    );
    let tables: [(&str, &[Meaning]); 2] = [("ROLES", &ROLES), ("KINDS", &KINDS)];
    for (name, table) in tables {
        write!(text, "\nexport const {name}: readonly Meaning[] = [\n").expect("memory");
        for Meaning {
            id,
            label,
            letter,
            what,
        } in table
        {
            writeln!(
                text,
                "  {{ id: {id:?}, label: {label:?}, letter: {letter:?}, what: {what:?} }},"
            )
            .expect("memory");
        }
        text.push_str("];\n");
    }
    text.push_str("\n/** The kinds of errors, from 1: what is wrong, and the rule. */\n");
    text.push_str("export const ERRORS: readonly { text: string; rule: string }[] = [\n");
    for kind in ERRORS {
        writeln!(
            text,
            "  {{ text: {:?}, rule: {:?} }},",
            kind.to_string(),
            kind.help()
        )
        .expect("memory");
    }
    text.push_str("];\n");
    numbers(&mut text, "Role", ROLES.iter().map(|role| role.id));
    numbers(&mut text, "Kind", KINDS.iter().map(|kind| kind.id));
    let modes = [
        "requests",
        "replies",
        "binaryRequests",
        "binaryReplies",
        "auto",
    ];
    numbers(&mut text, "Mode", modes.into_iter());
    numbers(
        &mut text,
        "Limits",
        ["server", "unauthenticated", "client"].into_iter(),
    );
    numbers(
        &mut text,
        "FrameStatus",
        ["whole", "bad", "torn", "blank"].into_iter(),
    );
    numbers(
        &mut text,
        "Wire",
        ["resp2", "resp3", "binary", "inline"].into_iter(),
    );
    numbers(
        &mut text,
        "Outcome",
        ["needsMore", "failed", "allConsumed"].into_iter(),
    );
    hold("../../web/src/generated/tables.ts", &text);
}

/// Names for numbers, from 0.
fn numbers(text: &mut String, name: &str, ids: impl Iterator<Item = &'static str>) {
    write!(text, "\nexport const {name} = {{").expect("memory");
    for (number, id) in ids.enumerate() {
        write!(
            text,
            "{} {id}: {number}",
            if number == 0 { "" } else { "," }
        )
        .expect("memory");
    }
    text.push_str(" } as const;\n");
}
