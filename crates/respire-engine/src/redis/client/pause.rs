//! `CLIENT PAUSE` `UNPAUSE` `UNBLOCK`: start and end the waiting of commands.

use crate::redis::help::{boxed, wrong_subcommand};
use crate::{
    App, Arg, ArgKind, ArgList, Arity, Command, Cx, Error, Flags, Group, Reply, Spec, text,
};
use resp_codec::number;

pub(super) fn commands<A: App>() -> Vec<Box<dyn Command<A>>> {
    boxed([
        (&CLIENT_PAUSE, pause),
        (&CLIENT_UNPAUSE, unpause),
        (&CLIENT_UNBLOCK, unblock),
    ])
}

static CLIENT_PAUSE: Spec = Spec {
    name: "client|pause",
    summary: "Stop processing commands from clients for some time",
    since: "2.9.50",
    group: Group::Connection,
    arity: Arity::at_least(3),
    flags: Flags::ADMIN
        .with(Flags::NOSCRIPT)
        .with(Flags::LOADING)
        .with(Flags::STALE),
    args: &[
        Arg::new("timeout", ArgKind::Integer),
        Arg::one_of(
            "mode",
            &[Arg::word("write", "WRITE"), Arg::word("all", "ALL")],
        )
        .since("6.2.0")
        .optional(),
    ],
    history: &[(
        "6.2.0",
        "`CLIENT PAUSE WRITE` mode added along with the `mode` option.",
    )],
    examples: &[
        ("CLIENT PAUSE 0", "+OK\r\n"),
        ("CLIENT PAUSE -1", "-ERR timeout is negative\r\n"),
    ],
    ..Spec::EMPTY
};

static CLIENT_UNPAUSE: Spec = Spec {
    name: "client|unpause",
    summary: "Resume processing of clients that were paused",
    since: "6.2.0",
    complexity: "O(N) Where N is the number of paused clients",
    group: Group::Connection,
    arity: Arity::exactly(2),
    flags: Flags::ADMIN
        .with(Flags::NOSCRIPT)
        .with(Flags::LOADING)
        .with(Flags::STALE),
    examples: &[
        ("CLIENT PAUSE 1000 WRITE", "+OK\r\n"),
        ("CLIENT UNPAUSE", "+OK\r\n"),
        ("SET a 1", "+OK\r\n"),
    ],
    ..Spec::EMPTY
};

static CLIENT_UNBLOCK: Spec = Spec {
    name: "client|unblock",
    summary: "Unblock a client blocked in a blocking command from a different connection",
    since: "5.0.0",
    complexity: "O(log N) where N is the number of client connections",
    group: Group::Connection,
    arity: Arity::at_least(3),
    flags: Flags::ADMIN
        .with(Flags::NOSCRIPT)
        .with(Flags::LOADING)
        .with(Flags::STALE),
    args: &[
        Arg::new("client-id", ArgKind::Integer),
        Arg::one_of(
            "timeout_error",
            &[Arg::word("timeout", "TIMEOUT"), Arg::word("error", "ERROR")],
        )
        .optional(),
    ],
    examples: &[("CLIENT UNBLOCK 99", ":0\r\n")],
    ..Spec::EMPTY
};

fn pause<A: App>(
    cx: &mut Cx<'_, A>,
    args: ArgList<'_>,
    reply: &mut Reply<'_>,
) -> Result<(), Error> {
    let writes_only = match args.get(1) {
        _ if args.len() > 2 => return Err(wrong_subcommand(cx.request())),
        None => false,
        Some(mode) if mode.eq_ignore_ascii_case(b"ALL") => false,
        Some(mode) if mode.eq_ignore_ascii_case(b"WRITE") => true,
        Some(_) => return Err(Error::fixed("ERR CLIENT PAUSE mode must be WRITE or ALL")),
    };
    let ms = number::parse_i64(&args[0]).ok_or(Error::fixed(
        "ERR timeout is not an integer or out of range",
    ))?;
    let ms = u64::try_from(ms).map_err(|_| Error::fixed("ERR timeout is negative"))?;
    let until_us = cx
        .now
        .monotonic_us()
        .saturating_add(ms.saturating_mul(1000));
    cx.engine.pause.begin(cx.now, until_us, writes_only);
    reply.ok();
    Ok(())
}

