//! `LPOP key [count]`, `RPOP key [count]`: remove and return the first or last elements.
//!
//! Without a count the reply is one element, or null; with one it is an array, in the order of removal.

use super::range::{Part, Snapshot};
use super::{list_if_any, popped};
use crate::Ctx;
use crate::errors::{NOT_POSITIVE, wrong_arity, wrong_type};
use crate::value::reply_string;
use resp_codec::number::parse_i64;
use respire_engine::{
    Arg, ArgKind, ArgList, Arity, Error, Flags, Group, KeyFlag, KeySpec, Reply, Spec,
};
use respire_store::{Edited, End, Kind, List, Slot, WrongType};

/// What both have in common.
const POP: Spec = Spec {
    since: "1.0.0",
    complexity: "O(N) where N is the number of elements returned",
    group: Group::List,
    arity: Arity::at_least(2),
    flags: Flags::WRITE.with(Flags::FAST),
    constant_args: 1,
    keys: &[KeySpec::at(1).flags(&[KeyFlag::Rw, KeyFlag::Access, KeyFlag::Delete])],
    args: &[
        Arg::key("key", 0),
        Arg::new("count", ArgKind::Integer)
            .since("6.2.0")
            .optional(),
    ],
    history: &[("6.2.0", "Added the `count` argument.")],
    ..Spec::EMPTY
};

pub(super) static LPOP: Spec = Spec {
    name: "lpop",
    summary: "Remove and get the first elements in a list",
    examples: &[
        ("RPUSH a x y z", ":3\r\n"),
        ("LPOP a", "$1\r\nx\r\n"),
        ("LPOP a 5", "*2\r\n$1\r\ny\r\n$1\r\nz\r\n"),
        ("LPOP a", "$-1\r\n"),
        ("LPOP a 5", "*-1\r\n"),
    ],
    ..POP
};

pub(super) static RPOP: Spec = Spec {
    name: "rpop",
    summary: "Remove and get the last elements in a list",
    examples: &[
        ("RPUSH a x y z", ":3\r\n"),
        ("RPOP a", "$1\r\nz\r\n"),
        ("RPOP a 5", "*2\r\n$1\r\ny\r\n$1\r\nx\r\n"),
        ("EXISTS a", ":0\r\n"),
    ],
    ..POP
};

pub(super) fn lpop(
    ctx: &mut Ctx<'_>,
    args: ArgList<'_>,
    reply: &mut Reply<'_>,
) -> Result<(), Error> {
    pop(ctx, args, End::Left, reply)
}

pub(super) fn rpop(
    ctx: &mut Ctx<'_>,
    args: ArgList<'_>,
    reply: &mut Reply<'_>,
) -> Result<(), Error> {
    pop(ctx, args, End::Right, reply)
}

fn pop(ctx: &mut Ctx<'_>, args: ArgList<'_>, end: End, reply: &mut Reply<'_>) -> Result<(), Error> {
    if args.len() > 2 {
        let spec = if end == End::Left { &LPOP } else { &RPOP };
        return Err(wrong_arity(spec.name));
    }
    let Some(count) = args.get(1) else {
        let is_popped = ctx.view.update(&args[0], |slot| {
            slot.edit_existing(popped(end), |list: &mut List| {
                Edited::Changed(list.pop(end, |element| reply_string(reply, element)))
            })
        });
        if is_popped.map_err(wrong_type)?.is_none() {
            reply.null();
        }
        return Ok(());
    };
    let count = parse_i64(count).and_then(|count| usize::try_from(count).ok());
    let count = count.ok_or(NOT_POSITIVE)?;
    let popped = ctx.view.update(&args[0], |slot| {
        let is_there = list_if_any(slot.get())?.is_some();
        if !is_there {
            reply.null_array();
        } else if count == 0 {
            reply.array(0);
        } else {
            return pop_many(slot, end, count, reply).map_err(wrong_type);
        }
        Ok::<_, Error>(None)
    })?;
    if let Some(snapshot) = popped {
        snapshot.reply(reply);
    }
    Ok(())
}

/// Removes up to `count` elements from an end of a list that exists, and replies with them; if that would take long,
/// writes nothing and returns a snapshot that has them.
pub(super) fn pop_many(
    slot: &mut Slot<'_>,
    end: End,
    count: usize,
    reply: &mut Reply<'_>,
) -> Result<Option<Snapshot>, WrongType> {
    let popped = slot.edit_existing(popped(end), |list: &mut List| {
        let part = Part {
            end,
            skipped: 0,
            count: count.min(list.len()),
        };
        let snapshot = part.reply(list.read(), reply);
        list.cut(end, part.count);
        Edited::Changed(snapshot)
    });
    popped.map(Option::flatten)
}
