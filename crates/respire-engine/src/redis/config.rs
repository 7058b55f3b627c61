//! `CONFIG GET` `SET` `RESETSTAT` `REWRITE`: the settings of the engine, the service and the
//! process.

use super::Rows;
use super::help::{boxed, help, needs_subcommand};
use crate::{App, Arg, ArgKind, ArgList, Arity, Cx, Error, Flags, Group, Reply, Row, Setting};
use crate::{Spec, glob_match, text};
use std::borrow::Cow;

pub(super) fn add_to<A: App>(rows: Rows<'_, A>) -> Rows<'_, A> {
    rows.container(
        Row {
            spec: &CONFIG,
            run: needs_subcommand,
        },
        boxed([
            (&CONFIG_GET, get),
            (&CONFIG_SET, set),
            (&CONFIG_RESETSTAT, reset_stats),
            (&CONFIG_REWRITE, rewrite),
            (&CONFIG_HELP, config_help),
        ]),
    )
}

static CONFIG: Spec = Spec {
    name: "config",
    summary: "A container for server configuration commands",
    since: "2.0.0",
    complexity: "Depends on subcommand.",
    group: Group::Server,
    arity: Arity::at_least(2),
    ..Spec::EMPTY
};

static CONFIG_GET: Spec = Spec {
    name: "config|get",
    summary: "Get the values of configuration parameters",
    since: "2.0.0",
    complexity: "O(N) when N is the number of configuration parameters provided",
    group: Group::Server,
    arity: Arity::at_least(3),
    flags: Flags::ADMIN
        .with(Flags::NOSCRIPT)
        .with(Flags::LOADING)
        .with(Flags::STALE),
    args: &[Arg::block("parameter", &[Arg::new("parameter", ArgKind::String)]).multiple()],
    history: &[(
        "7.0.0",
        "Added the ability to pass multiple pattern parameters in one call",
    )],
    examples: &[
        ("CONFIG GET timeout", "*2\r\n$7\r\ntimeout\r\n$1\r\n0\r\n"),
        (
            "CONFIG GET slowlog-*",
            "*4\r\n$23\r\nslowlog-log-slower-than\r\n$5\r\n10000\r\n$15\r\nslowlog-max-len\r\n$3\r\n128\r\n",
        ),
    ],
    ..Spec::EMPTY
};

static CONFIG_SET: Spec = Spec {
    name: "config|set",
    summary: "Set configuration parameters to the given values",
    since: "2.0.0",
    complexity: "O(N) when N is the number of configuration parameters provided",
    group: Group::Server,
    arity: Arity::at_least(4),
    flags: Flags::ADMIN
        .with(Flags::NOSCRIPT)
        .with(Flags::LOADING)
        .with(Flags::STALE),
    args: &[Arg::block(
        "parameter_value",
        &[
            Arg::new("parameter", ArgKind::String),
            Arg::new("value", ArgKind::String),
        ],
    )
    .multiple()],
    tips: &["request_policy:all_nodes", "response_policy:all_succeeded"],
    history: &[(
        "7.0.0",
        "Added the ability to set multiple parameters in one call.",
    )],
    examples: &[
        ("CONFIG SET timeout 300 maxclients 500", "+OK\r\n"),
        (
            "CONFIG SET timeout soon",
            "-ERR CONFIG SET failed (possibly related to argument 'timeout') - argument couldn't be parsed into an integer\r\n",
        ),
    ],
    ..Spec::EMPTY
};

static CONFIG_RESETSTAT: Spec = Spec {
    name: "config|resetstat",
    summary: "Reset the stats returned by INFO",
    since: "2.0.0",
    group: Group::Server,
    arity: Arity::exactly(2),
    flags: Flags::ADMIN
        .with(Flags::NOSCRIPT)
        .with(Flags::LOADING)
        .with(Flags::STALE),
    examples: &[("CONFIG RESETSTAT", "+OK\r\n")],
    ..Spec::EMPTY
};

static CONFIG_REWRITE: Spec = Spec {
    name: "config|rewrite",
    summary: "Rewrite the configuration file with the in memory configuration",
    since: "2.8.0",
    group: Group::Server,
    arity: Arity::exactly(2),
    flags: Flags::ADMIN
        .with(Flags::NOSCRIPT)
        .with(Flags::LOADING)
        .with(Flags::STALE),
    examples: &[(
        "CONFIG REWRITE",
        "-ERR The server is running without a config file\r\n",
    )],
    ..Spec::EMPTY
};

static CONFIG_HELP: Spec = Spec {
    name: "config|help",
    summary: "Show helpful text about the different subcommands",
    since: "5.0.0",
    group: Group::Server,
    arity: Arity::exactly(2),
    flags: Flags::LOADING.with(Flags::STALE),
    ..Spec::EMPTY
};

const HELP: &[&str] = &[
    "GET <pattern>",
    "    Return parameters matching the glob-like <pattern> and their values.",
    "SET <directive> <value>",
    "    Set the configuration <directive> to <value>.",
    "RESETSTAT",
    "    Reset statistics reported by the INFO command.",
    "REWRITE",
    "    Rewrite the configuration file.",
];

fn get<A: App>(cx: &mut Cx<'_, A>, args: ArgList<'_>, reply: &mut Reply<'_>) -> Result<(), Error> {
    let settings = &cx.engine.settings;
    let mut found: Vec<(Cow<'_, str>, &Setting)> = Vec::new();
    for pattern in args.iter() {
        let is_glob = pattern.iter().any(|byte| b"[*?".contains(byte));
        for setting in settings {
            let name = setting.name();
            let matches = if is_glob {
                glob_match(pattern, name.as_bytes(), true)
            } else {
                name.as_bytes().eq_ignore_ascii_case(pattern)
            };
            if matches && !found.iter().any(|(_, known)| known.name() == name) {
                // A name given in full is returned in the client's spelling.
                let shown = if is_glob {
                    name.into()
                } else {
                    String::from_utf8_lossy(pattern)
                };
                found.push((shown, setting));
            }
        }
    }
    reply.map(found.len());
    for (name, setting) in found {
        reply.bulk(name.as_bytes());
        reply.bulk(setting.get());
    }
    Ok(())
}

/// Sets all values, or none if one is refused.
fn set<A: App>(cx: &mut Cx<'_, A>, args: ArgList<'_>, reply: &mut Reply<'_>) -> Result<(), Error> {
    if !args.len().is_multiple_of(2) {
        return Err(text::SYNTAX);
    }
    let changes = changes(&cx.engine.settings, args)?;
    let before: Vec<String> = changes.iter().map(|(setting, _)| setting.get()).collect();
    for (at, (setting, value)) in changes.iter().enumerate() {
        let Err(reason) = setting.set_bytes(value) else {
            continue;
        };
        for ((setting, _), value) in changes[..at].iter().zip(&before).rev() {
            // The old value was valid a moment ago. If it is refused now, the first error is still
            // the one to report.
            let _ = setting.set(value);
        }
        return Err(failed(setting.name(), &reason));
    }
    reply.ok();
    Ok(())
}

/// The named settings, each with its new value.
fn changes<'a>(
    settings: &'a [Setting],
    args: ArgList<'a>,
) -> Result<Vec<(&'a Setting, &'a [u8])>, Error> {
    let mut changes: Vec<(&Setting, &[u8])> = Vec::with_capacity(args.len() / 2);
    let mut refused = None;
    let mut args = args.iter();
    while let Some((name, value)) = args.next().zip(args.next()) {
        let named = |setting: &&Setting| setting.name().as_bytes().eq_ignore_ascii_case(name);
        let setting = settings.iter().find(named).ok_or_else(|| {
            Error::quoting(
                "ERR Unknown option or number of arguments for CONFIG SET - '",
                name,
                "'",
            )
        })?;
        if !setting.is_mutable() {
            refused = refused.or(Some(failed(setting.name(), "can't set immutable config")));
        } else if changes
            .iter()
            .any(|(known, _)| known.name() == setting.name())
        {
            refused = refused.or(Some(failed(setting.name(), "duplicate parameter")));
        }
        changes.push((setting, value));
    }
    // An unknown name is reported before errors in other values.
    refused.map_or(Ok(changes), Err)
}

fn failed(name: &str, reason: &str) -> Error {
    Error::owned(format!(
        "ERR CONFIG SET failed (possibly related to argument '{name}') - {reason}"
    ))
}

fn reset_stats<A: App>(
    cx: &mut Cx<'_, A>,
    _: ArgList<'_>,
    reply: &mut Reply<'_>,
) -> Result<(), Error> {
    // Calls of this turn are reset too.
    cx.engine.flush_tally(cx.client);
    cx.engine.reset_stats();
    reply.ok();
    Ok(())
}

fn rewrite<A: App>(cx: &mut Cx<'_, A>, _: ArgList<'_>, reply: &mut Reply<'_>) -> Result<(), Error> {
    let engine = cx.engine;
    let values: Vec<(&'static str, String)> = engine
        .settings
        .iter()
        .map(|setting| (setting.name(), setting.get()))
        .collect();
    let done = engine.host.rewrite_config(&values);
    done.map_err(|reason| Error::owned(format!("ERR {reason}")))?;
    reply.ok();
    Ok(())
}

fn config_help<A: App>(
    _: &mut Cx<'_, A>,
    _: ArgList<'_>,
    reply: &mut Reply<'_>,
) -> Result<(), Error> {
    help(&CONFIG, HELP, reply);
    Ok(())
}

#[cfg(test)]
mod tests {
    use crate::redis::testing::{Server, check};

    const FAILED: &str = "-ERR CONFIG SET failed (possibly related to argument";

    #[test]
    fn get_returns_each_match_of_names_and_patterns_once() {
        check(&[
            ("CONFIG GET timeout nope", "*2|$7|timeout|$1|0|"),
            ("CONFIG GET TimeOut time*", "*2|$7|TimeOut|$1|0|"),
            (
                "CONFIG GET slow*",
                "*4|$23|slowlog-log-slower-than|$5|10000|$15|slowlog-max-len|$3|128|",
            ),
            ("CONFIG GET save", "*2|$4|save|$0||"),
        ]);
        let mut line = Server::new().connect();
        line.ask("HELLO 3");
        assert_eq!(line.ask("CONFIG GET timeout"), "%1|$7|timeout|$1|0|");
    }

    #[test]
    fn set_changes_all_values_or_none() {
        check(&[
            (
                "CONFIG SET timeout 10 maxclients 20\nCONFIG GET timeout",
                "+OK|*2|$7|timeout|$2|10|",
            ),
            (
                "CONFIG SET timeout 30 maxclients 0",
                concat!(
                    "-ERR CONFIG SET failed (possibly related to argument 'maxclients') - ",
                    "argument must be between 1 and 4294967295 inclusive|"
                ),
            ),
            ("CONFIG GET timeout", "*2|$7|timeout|$2|10|"),
            (
                "CONFIG SET timeout 30 nope 1",
                "-ERR Unknown option or number of arguments for CONFIG SET - 'nope'|",
            ),
            ("CONFIG SET timeout 30 maxclients", "-ERR syntax error|"),
            ("CONFIG GET timeout", "*2|$7|timeout|$2|10|"),
        ]);
    }

    #[test]
    fn set_refuses_duplicate_names_and_invalid_utf8() {
        let mut line = Server::new().connect();
        let double = line.ask("CONFIG SET timeout 1 TIMEOUT 2");
        assert_eq!(
            double,
            format!("{FAILED} 'timeout') - duplicate parameter|")
        );
        let binary = line.ask("CONFIG SET requirepass \"\\xff\"");
        assert_eq!(
            binary,
            format!("{FAILED} 'requirepass') - argument must be valid UTF-8|")
        );
    }

    #[test]
    fn resetstat_sets_the_counters_to_zero() {
        let mut line = Server::new().connect();
        line.ask("GET a\nnope\nCONFIG RESETSTAT");
        let info = line.ask("INFO stats errorstats commandstats");
        assert!(!info.contains("cmdstat_get"), "{info}");
        assert!(!info.contains("errorstat_"), "{info}");
        assert!(info.contains("total_error_replies:0|"), "{info}");
    }

    #[test]
    fn rewrite_without_a_file_is_refused() {
        check(&[(
            "CONFIG REWRITE",
            "-ERR The server is running without a config file|",
        )]);
    }

    #[test]
    fn value_must_be_valid_utf8() {
        let refused = |name: &str, why: &str| {
            format!(
                "-ERR CONFIG SET failed (possibly related to argument '{name}') - argument {why}|"
            )
        };
        check(&[
            (
                "CONFIG SET timeout \"\\xff\"",
                &refused("timeout", "couldn't be parsed into an integer"),
            ),
            (
                "CONFIG SET appendonly \"\\xff\"",
                &refused("appendonly", "must be 'yes' or 'no'"),
            ),
            (
                "CONFIG SET requirepass \"\\xff\"",
                &refused("requirepass", "must be valid UTF-8"),
            ),
        ]);
    }
}
