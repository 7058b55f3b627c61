//! `XINFO STREAM key [FULL [COUNT count]]`, `XINFO GROUPS key`, `XINFO CONSUMERS key group`: describe a stream, its groups,
//! and the consumers of a group.
//!
//! Redis keeps blocks in a radix tree, and tells how many nodes that has. Here it is the number of blocks, and one more.

use super::access::{no_group_of_key, stream_if_any};
use super::entries::reply_one;
use super::ids::reply_id;
use super::xinfo_full::reply_full;
use crate::Ctx;
use crate::errors::{NO_SUCH_KEY, SUBCOMMAND_SYNTAX, wrong_arity};
use crate::help::reply_help;
use crate::kv::KvRow;
use crate::options::{integer, is_word};
use crate::work::work_begins;
use respire_engine::{
    Arg, ArgKind, ArgList, Arity, Error, Flags, Group, KeyFlag, KeySpec, Reply, Spec,
};
use respire_store::{EntryRef, StreamGroup, StreamMarks, StreamRange, StreamRef};

pub(super) static XINFO: Spec = Spec {
    name: "xinfo",
    summary: "A container for stream introspection commands",
    since: "5.0.0",
    complexity: "Depends on subcommand.",
    group: Group::Stream,
    arity: Arity::at_least(2),
    ..Spec::EMPTY
};

pub(super) static CONSUMERS: Spec = Spec {
    name: "xinfo|consumers",
    summary: "List the consumers in a consumer group",
    since: "5.0.0",
    complexity: "O(1)",
    group: Group::Stream,
    arity: Arity::exactly(4),
    flags: Flags::READONLY,
    keys: &[KeySpec::at(2).flags(&[KeyFlag::Ro, KeyFlag::Access])],
    args: &[Arg::key("key", 0), Arg::new("groupname", ArgKind::String)],
    tips: &["nondeterministic_output"],
    examples: &[
        ("XGROUP CREATE s g $ MKSTREAM", "+OK\r\n"),
        ("XINFO CONSUMERS s g", "*0\r\n"),
        (
            "XINFO CONSUMERS s h",
            "-NOGROUP No such consumer group 'h' for key name 's'\r\n",
        ),
    ],
    ..Spec::EMPTY
};

pub(super) static GROUPS: Spec = Spec {
    name: "xinfo|groups",
    summary: "List the consumer groups of a stream",
    since: "5.0.0",
    complexity: "O(1)",
    group: Group::Stream,
    arity: Arity::exactly(3),
    flags: Flags::READONLY,
    keys: &[KeySpec::at(2).flags(&[KeyFlag::Ro, KeyFlag::Access])],
    args: &[Arg::key("key", 0)],
    history: &[("7.0.0", "Added the `entries-read` and `lag` fields")],
    examples: &[
        ("XGROUP CREATE s g $ MKSTREAM", "+OK\r\n"),
        (
            "XINFO GROUPS s",
            "*1\r\n*12\r\n$4\r\nname\r\n$1\r\ng\r\n$9\r\nconsumers\r\n:0\r\n$7\r\npending\r\n:0\r\n$17\r\nlast-delivered-id\r\n$3\r\n0-0\r\n$12\r\nentries-read\r\n$-1\r\n$3\r\nlag\r\n:0\r\n",
        ),
    ],
    ..Spec::EMPTY
};

pub(super) static HELP: Spec = Spec {
    name: "xinfo|help",
    summary: "Show helpful text about the different subcommands",
    since: "5.0.0",
    complexity: "O(1)",
    group: Group::Stream,
    arity: Arity::exactly(2),
    flags: Flags::LOADING.with(Flags::STALE),
    examples: &[(
        "XINFO HELP a",
        "-ERR wrong number of arguments for 'xinfo|help' command\r\n",
    )],
    ..Spec::EMPTY
};

pub(super) static STREAM: Spec = Spec {
    name: "xinfo|stream",
    summary: "Get information about a stream",
    since: "5.0.0",
    complexity: "O(1)",
    group: Group::Stream,
    arity: Arity::at_least(3),
    flags: Flags::READONLY,
    keys: &[KeySpec::at(2).flags(&[KeyFlag::Ro, KeyFlag::Access])],
    args: &[
        Arg::key("key", 0),
        Arg::block(
            "full",
            &[Arg::new("count", ArgKind::Integer)
                .token("COUNT")
                .optional()],
        )
        .token("FULL")
        .optional(),
    ],
    history: &[
        ("6.0.0", "Added the `FULL` modifier."),
        (
            "7.0.0",
            "Added the `max-deleted-entry-id`, `entries-added`, `recorded-first-entry-id`, `entries-read` and `lag` fields",
        ),
    ],
    examples: &[("XINFO STREAM nothing", "-ERR no such key\r\n")],
    ..Spec::EMPTY
};

pub(super) const ROW: KvRow = KvRow::new(&XINFO, bare);

/// Sorted by name.
pub(super) static SUBCOMMANDS: &[KvRow] = &[
    KvRow::new(&CONSUMERS, consumers),
    KvRow::new(&GROUPS, groups),
    KvRow::new(&HELP, help),
    KvRow::new(&STREAM, stream),
];

const HELP_LINES: &[&str] = &[
    "XINFO <subcommand> [<arg> [value] [opt] ...]. Subcommands are:",
    "CONSUMERS <key> <groupname>",
    "    Show consumers of <groupname>.",
    "GROUPS <key>",
    "    Show the stream consumer groups.",
    "STREAM <key> [FULL [COUNT <count>]",
    "    Show information about the stream.",
    "HELP",
    "    Prints this help.",
];

