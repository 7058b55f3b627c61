//! Compares `COMMAND`'s description of every command, and the errors for a wrong number of
//! arguments, with Redis.

use respire_engine::Now;
use respire_testkit::differential::rules::Rule;
use respire_testkit::differential::shown;
use respire_testkit::exemptions::{NEWER_ARITY, UNKNOWN_TO_REDIS, has};
use respire_testkit::quoting::encode_command;
use respire_testkit::reply::{self, Value};
use respire_testkit::target::{
    EngineTarget, Link, Received, RedisServer, START_UNIX_MS, Target, kv_engine,
};
use std::time::Duration;

/// Every command and subcommand that both servers have.
fn names() -> Vec<&'static str> {
    let engine = kv_engine(Now::new(
        Duration::ZERO,
        Duration::from_millis(START_UNIX_MS),
    ));
    let names = engine.commands().all().map(|entry| entry.spec().name);
    names.filter(|name| !has(UNKNOWN_TO_REDIS, name)).collect()
}

fn ask(target: &mut dyn Target, connection: usize, args: &[&str]) -> Value {
    target.send(connection, &encode_command(args));
    let mut bytes = Vec::new();
    while let Received::Bytes = target.receive(connection, &mut bytes) {}
    match reply::parse(&bytes) {
        Ok(Some((value, len))) if len == bytes.len() => value,
        other => panic!("{args:?} was answered {other:?}"),
    }
}

/// Removes the list of a container's subcommands: we may have fewer of them, and they are compared
/// one by one.
fn without_subcommands(value: Value) -> Value {
    match value {
        // `COMMAND INFO`: name, arity, and so on; the subcommands are the last of ten.
        Value::Array(mut items) if items.len() == 10 && matches!(items[1], Value::Int(_)) => {
            items.pop();
            Value::Array(items)
        }
        Value::Array(items) => {
            let at = items
                .iter()
                .position(|item| item.as_bytes() == Some(b"subcommands"));
            let is_kept = |index: usize| at.is_none_or(|at| index != at && index != at + 1);
            let kept = items
                .into_iter()
                .enumerate()
                .filter(|(index, _)| is_kept(*index));
            Value::Array(kept.map(|(_, item)| without_subcommands(item)).collect())
        }
        other => other,
    }
}

/// Sends both servers the same request for each name, and returns the differing replies.
fn differences(question: impl Fn(&'static str) -> Vec<&'static str>) -> Vec<String> {
    let redis = RedisServer::start();
    let mut ours = EngineTarget::whole();
    let mut found = Vec::new();
    for name in names() {
        let args = question(name);
        // Some requests end their connection.
        let connection = ours.connect();
        let ours = without_subcommands(ask(&mut ours, connection, &args));
        let theirs = without_subcommands(Link::open(redis.address()).call(&args));
        if !Rule::Description.same(ours.clone(), theirs.clone()) {
            found.push(format!(
                "\n{args:?}\n  ours   {}\n  theirs {}",
                shown(&ours),
                shown(&theirs)
            ));
        }
    }
    found
}

fn expect_none(found: &[String]) {
    assert!(
        found.is_empty(),
        "{} differences: {}\nCorrect the command's `Spec`; or, if Redis 7.0 does not have the \
         command, add it to UNKNOWN_TO_REDIS of crates/respire-testkit/src/exemptions.rs",
        found.len(),
        found.concat()
    );
}

#[test]
fn command_info_of_every_command_matches_redis() {
    expect_none(&differences(|name| match has(NEWER_ARITY, name) {
        true => vec!["PING"],
        false => vec!["COMMAND", "INFO", name],
    }));
}

#[test]
fn command_docs_of_every_command_match_redis() {
    // DEBUG is a system command in Redis and a harmless one here: docs/COMPATIBILITY.md, `debug`.
    expect_none(&differences(|name| match name {
        "debug" => vec!["PING"],
        _ => vec!["COMMAND", "DOCS", name],
    }));
}

/// Commands that are valid without arguments, or that end the connection or the server.
const VALID_WITHOUT_ARGUMENTS: &[&str] = &[
    "ping",
    "quit",
    "shutdown",
    "info",
    "time",
    "lastsave",
    "lolwut",
    "command",
    "hello",
    "reset",
    "save",
    "bgsave",
    "bgrewriteaof",
];

#[test]
fn errors_for_too_few_arguments_match_redis() {
    expect_none(&differences(|name| {
        if VALID_WITHOUT_ARGUMENTS.contains(&name) || name.contains('|') {
            return vec!["PING"];
        }
        vec![name]
    }));
}

/// Commands that are valid with twelve arguments, or that have a long or their own reply to them.
const VALID_WITH_MANY_ARGUMENTS: &[&str] = &[
    "sunsubscribe",
    "ssubscribe",
    "subscribe",
    "psubscribe",
    "unsubscribe",
    "punsubscribe",
    "lolwut",
];

#[test]
fn errors_for_too_many_arguments_match_redis() {
    expect_none(&differences(|name| {
        if VALID_WITH_MANY_ARGUMENTS.contains(&name) {
            return vec!["PING"];
        }
        name.split('|').chain(["x"; 12]).collect()
    }));
}
