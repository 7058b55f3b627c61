//! Tests that every command is tested and documented.
//!
//! Each failure names what is missing and what to do. A command that cannot be tested like others
//! has an entry with its reason in `src/exemptions.rs`; an entry that is no longer needed fails a
//! test, too.

use respire_engine::Now;
use respire_testkit::differential::Requests;
use respire_testkit::exemptions::{
    EXAMPLES_NOT_ON_REDIS, EXAMPLES_NOT_ON_SERVERS, NOT_IN_GRAMMAR, NOT_IN_TRANSCRIPTS,
    UNKNOWN_TO_REDIS, has,
};
use respire_testkit::quoting::encode_command;
use respire_testkit::script::{Script, Step};
use respire_testkit::target::{EngineTarget, Received, START_UNIX_MS, Target, kv_engine};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

fn here(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

fn start() -> Now {
    Now::new(Duration::ZERO, Duration::from_millis(START_UNIX_MS))
}

/// Every command and subcommand, by its name in the table. Containers without an action of their
/// own are omitted.
fn commands() -> BTreeSet<&'static str> {
    let engine = kv_engine(start());
    let entries = engine.commands().all();
    entries
        .filter(|entry| !entry.is_container() || entry.spec().arity.accepts(1))
        .map(|entry| entry.spec().name)
        .collect()
}

/// A command as a user types it: `CLIENT KILL`.
fn typed(name: &str) -> String {
    name.replace('|', " ").to_uppercase()
}

/// The names in a request: its first word, and its first two words.
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

/// The commands in a number of random requests, and those among them that the engine did not answer
/// with an error.
fn sent_at_random() -> (BTreeSet<String>, BTreeSet<String>) {
    const REQUESTS: usize = 50_000;
    let mut target = EngineTarget::whole();
    let connection = target.connect();
    let mut requests = Requests::new(1);
    let (mut sent, mut answered) = (BTreeSet::new(), BTreeSet::new());
    for _ in 0..REQUESTS {
        let args = requests.next();
        let words: Vec<_> = args
            .iter()
            .map(|arg| String::from_utf8_lossy(arg))
            .collect();
        let words: Vec<&str> = words.iter().map(|word| &**word).collect();
        sent.extend(names(&words));
        target.send(connection, &encode_command(&args));
        let mut reply = Vec::new();
        while target.receive(connection, &mut reply) == Received::Bytes {}
        if !reply.starts_with(b"-") {
            answered.extend(names(&words));
        }
    }
    (sent, answered)
}

/// Compares the found commands and the exempt ones with the table.
#[track_caller]
fn check(found: &BTreeSet<String>, exempt: &[(&str, &str)], what_to_do: &str) {
    let commands = commands();
    let is_found = |name: &str| found.contains(&typed(name));
    let missing: Vec<&str> = commands
        .iter()
        .copied()
        .filter(|name| !is_found(name) && !has(exempt, name))
        .collect();
    assert!(missing.is_empty(), "{missing:?}: {what_to_do}");
    let needless = exempt.iter().map(|(name, _)| *name);
    let needless: Vec<&str> = needless.filter(|name| is_found(name)).collect();
    assert!(
        needless.is_empty(),
        "{needless:?}: no longer exempt, remove it from crates/respire-testkit/src/exemptions.rs"
    );
}

#[test]
fn every_command_has_a_transcript() {
    check(
        &in_transcripts(),
        NOT_IN_TRANSCRIPTS,
        "no transcript sends it. Add a case to crates/respire-testkit/scripts/*.resp, whose \
         README.md has the notation; or add it with a reason to NOT_IN_TRANSCRIPTS of \
         crates/respire-testkit/src/exemptions.rs",
    );
}

#[test]
fn every_command_is_among_random_requests_and_those_with_keys_succeed() {
    let (sent, answered) = sent_at_random();
    check(
        &sent,
        &[NOT_IN_GRAMMAR, UNKNOWN_TO_REDIS].concat(),
        "it is not compared with Redis at random, though requests are made from the `Spec` of every command: see \
         crates/respire-testkit/src/differential/hints.rs",
    );
    let engine = kv_engine(start());
    for entry in engine.commands().all() {
        let spec = entry.spec();
        let is_sent = sent.contains(&typed(spec.name));
        assert!(
            !is_sent || spec.keys.is_empty() || answered.contains(&typed(spec.name)),
            "{} is sent at random, but only so that it is answered by an error: give its arguments better values in \
             crates/respire-testkit/src/differential/hints.rs",
            spec.name
        );
    }
}

/// The commands of the table that a document names in backquotes.
fn named_by(document: &str) -> BTreeSet<String> {
    let text = fs::read_to_string(here(document)).expect("the document exists");
    // A name may be split over two lines.
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let commands = commands().into_iter().map(typed);
    commands
        .filter(|name| text.contains(&format!("`{name}`")))
        .collect()
}

#[test]
fn every_command_is_in_the_changelog() {
    check(
        &named_by("../../CHANGELOG.md"),
        &[],
        "CHANGELOG.md does not name it in backquotes. Add a line under Unreleased",
    );
}

#[test]
fn every_command_unknown_to_redis_is_in_a_compatibility_row() {
    let text =
        fs::read_to_string(here("../../docs/COMPATIBILITY.md")).expect("the document exists");
    for (name, id) in UNKNOWN_TO_REDIS {
        let row = text
            .lines()
            .find(|line| line.starts_with(&format!("| `{id}` |")));
        let name = typed(name);
        assert!(
            row.is_some_and(|row| row.contains(&format!("`{name}`"))),
            "docs/COMPATIBILITY.md has no row `{id}` that names `{name}`"
        );
    }
}

#[test]
fn exemptions_name_a_command_and_a_reason() {
    let commands = commands();
    let lists = [
        UNKNOWN_TO_REDIS,
        NOT_IN_TRANSCRIPTS,
        NOT_IN_GRAMMAR,
        EXAMPLES_NOT_ON_SERVERS,
        EXAMPLES_NOT_ON_REDIS,
    ];
    for (name, reason) in lists.concat() {
        assert!(commands.contains(name), "there is no command {name}");
        assert!(!reason.is_empty(), "{name} is exempt without a reason");
    }
}
