//! `BLMOVE source destination LEFT | RIGHT LEFT | RIGHT timeout`: `LMOVE` that waits until the source exists.
//! `BRPOPLPUSH source destination timeout` is `BLMOVE` with `RIGHT` and `LEFT`.
//!
//! `timeout` is in seconds; 0 waits for ever.

use super::element::Element;
use super::end;
use super::list_if_any;
use super::mv::{KEYS, look, move_element, move_within};
use crate::Ctx;
use crate::block::{self, NullArray, Take};
use crate::value::reply_string;
use respire_engine::{
    Arg, ArgKind, ArgList, Arity, Bytes, Error, Flags, Group, IntoReply, Later, Reply, Spec,
};
use respire_store::{End, View};

pub(super) static BLMOVE: Spec = Spec {
    name: "blmove",
    summary: "Pop an element from a list, push it to another list and return it; or block until one is available",
    since: "6.2.0",
    complexity: "O(1)",
    group: Group::List,
    arity: Arity::exactly(6),
    flags: FLAGS,
    keys: KEYS,
    args: &[
        Arg::key("source", 0),
        Arg::key("destination", 1),
        Arg::one_of(
            "wherefrom",
            &[Arg::word("left", "LEFT"), Arg::word("right", "RIGHT")],
        ),
        Arg::one_of(
            "whereto",
            &[Arg::word("left", "LEFT"), Arg::word("right", "RIGHT")],
        ),
        Arg::new("timeout", ArgKind::Double),
    ],
    examples: &[
        ("RPUSH a x y", ":2\r\n"),
        ("BLMOVE a b LEFT RIGHT 1", "$1\r\nx\r\n"),
        ("LRANGE b 0 -1", "*1\r\n$1\r\nx\r\n"),
    ],
    ..Spec::EMPTY
};

pub(super) static BRPOPLPUSH: Spec = Spec {
    name: "brpoplpush",
    summary: "Pop an element from a list, push it to another list and return it; or block until one is available",
    since: "2.2.0",
    complexity: "O(1)",
    group: Group::List,
    arity: Arity::exactly(4),
    flags: FLAGS,
    keys: KEYS,
    args: &[
        Arg::key("source", 0),
        Arg::key("destination", 1),
        Arg::new("timeout", ArgKind::Double),
    ],
    history: &[(
        "6.0.0",
        "`timeout` is interpreted as a double instead of an integer.",
    )],
    deprecated: Some(("6.2.0", "`BLMOVE` with the `RIGHT` and `LEFT` arguments")),
    examples: &[
        ("RPUSH a x y", ":2\r\n"),
        ("BRPOPLPUSH a b 1", "$1\r\ny\r\n"),
    ],
    ..Spec::EMPTY
};

const FLAGS: Flags = Flags::WRITE
    .with(Flags::DENYOOM)
    .with(Flags::NOSCRIPT)
    .with(Flags::BLOCKING);

pub(super) fn blmove(
    ctx: &mut Ctx<'_>,
    args: ArgList<'_>,
    reply: &mut Reply<'_>,
) -> Result<(), Error> {
    let ends = (end(&args[2])?, end(&args[3])?);
    block::timeout(&args[4])?;
    move_or_wait(ctx, args, ends, reply)
}

pub(super) fn brpoplpush(
    ctx: &mut Ctx<'_>,
    args: ArgList<'_>,
    reply: &mut Reply<'_>,
) -> Result<(), Error> {
    block::timeout(&args[2])?;
    move_or_wait(ctx, args, (End::Right, End::Left), reply)
}

fn move_or_wait(
    ctx: &mut Ctx<'_>,
    args: ArgList<'_>,
    ends: (End, End),
    reply: &mut Reply<'_>,
) -> Result<(), Error> {
    match move_element(ctx, &args[0], &args[1], ends)? {
        Some(element) => reply_string(reply, element.as_ref()),
        None if ctx.wait() => {}
        None => reply.null(),
    }
    Ok(())
}

pub(super) fn wait_to_move(ctx: &mut Ctx<'_>, args: ArgList<'_>, later: Later) {
    if let (Ok(from), Ok(to)) = (end(&args[2]), end(&args[3])) {
        wait(ctx, args, (from, to), &args[4], later);
    }
}

pub(super) fn wait_to_rpoplpush(ctx: &mut Ctx<'_>, args: ArgList<'_>, later: Later) {
    wait(ctx, args, (End::Right, End::Left), &args[2], later);
}

fn wait(ctx: &mut Ctx<'_>, args: ArgList<'_>, ends: (End, End), timeout: &[u8], later: Later) {
    let timeout = block::timeout(timeout).unwrap_or_default();
    let take = Move {
        to: Bytes::copy_from_slice(&args[1]),
        ends,
    };
    let from = std::iter::once(&args[0]);
    block::for_keys(ctx, from, (timeout, NullArray), later, take);
}

struct Move {
    to: Bytes,
    ends: (End, End),
}

/// The reply of a command that waited.
struct Moved(Element<'static>);

impl IntoReply for Moved {
    fn into_reply(self, reply: &mut Reply<'_>) {
        reply_string(reply, self.0.as_ref());
    }
}

impl Take for Move {
    type Taken = Moved;

    fn other_key(&self) -> Option<&[u8]> {
        Some(&self.to)
    }

    fn look(&self, view: &mut View<'_>, key: &[u8]) -> Option<Result<Moved, Error>> {
        let element = look(view, key, self.ends.0).ok()??;
        let destination = view.peek(&self.to, |entry| list_if_any(entry).map(|_| ()));
        Some(destination.map(|()| Moved(element)))
    }

    fn take(&self, view: &mut View<'_>, key: &[u8]) {
        let moved = move_within(view, key, &self.to, self.ends);
        debug_assert!(moved.is_ok_and(|moved| moved.is_some()));
    }
}
