//! `SUBSCRIBE` `PSUBSCRIBE` `SSUBSCRIBE`, their opposites, `PUBLISH` and `SPUBLISH`.
//!
//! It follows Redis except for two orders. A message that a connection publishes to itself follows
//! the reply to `PUBLISH`, as in Redis from 7.2 on. Unsubscribing from all names goes through them
//! sorted.

mod list;

use super::Rows;
use crate::client::pubsub::Kind;
use crate::{
    App, Arg, ArgKind, ArgList, Arity, Cx, Error, Flags, Group, KeyFlag, KeySpec, Proto, Reply,
};
use crate::{Row, Spec};

pub(super) fn add_to<A: App>(rows: Rows<'_, A>) -> Rows<'_, A> {
    let commands: [Row<A>; 8] = [
        Row {
            spec: &SUBSCRIBE,
            run: |cx, args, reply| subscribe(cx, Kind::Channel, args, reply),
        },
        Row {
            spec: &PSUBSCRIBE,
            run: |cx, args, reply| subscribe(cx, Kind::Pattern, args, reply),
        },
        Row {
            spec: &SSUBSCRIBE,
            run: |cx, args, reply| subscribe(cx, Kind::Shard, args, reply),
        },
        Row {
            spec: &UNSUBSCRIBE,
            run: |cx, args, reply| unsubscribe(cx, Kind::Channel, args, reply),
        },
        Row {
            spec: &PUNSUBSCRIBE,
            run: |cx, args, reply| unsubscribe(cx, Kind::Pattern, args, reply),
        },
        Row {
            spec: &SUNSUBSCRIBE,
            run: |cx, args, reply| unsubscribe(cx, Kind::Shard, args, reply),
        },
        Row {
            spec: &PUBLISH,
            run: |cx, args, reply| publish(cx, Kind::Channel, args, reply),
        },
        Row {
            spec: &SPUBLISH,
            run: |cx, args, reply| publish(cx, Kind::Shard, args, reply),
        },
    ];
    list::add_to(commands.into_iter().fold(rows, Rows::add))
}

const SUBSCRIBER: Flags = Flags::PUBSUB
    .with(Flags::NOSCRIPT)
    .with(Flags::LOADING)
    .with(Flags::STALE)
    .with(Flags::SUBSCRIBED);

const PUBLISHER: Flags = Flags::PUBSUB
    .with(Flags::LOADING)
    .with(Flags::STALE)
    .with(Flags::FAST)
    .with(Flags::MAY_WRITE);

const SHARD_CHANNELS: &[KeySpec] = &[KeySpec::range(1, -1, 1).flags(&[KeyFlag::NotKey])];

static SUBSCRIBE: Spec = Spec {
    name: "subscribe",
    summary: "Listen for messages published to the given channels",
    since: "2.0.0",
    complexity: "O(N) where N is the number of channels to subscribe to.",
    group: Group::PubSub,
    arity: Arity::at_least(2),
    flags: SUBSCRIBER,
    args: &[Arg::new("channel", ArgKind::String).multiple()],
    examples: &[("SUBSCRIBE a", "*3\r\n$9\r\nsubscribe\r\n$1\r\na\r\n:1\r\n")],
    ..Spec::EMPTY
};

static UNSUBSCRIBE: Spec = Spec {
    name: "unsubscribe",
    summary: "Stop listening for messages posted to the given channels",
    since: "2.0.0",
    complexity: "O(N) where N is the number of clients already subscribed to a channel.",
    group: Group::PubSub,
    flags: SUBSCRIBER,
    arity: Arity::at_least(1),
    args: &[Arg::new("channel", ArgKind::String).optional().multiple()],
    examples: &[("UNSUBSCRIBE", "*3\r\n$11\r\nunsubscribe\r\n$-1\r\n:0\r\n")],
    ..Spec::EMPTY
};

static PSUBSCRIBE: Spec = Spec {
    name: "psubscribe",
    summary: "Listen for messages published to channels matching the given patterns",
    since: "2.0.0",
    complexity: "O(N) where N is the number of patterns the client is already subscribed to.",
    group: Group::PubSub,
    arity: Arity::at_least(2),
    flags: SUBSCRIBER,
    args: &[Arg::block("pattern", &[Arg::new("pattern", ArgKind::Pattern)]).multiple()],
    examples: &[(
        "PSUBSCRIBE a*",
        "*3\r\n$10\r\npsubscribe\r\n$2\r\na*\r\n:1\r\n",
    )],
    ..Spec::EMPTY
};

static PUNSUBSCRIBE: Spec = Spec {
    name: "punsubscribe",
    summary: "Stop listening for messages posted to channels matching the given patterns",
    since: "2.0.0",
    complexity: "O(N+M) where N is the number of patterns the client is already subscribed and M is the number of total patterns subscribed in the system (by any client).",
    group: Group::PubSub,
    arity: Arity::at_least(1),
    flags: SUBSCRIBER,
    args: &[Arg::new("pattern", ArgKind::Pattern).optional().multiple()],
    examples: &[("PUNSUBSCRIBE", "*3\r\n$12\r\npunsubscribe\r\n$-1\r\n:0\r\n")],
    ..Spec::EMPTY
};

static SSUBSCRIBE: Spec = Spec {
    name: "ssubscribe",
    summary: "Listen for messages published to the given shard channels",
    since: "7.0.0",
    complexity: "O(N) where N is the number of shard channels to subscribe to.",
    group: Group::PubSub,
    arity: Arity::at_least(2),
    flags: SUBSCRIBER,
    keys: SHARD_CHANNELS,
    args: &[Arg::new("shardchannel", ArgKind::String).multiple()],
    examples: &[(
        "SSUBSCRIBE a",
        "*3\r\n$10\r\nssubscribe\r\n$1\r\na\r\n:1\r\n",
    )],
    ..Spec::EMPTY
};

static SUNSUBSCRIBE: Spec = Spec {
    name: "sunsubscribe",
    summary: "Stop listening for messages posted to the given shard channels",
    since: "7.0.0",
    complexity: "O(N) where N is the number of clients already subscribed to a shard channel.",
    group: Group::PubSub,
    arity: Arity::at_least(1),
    flags: SUBSCRIBER,
    keys: SHARD_CHANNELS,
    args: &[Arg::new("shardchannel", ArgKind::String)
        .optional()
        .multiple()],
    examples: &[("SUNSUBSCRIBE", "*3\r\n$12\r\nsunsubscribe\r\n$-1\r\n:0\r\n")],
    ..Spec::EMPTY
};

static PUBLISH: Spec = Spec {
    name: "publish",
    summary: "Post a message to a channel",
    since: "2.0.0",
    complexity: "O(N+M) where N is the number of clients subscribed to the receiving channel and M is the total number of subscribed patterns (by any client).",
    group: Group::PubSub,
    arity: Arity::exactly(3),
    flags: PUBLISHER,
    args: &[
        Arg::new("channel", ArgKind::String),
        Arg::new("message", ArgKind::String),
    ],
    examples: &[("PUBLISH a hello", ":0\r\n")],
    ..Spec::EMPTY
};

static SPUBLISH: Spec = Spec {
    name: "spublish",
    summary: "Post a message to a shard channel",
    since: "7.0.0",
    complexity: "O(N) where N is the number of clients subscribed to the receiving shard channel.",
    group: Group::PubSub,
    arity: Arity::exactly(3),
    flags: PUBLISHER,
    keys: &[KeySpec::at(1).flags(&[KeyFlag::NotKey])],
    args: &[
        Arg::new("shardchannel", ArgKind::String),
        Arg::new("message", ArgKind::String),
    ],
    examples: &[("SPUBLISH a hello", ":0\r\n")],
    ..Spec::EMPTY
};

/// The binary protocol cannot express pushes.
const NO_PUSHES: Error = Error::fixed("ERR subscriptions need RESP2 or RESP3");

fn subscribe<A: App>(
    cx: &mut Cx<'_, A>,
    kind: Kind,
    args: ArgList<'_>,
    reply: &mut Reply<'_>,
) -> Result<(), Error> {
    if cx.client.proto == Proto::Binary {
        return Err(NO_PUSHES);
    }
    let client = &mut *cx.client;
    for name in args.iter() {
        client
            .subscriptions
            .add(&cx.engine.pubsub, kind, name, &client.shared);
        let count = client.subscriptions.count(kind);
        confirm(reply, word(kind, true), Some(name), count);
    }
    client.note_subscriptions();
    Ok(())
}

fn unsubscribe<A: App>(
    cx: &mut Cx<'_, A>,
    kind: Kind,
    args: ArgList<'_>,
    reply: &mut Reply<'_>,
) -> Result<(), Error> {
    let client = &mut *cx.client;
    let word = word(kind, false);
    let all: Vec<Box<[u8]>>;
    let names: Vec<&[u8]> = if args.is_empty() {
        all = client.subscriptions.names(kind).iter().cloned().collect();
        all.iter().map(|name| &**name).collect()
    } else {
        args.iter().collect()
    };
    if names.is_empty() {
        confirm(reply, word, None, client.subscriptions.count(kind));
    }
    for name in names {
        client
            .subscriptions
            .remove(&cx.engine.pubsub, kind, name, &client.shared);
        confirm(reply, word, Some(name), client.subscriptions.count(kind));
    }
    client.note_subscriptions();
    Ok(())
}

fn word(kind: Kind, on: bool) -> &'static str {
    match (kind, on) {
        (Kind::Channel, true) => "subscribe",
        (Kind::Channel, false) => "unsubscribe",
        (Kind::Pattern, true) => "psubscribe",
        (Kind::Pattern, false) => "punsubscribe",
        (Kind::Shard, true) => "ssubscribe",
        (Kind::Shard, false) => "sunsubscribe",
    }
}

