//! `XGROUP CREATE | CREATECONSUMER | DELCONSUMER | DESTROY | SETID key group ...`: changes the consumer groups of a stream.

use super::access::{edit_quietly, free, no_group_of_key, others_first, stream_if_any};
use super::ids::{id, strict_id};
use super::reading::STEP_ENTRIES_MAX;
use crate::Ctx;
use crate::errors::{SUBCOMMAND_SYNTAX, wrong_arity, wrong_type};
use crate::help::reply_help;
use crate::kv::KvRow;
use crate::notify;
use crate::options::{Options, is_word};
use respire_engine::{
    Arg, ArgKind, ArgList, Arity, Error, Flags, Group, KeyFlag, KeySpec, Reply, Spec,
};
use respire_store::{Edited, EventName, Stream, StreamGroup, StreamId, StreamMarks};

pub(super) static XGROUP: Spec = Spec {
    name: "xgroup",
    summary: "A container for consumer groups commands",
    since: "5.0.0",
    complexity: "Depends on subcommand.",
    group: Group::Stream,
    arity: Arity::at_least(2),
    ..Spec::EMPTY
};

pub(super) static CREATE: Spec = Spec {
    name: "xgroup|create",
    summary: "Create a consumer group.",
    since: "5.0.0",
    complexity: "O(1)",
    group: Group::Stream,
    arity: Arity::at_least(5),
    flags: Flags::WRITE.with(Flags::DENYOOM),
    keys: &[KeySpec::at(2).flags(&[KeyFlag::Rw, KeyFlag::Insert])],
    args: &[
        Arg::key("key", 0),
        Arg::new("groupname", ArgKind::String),
        Arg::one_of(
            "id",
            &[Arg::new("id", ArgKind::String), Arg::word("new_id", "$")],
        ),
        Arg::word("mkstream", "MKSTREAM").optional(),
        Arg::new("entries_read", ArgKind::Integer)
            .token("ENTRIESREAD")
            .optional(),
    ],
    history: &[("7.0.0", "Added the `entries_read` named argument.")],
    examples: &[
        ("XGROUP CREATE s g $ MKSTREAM", "+OK\r\n"),
        (
            "XGROUP CREATE s g 0",
            "-BUSYGROUP Consumer Group name already exists\r\n",
        ),
    ],
    ..Spec::EMPTY
};

pub(super) static CREATECONSUMER: Spec = Spec {
    name: "xgroup|createconsumer",
    summary: "Create a consumer in a consumer group.",
    since: "6.2.0",
    complexity: "O(1)",
    group: Group::Stream,
    arity: Arity::exactly(5),
    flags: Flags::WRITE.with(Flags::DENYOOM),
    keys: &[KeySpec::at(2).flags(&[KeyFlag::Rw, KeyFlag::Insert])],
    args: &[
        Arg::key("key", 0),
        Arg::new("groupname", ArgKind::String),
        Arg::new("consumername", ArgKind::String),
    ],
    examples: &[
        ("XGROUP CREATE s g $ MKSTREAM", "+OK\r\n"),
        ("XGROUP CREATECONSUMER s g Ada", ":1\r\n"),
        ("XGROUP CREATECONSUMER s g Ada", ":0\r\n"),
    ],
    ..Spec::EMPTY
};

pub(super) static DELCONSUMER: Spec = Spec {
    name: "xgroup|delconsumer",
    summary: "Delete a consumer from a consumer group.",
    since: "5.0.0",
    complexity: "O(1)",
    group: Group::Stream,
    arity: Arity::exactly(5),
    flags: Flags::WRITE,
    keys: &[KeySpec::at(2).flags(&[KeyFlag::Rw, KeyFlag::Delete])],
    args: &[
        Arg::key("key", 0),
        Arg::new("groupname", ArgKind::String),
        Arg::new("consumername", ArgKind::String),
    ],
    examples: &[
        ("XGROUP CREATE s g $ MKSTREAM", "+OK\r\n"),
        ("XGROUP DELCONSUMER s g Ada", ":0\r\n"),
    ],
    ..Spec::EMPTY
};

