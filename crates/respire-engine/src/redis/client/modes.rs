//! `CLIENT REPLY` `NO-EVICT` `NO-TOUCH` `GETREDIR` `TRACKINGINFO`: the modes of a connection.

use crate::client::ReplyMode;
use crate::redis::help::boxed;
use crate::{App, Arg, ArgList, Arity, Command, Cx, Error, Flags, Group, Reply, Spec, text};
use std::sync::atomic::Ordering;

pub(super) fn commands<A: App>() -> Vec<Box<dyn Command<A>>> {
    boxed([
        (&CLIENT_REPLY, reply_mode),
        (&CLIENT_NO_EVICT, no_evict),
        (&CLIENT_NO_TOUCH, no_touch),
        (&CLIENT_GETREDIR, get_redirection),
        (&CLIENT_TRACKINGINFO, tracking_info),
    ])
}

static CLIENT_REPLY: Spec = Spec {
    name: "client|reply",
    summary: "Instruct the server whether to reply to commands",
    since: "3.2.0",
    group: Group::Connection,
    arity: Arity::exactly(3),
    flags: Flags::NOSCRIPT.with(Flags::LOADING).with(Flags::STALE),
    args: &[Arg::one_of(
        "on_off_skip",
        &[
            Arg::word("on", "ON"),
            Arg::word("off", "OFF"),
            Arg::word("skip", "SKIP"),
        ],
    )],
    examples: &[("CLIENT REPLY ON", "+OK\r\n")],
    ..Spec::EMPTY
};

static CLIENT_NO_EVICT: Spec = Spec {
    name: "client|no-evict",
    summary: "Set client eviction mode for the current connection",
    since: "7.0.0",
    group: Group::Connection,
    arity: Arity::exactly(3),
    flags: Flags::ADMIN
        .with(Flags::NOSCRIPT)
        .with(Flags::LOADING)
        .with(Flags::STALE),
    args: &[Arg::one_of(
        "enabled",
        &[Arg::word("on", "ON"), Arg::word("off", "OFF")],
    )],
    examples: &[("CLIENT NO-EVICT ON", "+OK\r\n")],
    ..Spec::EMPTY
};

static CLIENT_GETREDIR: Spec = Spec {
    name: "client|getredir",
    summary: "Get tracking notifications redirection client ID if any",
    since: "6.0.0",
    group: Group::Connection,
    arity: Arity::exactly(2),
    flags: Flags::NOSCRIPT.with(Flags::LOADING).with(Flags::STALE),
    examples: &[("CLIENT GETREDIR", ":-1\r\n")],
    ..Spec::EMPTY
};

static CLIENT_TRACKINGINFO: Spec = Spec {
    name: "client|trackinginfo",
    summary: "Return information about server assisted client side caching for the current connection",
    since: "6.2.0",
    group: Group::Connection,
    arity: Arity::exactly(2),
    flags: Flags::NOSCRIPT.with(Flags::LOADING).with(Flags::STALE),
    examples: &[(
        "CLIENT TRACKINGINFO",
        "*6\r\n$5\r\nflags\r\n*1\r\n$3\r\noff\r\n$8\r\nredirect\r\n:-1\r\n$8\r\nprefixes\r\n*0\r\n",
    )],
    ..Spec::EMPTY
};

static CLIENT_NO_TOUCH: Spec = Spec {
    name: "client|no-touch",
    summary: "Controls whether commands sent by the client will alter the LRU/LFU of the keys they \
              access.",
    since: "7.2.0",
    group: Group::Connection,
    arity: Arity::exactly(3),
    flags: Flags::NOSCRIPT.with(Flags::LOADING).with(Flags::STALE),
    args: &[Arg::one_of(
        "enabled",
        &[Arg::word("on", "ON"), Arg::word("off", "OFF")],
    )],
    examples: &[("CLIENT NO-TOUCH ON", "+OK\r\n")],
    ..Spec::EMPTY
};

