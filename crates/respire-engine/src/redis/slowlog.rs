//! `SLOWLOG GET` `LEN` `RESET`: the log of slow requests.

use super::Rows;
use super::help::{boxed, help, needs_subcommand, wrong_subcommand};
use crate::observe::slowlog::SlowEntry;
use crate::{App, Arg, ArgKind, ArgList, Arity, Cx, Error, Flags, Group, Reply, Row, Spec};
use resp_codec::number;

pub(super) fn add_to<A: App>(rows: Rows<'_, A>) -> Rows<'_, A> {
    rows.container(
        Row {
            spec: &SLOWLOG,
            run: needs_subcommand,
        },
        boxed([
            (&SLOWLOG_GET, get),
            (&SLOWLOG_LEN, len),
            (&SLOWLOG_RESET, reset),
            (&SLOWLOG_HELP, slowlog_help),
        ]),
    )
}

static SLOWLOG: Spec = Spec {
    name: "slowlog",
    summary: "A container for slow log commands",
    since: "2.2.12",
    complexity: "Depends on subcommand.",
    group: Group::Server,
    arity: Arity::at_least(2),
    ..Spec::EMPTY
};

static SLOWLOG_GET: Spec = Spec {
    name: "slowlog|get",
    summary: "Get the slow log's entries",
    since: "2.2.12",
    complexity: "O(N) where N is the number of entries returned",
    group: Group::Server,
    arity: Arity::at_least(2),
    flags: Flags::ADMIN.with(Flags::LOADING).with(Flags::STALE),
    args: &[Arg::new("count", ArgKind::Integer).optional()],
    tips: &["request_policy:all_nodes", "nondeterministic_output"],
    history: &[(
        "4.0.0",
        "Added client IP address, port and name to the reply.",
    )],
    examples: &[
        ("SLOWLOG GET 10", "*0\r\n"),
        (
            "SLOWLOG GET -2",
            "-ERR count should be greater than or equal to -1\r\n",
        ),
    ],
    ..Spec::EMPTY
};

static SLOWLOG_LEN: Spec = Spec {
    name: "slowlog|len",
    summary: "Get the slow log's length",
    since: "2.2.12",
    group: Group::Server,
    arity: Arity::exactly(2),
    flags: Flags::ADMIN.with(Flags::LOADING).with(Flags::STALE),
    tips: &[
        "request_policy:all_nodes",
        "response_policy:agg_sum",
        "nondeterministic_output",
    ],
    examples: &[("SLOWLOG LEN", ":0\r\n")],
    ..Spec::EMPTY
};

static SLOWLOG_RESET: Spec = Spec {
    name: "slowlog|reset",
    summary: "Clear all entries from the slow log",
    since: "2.2.12",
    complexity: "O(N) where N is the number of entries in the slowlog",
    group: Group::Server,
    arity: Arity::exactly(2),
    flags: Flags::ADMIN.with(Flags::LOADING).with(Flags::STALE),
    tips: &["request_policy:all_nodes", "response_policy:all_succeeded"],
    examples: &[("SLOWLOG RESET", "+OK\r\n")],
    ..Spec::EMPTY
};

static SLOWLOG_HELP: Spec = Spec {
    name: "slowlog|help",
    summary: "Show helpful text about the different subcommands",
    since: "6.2.0",
    group: Group::Server,
    arity: Arity::exactly(2),
    flags: Flags::LOADING.with(Flags::STALE),
    ..Spec::EMPTY
};

const HELP: &[&str] = &[
    "GET [<count>]",
    "    Return top <count> entries from the slowlog (default: 10, -1 mean all).",
    "    Entries are made of:",
    "    id, timestamp, time in microseconds, arguments array, client IP and port,",
    "    client name",
    "LEN",
    "    Return the length of the slowlog.",
    "RESET",
    "    Reset the slowlog.",
];

fn get<A: App>(cx: &mut Cx<'_, A>, args: ArgList<'_>, reply: &mut Reply<'_>) -> Result<(), Error> {
    const DEFAULT: usize = 10;
    const BELOW: Error = Error::fixed("ERR count should be greater than or equal to -1");
    let count = match args.get(0) {
        _ if args.len() > 1 => return Err(wrong_subcommand(cx.request())),
        None => DEFAULT,
        Some(count) => match number::parse_i64(count).ok_or(BELOW)? {
            -1 => usize::MAX,
            count => usize::try_from(count).map_err(|_| BELOW)?,
        },
    };
    let entries = cx.engine.slowlog.newest(count);
    reply.array(entries.len());
    for entry in &entries {
        write(entry, reply);
    }
    Ok(())
}

fn write(entry: &SlowEntry, reply: &mut Reply<'_>) {
    reply.array(6);
    reply.int(entry.id as i64);
    reply.int(entry.unix_s as i64);
    reply.int(entry.took_us as i64);
    reply.array(entry.request.len());
    for arg in &entry.request {
        reply.bulk(arg);
    }
    reply.bulk(&*entry.peer);
    reply.bulk(&*entry.client_name);
}

fn len<A: App>(cx: &mut Cx<'_, A>, _: ArgList<'_>, reply: &mut Reply<'_>) -> Result<(), Error> {
    reply.int(cx.engine.slowlog.len() as i64);
    Ok(())
}

fn reset<A: App>(cx: &mut Cx<'_, A>, _: ArgList<'_>, reply: &mut Reply<'_>) -> Result<(), Error> {
    cx.engine.slowlog.clear();
    reply.ok();
    Ok(())
}

fn slowlog_help<A: App>(
    _: &mut Cx<'_, A>,
    _: ArgList<'_>,
    reply: &mut Reply<'_>,
) -> Result<(), Error> {
    help(&SLOWLOG, HELP, reply);
    Ok(())
}

#[cfg(test)]
mod tests {
    use crate::redis::testing::{Server, check};

    #[test]
    fn slow_requests_are_listed_newest_first() {
        let mut line = Server::new().connect();
        assert_eq!(line.ask("CONFIG SET slowlog-log-slower-than 5000"), "+OK|");
        // The reset counts as slow here too, so it is the first entry of the new log.
        line.ask("SLOWLOG RESET\nCLIENT SETNAME me\nGET a\nSET a 1");
        assert_eq!(
            line.ask("SLOWLOG GET 1"),
            "*1|*6|:4|:1700000000|:5000|*3|$3|SET|$1|a|$1|1|$10|10.0.0.1:5|$2|me|"
        );
        line.ask("SET b 2");
        let all = line.ask("SLOWLOG GET -1");
        assert!(
            all.starts_with("*6|*6|:6|:1700000000|:5000|*3|$3|SET|$1|b|"),
            "{all}"
        );
        assert_eq!(line.ask("SLOWLOG GET 0"), "*0|");
    }

    #[test]
    fn log_length_is_bounded_and_can_be_disabled() {
        let mut line = Server::new().connect();
        line.ask("CONFIG SET slowlog-log-slower-than 5000 slowlog-max-len 2");
        line.ask("SET a 1\nSET a 1\nSET a 1");
        assert_eq!(line.ask("SLOWLOG LEN"), ":2|");
        line.ask("CONFIG SET slowlog-log-slower-than -1");
        assert_eq!(
            line.ask("SLOWLOG RESET\nSET a 1\nSLOWLOG LEN"),
            "+OK|+OK|:0|"
        );
    }

    #[test]
    fn get_refuses_an_invalid_count() {
        let below = "-ERR count should be greater than or equal to -1|";
        check(&[
            ("SLOWLOG GET -2", below),
            ("SLOWLOG GET x", below),
            (
                "SLOWLOG GET 1 2",
                "-ERR unknown subcommand or wrong number of arguments for 'GET'. Try SLOWLOG HELP.|",
            ),
        ]);
    }
}