pub(super) static DESTROY: Spec = Spec {
    name: "xgroup|destroy",
    summary: "Destroy a consumer group.",
    since: "5.0.0",
    complexity: "O(N) where N is the number of entries in the group's pending entries list (PEL).",
    group: Group::Stream,
    arity: Arity::exactly(4),
    flags: Flags::WRITE,
    keys: &[KeySpec::at(2).flags(&[KeyFlag::Rw, KeyFlag::Delete])],
    args: &[Arg::key("key", 0), Arg::new("groupname", ArgKind::String)],
    examples: &[
        ("XGROUP CREATE s g $ MKSTREAM", "+OK\r\n"),
        ("XGROUP DESTROY s g", ":1\r\n"),
        ("XGROUP DESTROY s g", ":0\r\n"),
    ],
    ..Spec::EMPTY
};

pub(super) static HELP: Spec = Spec {
    name: "xgroup|help",
    summary: "Show helpful text about the different subcommands",
    since: "5.0.0",
    complexity: "O(1)",
    group: Group::Stream,
    arity: Arity::exactly(2),
    flags: Flags::LOADING.with(Flags::STALE),
    examples: &[(
        "XGROUP HELP a",
        "-ERR wrong number of arguments for 'xgroup|help' command\r\n",
    )],
    ..Spec::EMPTY
};

pub(super) static SETID: Spec = Spec {
    name: "xgroup|setid",
    summary: "Set a consumer group to an arbitrary last delivered ID value.",
    since: "5.0.0",
    complexity: "O(1)",
    group: Group::Stream,
    arity: Arity::at_least(5),
    flags: Flags::WRITE,
    keys: &[KeySpec::at(2).flags(&[KeyFlag::Rw, KeyFlag::Update])],
    args: &[
        Arg::key("key", 0),
        Arg::new("groupname", ArgKind::String),
        Arg::one_of(
            "id",
            &[Arg::new("id", ArgKind::String), Arg::word("new_id", "$")],
        ),
        Arg::new("entries_read", ArgKind::Integer)
            .token("ENTRIESREAD")
            .optional(),
    ],
    history: &[("7.0.0", "Added the optional `entries_read` argument.")],
    examples: &[
        ("XGROUP CREATE s g $ MKSTREAM", "+OK\r\n"),
        ("XGROUP SETID s g 5", "+OK\r\n"),
    ],
    ..Spec::EMPTY
};

pub(super) const ROW: KvRow = KvRow::new(&XGROUP, bare);

/// Sorted by name.
pub(super) static SUBCOMMANDS: &[KvRow] = &[
    KvRow::new(&CREATE, create),
    KvRow::new(&CREATECONSUMER, create_consumer),
    KvRow::new(&DELCONSUMER, delete_consumer),
    KvRow::new(&DESTROY, destroy),
    KvRow::new(&HELP, help),
    KvRow::new(&SETID, set_id),
];

const HELP_LINES: &[&str] = &[
    "XGROUP <subcommand> [<arg> [value] [opt] ...]. Subcommands are:",
    "CREATE <key> <groupname> <id|$> [option]",
    "    Create a new consumer group. Options are:",
    "    * MKSTREAM",
    "      Create the empty stream if it does not exist.",
    "    * ENTRIESREAD entries_read",
    "      Set the group's entries_read counter (internal use).",
    "CREATECONSUMER <key> <groupname> <consumer>",
    "    Create a new consumer in the specified group.",
    "DELCONSUMER <key> <groupname> <consumer>",
    "    Remove the specified consumer.",
    "DESTROY <key> <groupname>",
    "    Remove the specified group.",
    "SETID <key> <groupname> <id|$> [ENTRIESREAD entries_read]",
    "    Set the current group ID and entries_read counter.",
    "HELP",
    "    Prints this help.",
];

