//! `PING` `ECHO` `QUIT` `RESET` `SELECT`: the basic commands of a connection.

use super::{Act, Rows};
use crate::client::ReplyMode;
use crate::command::exec::end_transaction;
use crate::{
    App, Arg, ArgKind, ArgList, Arity, Cx, Error, Flags, Flow, Group, Keyspace, Proto, Reply,
};
use crate::{Row, Spec, text};
use resp_codec::{Encoder, number};
use std::sync::atomic::Ordering;

pub(super) fn add_to<A: App>(rows: Rows<'_, A>) -> Rows<'_, A> {
    rows.add(Row {
        spec: &PING,
        run: ping,
    })
    .add(Row {
        spec: &ECHO,
        run: echo,
    })
    .add(Act {
        spec: &QUIT,
        run: quit,
    })
    .add(Row {
        spec: &RESET,
        run: reset,
    })
    .add(Row {
        spec: &SELECT,
        run: select,
    })
}

static PING: Spec = Spec {
    name: "ping",
    summary: "Ping the server",
    since: "1.0.0",
    group: Group::Connection,
    arity: Arity::at_least(1),
    flags: Flags::FAST
        .with(Flags::SUBSCRIBED)
        .with(Flags::CONSTANT)
        .with(Flags::PROBE),
    args: &[Arg::new("message", ArgKind::String).optional()],
    tips: &["request_policy:all_shards", "response_policy:all_succeeded"],
    examples: &[("PING", "+PONG\r\n"), ("PING hello", "$5\r\nhello\r\n")],
    ..Spec::EMPTY
};

static ECHO: Spec = Spec {
    name: "echo",
    summary: "Echo the given string",
    since: "1.0.0",
    group: Group::Connection,
    arity: Arity::exactly(2),
    flags: Flags::LOADING
        .with(Flags::STALE)
        .with(Flags::FAST)
        .with(Flags::CONSTANT),
    args: &[Arg::new("message", ArgKind::String)],
    examples: &[("ECHO \"hello world\"", "$11\r\nhello world\r\n")],
    ..Spec::EMPTY
};

static QUIT: Spec = Spec {
    name: "quit",
    summary: "Close the connection",
    since: "1.0.0",
    group: Group::Connection,
    arity: Arity::at_least(1),
    flags: Flags::NOSCRIPT
        .with(Flags::LOADING)
        .with(Flags::STALE)
        .with(Flags::FAST)
        .with(Flags::NO_AUTH)
        .with(Flags::ALLOW_BUSY)
        .with(Flags::IMMEDIATE)
        .with(Flags::SUBSCRIBED),
    ..Spec::EMPTY
};

static RESET: Spec = Spec {
    name: "reset",
    summary: "Reset the connection",
    since: "6.2.0",
    group: Group::Connection,
    flags: Flags::NOSCRIPT
        .with(Flags::LOADING)
        .with(Flags::STALE)
        .with(Flags::FAST)
        .with(Flags::NO_AUTH)
        .with(Flags::ALLOW_BUSY)
        .with(Flags::IMMEDIATE)
        .with(Flags::SUBSCRIBED),
    examples: &[("SELECT 1", "+OK\r\n"), ("RESET", "+RESET\r\n")],
    ..Spec::EMPTY
};

pub(super) static SELECT: Spec = Spec {
    name: "select",
    summary: "Change the selected database for the current connection",
    since: "1.0.0",
    group: Group::Connection,
    arity: Arity::exactly(2),
    flags: Flags::LOADING
        .with(Flags::STALE)
        .with(Flags::FAST)
        .with(Flags::CONSTANT),
    args: &[Arg::new("index", ArgKind::Integer)],
    examples: &[
        ("SELECT 1", "+OK\r\n"),
        (
            "SELECT x",
            "-ERR value is not an integer or out of range\r\n",
        ),
    ],
    ..Spec::EMPTY
};

fn ping<A: App>(cx: &mut Cx<'_, A>, args: ArgList<'_>, reply: &mut Reply<'_>) -> Result<(), Error> {
    match args.get(0) {
        // A RESP2 subscriber gets it in the form of a message, because its client expects only
        // messages.
        message if cx.client.is_resp2_subscriber() && args.len() <= 1 => {
            reply.array(2);
            reply.bulk("pong");
            reply.bulk(message.unwrap_or_default());
        }
        None => reply.simple("PONG"),
        Some(message) if args.len() == 1 => reply.bulk(message),
        Some(_) => return Err(text::wrong_arity(PING.name)),
    }
    Ok(())
}

fn echo<A: App>(_: &mut Cx<'_, A>, args: ArgList<'_>, reply: &mut Reply<'_>) -> Result<(), Error> {
    reply.bulk(&args[0]);
    Ok(())
}

fn quit<A: App>(_: &mut Cx<'_, A>, _: ArgList<'_>, reply: &mut Reply<'_>) -> Flow {
    reply.ok();
    Flow::Close
}

fn reset<A: App>(cx: &mut Cx<'_, A>, _: ArgList<'_>, reply: &mut Reply<'_>) -> Result<(), Error> {
    let engine = cx.engine;
    let client = &mut *cx.client;
    end_transaction(client);
    let subscriptions = std::mem::take(&mut client.subscriptions);
    engine.pubsub.forget(&client.shared, &subscriptions);
    client.note_subscriptions();
    client.select(0);
    // Its own reply is still skipped if `CLIENT REPLY SKIP` came before it.
    if client.reply_mode != ReplyMode::SkipThis {
        client.reply_mode = ReplyMode::On;
    }
    client.set_no_touch(false);
    client.shared.no_evict.store(false, Ordering::Relaxed);
    let mut names = client.shared.names();
    (names.name, names.user) = Default::default();
    drop(names);
    client.is_authenticated = !engine.tunables.has_password();
    // The binary protocol has only one form of reply.
    if client.proto != Proto::Binary {
        client.set_proto(Proto::Resp2);
    }
    Encoder::new(reply.sink(), client.proto).simple("RESET");
    Ok(())
}

const OUT_OF_RANGE: Error =
    Error::fixed("ERR value is out of range, value must between -2147483648 and 2147483647");

fn select<A: App>(
    cx: &mut Cx<'_, A>,
    args: ArgList<'_>,
    reply: &mut Reply<'_>,
) -> Result<(), Error> {
    let index = number::parse_i64(&args[0]).ok_or(text::NOT_AN_INTEGER)?;
    let index = i32::try_from(index).map_err(|_| OUT_OF_RANGE)?;
    let db = u32::try_from(index)
        .ok()
        .filter(|db| *db < A::Keys::databases(cx.app()));
    cx.client.select(db.ok_or(text::DB_INDEX)?);
    reply.ok();
    Ok(())
}

#[cfg(test)]
mod tests {
    use crate::redis::testing::{Server, check};
    use crate::session::{CloseReason, SessionStep};

    #[test]
    fn ping_and_echo_return_their_argument() {
        check(&[
            ("PING", "+PONG|"),
            ("ping hello", "$5|hello|"),
            (
                "PING a b",
                "-ERR wrong number of arguments for 'ping' command|",
            ),
            ("ECHO \"a b\"", "$3|a b|"),
        ]);
    }

    #[test]
    fn quit_replies_and_closes_the_connection() {
        let mut line = Server::new().connect();
        assert_eq!(line.ask("MULTI\nQUIT now\nPING"), "+OK|+OK|");
        assert_eq!(line.step, SessionStep::Close(CloseReason::Quit));
    }

    #[test]
    fn select_checks_the_database_number() {
        check(&[
            ("SELECT 3\nSET a 1\nSELECT 0\nGET a", "+OK|+OK|+OK|$-1|"),
            ("SELECT 4", "-ERR DB index is out of range|"),
            ("SELECT -1", "-ERR DB index is out of range|"),
            ("SELECT 01", "-ERR value is not an integer or out of range|"),
            (
                "SELECT 99999999999",
                "-ERR value is out of range, value must between -2147483648 and 2147483647|",
            ),
        ]);
    }

    #[test]
    fn reset_restores_the_initial_state_of_a_connection() {
        check(&[
            (
                "CLIENT SETNAME me\nSELECT 2\nWATCH a\nCLIENT NO-TOUCH ON",
                "+OK|+OK|+OK|+OK|",
            ),
            ("MULTI\nSET a 1\nRESET", "+OK|+QUEUED|+RESET|"),
            ("EXEC\nCLIENT GETNAME", "-ERR EXEC without MULTI|$-1|"),
            ("CLIENT REPLY OFF\nPING\nRESET\nPING", "+RESET|+PONG|"),
            ("CLIENT REPLY SKIP\nRESET\nPING", "+PONG|"),
        ]);
        let mut line = Server::new().connect();
        line.ask("HELLO 3");
        assert_eq!(line.ask("GET a\nRESET\nGET a"), "_|+RESET|$-1|");
        assert!(!line.session.client().is_no_touch());
    }

    #[test]
    fn reset_requires_authentication_again() {
        check(&[
            ("CONFIG SET requirepass pw\nGET a", "+OK|$-1|"),
            ("RESET\nGET a", "+RESET|-NOAUTH Authentication required.|"),
            ("AUTH pw\nGET a", "+OK|$-1|"),
        ]);
    }
}