fn confirm(reply: &mut Reply<'_>, word: &str, name: Option<&[u8]>, count: usize) {
    reply.push(3);
    reply.bulk(word);
    match name {
        Some(name) => reply.bulk(name),
        None => reply.null(),
    }
    reply.int(count as i64);
}

fn publish<A: App>(
    cx: &mut Cx<'_, A>,
    kind: Kind,
    args: ArgList<'_>,
    reply: &mut Reply<'_>,
) -> Result<(), Error> {
    let engine = cx.engine;
    let bytes_max = engine.limits.mailbox_bytes_max;
    let sent = engine.pubsub.publish(kind, &args[0], &args[1], bytes_max);
    reply.int(sent as i64);
    Ok(())
}

#[cfg(test)]
mod tests {
    use crate::Limits;
    use crate::redis::testing::{Server, check};
    use crate::session::{CloseReason, SessionStep};

    #[test]
    fn confirmations_count_channels_and_patterns_together() {
        check(&[
            (
                "SUBSCRIBE a b\nPSUBSCRIBE c*\nSSUBSCRIBE d",
                "*3|$9|subscribe|$1|a|:1|*3|$9|subscribe|$1|b|:2|*3|$10|psubscribe|$2|c*|:3|\
                 *3|$10|ssubscribe|$1|d|:1|",
            ),
            (
                "UNSUBSCRIBE\nPUNSUBSCRIBE c*\nPUNSUBSCRIBE\nSUNSUBSCRIBE x",
                "*3|$11|unsubscribe|$1|a|:2|*3|$11|unsubscribe|$1|b|:1|\
                 *3|$12|punsubscribe|$2|c*|:0|*3|$12|punsubscribe|$-1|:0|\
                 *3|$12|sunsubscribe|$1|x|:1|",
            ),
        ]);
    }

