//! `BZPOPMIN key [key ...] timeout`, `BZPOPMAX key [key ...] timeout`, `BZMPOP timeout numkeys key [key ...] MIN | MAX
//! [COUNT count]`: remove elements of the first key that has any, and wait for one.
//!
//! `timeout` is in seconds; 0 waits for ever.

use super::mpop::Request;
use super::pop::{End, take};
use super::reply as write;
use super::set_of;
use crate::Ctx;
use crate::block::{self, NullArray, Take};
use respire_engine::{
    Arg, ArgKind, ArgList, Arity, Bytes, Error, Flags, Group, IntoReply, KeyFlag, KeySpec, Later,
    Reply, Spec,
};
use respire_store::{Elements, Scope, View};

const KEY_FLAGS: &[KeyFlag] = &[KeyFlag::Rw, KeyFlag::Access, KeyFlag::Delete];

/// What `BZPOPMIN` and `BZPOPMAX` have in common.
const POP: Spec = Spec {
    since: "5.0.0",
    complexity: "O(log(N)) with N being the number of elements in the sorted set.",
    group: Group::SortedSet,
    arity: Arity::at_least(3),
    flags: Flags::WRITE
        .with(Flags::NOSCRIPT)
        .with(Flags::FAST)
        .with(Flags::BLOCKING),
    keys: &[KeySpec::range(1, -2, 1).flags(KEY_FLAGS)],
    args: &[
        Arg::key("key", 0).multiple(),
        Arg::new("timeout", ArgKind::Double),
    ],
    history: &[(
        "6.0.0",
        "`timeout` is interpreted as a double instead of an integer.",
    )],
    ..Spec::EMPTY
};

pub(super) static BZPOPMIN: Spec = Spec {
    name: "bzpopmin",
    summary: "Remove and return the member with the lowest score from one or more sorted sets, or block until one is available",
    examples: &[
        ("ZADD z 1 a 2 b", ":2\r\n"),
        ("BZPOPMIN y z 1", "*3\r\n$1\r\nz\r\n$1\r\na\r\n$1\r\n1\r\n"),
        ("BZPOPMIN y z -1", "-ERR timeout is negative\r\n"),
    ],
    ..POP
};

pub(super) static BZPOPMAX: Spec = Spec {
    name: "bzpopmax",
    summary: "Remove and return the member with the highest score from one or more sorted sets, or block until one is available",
    examples: &[
        ("ZADD z 1 a 2 b", ":2\r\n"),
        ("BZPOPMAX y z 1", "*3\r\n$1\r\nz\r\n$1\r\nb\r\n$1\r\n2\r\n"),
    ],
    ..POP
};

pub(super) static BZMPOP: Spec = Spec {
    name: "bzmpop",
    summary: "Remove and return members with scores in a sorted set or block until one is available",
    since: "7.0.0",
    complexity: "O(K) + O(M*log(N)) where K is the number of provided keys, N being the number of elements in the sorted set, and M being the number of elements popped.",
    group: Group::SortedSet,
    arity: Arity::at_least(5),
    flags: Flags::WRITE.with(Flags::BLOCKING).with(Flags::MOVABLE_KEYS),
    keys: &[KeySpec::counted(2).flags(KEY_FLAGS)],
    args: &[
        Arg::new("timeout", ArgKind::Double),
        Arg::new("numkeys", ArgKind::Integer),
        Arg::key("key", 0).multiple(),
        Arg::one_of("where", &[Arg::word("min", "MIN"), Arg::word("max", "MAX")]),
        Arg::new("count", ArgKind::Integer)
            .token("COUNT")
            .optional(),
    ],
    examples: &[
        ("ZADD z 1 a 2 b 3 c", ":3\r\n"),
        (
            "BZMPOP 1 2 y z MAX COUNT 2",
            "*2\r\n$1\r\nz\r\n*2\r\n*2\r\n$1\r\nc\r\n$1\r\n3\r\n*2\r\n$1\r\nb\r\n$1\r\n2\r\n",
        ),
    ],
    ..Spec::EMPTY
};

pub(super) fn bzpopmin(
    ctx: &mut Ctx<'_>,
    args: ArgList<'_>,
    reply: &mut Reply<'_>,
) -> Result<(), Error> {
    pop(ctx, args, End::Min, reply)
}

pub(super) fn bzpopmax(
    ctx: &mut Ctx<'_>,
    args: ArgList<'_>,
    reply: &mut Reply<'_>,
) -> Result<(), Error> {
    pop(ctx, args, End::Max, reply)
}