const NO_KEY: Error = Error::fixed(
    "ERR The XGROUP subcommand requires the key to exist. Note that for CREATE you may want to use the MKSTREAM option to create an empty stream automatically.",
);
const BUSY_GROUP: Error = Error::fixed("BUSYGROUP Consumer Group name already exists");
const ENTRIES_READ: Error = Error::fixed("ERR value for ENTRIESREAD must be positive or -1");

fn bare(_ctx: &mut Ctx<'_>, _args: ArgList<'_>, _reply: &mut Reply<'_>) -> Result<(), Error> {
    Err(wrong_arity(XGROUP.name))
}

fn help(_ctx: &mut Ctx<'_>, _args: ArgList<'_>, reply: &mut Reply<'_>) -> Result<(), Error> {
    reply_help(reply, HELP_LINES);
    Ok(())
}

/// The options behind the ID.
#[derive(Default)]
struct GroupOptions {
    creates: bool,
    entries_read: Option<i64>,
}

fn options(args: ArgList<'_>, is_creation: bool) -> Result<GroupOptions, Error> {
    let (mut found, mut options) = (GroupOptions::default(), Options::new(args));
    while let Some(word) = options.next() {
        if is_creation && is_word(word, "MKSTREAM") {
            found.creates = true;
        } else if is_word(word, "ENTRIESREAD") && options.len() > 0 {
            found.entries_read = match options.integer()? {
                -1 => None,
                read if read < 0 => return Err(ENTRIES_READ),
                read => Some(read),
            };
        } else {
            return Err(SUBCOMMAND_SYNTAX);
        }
    }
    Ok(found)
}

fn create(ctx: &mut Ctx<'_>, args: ArgList<'_>, reply: &mut Reply<'_>) -> Result<(), Error> {
    let options = options(args.skip(3), true)?;
    let (key, name, id_text) = (&args[0], &args[1], &args[2]);
    ctx.view.update(key, |slot| {
        if !slot.exists() && !options.creates {
            return Err(NO_KEY);
        }
        let created = slot.edit(notify::XGROUP_CREATE, |stream: &mut Stream| {
            // Three options may follow the ID.
            if args.len() > 6 {
                return Edited::Unchanged(Err(SUBCOMMAND_SYNTAX));
            }
            let last_id = match id_text {
                b"$" => Ok(stream.marks().last_id),
                text => strict_id(text, 0),
            };
            let last_id = match last_id {
                Ok(last_id) => last_id,
                Err(error) => return Edited::Unchanged(Err(error)),
            };
            let group = StreamGroup::new(last_id, options.entries_read);
            match stream.add_group(name, group) {
                true => Edited::Unwatched(Ok(())),
                false => Edited::Unchanged(Err(BUSY_GROUP)),
            }
        });
        created.map_err(wrong_type)?
    })?;
    reply.ok();
    Ok(())
}

/// Changes a group, which must exist. `f` returns whether it did.
fn edit_group<R>(
    ctx: &mut Ctx<'_>,
    (key, name): (&[u8], &[u8]),
    event: EventName,
    f: impl FnOnce(&mut StreamGroup, &StreamMarks) -> Edited<R>,
) -> Result<R, Error> {
    let edited = ctx.view.update(key, |slot| {
        slot.edit_existing(event, |stream: &mut Stream| {
            let edited = stream.edit_group(name, f);
            edited.map_or(Edited::Unchanged(None), |edited| edited.map(Some))
        })
    });
    let edited = edited.map_err(wrong_type)?.ok_or(NO_KEY)?;
    edited.ok_or_else(|| no_group_of_key(key, name))
}