    #[test]
    fn resp2_subscriber_is_restricted_to_subscription_commands() {
        check(&[
            (
                "SUBSCRIBE a\nPING\nPING x",
                "*3|$9|subscribe|$1|a|:1|*2|$4|pong|$0||*2|$4|pong|$1|x|",
            ),
            (
                "ECHO x",
                "-ERR Can't execute 'echo': only (P|S)SUBSCRIBE / (P|S)UNSUBSCRIBE / PING / QUIT / \
                 RESET are allowed in this context|",
            ),
            ("RESET\nECHO x", "+RESET|$1|x|"),
            ("PUBSUB NUMSUB a", "*2|$1|a|:0|"),
            (
                "HELLO 3\nSUBSCRIBE a\nECHO x",
                "%7|$6|server|$5|redis|$7|version|$6|7.0.15|$5|proto|:3|$2|id|:1|$4|mode|$10|standalone|$4|role|$6|master|$7|modules|*0|>3|$9|subscribe|$1|a|:1|$1|x|",
            ),
        ]);
    }

    #[test]
    fn messages_arrive_between_replies_in_each_protocol() {
        let server = Server::new();
        let (mut two, mut three, mut other) =
            (server.connect(), server.connect(), server.connect());
        two.ask("SUBSCRIBE news");
        three.ask("HELLO 3\nPSUBSCRIBE n*\nSUBSCRIBE news");
        assert_eq!(other.ask("PUBLISH news hello\nPUBLISH else x"), ":3|:0|");
        assert_eq!(two.ask(""), "*3|$7|message|$4|news|$5|hello|");
        assert_eq!(
            three.ask("PING"),
            ">3|$7|message|$4|news|$5|hello|>4|$8|pmessage|$2|n*|$4|news|$5|hello|+PONG|"
        );
    }

