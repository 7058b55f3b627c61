//! Plays every transcript on every target.

use respire::serve::Flavour;
use respire_testkit::runner::{self, Failure};
use respire_testkit::script::Script;
use respire_testkit::target::{EngineTarget, FlavourServer, RedisServer, SocketTarget, Target};
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

fn here(path: &str) -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

fn scripts() -> Vec<Script> {
    let mut scripts = Vec::new();
    for entry in fs::read_dir(here("scripts")).expect("the folder is there") {
        let path = entry.expect("the folder can be listed").path();
        if path.extension().is_none_or(|extension| extension != "resp") {
            continue;
        }
        let name = path
            .file_stem()
            .expect("scripts have names")
            .to_string_lossy()
            .into_owned();
        let text = fs::read_to_string(&path).expect("scripts are text");
        scripts.push(Script::parse(&name, &text).unwrap_or_else(|error| panic!("{error}")));
    }
    scripts.sort_by(|a, b| a.name.cmp(&b.name));
    assert!(!scripts.is_empty());
    scripts
}

fn play_all(target: &mut dyn Target) {
    let failures: Vec<Failure> = scripts()
        .iter()
        .flat_map(|script| runner::run(script, target))
        .collect();
    assert!(
        failures.is_empty(),
        "{} cases failed: {failures:?}",
        failures.len()
    );
}

#[test]
fn engine_plays_every_script() {
    play_all(&mut EngineTarget::whole());
}

#[test]
fn engine_plays_every_script_byte_by_byte() {
    play_all(&mut EngineTarget::byte_by_byte());
}

#[test]
fn engine_plays_every_script_split_at_any_byte() {
    // The longest requests are split only near their start; the byte-by-byte test splits them
    // everywhere.
    for at in 1..=48 {
        play_all(&mut EngineTarget::cut_at(at));
    }
}

#[test]
fn tokio_server_plays_every_script() {
    play_all(&mut FlavourServer::start(Flavour::Tokio).target());
}

#[test]
fn mio_server_plays_every_script() {
    play_all(&mut FlavourServer::start(Flavour::Mio).target());
}

#[test]
fn redis_plays_every_script_for_redis() {
    let redis = RedisServer::start();
    play_all(&mut SocketTarget::new(
        redis.address(),
        &["redis", "socket"],
    ));
}

#[test]
fn every_difference_in_a_script_is_documented() {
    let text = fs::read_to_string(here("../../docs/COMPATIBILITY.md")).unwrap();
    let named: BTreeSet<String> = scripts()
        .into_iter()
        .flat_map(|script| script.cases)
        .flat_map(|case| case.differences)
        .collect();
    let missing: Vec<&String> = named
        .iter()
        .filter(|id| !text.contains(&format!("| `{id}` |")))
        .collect();
    assert!(
        missing.is_empty(),
        "docs/COMPATIBILITY.md has no row for {missing:?}"
    );
}
