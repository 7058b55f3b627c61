//! `COMMAND`: the command table, for clients to read.

mod docs;
mod getkeys;
mod info;
mod list;

use super::help::{boxed, help};
use crate::Spec;
use crate::table::CommandTable;
use crate::{App, Arg, ArgKind, Args, Arity, Cx, Entry, Error, Flags, Group, Reply, Router, Row};

pub(super) fn add_to<A: App>(router: Router<A>) -> Router<A> {
    router.container(
        Row {
            spec: &COMMAND,
            run: info::info,
        },
        boxed([
            (&COMMAND_COUNT, count),
            (&COMMAND_DOCS, docs::docs),
            (&COMMAND_GETKEYS, getkeys::keys),
            (&COMMAND_GETKEYSANDFLAGS, getkeys::keys_and_flags),
            (&COMMAND_HELP, command_help),
            (&COMMAND_INFO, info::info),
            (&COMMAND_LIST, list::list),
        ]),
    )
}

static COMMAND: Spec = Spec {
    name: "command",
    summary: "Get array of Redis command details",
    since: "2.8.13",
    complexity: "O(N) where N is the total number of Redis commands",
    group: Group::Server,
    arity: Arity::at_least(1),
    flags: Flags::LOADING.with(Flags::STALE),
    categories: &["connection"],
    tips: &["nondeterministic_output_order"],
    ..Spec::EMPTY
};

static COMMAND_COUNT: Spec = Spec {
    name: "command|count",
    summary: "Get total number of Redis commands",
    since: "2.8.13",
    group: Group::Server,
    arity: Arity::exactly(2),
    flags: Flags::LOADING.with(Flags::STALE),
    categories: &["connection"],
    ..Spec::EMPTY
};

static COMMAND_DOCS: Spec = Spec {
    name: "command|docs",
    summary: "Get array of specific Redis command documentation",
    since: "7.0.0",
    complexity: "O(N) where N is the number of commands to look up",
    group: Group::Server,
    arity: Arity::at_least(2),
    flags: Flags::LOADING.with(Flags::STALE),
    categories: &["connection"],
    args: &[Arg::new("command-name", ArgKind::String)
        .optional()
        .multiple()],
    tips: &["nondeterministic_output_order"],
    ..Spec::EMPTY
};

static COMMAND_GETKEYS: Spec = Spec {
    name: "command|getkeys",
    summary: "Extract keys given a full Redis command",
    since: "2.8.13",
    complexity: "O(N) where N is the number of arguments to the command",
    group: Group::Server,
    arity: Arity::at_least(4),
    flags: Flags::LOADING.with(Flags::STALE),
    categories: &["connection"],
    ..Spec::EMPTY
};

static COMMAND_GETKEYSANDFLAGS: Spec = Spec {
    name: "command|getkeysandflags",
    summary: "Extract keys and access flags given a full Redis command",
    since: "7.0.0",
    complexity: "O(N) where N is the number of arguments to the command",
    group: Group::Server,
    arity: Arity::at_least(4),
    flags: Flags::LOADING.with(Flags::STALE),
    categories: &["connection"],
    ..Spec::EMPTY
};

static COMMAND_HELP: Spec = Spec {
    name: "command|help",
    summary: "Show helpful text about the different subcommands",
    since: "5.0.0",
    group: Group::Server,
    arity: Arity::exactly(2),
    flags: Flags::LOADING.with(Flags::STALE),
    categories: &["connection"],
    ..Spec::EMPTY
};

static COMMAND_INFO: Spec = Spec {
    name: "command|info",
    summary: "Get array of specific Redis command details, or all when no argument is given.",
    since: "2.8.13",
    complexity: "O(N) where N is the number of commands to look up",
    group: Group::Server,
    arity: Arity::at_least(2),
    flags: Flags::LOADING.with(Flags::STALE),
    categories: &["connection"],
    args: &[Arg::new("command-name", ArgKind::String)
        .optional()
        .multiple()],
    tips: &["nondeterministic_output_order"],
    history: &[(
        "7.0.0",
        "Allowed to be called with no argument to get info on all commands.",
    )],
    ..Spec::EMPTY
};

static COMMAND_LIST: Spec = Spec {
    name: "command|list",
    summary: "Get an array of Redis command names",
    since: "7.0.0",
    complexity: "O(N) where N is the total number of Redis commands",
    group: Group::Server,
    arity: Arity::at_least(2),
    flags: Flags::LOADING.with(Flags::STALE),
    categories: &["connection"],
    args: &[Arg::one_of(
        "filterby",
        &[
            Arg::new("module-name", ArgKind::String).token("MODULE"),
            Arg::new("category", ArgKind::String).token("ACLCAT"),
            Arg::new("pattern", ArgKind::Pattern).token("PATTERN"),
        ],
    )
    .token("FILTERBY")
    .optional()],
    tips: &["nondeterministic_output_order"],
    ..Spec::EMPTY
};

const HELP: &[&str] = &[
    "(no subcommand)",
    "    Return details about all Redis commands.",
    "COUNT",
    "    Return the total number of commands in this Redis server.",
    "LIST",
    "    Return a list of all commands in this Redis server.",
    "INFO [<command-name> ...]",
    "    Return details about multiple Redis commands.",
    "    If no command names are given, documentation details for all",
    "    commands are returned.",
    "DOCS [<command-name> ...]",
    "    Return documentation details about multiple Redis commands.",
    "    If no command names are given, documentation details for all",
    "    commands are returned.",
    "GETKEYS <full-command>",
    "    Return the keys from a full Redis command.",
    "GETKEYSANDFLAGS <full-command>",
    "    Return the keys and the access flags from a full Redis command.",
];

fn count<A: App>(cx: &mut Cx<'_, A>, _: Args<'_>, reply: &mut Reply<'_>) -> Result<(), Error> {
    reply.int(cx.engine.table.commands().count() as i64);
    Ok(())
}

fn command_help<A: App>(
    _: &mut Cx<'_, A>,
    _: Args<'_>,
    reply: &mut Reply<'_>,
) -> Result<(), Error> {
    help(&COMMAND, HELP, reply);
    Ok(())
}

/// The entry of a name as people write it: `get`, or `config|get` for a subcommand.
fn named<'t, A: App>(table: &'t CommandTable<A>, name: &[u8]) -> Option<&'t Entry<A>> {
    let mut parts = name.splitn(2, |byte| *byte == b'|');
    let at = table.find_name(parts.next()?)?;
    let at = match parts.next() {
        Some(subcommand) => table.find_subcommand(at, subcommand)?,
        None => at,
    };
    Some(table.entry(at))
}