fn set_id(ctx: &mut Ctx<'_>, args: ArgList<'_>, reply: &mut Reply<'_>) -> Result<(), Error> {
    let options = options(args.skip(3), false)?;
    let id_text = &args[2];
    edit_group(
        ctx,
        (&args[0], &args[1]),
        notify::XGROUP_SETID,
        |group, marks| {
            // One option may follow the ID.
            let last_id: Result<StreamId, Error> = match id_text {
                _ if args.len() > 5 => Err(SUBCOMMAND_SYNTAX),
                b"$" => Ok(marks.last_id),
                text => id(text, 0),
            };
            match last_id {
                Ok(last_id) => {
                    group.last_id = last_id;
                    group.entries_read = options.entries_read;
                    Edited::Unwatched(Ok(()))
                }
                Err(error) => Edited::Unchanged(Err(error)),
            }
        },
    )??;
    reply.ok();
    Ok(())
}

fn destroy(ctx: &mut Ctx<'_>, args: ArgList<'_>, reply: &mut Reply<'_>) -> Result<(), Error> {
    let destroyed = ctx.view.update(&args[0], |slot| {
        slot.edit_existing(notify::XGROUP_DESTROY, |stream: &mut Stream| {
            match stream.remove_group(&args[1]) {
                Some(parts) => Edited::Unwatched(Some(parts)),
                None => Edited::Unchanged(None),
            }
        })
    });
    let parts = destroyed.map_err(wrong_type)?.ok_or(NO_KEY)?;
    reply.int(parts.is_some().into());
    free(ctx, parts.unwrap_or_default());
    Ok(())
}

fn create_consumer(
    ctx: &mut Ctx<'_>,
    args: ArgList<'_>,
    reply: &mut Reply<'_>,
) -> Result<(), Error> {
    let now_ms = ctx.now.unix_ms();
    let event = notify::XGROUP_CREATECONSUMER;
    let created = edit_group(ctx, (&args[0], &args[1]), event, |group, _| {
        match group.add_consumer(&args[2], now_ms) {
            true => Edited::Unwatched(1),
            false => Edited::Unchanged(0),
        }
    })?;
    reply.int(created);
    Ok(())
}

fn delete_consumer(
    ctx: &mut Ctx<'_>,
    args: ArgList<'_>,
    reply: &mut Reply<'_>,
) -> Result<(), Error> {
    let (key, name, consumer) = (&args[0], &args[1], &args[2]);
    let event = notify::XGROUP_DELCONSUMER;
    let mut long = ctx.long_work();
    let mut removed = 0;
    // Inside a section, everything is done at once.
    if long.is_some() {
        while remove_some_pending(ctx, (key, name), consumer)? {
            removed += STEP_ENTRIES_MAX;
            others_first(ctx, key, (&mut long, STEP_ENTRIES_MAX));
        }
    }
    let last = edit_group(ctx, (key, name), event, |group, _| {
        match group.remove_consumer(consumer) {
            Some(pending) => Edited::Unwatched(pending),
            None => Edited::Unchanged(0),
        }
    });
    // The key or the group may be gone since the first step.
    removed += match last {
        Err(_) if removed > 0 => 0,
        last => last?,
    };
    reply.int(removed as i64);
    Ok(())
}

/// Removes some of the entries that are pending for a consumer, if they are many. Returns whether it did.
fn remove_some_pending(
    ctx: &mut Ctx<'_>,
    (key, name): (&[u8], &[u8]),
    consumer: &[u8],
) -> Result<bool, Error> {
    let is_many = ctx.view.peek(key, |entry| {
        let stream = stream_if_any(entry).ok()??;
        let pending = stream.group(name)?.consumer(consumer)?.pending_len();
        Some(pending > STEP_ENTRIES_MAX)
    });
    if is_many != Some(true) {
        return Ok(false);
    }
    let removed = edit_quietly(&mut ctx.view, key, |stream| {
        let removed = stream.edit_group(name, |group, _| {
            group.remove_some_pending(consumer, STEP_ENTRIES_MAX)
        });
        match removed {
            Some(removed) if removed > 0 => Edited::Unwatched(removed),
            _ => Edited::Unchanged(0),
        }
    })?;
    Ok(removed == Some(STEP_ENTRIES_MAX))
}