    #[test]
    fn message_published_to_itself_follows_the_reply() {
        let mut line = Server::new().connect();
        line.ask("HELLO 3\nSUBSCRIBE a");
        assert_eq!(line.ask("PUBLISH a x"), ":1|>3|$7|message|$1|a|$1|x|");
    }

    #[test]
    fn confirmations_are_sent_even_when_replies_are_off() {
        let mut line = Server::new().connect();
        assert_eq!(
            line.ask("HELLO 3\nCLIENT REPLY OFF\nPING\nSUBSCRIBE a\nPING\nUNSUBSCRIBE a")
                .split_once("|*0|")
                .map(|(_, after)| after.to_owned()),
            Some(">3|$9|subscribe|$1|a|:1|>3|$11|unsubscribe|$1|a|:0|".to_owned())
        );
    }

    #[test]
    fn shard_channels_are_separate_from_channels() {
        let server = Server::new();
        let (mut subscriber, mut other) = (server.connect(), server.connect());
        subscriber.ask("SSUBSCRIBE a\nPSUBSCRIBE *");
        assert_eq!(other.ask("SPUBLISH a x"), ":1|");
        assert_eq!(subscriber.ask(""), "*3|$8|smessage|$1|a|$1|x|");
    }

    #[test]
    fn slow_subscriber_is_closed_without_delaying_others() {
        let server = Server::with_limits(Limits {
            mailbox_bytes_max: 10_000,
            ..Limits::DEFAULT
        });
        let (mut slow, mut quick, mut other) =
            (server.connect(), server.connect(), server.connect());
        slow.ask("SUBSCRIBE a");
        quick.ask("SUBSCRIBE a");
        for _ in 0..100 {
            assert_eq!(other.ask(&format!("PUBLISH a {}", "x".repeat(500))), ":2|");
            assert!(quick.ask("").starts_with("*3|$7|message|"));
        }
        assert_eq!(slow.ask(""), "");
        assert_eq!(slow.step, SessionStep::Close(CloseReason::Overrun));
        drop(slow);
        assert_eq!(other.ask("PUBLISH a x"), ":1|");
    }

    #[test]
    fn closing_a_connection_ends_its_subscriptions() {
        let server = Server::new();
        let mut other = server.connect();
        let mut gone = server.connect();
        gone.ask("SUBSCRIBE a\nPSUBSCRIBE *\nSSUBSCRIBE b");
        drop(gone);
        assert_eq!(
            other.ask("PUBLISH a x\nSPUBLISH b x\nPUBSUB NUMPAT"),
            ":0|:0|:0|"
        );
    }

    #[test]
    fn messages_of_a_transaction_follow_its_replies() {
        let mut line = Server::new().connect();
        line.ask("HELLO 3\nSUBSCRIBE a");
        assert_eq!(
            line.ask("MULTI\nPUBLISH a x\nPUBLISH a y\nEXEC"),
            "+OK|+QUEUED|+QUEUED|*2|:1|:1|>3|$7|message|$1|a|$1|x|>3|$7|message|$1|a|$1|y|"
        );
    }
}
