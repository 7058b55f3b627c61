//! `PUBSUB`: lists channels and counts subscribers, as Redis does, but with the channels sorted.

use super::super::help::{boxed, help, needs_subcommand};
use super::Rows;
use crate::client::pubsub::Kind;
use crate::glob_match;
use crate::{App, Arg, ArgKind, ArgList, Arity, Cx, Error, Flags, Group, Reply, Row, Spec};

pub(super) fn add_to<A: App>(rows: Rows<'_, A>) -> Rows<'_, A> {
    let container = Row {
        spec: &PUBSUB,
        run: needs_subcommand,
    };
    rows.container(
        container,
        boxed([
            (&CHANNELS, |cx, args, reply| {
                channels(cx, Kind::Channel, args, reply)
            }),
            (&HELP, |_, _, reply| {
                help(&PUBSUB, &HELP_LINES, reply);
                Ok(())
            }),
            (&NUMPAT, numpat),
            (&NUMSUB, |cx, args, reply| {
                numsub(cx, Kind::Channel, args, reply)
            }),
            (&SHARDCHANNELS, |cx, args, reply| {
                channels(cx, Kind::Shard, args, reply)
            }),
            (&SHARDNUMSUB, |cx, args, reply| {
                numsub(cx, Kind::Shard, args, reply)
            }),
        ]),
    )
}

static PUBSUB: Spec = Spec {
    name: "pubsub",
    summary: "A container for Pub/Sub commands",
    since: "2.8.0",
    complexity: "Depends on subcommand.",
    group: Group::PubSub,
    arity: Arity::at_least(2),
    ..Spec::EMPTY
};

const FLAGS: Flags = Flags::PUBSUB.with(Flags::LOADING).with(Flags::STALE);

static CHANNELS: Spec = Spec {
    name: "pubsub|channels",
    summary: "List active channels",
    since: "2.8.0",
    complexity: "O(N) where N is the number of active channels, and assuming constant time pattern matching (relatively short channels and patterns)",
    group: Group::PubSub,
    arity: Arity::at_least(2),
    flags: FLAGS,
    args: &[Arg::new("pattern", ArgKind::Pattern).optional()],
    examples: &[("PUBSUB CHANNELS", "*0\r\n")],
    ..Spec::EMPTY
};

static HELP: Spec = Spec {
    name: "pubsub|help",
    summary: "Show helpful text about the different subcommands",
    since: "6.2.0",
    group: Group::PubSub,
    arity: Arity::exactly(2),
    flags: Flags::LOADING.with(Flags::STALE),
    ..Spec::EMPTY
};

static NUMPAT: Spec = Spec {
    name: "pubsub|numpat",
    summary: "Get the count of unique patterns pattern subscriptions",
    since: "2.8.0",
    group: Group::PubSub,
    arity: Arity::exactly(2),
    flags: FLAGS,
    examples: &[("PUBSUB NUMPAT", ":0\r\n")],
    ..Spec::EMPTY
};

static NUMSUB: Spec = Spec {
    name: "pubsub|numsub",
    summary: "Get the count of subscribers for channels",
    since: "2.8.0",
    complexity: "O(N) for the NUMSUB subcommand, where N is the number of requested channels",
    group: Group::PubSub,
    arity: Arity::at_least(2),
    flags: FLAGS,
    args: &[Arg::new("channel", ArgKind::String).optional().multiple()],
    examples: &[("PUBSUB NUMSUB a", "*2\r\n$1\r\na\r\n:0\r\n")],
    ..Spec::EMPTY
};

static SHARDCHANNELS: Spec = Spec {
    name: "pubsub|shardchannels",
    summary: "List active shard channels",
    since: "7.0.0",
    complexity: "O(N) where N is the number of active shard channels, and assuming constant time pattern matching (relatively short shard channels).",
    group: Group::PubSub,
    arity: Arity::at_least(2),
    flags: FLAGS,
    args: &[Arg::new("pattern", ArgKind::Pattern).optional()],
    examples: &[("PUBSUB SHARDCHANNELS", "*0\r\n")],
    ..Spec::EMPTY
};

static SHARDNUMSUB: Spec = Spec {
    name: "pubsub|shardnumsub",
    summary: "Get the count of subscribers for shard channels",
    since: "7.0.0",
    complexity: "O(N) for the SHARDNUMSUB subcommand, where N is the number of requested shard channels",
    group: Group::PubSub,
    arity: Arity::at_least(2),
    flags: FLAGS,
    args: &[Arg::new("shardchannel", ArgKind::String)
        .optional()
        .multiple()],
    examples: &[("PUBSUB SHARDNUMSUB a", "*2\r\n$1\r\na\r\n:0\r\n")],
    ..Spec::EMPTY
};

const HELP_LINES: [&str; 11] = [
    "CHANNELS [<pattern>]",
    "    Return the currently active channels matching a <pattern> (default: '*').",
    "NUMPAT",
    "    Return number of subscriptions to patterns.",
    "NUMSUB [<channel> ...]",
    "    Return the number of subscribers for the specified channels, excluding",
    "    pattern subscriptions(default: no channels).",
    "SHARDCHANNELS [<pattern>]",
    "    Return the currently active shard level channels matching a <pattern> (default: '*').",
    "SHARDNUMSUB [<shardchannel> ...]",
    "    Return the number of subscribers for the specified shard level channel(s)",
];

fn channels<A: App>(
    cx: &mut Cx<'_, A>,
    kind: Kind,
    args: ArgList<'_>,
    reply: &mut Reply<'_>,
) -> Result<(), Error> {
    if args.len() > 1 {
        return Err(super::super::help::wrong_subcommand(cx.request()));
    }
    let pattern = args.get(0);
    let matches = |name: &[u8]| pattern.is_none_or(|pattern| glob_match(pattern, name, false));
    let mut found: Vec<Box<[u8]>> = cx.engine.pubsub.read(kind, |topics| {
        topics
            .keys()
            .filter(|name| matches(name))
            .cloned()
            .collect()
    });
    found.sort_unstable();
    reply.array(found.len());
    for name in found {
        reply.bulk(name);
    }
    Ok(())
}

fn numpat<A: App>(cx: &mut Cx<'_, A>, _: ArgList<'_>, reply: &mut Reply<'_>) -> Result<(), Error> {
    reply.int(cx.engine.pubsub.len(Kind::Pattern) as i64);
    Ok(())
}

fn numsub<A: App>(
    cx: &mut Cx<'_, A>,
    kind: Kind,
    args: ArgList<'_>,
    reply: &mut Reply<'_>,
) -> Result<(), Error> {
    reply.array(args.len() * 2);
    for name in args.iter() {
        reply.bulk(name);
        reply.int(cx.engine.pubsub.subscribers(kind, name) as i64);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use crate::redis::testing::Server;

    #[test]
    fn channels_and_subscribers_are_listed() {
        let server = Server::new();
        let (mut one, mut two, mut other) = (server.connect(), server.connect(), server.connect());
        one.ask("SUBSCRIBE news b\nPSUBSCRIBE n*\nSSUBSCRIBE s");
        two.ask("SUBSCRIBE news\nPSUBSCRIBE n*");
        assert_eq!(
            other.ask("PUBSUB CHANNELS\nPUBSUB CHANNELS n*"),
            "*2|$1|b|$4|news|*1|$4|news|"
        );
        assert_eq!(other.ask("PUBSUB NUMSUB news x"), "*4|$4|news|:2|$1|x|:0|");
        assert_eq!(other.ask("PUBSUB NUMPAT\nPUBSUB NUMSUB"), ":1|*0|");
        assert_eq!(
            other.ask("PUBSUB SHARDCHANNELS\nPUBSUB SHARDNUMSUB s"),
            "*1|$1|s|*2|$1|s|:1|"
        );
        assert_eq!(
            other.ask("PUBSUB CHANNELS a b"),
            "-ERR unknown subcommand or wrong number of arguments for 'CHANNELS'. Try PUBSUB HELP.|"
        );
    }

    #[test]
    fn client_list_shows_subscribers() {
        let server = Server::new();
        let (mut one, mut other) = (server.connect(), server.connect());
        one.ask("SUBSCRIBE news b\nPSUBSCRIBE n*\nSSUBSCRIBE s");
        let list = other.ask("CLIENT LIST TYPE pubsub");
        assert!(list.contains("id=1 ") && !list.contains("id=2 "), "{list}");
        assert!(
            list.contains(" flags=P ") && list.contains(" sub=2 psub=1 ssub=1 "),
            "{list}"
        );
        let list = other.ask("CLIENT LIST TYPE normal");
        assert!(list.contains("id=2 ") && !list.contains("id=1 "), "{list}");
        let info = other.ask("INFO stats");
        assert!(
            info.contains("|pubsub_channels:2|") && info.contains("|pubsub_patterns:1|"),
            "{info}"
        );
        assert_eq!(other.ask("CLIENT KILL TYPE pubsub"), ":1|");
    }
}