fn pop(ctx: &mut Ctx<'_>, args: ArgList<'_>, end: End, reply: &mut Reply<'_>) -> Result<(), Error> {
    let (keys, timeout) = block::keys_and_timeout(args);
    block::timeout(timeout)?;
    let db = ctx.view.db();
    let scope: Vec<(u32, &[u8])> = keys.clone().map(|key| (db, key)).collect();
    let is_popped = ctx.view.locked(&Scope::Keys(&scope), |view| {
        for key in keys {
            let is_found = view.update(key, |slot| {
                if set_of(slot.get())?.is_none() {
                    return Ok(false);
                }
                reply.array(3);
                reply.bulk(key);
                take(slot, end, 1, &mut |(member, score)| {
                    write::member(reply, member);
                    write::score(reply, score);
                })?;
                Ok(true)
            })?;
            if is_found {
                return Ok(true);
            }
        }
        Ok::<_, Error>(false)
    })?;
    if !is_popped && !ctx.wait() {
        reply.null_array();
    }
    Ok(())
}

pub(super) fn wait_to_pop_min(ctx: &mut Ctx<'_>, args: ArgList<'_>, later: Later) {
    wait_to_pop(ctx, args, End::Min, later);
}

pub(super) fn wait_to_pop_max(ctx: &mut Ctx<'_>, args: ArgList<'_>, later: Later) {
    wait_to_pop(ctx, args, End::Max, later);
}

fn wait_to_pop(ctx: &mut Ctx<'_>, args: ArgList<'_>, end: End, later: Later) {
    let (keys, timeout) = block::keys_and_timeout(args);
    let timeout = block::timeout(timeout).unwrap_or_default();
    let pop = Pop { end, count: None };
    block::for_keys(ctx, keys, (timeout, NullArray), later, pop);
}

pub(super) fn bzmpop(
    ctx: &mut Ctx<'_>,
    args: ArgList<'_>,
    reply: &mut Reply<'_>,
) -> Result<(), Error> {
    let request = Request::parse(args.skip(1))?;
    block::timeout(&args[0])?;
    if !request.pop(ctx, reply)? && !ctx.wait() {
        reply.null_array();
    }
    Ok(())
}

pub(super) fn wait_to_mpop(ctx: &mut Ctx<'_>, args: ArgList<'_>, later: Later) {
    let timeout = block::timeout(&args[0]).unwrap_or_default();
    if let Ok(request) = Request::parse(args.skip(1)) {
        let pop = Pop {
            end: request.end,
            count: Some(request.count),
        };
        let keys = request.keys.iter().copied();
        block::for_keys(ctx, keys, (timeout, NullArray), later, pop);
    }
}

/// What a waiting command takes: one element, or up to a number of them.
struct Pop {
    end: End,
    count: Option<usize>,
}

/// The reply of a command that waited: the key, and one element or an array of them.
struct Popped {
    key: Bytes,
    elements: Vec<(Box<[u8]>, f64)>,
    is_array: bool,
}

impl IntoReply for Popped {
    fn into_reply(self, reply: &mut Reply<'_>) {
        reply.array(if self.is_array { 2 } else { 3 });
        reply.bulk(self.key);
        if self.is_array {
            reply.array(self.elements.len());
        }
        for (member, score) in &self.elements {
            if self.is_array {
                reply.array(2);
            }
            reply.bulk(&**member);
            write::score(reply, *score);
        }
    }
}

impl Take for Pop {
    type Taken = Popped;

    fn look(&self, view: &mut View<'_>, key: &[u8]) -> Option<Result<Popped, Error>> {
        let elements = view.peek(key, |entry| {
            let set = set_of(entry).ok()??;
            let count = self.count.unwrap_or(1).min(set.len());
            let mut elements = Vec::with_capacity(count);
            set.for_range(0, count, self.end == End::Max, &mut |(member, score)| {
                elements.push((Box::from(&*member.to_bytes()), score));
            });
            Some(elements)
        })?;
        Some(Ok(Popped {
            key: Bytes::copy_from_slice(key),
            elements,
            is_array: self.count.is_some(),
        }))
    }

    fn take(&self, view: &mut View<'_>, key: &[u8]) {
        let taken = view.update(key, |slot| {
            let len = set_of(slot.get())?.map_or(0, Elements::len);
            let count = self.count.unwrap_or(1).min(len);
            take(slot, self.end, count, &mut |_| {})
        });
        debug_assert!(taken.is_ok());
    }
}
