//! Tests that generated files are current. With `RESPIRE_WRITE_DOCS` set they write the files.

use crate::*;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use ts_rs::{Config, TS};

/// Compares a generated file with its current text, or writes it.
fn check_or_write(path: &str, wanted: &str) {
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
fn generated_names_match_the_command_table() {
    let table = engine::commands();
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
    check_or_write("src/names/list.rs", &text);
}

#[test]
fn generated_types_match_the_structs() {
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
    check_or_write("../../web/src/generated/types.ts", &text);
}

#[test]
fn generated_tables_match_the_enums() {
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
    meanings(&mut text);
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
    check_or_write("../../web/src/generated/tables.ts", &text);
}

/// The presets of limits, by number.
fn presets(text: &mut String) {
    text.push_str(
        "\n/** The presets of limits, by number. */\n\
         export const LIMITS: readonly { id: string; label: string; what: string }[] = [\n",
    );
    let presets = [
        ("server", "server"),
        ("unauthenticated", "before AUTH"),
        ("client", "client"),
    ];
    for ((id, label), number) in presets.into_iter().zip(0..) {
        let limits = mode::limits_of(number).expect("a preset");
        let what = if id == "client" {
            format!(
                "Replies of at most {}, strings of {}, lines of {}, {} levels deep.",
                binary_size(u64::from(limits.max_frame)),
                binary_size(limits.max_bulk),
                binary_size(u64::from(limits.max_inline)),
                limits.max_depth,
            )
        } else {
            format!(
                "Requests of at most {}, arguments of {}, {} arguments, lines of {}.",
                binary_size(u64::from(limits.max_frame)),
                binary_size(limits.max_bulk),
                limits.max_args,
                binary_size(u64::from(limits.max_inline)),
            )
        };
        writeln!(
            text,
            "  {{ id: {id:?}, label: {label:?}, what: {what:?} }},"
        )
        .expect("memory");
    }
    text.push_str("];\n");
}

/// A byte count with the largest unit that gives a whole number.
fn binary_size(bytes: u64) -> String {
    let units = [(30, "GiB"), (20, "MiB"), (10, "KiB")];
    let unit = units.iter().find(|(shift, _)| bytes >> shift > 0);
    match unit {
        // `i32::MAX` and similar limits: one byte short of the round number.
        Some(&(shift, unit)) => format!("{} {unit}", bytes.div_ceil(1 << shift)),
        None => format!("{bytes} bytes"),
    }
}

/// The summaries of the commands, in the order of the numbers that frames carry.
fn commands(text: &mut String) {
    text.push_str(
        "\n/** The commands by the number that frames carry, less 1: name and summary. */\n\
         export const COMMANDS: readonly (readonly [name: string, summary: string])[] = [\n",
    );
    let table = command_table();
    for name in command_names() {
        let info = table.iter().find(|info| info.name == *name);
        let summary = info.map_or("", |info| info.summary);
        writeln!(text, "  [{name:?}, {summary:?}],").expect("memory");
    }
    text.push_str("];\n");
}

/// The tables that explain the numbers.
fn meanings(text: &mut String) {
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
    presets(text);
    commands(text);
}

/// Constants that name the numbers, from 0.
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
