//! Tests of the whole table: it is sorted and complete, and each example gets its documented reply.

use super::*;
use crate::key::testing::Client;
use respire_engine::{Flags, Host, KeyFind, Options, Spec};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Every spec: commands, containers and subcommands.
fn specs() -> impl Iterator<Item = &'static Spec> {
    let contained = containers()
        .flat_map(|(container, subcommands)| std::iter::once(container).chain(*subcommands));
    rows().chain(contained).map(|row| row.spec)
}

#[test]
fn rows_of_a_family_are_sorted_and_their_names_are_unique() {
    for family in FAMILIES {
        let names: Vec<_> = family.rows.iter().map(|row| row.spec.name).collect();
        let misplaced = names.windows(2).find(|pair| pair[0] > pair[1]);
        assert_eq!(
            misplaced, None,
            "the rows of a family's `ROWS` are in the order of their names"
        );
    }
    for (container, subcommands) in containers() {
        assert!(subcommands.is_sorted_by_key(|row| row.spec.name));
        let prefix = format!("{}|", container.spec.name);
        assert!(
            subcommands
                .iter()
                .all(|row| row.spec.name.starts_with(&prefix)),
            "{prefix}"
        );
    }
    let names: Vec<_> = specs().map(|spec| spec.name).collect();
    let unique: BTreeSet<_> = names.iter().collect();
    assert_eq!(names.len(), unique.len());
}

#[test]
fn every_row_has_a_summary_a_complexity_and_an_example() {
    let bare: BTreeSet<_> = containers()
        .map(|(container, _)| container.spec.name)
        .collect();
    for spec in specs() {
        assert_eq!(spec.name, spec.name.to_ascii_lowercase());
        assert!(!spec.summary.is_empty(), "{} has no summary", spec.name);
        assert!(
            !spec.complexity.is_empty(),
            "{} has no complexity",
            spec.name
        );
        let needs_example = !bare.contains(spec.name);
        assert!(
            !needs_example || !spec.examples.is_empty(),
            "{} has no example",
            spec.name
        );
    }
}

/// The source files of this crate below `folder`.
fn sources(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).expect("a folder of sources") {
        let path = entry.expect("a file of it").path();
        if path.is_dir() {
            found.extend(sources(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
    found
}

#[test]
fn every_spec_in_the_sources_has_a_row() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let names: BTreeSet<_> = specs().map(|spec| spec.name).collect();
    let mut found = 0;
    for path in sources(&root) {
        let text = std::fs::read_to_string(&path).expect("a source file is text");
        let toy = path.starts_with(root.join("stack"));
        let path = path.strip_prefix(&root).expect("it is below");
        for (at, _) in text.match_indices(": Spec = Spec {") {
            let line = text[..at].lines().next_back().unwrap_or_default();
            // Specs in the examples of comments are constants.
            if !line.contains("static ") || (toy && !cfg!(feature = "toy")) {
                continue;
            }
            let name = text[at..].split('"').nth(1).expect("the name stands first");
            assert!(
                names.contains(name),
                "{name} of {} has no row: add it to `ROWS` in mod.rs beside, and its `mod`; and the folder's \
                 `FAMILY`, if that is new, to `FAMILIES` in table.rs",
                path.display()
            );
            found += 1;
        }
    }
    assert_eq!(found, names.len());
}

#[test]
fn every_type_byte_belongs_to_one_family() {
    let mut bytes: Vec<u8> = FAMILIES
        .iter()
        .flat_map(|family| family.restores)
        .map(|(byte, _)| *byte)
        .collect();
    bytes.sort_unstable();
    assert!(bytes.windows(2).all(|pair| pair[0] < pair[1]), "{bytes:?}");
}

#[test]
fn every_example_gets_its_documented_reply() {
    for spec in specs() {
        let mut client = Client::new();
        for (request, expected) in spec.examples {
            let mut answer = client.send(request);
            if answer.is_empty() {
                // The next turn sends a reply whose delay is 0.
                answer = client.poll();
            }
            assert_eq!(answer, *expected, "{request}");
        }
    }
}

/// Commands with constant cost here that Redis does not call fast, because freeing the old value
/// may take long there.
const CONSTANT_ALONE: &[&str] = &["set", "setex", "psetex"];

/// Commands that are documented as fast and `O(1)` but are always timed.
const FAST_AND_TIMED: &[&str] = &[
    // It visits every shard.
    "dbsize", // These lock two shards in a section of their own.
    "move", "renamenx", "smove",
    // These end everything that the connection watches, has queued or subscribes to.
    "quit", "reset", "unwatch",
    // These are so rare that reading the clock does not matter.
    "hello", "lastsave",
];

#[test]
fn constant_cost_agrees_with_complexity_keys_and_fast_flag() {
    let client = Client::new();
    for entry in client.engine().commands().all() {
        let (spec, name) = (entry.spec(), entry.spec().name);
        assert_eq!(entry.command().is_timed(), !spec.is_constant(), "{name}");
        let is_fast = spec.flags.has(Flags::FAST) || CONSTANT_ALONE.contains(&name);
        let is_one = |find| matches!(find, KeyFind::Range { last: 0, .. });
        let of_all = Flags::ALL_KEYS | Flags::BLOCKING | Flags::ADMIN | Flags::PUBSUB;
        let may_be_constant = is_fast
            && spec.complexity == "O(1)"
            && spec.keys.len() <= 1
            && spec.keys.iter().all(|keys| is_one(keys.find))
            && !spec.flags.any(of_all);
        if spec.is_constant() {
            assert!(may_be_constant, "{name} does not have constant cost");
        } else if is_fast && spec.complexity == "O(1)" {
            assert!(
                FAST_AND_TIMED.contains(&name),
                "{name} must be declared constant"
            );
        }
    }
}

/// A stopwatch that advances by a chosen step each time it is read.
#[derive(Default)]
struct Stopwatch {
    step_ns: AtomicU64,
    read_ns: AtomicU64,
}

impl Host for Stopwatch {
    fn stopwatch_ns(&self) -> u64 {
        let step_ns = self.step_ns.load(Ordering::Relaxed);
        self.read_ns.fetch_add(step_ns, Ordering::Relaxed)
    }
}

#[test]
fn slow_call_after_many_fast_ones_is_in_the_slow_log() {
    let stopwatch = Arc::new(Stopwatch::default());
    let mut client = Client::with(Options {
        host: Arc::clone(&stopwatch) as Arc<dyn Host>,
        ..Options::default()
    });
    client.send("SET k v");
    for request in [
        "DUMP k",
        "SCAN 0",
        "MGET k k",
        "APPEND k v",
        "RESTORE k 0 x",
    ] {
        stopwatch.step_ns.store(1_000, Ordering::Relaxed);
        for _ in 0..20 {
            client.send(&[request; 1_000].join("\r\n"));
        }
        client.send("SLOWLOG RESET");
        stopwatch.step_ns.store(50_000_000, Ordering::Relaxed);
        client.send(request);
        stopwatch.step_ns.store(1_000, Ordering::Relaxed);
        let log = client.send("SLOWLOG GET");
        let name = request.split(' ').next().unwrap_or_default();
        assert!(log.starts_with("*1\r\n"), "{log}");
        assert!(log.contains(&format!("\r\n{name}\r\n")), "{log}");
    }
}
