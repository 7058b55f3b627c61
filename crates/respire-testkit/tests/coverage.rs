//! A command of the table that nobody tests beside Redis, or tells users of, is noticed here.
//!
//! Each test names what is missing and what to do. A command that cannot be tested like others stands
//! in one of the lists below with its reason; an entry that is no longer needed is noticed as well.

use respire_engine::Now;
use respire_testkit::differential::grammar::{self, Node};
use respire_testkit::script::{Script, Step};
use respire_testkit::target::{START_UNIX_MS, kv_engine};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Commands without a transcript, each with its reason.
const NOT_IN_TRANSCRIPTS: &[(&str, &str)] = &[];

/// Commands that are not sent at random and compared with Redis, each with its reason.
const NOT_IN_GRAMMAR: &[(&str, &str)] = &[
    ("CLIENT NO-TOUCH", YOUNGER),
    ("CLIENT SETINFO", YOUNGER),
    (
        "CONFIG REWRITE",
        "writes the file that a server was started with",
    ),
    (
        "MEMORY MALLOC-STATS",
        "tells of each server's own allocator",
    ),
    ("PSUBSCRIBE", SUBSCRIBES),
    ("PUNSUBSCRIBE", SUBSCRIBES),
    (
        "QUIT",
        "ends the connection on which the next request is sent",
    ),
    ("SSUBSCRIBE", SUBSCRIBES),
    ("SUBSCRIBE", SUBSCRIBES),
    ("SUNSUBSCRIBE", SUBSCRIBES),
    ("UNSUBSCRIBE", SUBSCRIBES),
];

const YOUNGER: &str = "younger than the reference, Redis 7.0";
const SUBSCRIBES: &str = "answered more than once, or by pushes; scripts/pubsub.resp plays it";

fn here(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

/// Every command and subcommand, as it is typed: in upper case, `CLIENT KILL`. Containers that do
/// nothing by themselves are left out.
fn commands() -> BTreeSet<String> {
    let now = Now::new(Duration::ZERO, Duration::from_millis(START_UNIX_MS));
    let engine = kv_engine(now);
    let entries = engine.commands().all();
    entries
        .filter(|entry| !entry.is_container() || entry.spec().arity.accepts(1))
        .map(|entry| entry.spec().name.replace('|', " ").to_uppercase())
        .collect()
}

/// What a request names: its first word, and its first two.
fn names(words: &[&str]) -> impl Iterator<Item = String> {
    let ends = 1..=words.len().min(2);
    ends.map(|end| words[..end].join(" ").to_uppercase())
        .collect::<Vec<_>>()
        .into_iter()
}

fn in_transcripts() -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for entry in fs::read_dir(here("scripts")).expect("the folder is there") {
        let path = entry.expect("the folder can be listed").path();
        if path.extension().is_none_or(|extension| extension != "resp") {
            continue;
        }
        let text = fs::read_to_string(&path).expect("scripts are text");
        let script = Script::parse(&path.to_string_lossy(), &text).expect("scripts can be parsed");
        for (_, step) in script.cases.into_iter().flat_map(|case| case.steps) {
            if let Step::Command(line) = step {
                let words: Vec<&str> = line.split_whitespace().take(2).collect();
                found.extend(names(&words));
            }
        }
    }
    found
}

/// The words that a part of a line of the grammar can begin with.
fn first_words(node: &Node) -> Vec<&'static str> {
    match node {
        Node::Word(word) => vec![word],
        Node::Hole(_) => Vec::new(),
        Node::Choice { options, .. } => options
            .iter()
            .filter_map(|option| option.first())
            .flat_map(first_words)
            .collect(),
        Node::Repeat(nodes) => nodes.first().map(first_words).unwrap_or_default(),
    }
}

fn in_grammar() -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for (_, line) in grammar::COMMANDS {
        let nodes = grammar::parse(line);
        for first in nodes.first().map(first_words).unwrap_or_default() {
            found.extend(names(&[first]));
            for second in nodes.get(1).map(first_words).unwrap_or_default() {
                found.extend(names(&[first, second]));
            }
        }
    }
    found
}

/// Holds what was found, and what is exempt, against the table.
#[track_caller]
fn check(found: &BTreeSet<String>, exempt: &[(&str, &str)], what_to_do: &str) {
    let commands = commands();
    let is_exempt = |name: &str| exempt.iter().any(|(other, _)| *other == name);
    let missing: Vec<&String> = commands
        .iter()
        .filter(|name| !found.contains(*name) && !is_exempt(name))
        .collect();
    assert!(missing.is_empty(), "{missing:?}: {what_to_do}");
    let needless: Vec<&str> = exempt
        .iter()
        .map(|(name, _)| *name)
        .filter(|name| found.contains(*name) || !commands.contains(*name))
        .collect();
    assert!(
        needless.is_empty(),
        "{needless:?}: no longer exempt, remove from the list in tests/coverage.rs"
    );
    let bare = exempt.iter().find(|(_, reason)| reason.is_empty());
    assert_eq!(bare, None, "an exemption has a reason");
}

#[test]
fn every_command_has_a_transcript() {
    check(
        &in_transcripts(),
        NOT_IN_TRANSCRIPTS,
        "no transcript sends it; add a case to crates/respire-testkit/scripts/*.resp (its README \
         has the notation), or the command and a reason to NOT_IN_TRANSCRIPTS in \
         crates/respire-testkit/tests/coverage.rs",
    );
}

#[test]
fn every_command_is_sent_at_random() {
    check(
        &in_grammar(),
        NOT_IN_GRAMMAR,
        "it is not compared with Redis at random; add a line to \
         crates/respire-testkit/src/differential/grammar.rs, or the command and a reason to \
         NOT_IN_GRAMMAR in crates/respire-testkit/tests/coverage.rs",
    );
}

#[test]
fn every_command_is_in_the_changelog() {
    let text = fs::read_to_string(here("../../CHANGELOG.md")).expect("it is there");
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let is_named = |name: &String| text.contains(&format!("`{name}`"));
    let named = commands().into_iter().filter(is_named).collect();
    check(
        &named,
        &[],
        "CHANGELOG.md does not name it in backquotes; add it to the line of commands under \
         Unreleased",
    );
}