fn reply_mode<A: App>(
    cx: &mut Cx<'_, A>,
    args: ArgList<'_>,
    reply: &mut Reply<'_>,
) -> Result<(), Error> {
    let mode = &mut cx.client.reply_mode;
    if args[0].eq_ignore_ascii_case(b"ON") {
        *mode = ReplyMode::On;
        reply.ok();
    } else if args[0].eq_ignore_ascii_case(b"OFF") {
        *mode = ReplyMode::Off;
    } else if !args[0].eq_ignore_ascii_case(b"SKIP") {
        return Err(text::SYNTAX);
    } else if *mode != ReplyMode::Off {
        *mode = ReplyMode::SkipNext;
    }
    Ok(())
}

fn parse_on_off(arg: &[u8]) -> Result<bool, Error> {
    if arg.eq_ignore_ascii_case(b"ON") {
        Ok(true)
    } else if arg.eq_ignore_ascii_case(b"OFF") {
        Ok(false)
    } else {
        Err(text::SYNTAX)
    }
}

fn no_evict<A: App>(
    cx: &mut Cx<'_, A>,
    args: ArgList<'_>,
    reply: &mut Reply<'_>,
) -> Result<(), Error> {
    cx.client
        .shared
        .no_evict
        .store(parse_on_off(&args[0])?, Ordering::Relaxed);
    reply.ok();
    Ok(())
}

fn no_touch<A: App>(
    cx: &mut Cx<'_, A>,
    args: ArgList<'_>,
    reply: &mut Reply<'_>,
) -> Result<(), Error> {
    cx.client.set_no_touch(parse_on_off(&args[0])?);
    reply.ok();
    Ok(())
}

/// No connection tracks keys, so there is no redirection.
fn get_redirection<A: App>(
    _: &mut Cx<'_, A>,
    _: ArgList<'_>,
    reply: &mut Reply<'_>,
) -> Result<(), Error> {
    reply.int(-1);
    Ok(())
}

fn tracking_info<A: App>(
    _: &mut Cx<'_, A>,
    _: ArgList<'_>,
    reply: &mut Reply<'_>,
) -> Result<(), Error> {
    reply.map(3);
    reply.bulk("flags");
    reply.set(1);
    reply.bulk("off");
    reply.bulk("redirect");
    reply.int(-1);
    reply.bulk("prefixes");
    reply.array(0);
    Ok(())
}

#[cfg(test)]
mod tests {
    use crate::redis::testing::{Server, check};
    use std::time::Duration;

    #[test]
    fn reply_mode_suppresses_replies() {
        check(&[
            (
                "CLIENT REPLY OFF\nPING\nnope\nCLIENT REPLY what\nCLIENT REPLY ON\nPING",
                "+OK|+PONG|",
            ),
            ("CLIENT REPLY SKIP\nPING\nECHO a", "$1|a|"),
            (
                "CLIENT REPLY OFF\nCLIENT REPLY SKIP\nPING\nCLIENT REPLY ON",
                "+OK|",
            ),
            ("CLIENT REPLY what", "-ERR syntax error|"),
        ]);
    }

    #[test]
    fn reply_mode_suppresses_delayed_replies() {
        for mode in ["SKIP", "OFF"] {
            let mut line = Server::new().connect();
            assert_eq!(line.ask(&format!("CLIENT REPLY {mode}\nNAP")), "");
            line.pass(Duration::from_millis(20));
            assert_eq!(line.ask("CLIENT REPLY ON\nPING"), "+OK|+PONG|", "{mode}");
        }
    }

    #[test]
    fn mode_argument_must_be_on_or_off() {
        check(&[
            (
                "CLIENT NO-EVICT on\nCLIENT NO-EVICT off\nCLIENT NO-EVICT x",
                "+OK|+OK|-ERR syntax error|",
            ),
            ("CLIENT NO-TOUCH x", "-ERR syntax error|"),
        ]);
        let mut line = Server::new().connect();
        line.ask("CLIENT NO-TOUCH ON");
        assert!(line.session.client().is_no_touch());
        line.ask("CLIENT NO-TOUCH off");
        assert!(!line.session.client().is_no_touch());
    }

    #[test]
    fn tracking_is_reported_as_off() {
        check(&[
            ("CLIENT GETREDIR", ":-1|"),
            (
                "CLIENT TRACKINGINFO",
                "*6|$5|flags|*1|$3|off|$8|redirect|:-1|$8|prefixes|*0|",
            ),
        ]);
    }
}
