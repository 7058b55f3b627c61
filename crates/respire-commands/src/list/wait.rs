//! `BLPOP key [key ...] timeout`, `BRPOP key [key ...] timeout`, `BLMPOP timeout numkeys key [key ...] LEFT | RIGHT
//! [COUNT count]`: remove elements from the first list that exists, and wait for one.
//!
//! `timeout` is in seconds; 0 waits for ever.

use super::element::Element;
use super::list_if_any;
use super::mpop::Request;
use super::popped;
use crate::Ctx;
use crate::block::{self, NullArray, Take};
use crate::errors::wrong_type;
use crate::value::reply_string;
use respire_engine::{
    Arg, ArgKind, ArgList, Arity, Bytes, Error, Flags, Group, IntoReply, KeyFlag, KeySpec, Later,
    Reply, Spec,
};
use respire_store::{Edited, End, List, Scope, View};

const KEY_FLAGS: &[KeyFlag] = &[KeyFlag::Rw, KeyFlag::Access, KeyFlag::Delete];

/// What `BLPOP` and `BRPOP` have in common.
const POP: Spec = Spec {
    since: "2.0.0",
    complexity: "O(N) where N is the number of provided keys.",
    group: Group::List,
    arity: Arity::at_least(3),
    flags: Flags::WRITE.with(Flags::NOSCRIPT).with(Flags::BLOCKING),
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

pub(super) static BLPOP: Spec = Spec {
    name: "blpop",
    summary: "Remove and get the first element in a list, or block until one is available",
    examples: &[
        ("RPUSH b x y", ":2\r\n"),
        ("BLPOP a b 1", "*2\r\n$1\r\nb\r\n$1\r\nx\r\n"),
        ("BLPOP a b -1", "-ERR timeout is negative\r\n"),
    ],
    ..POP
};

pub(super) static BRPOP: Spec = Spec {
    name: "brpop",
    summary: "Remove and get the last element in a list, or block until one is available",
    examples: &[
        ("RPUSH b x y", ":2\r\n"),
        ("BRPOP a b 1", "*2\r\n$1\r\nb\r\n$1\r\ny\r\n"),
    ],
    ..POP
};

pub(super) static BLMPOP: Spec = Spec {
    name: "blmpop",
    summary: "Pop elements from a list, or block until one is available",
    since: "7.0.0",
    complexity: "O(N+M) where N is the number of provided keys and M is the number of elements returned.",
    group: Group::List,
    arity: Arity::at_least(5),
    flags: Flags::WRITE.with(Flags::BLOCKING).with(Flags::MOVABLE_KEYS),
    keys: &[KeySpec::counted(2).flags(KEY_FLAGS)],
    args: &[
        Arg::new("timeout", ArgKind::Double),
        Arg::new("numkeys", ArgKind::Integer),
        Arg::key("key", 0).multiple(),
        Arg::one_of(
            "where",
            &[Arg::word("left", "LEFT"), Arg::word("right", "RIGHT")],
        ),
        Arg::new("count", ArgKind::Integer)
            .token("COUNT")
            .optional(),
    ],
    examples: &[
        ("RPUSH b x y z", ":3\r\n"),
        (
            "BLMPOP 1 2 a b RIGHT COUNT 2",
            "*2\r\n$1\r\nb\r\n*2\r\n$1\r\nz\r\n$1\r\ny\r\n",
        ),
    ],
    ..Spec::EMPTY
};

pub(super) fn blpop(
    ctx: &mut Ctx<'_>,
    args: ArgList<'_>,
    reply: &mut Reply<'_>,
) -> Result<(), Error> {
    pop(ctx, args, End::Left, reply)
}

pub(super) fn brpop(
    ctx: &mut Ctx<'_>,
    args: ArgList<'_>,
    reply: &mut Reply<'_>,
) -> Result<(), Error> {
    pop(ctx, args, End::Right, reply)
}

fn pop(ctx: &mut Ctx<'_>, args: ArgList<'_>, end: End, reply: &mut Reply<'_>) -> Result<(), Error> {
    let (keys, timeout) = block::keys_and_timeout(args);
    block::timeout(timeout)?;
    let db = ctx.view.db();
    let scope: Vec<(u32, &[u8])> = keys.clone().map(|key| (db, key)).collect();
    let is_popped = ctx.view.locked(&Scope::Keys(&scope), |view| {
        for key in keys {
            let popped = view.update(key, |slot| {
                slot.edit_existing(popped(end), |list: &mut List| {
                    reply.array(2);
                    reply.bulk(key);
                    Edited::Changed(list.pop(end, |element| reply_string(reply, element)))
                })
            });
            if popped.map_err(wrong_type)?.is_some() {
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

pub(super) fn wait_to_lpop(ctx: &mut Ctx<'_>, args: ArgList<'_>, later: Later) {
    wait_to_pop(ctx, args, End::Left, later);
}

pub(super) fn wait_to_rpop(ctx: &mut Ctx<'_>, args: ArgList<'_>, later: Later) {
    wait_to_pop(ctx, args, End::Right, later);
}

fn wait_to_pop(ctx: &mut Ctx<'_>, args: ArgList<'_>, end: End, later: Later) {
    let (keys, timeout) = block::keys_and_timeout(args);
    let timeout = block::timeout(timeout).unwrap_or_default();
    let take = Pop { end, count: None };
    block::for_keys(ctx, keys, (timeout, NullArray), later, take);
}

pub(super) fn blmpop(
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
        let take = Pop {
            end: request.end,
            count: Some(request.count),
        };
        block::for_keys(ctx, request.keys(), (timeout, NullArray), later, take);
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
    elements: Vec<Element<'static>>,
    is_array: bool,
}

impl IntoReply for Popped {
    fn into_reply(self, reply: &mut Reply<'_>) {
        reply.array(2);
        reply.bulk(self.key);
        if self.is_array {
            reply.array(self.elements.len());
        }
        for element in &self.elements {
            reply_string(reply, element.as_ref());
        }
    }
}

impl Take for Pop {
    type Taken = Popped;

    fn look(&self, view: &mut View<'_>, key: &[u8]) -> Option<Result<Popped, Error>> {
        let elements = view.peek(key, |entry| {
            let list = list_if_any(entry).ok()??;
            let elements = list.iter(self.end).take(self.count.unwrap_or(1));
            Some(elements.map(Element::copied).collect())
        })?;
        Some(Ok(Popped {
            key: Bytes::copy_from_slice(key),
            elements,
            is_array: self.count.is_some(),
        }))
    }

    fn take(&self, view: &mut View<'_>, key: &[u8]) {
        let count = self.count.unwrap_or(1);
        let taken = view.update(key, |slot| {
            slot.edit_existing(popped(self.end), |list: &mut List| {
                list.cut(self.end, count);
                Edited::Changed(())
            })
        });
        debug_assert!(taken.is_ok_and(|taken| taken.is_some()));
    }
}
