//! `COMMAND`: shows the command table to clients.

mod docs;
mod getkeys;
mod info;
mod list;

use super::Rows;
use super::help::{boxed, help};
use crate::Spec;
use crate::command::table::CommandTable;
use crate::{App, Arg, ArgKind, ArgList, Arity, CommandEntry, Cx, Error, Flags, Group, Reply, Row};

pub(super) fn add_to<A: App>(rows: Rows<'_, A>) -> Rows<'_, A> {
    rows.container(
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
    examples: &[(
        "COMMAND DOCS quit",
        "*2\r\n$4\r\nquit\r\n*8\r\n$7\r\nsummary\r\n$20\r\nClose the connection\r\n$5\r\nsince\r\n$5\r\n1.0.0\r\n$5\r\ngroup\r\n$10\r\nconnection\r\n$10\r\ncomplexity\r\n$4\r\nO(1)\r\n",
    )],
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
    examples: &[
        ("COMMAND GETKEYS WATCH a b", "*2\r\n$1\r\na\r\n$1\r\nb\r\n"),
        (
            "COMMAND GETKEYS PING",
            "-ERR wrong number of arguments for 'command|getkeys' command\r\n",
        ),
    ],
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
    examples: &[(
        "COMMAND GETKEYSANDFLAGS WATCH a",
        "*1\r\n*2\r\n$1\r\na\r\n*1\r\n+RO\r\n",
    )],
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
    examples: &[(
        "COMMAND INFO ping nope",
        "*2\r\n*10\r\n$4\r\nping\r\n:-1\r\n*1\r\n+fast\r\n:0\r\n:0\r\n:0\r\n*2\r\n+@fast\r\n+@connection\r\n*2\r\n$25\r\nrequest_policy:all_shards\r\n$29\r\nresponse_policy:all_succeeded\r\n*0\r\n*0\r\n$-1\r\n",
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
    examples: &[(
        "COMMAND LIST FILTERBY PATTERN slowlog|l*",
        "*1\r\n$11\r\nslowlog|len\r\n",
    )],
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

fn count<A: App>(cx: &mut Cx<'_, A>, _: ArgList<'_>, reply: &mut Reply<'_>) -> Result<(), Error> {
    reply.int(cx.engine.table.commands().count() as i64);
    Ok(())
}

fn command_help<A: App>(
    _: &mut Cx<'_, A>,
    _: ArgList<'_>,
    reply: &mut Reply<'_>,
) -> Result<(), Error> {
    help(&COMMAND, HELP, reply);
    Ok(())
}

/// The entry with this written name.
fn named<'t, A: App>(table: &'t CommandTable<A>, name: &[u8]) -> Option<&'t CommandEntry<A>> {
    table.find_path(name).map(|at| table.entry(at))
}

#[cfg(test)]
mod tests {
    use crate::redis::testing::{Server, check};

    #[test]
    fn count_equals_the_length_of_command() {
        let server = Server::new();
        let mut line = server.connect();
        let count = server.engine.commands().commands().count();
        assert_eq!(line.ask("COMMAND COUNT"), format!(":{count}|"));
        assert!(line.ask("COMMAND").starts_with(&format!("*{count}|*10|")));
        assert!(
            line.ask("COMMAND INFO")
                .starts_with(&format!("*{count}|*10|"))
        );
        assert!(
            line.ask("COMMAND DOCS")
                .starts_with(&format!("*{}|", count * 2))
        );
    }

    #[test]
    fn info_describes_commands_and_subcommands() {
        check(&[
            (
                "COMMAND INFO get nope config|nope",
                concat!(
                    "*3|*10|$3|get|:2|*2|+readonly|+fast|:1|:1|:1|*3|+@keyspace|+@read|+@fast|*0|",
                    "*1|*6|$5|flags|*2|+RO|+access|",
                    "$12|begin_search|*4|$4|type|$5|index|$4|spec|*2|$5|index|:1|",
                    "$9|find_keys|*4|$4|type|$5|range|$4|spec|",
                    "*6|$7|lastkey|:0|$7|keystep|:1|$5|limit|:0|*0|$-1|$-1|"
                ),
            ),
            (
                "COMMAND INFO CONFIG|GET",
                concat!(
                    "*1|*10|$10|config|get|:-3|*4|+admin|+noscript|+loading|+stale|:0|:0|:0|",
                    "*3|+@admin|+@slow|+@dangerous|*0|*0|*0|"
                ),
            ),
        ]);
    }

    #[test]
    fn info_uses_sets_and_maps_in_resp3() {
        let mut line = Server::new().connect();
        line.ask("HELLO 3");
        let info = line.ask("COMMAND INFO get nope");
        assert!(
            info.starts_with("*2|*10|$3|get|:2|~2|+readonly|+fast|"),
            "{info}"
        );
        assert!(info.contains("|~1|%3|$5|flags|~2|+RO|"), "{info}");
        assert!(info.ends_with("|~0|_|"), "{info}");
    }

    #[test]
    fn docs_describe_existing_commands() {
        check(&[
            (
                "COMMAND DOCS echo nope",
                concat!(
                    "*2|$4|echo|*10|$7|summary|$21|Echo the given string|$5|since|$5|1.0.0|",
                    "$5|group|$10|connection|$10|complexity|$4|O(1)|$9|arguments|*1|",
                    "*4|$4|name|$7|message|$4|type|$6|string|"
                ),
            ),
            ("COMMAND DOCS nope", "*0|"),
        ]);
        let docs = Server::new()
            .connect()
            .ask("COMMAND DOCS quit config client|kill");
        assert!(
            docs.contains("|$11|subcommands|*10|$10|config|get|"),
            "{docs}"
        );
        assert!(docs.contains("|$16|deprecated_since|$6|2.8.12|"), "{docs}");
    }

    #[test]
    fn list_filters_names() {
        check(&[
            (
                "COMMAND LIST FILTERBY PATTERN *|get",
                "*2|$10|config|get|$11|slowlog|get|",
            ),
            (
                "COMMAND LIST filterby aclcat TRANSACTION",
                "*5|$4|exec|$5|multi|$7|discard|$5|watch|$7|unwatch|",
            ),
            ("COMMAND LIST FILTERBY ACLCAT nope", "*0|"),
            ("COMMAND LIST FILTERBY MODULE any", "*0|"),
            ("COMMAND LIST FILTERBY what ever", "-ERR syntax error|"),
            ("COMMAND LIST FILTERBY", "-ERR syntax error|"),
        ]);
        let server = Server::new();
        let all = server.engine.commands().all().count();
        assert!(
            server
                .connect()
                .ask("COMMAND LIST")
                .starts_with(&format!("*{all}|"))
        );
    }

    #[test]
    fn getkeys_finds_keys_and_their_use() {
        check(&[
            ("COMMAND GETKEYS watch a b", "*2|$1|a|$1|b|"),
            (
                "COMMAND GETKEYSANDFLAGS copy a b",
                "*2|*2|$1|a|*2|+RO|+access|*2|$1|b|*2|+OW|+update|",
            ),
            (
                "COMMAND GETKEYSANDFLAGS set a b",
                "*1|*2|$1|a|*2|+OW|+update|",
            ),
            (
                "COMMAND GETKEYSANDFLAGS set a b get",
                "*1|*2|$1|a|*3|+RW|+access|+update|",
            ),
            ("COMMAND GETKEYS nope a", "-ERR Invalid command specified|"),
            (
                "COMMAND GETKEYS config nope",
                "-ERR Invalid command specified|",
            ),
            (
                "COMMAND GETKEYS ping a",
                "-ERR The command has no key arguments|",
            ),
            (
                "COMMAND GETKEYS copy a",
                "-ERR Invalid number of arguments specified for command|",
            ),
        ]);
    }
}