fn unpause<A: App>(cx: &mut Cx<'_, A>, _: ArgList<'_>, reply: &mut Reply<'_>) -> Result<(), Error> {
    cx.engine.pause.end();
    // Wake all connections, not only those that wait now: one may be about to wait.
    for client in cx.engine.clients.snapshot() {
        client.wake();
    }
    reply.ok();
    Ok(())
}

/// A connection that waits for the end of a pause is not blocked.
fn unblock<A: App>(
    cx: &mut Cx<'_, A>,
    args: ArgList<'_>,
    reply: &mut Reply<'_>,
) -> Result<(), Error> {
    if args.len() > 2 {
        return Err(wrong_subcommand(cx.request()));
    }
    let reason = args.get(1).unwrap_or(b"TIMEOUT");
    let error = if reason.eq_ignore_ascii_case(b"ERROR") {
        Some(UNBLOCKED)
    } else if reason.eq_ignore_ascii_case(b"TIMEOUT") {
        None
    } else {
        return Err(Error::fixed(
            "ERR CLIENT UNBLOCK reason should be TIMEOUT or ERROR",
        ));
    };
    let id = number::parse_i64(&args[0]).ok_or(text::NOT_AN_INTEGER)?;
    let client = u64::try_from(id)
        .ok()
        .and_then(|id| cx.engine.clients.find(id));
    let is_unblocked = client.is_some_and(|client| client.unblock(error));
    reply.int(i64::from(is_unblocked));
    Ok(())
}

const UNBLOCKED: Error = Error::fixed("UNBLOCKED client unblocked via CLIENT UNBLOCK");

#[cfg(test)]
mod tests {
    use crate::redis::testing::{Server, check};
    use std::time::Duration;

    #[test]
    fn commands_wait_until_the_pause_ends() {
        let server = Server::new();
        let (mut line, mut other) = (server.connect(), server.connect());
        assert_eq!(line.ask("CLIENT PAUSE 50"), "+OK|");
        assert_eq!(other.ask("PING"), "");
        assert_eq!(other.session.next_timeout(), Some(10_050_000));
        other.pass(Duration::from_millis(50));
        assert_eq!(other.ask("PING"), "+PONG|+PONG|");
    }

    #[test]
    fn only_writes_wait_in_a_write_pause() {
        let server = Server::new();
        let (mut line, mut other) = (server.connect(), server.connect());
        assert_eq!(
            line.ask("CLIENT PAUSE 50 write\nGET a\nMULTI\nGET a\nEXEC"),
            "+OK|$-1|+OK|+QUEUED|*1|$-1|"
        );
        assert_eq!(other.ask("SET a 1"), "");
        assert_eq!(line.ask("CLIENT UNPAUSE"), "+OK|");
        assert_eq!(other.ask("GET a"), "+OK|$1|1|");
    }

    #[test]
    fn pause_refuses_an_invalid_time_or_mode() {
        check(&[
            (
                "CLIENT PAUSE abc",
                "-ERR timeout is not an integer or out of range|",
            ),
            ("CLIENT PAUSE -1", "-ERR timeout is negative|"),
            (
                "CLIENT PAUSE 1 some",
                "-ERR CLIENT PAUSE mode must be WRITE or ALL|",
            ),
            (
                "CLIENT PAUSE 1 all x",
                "-ERR unknown subcommand or wrong number of arguments for 'PAUSE'. Try CLIENT HELP.|",
            ),
            ("GET a", "$-1|"),
        ]);
    }

    #[test]
    fn unblock_returns_zero_if_the_client_is_not_blocked() {
        check(&[
            ("CLIENT UNBLOCK 1", ":0|"),
            ("CLIENT UNBLOCK 1 error", ":0|"),
            (
                "CLIENT UNBLOCK x",
                "-ERR value is not an integer or out of range|",
            ),
            (
                "CLIENT UNBLOCK 1 x",
                "-ERR CLIENT UNBLOCK reason should be TIMEOUT or ERROR|",
            ),
        ]);
    }
}