/// The number of entries that `FULL` shows of each list, unless the request says it.
const FULL_COUNT: usize = 10;

fn bare(_ctx: &mut Ctx<'_>, _args: ArgList<'_>, _reply: &mut Reply<'_>) -> Result<(), Error> {
    Err(wrong_arity(XINFO.name))
}

fn help(_ctx: &mut Ctx<'_>, _args: ArgList<'_>, reply: &mut Reply<'_>) -> Result<(), Error> {
    reply_help(reply, HELP_LINES);
    Ok(())
}

/// The stream of a key that must exist.
fn existing(entry: Option<EntryRef<'_>>) -> Result<StreamRef<'_>, Error> {
    stream_if_any(entry)?.ok_or(NO_SUCH_KEY)
}

fn consumers(ctx: &mut Ctx<'_>, args: ArgList<'_>, reply: &mut Reply<'_>) -> Result<(), Error> {
    let (key, name, now_ms) = (&args[0], &args[1], ctx.now.unix_ms());
    ctx.read(key, |entry| {
        let group = existing(entry)?.group(name);
        let group = group.ok_or_else(|| no_group_of_key(key, name))?;
        reply.array(group.consumers_len());
        for consumer in group.consumers() {
            reply.map(3);
            reply.bulk("name");
            reply.bulk(consumer.name());
            reply.bulk("pending");
            reply.int(consumer.pending_len() as i64);
            reply.bulk("idle");
            reply.int(now_ms.saturating_sub(consumer.seen_ms).cast_signed());
        }
        Ok(())
    })
}

fn groups(ctx: &mut Ctx<'_>, args: ArgList<'_>, reply: &mut Reply<'_>) -> Result<(), Error> {
    ctx.read(&args[0], |entry| {
        let stream = existing(entry)?;
        reply.array(stream.groups_len());
        for (name, group) in stream.groups() {
            reply.map(6);
            reply.bulk("name");
            reply.bulk(name);
            reply.bulk("consumers");
            reply.int(group.consumers_len() as i64);
            reply.bulk("pending");
            reply.int(group.pending_len() as i64);
            reply_progress(reply, group, stream.marks());
        }
        Ok(())
    })
}

/// Replies with what a group has read: three pairs of a map.
pub(super) fn reply_progress(reply: &mut Reply<'_>, group: &StreamGroup, marks: &StreamMarks) {
    let int_or_null = |reply: &mut Reply<'_>, number: Option<i64>| match number {
        Some(number) => reply.int(number),
        None => reply.null(),
    };
    reply.bulk("last-delivered-id");
    reply_id(reply, group.last_id);
    reply.bulk("entries-read");
    int_or_null(reply, group.entries_read);
    reply.bulk("lag");
    int_or_null(reply, marks.lag(group.last_id, group.entries_read));
}

fn stream(ctx: &mut Ctx<'_>, args: ArgList<'_>, reply: &mut Reply<'_>) -> Result<(), Error> {
    let (key, options) = (&args[0], args.skip(1));
    if options.is_empty() {
        return ctx.read(key, |entry| {
            reply_short(reply, existing(entry)?);
            Ok(())
        });
    }
    let (snapshot, count) = ctx.read(key, |entry| {
        existing(entry)?;
        let count = full_count(options)?;
        Ok::<_, Error>((entry.map(EntryRef::owned), count))
    })?;
    if let Some(snapshot) = snapshot {
        work_begins();
        reply_full(reply, &snapshot, count);
    }
    Ok(())
}

/// The largest number of entries of each list; 0 is no limit.
fn full_count(options: ArgList<'_>) -> Result<usize, Error> {
    if !matches!(options.len(), 1 | 3) || !is_word(&options[0], "FULL") {
        return Err(SUBCOMMAND_SYNTAX);
    }
    let Some(count) = options.get(2) else {
        return Ok(FULL_COUNT);
    };
    if !is_word(&options[1], "COUNT") {
        return Err(SUBCOMMAND_SYNTAX);
    }
    Ok(usize::try_from(integer(count)?).unwrap_or(FULL_COUNT))
}

/// Replies with what both forms of the reply begin with: seven pairs of a map.
pub(super) fn reply_marks(reply: &mut Reply<'_>, stream: StreamRef<'_>) {
    let (marks, blocks) = (stream.marks(), stream.blocks_len() as i64);
    reply.bulk("length");
    reply.int(marks.length.cast_signed());
    reply.bulk("radix-tree-keys");
    reply.int(blocks);
    reply.bulk("radix-tree-nodes");
    reply.int(blocks + 1);
    reply.bulk("last-generated-id");
    reply_id(reply, marks.last_id);
    reply.bulk("max-deleted-entry-id");
    reply_id(reply, marks.max_deleted_id);
    reply.bulk("entries-added");
    reply.int(marks.entries_added.cast_signed());
    reply.bulk("recorded-first-entry-id");
    reply_id(reply, marks.first_id);
}

fn reply_short(reply: &mut Reply<'_>, stream: StreamRef<'_>) {
    reply.map(10);
    reply_marks(reply, stream);
    reply.bulk("groups");
    reply.int(stream.groups_len() as i64);
    for (name, is_reversed) in [("first-entry", false), ("last-entry", true)] {
        reply.bulk(name);
        let one = stream.slice(&StreamRange {
            count: 1,
            is_reversed,
            ..StreamRange::default()
        });
        reply_one(reply, &one);
    }
}
