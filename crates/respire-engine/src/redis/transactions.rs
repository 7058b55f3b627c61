//! `MULTI` `DISCARD` `WATCH` `UNWATCH`: transactions, except `EXEC`, which has its own file.

use super::Rows;
use crate::command::exec::end_transaction;
use crate::{
    App, Arg, ArgList, Arity, Cx, Error, Flags, Group, KeyFlag, KeySpec, Keyspace, Reply, Row, Spec,
};
use std::sync::atomic::Ordering;

pub(super) fn add_to<A: App>(rows: Rows<'_, A>) -> Rows<'_, A> {
    rows.add(Row {
        spec: &MULTI,
        run: multi,
    })
    .add(Row {
        spec: &DISCARD,
        run: discard,
    })
    .add(Row {
        spec: &WATCH,
        run: watch,
    })
    .add(Row {
        spec: &UNWATCH,
        run: unwatch,
    })
}

static MULTI: Spec = Spec {
    name: "multi",
    summary: "Mark the start of a transaction block",
    since: "1.2.0",
    group: Group::Transactions,
    flags: Flags::NOSCRIPT
        .with(Flags::LOADING)
        .with(Flags::STALE)
        .with(Flags::FAST)
        .with(Flags::ALLOW_BUSY)
        .with(Flags::IMMEDIATE)
        .with(Flags::CONSTANT),
    examples: &[
        ("MULTI", "+OK\r\n"),
        ("SET a 1", "+QUEUED\r\n"),
        ("EXEC", "*1\r\n+OK\r\n"),
    ],
    ..Spec::EMPTY
};

static DISCARD: Spec = Spec {
    name: "discard",
    summary: "Discard all commands issued after MULTI",
    since: "2.0.0",
    complexity: "O(N), when N is the number of queued commands",
    group: Group::Transactions,
    flags: Flags::NOSCRIPT
        .with(Flags::LOADING)
        .with(Flags::STALE)
        .with(Flags::FAST)
        .with(Flags::ALLOW_BUSY)
        .with(Flags::IMMEDIATE),
    examples: &[
        ("MULTI", "+OK\r\n"),
        ("SET a 1", "+QUEUED\r\n"),
        ("DISCARD", "+OK\r\n"),
        ("GET a", "$-1\r\n"),
    ],
    ..Spec::EMPTY
};

static WATCH: Spec = Spec {
    name: "watch",
    summary: "Watch the given keys to determine execution of the MULTI/EXEC block",
    since: "2.2.0",
    complexity: "O(1) for every key.",
    group: Group::Transactions,
    arity: Arity::at_least(2),
    flags: Flags::NOSCRIPT
        .with(Flags::LOADING)
        .with(Flags::STALE)
        .with(Flags::FAST)
        .with(Flags::ALLOW_BUSY)
        .with(Flags::IMMEDIATE),
    keys: &[KeySpec::range(1, -1, 1).flags(&[KeyFlag::Ro])],
    args: &[Arg::key("key", 0).multiple()],
    examples: &[
        ("WATCH a", "+OK\r\n"),
        ("SET a 1", "+OK\r\n"),
        ("MULTI", "+OK\r\n"),
        ("GET a", "+QUEUED\r\n"),
        ("EXEC", "*-1\r\n"),
    ],
    ..Spec::EMPTY
};

static UNWATCH: Spec = Spec {
    name: "unwatch",
    summary: "Forget about all watched keys",
    since: "2.2.0",
    group: Group::Transactions,
    flags: Flags::NOSCRIPT
        .with(Flags::LOADING)
        .with(Flags::STALE)
        .with(Flags::FAST)
        .with(Flags::ALLOW_BUSY),
    examples: &[
        ("WATCH a", "+OK\r\n"),
        ("SET a 1", "+OK\r\n"),
        ("UNWATCH", "+OK\r\n"),
        ("MULTI", "+OK\r\n"),
        ("GET a", "+QUEUED\r\n"),
        ("EXEC", "*1\r\n$1\r\n1\r\n"),
    ],
    ..Spec::EMPTY
};

fn multi<A: App>(cx: &mut Cx<'_, A>, _: ArgList<'_>, reply: &mut Reply<'_>) -> Result<(), Error> {
    let client = &mut *cx.client;
    if client.transaction.is_open() {
        return Err(Error::fixed("ERR MULTI calls can not be nested"));
    }
    client.transaction.begin();
    client.shared.is_in_multi.store(true, Ordering::Relaxed);
    reply.ok();
    Ok(())
}

fn discard<A: App>(cx: &mut Cx<'_, A>, _: ArgList<'_>, reply: &mut Reply<'_>) -> Result<(), Error> {
    if !cx.client.transaction.is_open() {
        return Err(Error::fixed("ERR DISCARD without MULTI"));
    }
    end_transaction(cx.client);
    reply.ok();
    Ok(())
}

fn watch<A: App>(
    cx: &mut Cx<'_, A>,
    args: ArgList<'_>,
    reply: &mut Reply<'_>,
) -> Result<(), Error> {
    let (app, db, now) = (cx.app(), cx.client.db, cx.now);
    let client = &mut *cx.client;
    if client.transaction.is_open() {
        return Err(Error::fixed("ERR WATCH inside MULTI is not allowed"));
    }
    for key in args.iter() {
        client
            .transaction
            .watch(db, key, || A::Keys::watch(app, db, key, now));
    }
    let watched = client.transaction.watched().len() as u32;
    client.shared.watched_keys.store(watched, Ordering::Relaxed);
    reply.ok();
    Ok(())
}

fn unwatch<A: App>(cx: &mut Cx<'_, A>, _: ArgList<'_>, reply: &mut Reply<'_>) -> Result<(), Error> {
    cx.client.transaction.unwatch();
    cx.client.shared.watched_keys.store(0, Ordering::Relaxed);
    reply.ok();
    Ok(())
}

#[cfg(test)]
mod tests {
    use crate::redis::testing::{Server, check};

    #[test]
    fn nested_multi_is_refused_and_the_transaction_continues() {
        check(&[
            ("MULTI\nMULTI", "+OK|-ERR MULTI calls can not be nested|"),
            ("GET a\nEXEC", "+QUEUED|*1|$-1|"),
        ]);
    }

    #[test]
    fn discard_clears_queue_and_watches() {
        check(&[
            ("DISCARD", "-ERR DISCARD without MULTI|"),
            ("WATCH a\nMULTI\nSET a 1\nDISCARD", "+OK|+OK|+QUEUED|+OK|"),
            ("GET a", "$-1|"),
            ("SET a 2\nMULTI\nGET a\nEXEC", "+OK|+OK|+QUEUED|*1|$1|2|"),
        ]);
    }

    #[test]
    fn watch_inside_multi_is_refused_and_does_not_abort() {
        check(&[
            (
                "MULTI\nWATCH a",
                "+OK|-ERR WATCH inside MULTI is not allowed|",
            ),
            ("EXEC", "*0|"),
        ]);
    }

    #[test]
    fn unwatch_lets_the_next_exec_run() {
        let server = Server::new();
        let (mut line, mut other) = (server.connect(), server.connect());
        assert_eq!(line.ask("WATCH a b a"), "+OK|");
        assert_eq!(other.ask("SET a 2"), "+OK|");
        assert_eq!(line.ask("UNWATCH\nMULTI\nEXEC"), "+OK|+OK|*0|");
    }

    #[test]
    fn no_multi_commands_are_refused_inside_multi() {
        check(&[
            (
                "MULTI\nSHUTDOWN NOSAVE",
                "+OK|-ERR Command not allowed inside a transaction|",
            ),
            (
                "EXEC",
                "-EXECABORT Transaction discarded because of previous errors.|",
            ),
        ]);
    }
}
