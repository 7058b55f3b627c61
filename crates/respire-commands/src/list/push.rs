//! `LPUSH key element [element ...]`, `RPUSH key element [element ...]`: add elements before the first or after the
//! last one; `LPUSHX`, `RPUSHX`: only if the list exists. All reply with the length.

use super::element::Element;
use super::pushed;
use crate::Ctx;
use crate::errors::wrong_type;
use crate::options::FEW_ARGS;
use respire_engine::{
    Arg, ArgKind, ArgList, Arity, Client, Error, Flags, Group, KeyFlag, KeySpec, Reply, Spec,
};
use respire_store::{Edited, End, Limits, List, SHARED_BYTES_MIN, StringRef};

const COMPLEXITY: &str = "O(1) for each element added, so O(N) to add N elements when the command is called with multiple arguments.";

/// What all four have in common.
const PUSH: Spec = Spec {
    complexity: COMPLEXITY,
    group: Group::List,
    arity: Arity::at_least(3),
    flags: Flags::WRITE.with(Flags::DENYOOM).with(Flags::FAST),
    constant_args: FEW_ARGS,
    keys: &[KeySpec::at(1).flags(&[KeyFlag::Rw, KeyFlag::Insert])],
    args: &[
        Arg::key("key", 0),
        Arg::new("element", ArgKind::String).multiple(),
    ],
    history: &[("2.4.0", "Accepts multiple `element` arguments.")],
    ..Spec::EMPTY
};

pub(super) static LPUSH: Spec = Spec {
    name: "lpush",
    summary: "Prepend one or multiple elements to a list",
    since: "1.0.0",
    examples: &[
        ("LPUSH a x", ":1\r\n"),
        ("LPUSH a y z", ":3\r\n"),
        ("LRANGE a 0 -1", "*3\r\n$1\r\nz\r\n$1\r\ny\r\n$1\r\nx\r\n"),
    ],
    ..PUSH
};

pub(super) static RPUSH: Spec = Spec {
    name: "rpush",
    summary: "Append one or multiple elements to a list",
    since: "1.0.0",
    examples: &[
        ("RPUSH a x", ":1\r\n"),
        ("RPUSH a y z", ":3\r\n"),
        ("LRANGE a 0 -1", "*3\r\n$1\r\nx\r\n$1\r\ny\r\n$1\r\nz\r\n"),
        ("SET b 1", "+OK\r\n"),
        (
            "RPUSH b x",
            "-WRONGTYPE Operation against a key holding the wrong kind of value\r\n",
        ),
    ],
    ..PUSH
};

pub(super) static LPUSHX: Spec = Spec {
    name: "lpushx",
    summary: "Prepend an element to a list, only if the list exists",
    since: "2.2.0",
    history: &[("4.0.0", "Accepts multiple `element` arguments.")],
    examples: &[
        ("LPUSHX a x", ":0\r\n"),
        ("LPUSH a x", ":1\r\n"),
        ("LPUSHX a y", ":2\r\n"),
    ],
    ..PUSH
};

pub(super) static RPUSHX: Spec = Spec {
    name: "rpushx",
    summary: "Append an element to a list, only if the list exists",
    since: "2.2.0",
    history: &[("4.0.0", "Accepts multiple `element` arguments.")],
    examples: &[
        ("RPUSHX a x", ":0\r\n"),
        ("RPUSH a x", ":1\r\n"),
        ("RPUSHX a y z", ":3\r\n"),
    ],
    ..PUSH
};

pub(super) fn lpush(
    ctx: &mut Ctx<'_>,
    args: ArgList<'_>,
    reply: &mut Reply<'_>,
) -> Result<(), Error> {
    push(ctx, args, End::Left, reply)
}

pub(super) fn rpush(
    ctx: &mut Ctx<'_>,
    args: ArgList<'_>,
    reply: &mut Reply<'_>,
) -> Result<(), Error> {
    push(ctx, args, End::Right, reply)
}

pub(super) fn lpushx(
    ctx: &mut Ctx<'_>,
    args: ArgList<'_>,
    reply: &mut Reply<'_>,
) -> Result<(), Error> {
    push_existing(ctx, args, End::Left, reply)
}

pub(super) fn rpushx(
    ctx: &mut Ctx<'_>,
    args: ArgList<'_>,
    reply: &mut Reply<'_>,
) -> Result<(), Error> {
    push_existing(ctx, args, End::Right, reply)
}

fn push(
    ctx: &mut Ctx<'_>,
    args: ArgList<'_>,
    end: End,
    reply: &mut Reply<'_>,
) -> Result<(), Error> {
    let client = ctx.client;
    let len = ctx.view.update(&args[0], |slot| {
        let limits = slot.limits::<List>();
        slot.edit(pushed(end), |list: &mut List| {
            extend(list, end, args.skip(1), limits, client)
        })
    });
    reply.int(len.map_err(wrong_type)? as i64);
    Ok(())
}

fn push_existing(
    ctx: &mut Ctx<'_>,
    args: ArgList<'_>,
    end: End,
    reply: &mut Reply<'_>,
) -> Result<(), Error> {
    let client = ctx.client;
    let len = ctx.view.update(&args[0], |slot| {
        let limits = slot.limits::<List>();
        slot.edit_existing(pushed(end), |list: &mut List| {
            extend(list, end, args.skip(1), limits, client)
        })
    });
    reply.int(len.map_err(wrong_type)?.unwrap_or(0) as i64);
    Ok(())
}

/// Adds the elements, and returns the length. Large ones are not copied if possible.
fn extend(
    list: &mut List,
    end: End,
    elements: ArgList<'_>,
    limits: Limits,
    client: &Client,
) -> Edited<usize> {
    if elements
        .iter()
        .all(|element| element.len() < SHARED_BYTES_MIN)
    {
        list.extend(end, elements.iter().map(StringRef::Bytes), limits);
    } else {
        for element in elements.iter() {
            let element = Element::of_argument(client, element);
            list.push(end, element.as_ref(), limits);
        }
    }
    Edited::Changed(list.len())
}
