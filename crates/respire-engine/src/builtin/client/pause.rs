//! `CLIENT PAUSE` `UNPAUSE` `UNBLOCK`: commands that wait.

use crate::builtin::help::{boxed, wrong_subcommand};
use crate::{App, Arg, ArgKind, Args, Arity, Command, Cx, Error, Flags, Group, Reply, Spec, text};
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
    ..Spec::EMPTY
};

fn pause<A: App>(cx: &mut Cx<'_, A>, args: Args<'_>, reply: &mut Reply<'_>) -> Result<(), Error> {
    let writes_only = match args.get(1) {
        _ if args.len() > 2 => return Err(wrong_subcommand(&CLIENT_PAUSE)),
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

fn unpause<A: App>(cx: &mut Cx<'_, A>, _: Args<'_>, reply: &mut Reply<'_>) -> Result<(), Error> {
    cx.engine.pause.end();
    // All are woken, not only those that wait by now: one may be about to.
    for client in cx.engine.clients.snapshot() {
        client.wake();
    }
    reply.ok();
    Ok(())
}

/// No command blocks, so there is none to unblock; who waits for a pause to end is not blocked.
fn unblock<A: App>(_: &mut Cx<'_, A>, args: Args<'_>, reply: &mut Reply<'_>) -> Result<(), Error> {
    if args.len() > 2 {
        return Err(wrong_subcommand(&CLIENT_UNBLOCK));
    }
    let reason = args.get(1).unwrap_or(b"TIMEOUT");
    if !reason.eq_ignore_ascii_case(b"TIMEOUT") && !reason.eq_ignore_ascii_case(b"ERROR") {
        return Err(Error::fixed(
            "ERR CLIENT UNBLOCK reason should be TIMEOUT or ERROR",
        ));
    }
    number::parse_i64(&args[0]).ok_or(text::NOT_AN_INTEGER)?;
    reply.int(0);
    Ok(())
}
