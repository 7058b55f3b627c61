//! `ZPOPMIN key [count]`, `ZPOPMAX key [count]`: remove the elements with the lowest or the highest scores.

use super::reply::{self as write, Form};
use super::{MAX_POPPED, MIN_POPPED, set_of};
use crate::Ctx;
use crate::errors::{NOT_POSITIVE, SYNTAX, wrong_type};
use crate::options::integer;
use respire_engine::{
    Arg, ArgKind, ArgList, Arity, Error, Flags, Group, KeyFlag, KeySpec, Reply, Spec,
};
use respire_store::{Edited, Elements, Kind, Slot, ZSet};

pub(super) static ZPOPMIN: Spec = Spec {
    name: "zpopmin",
    summary: "Remove and return members with the lowest scores in a sorted set",
    since: "5.0.0",
    complexity: "O(log(N)*M) with N being the number of elements in the sorted set, and M being the number of elements popped.",
    group: Group::SortedSet,
    arity: Arity::at_least(2),
    flags: Flags::WRITE.with(Flags::FAST),
    constant_args: 1,
    keys: &[KeySpec::at(1).flags(&[KeyFlag::Rw, KeyFlag::Access, KeyFlag::Delete])],
    args: &[
        Arg::key("key", 0),
        Arg::new("count", ArgKind::Integer).optional(),
    ],
    examples: &[
        ("ZADD z 1 a 2 b 3 c", ":3\r\n"),
        ("ZPOPMIN z", "*2\r\n$1\r\na\r\n$1\r\n1\r\n"),
        ("ZPOPMIN z 0", "*0\r\n"),
        (
            "ZPOPMIN z 9",
            "*4\r\n$1\r\nb\r\n$1\r\n2\r\n$1\r\nc\r\n$1\r\n3\r\n",
        ),
        ("ZPOPMIN z", "*0\r\n"),
        (
            "ZPOPMIN z -1",
            "-ERR value is out of range, must be positive\r\n",
        ),
    ],
    ..Spec::EMPTY
};
pub(super) static ZPOPMAX: Spec = Spec {
    name: "zpopmax",
    summary: "Remove and return members with the highest scores in a sorted set",
    since: "5.0.0",
    complexity: "O(log(N)*M) with N being the number of elements in the sorted set, and M being the number of elements popped.",
    group: Group::SortedSet,
    arity: Arity::at_least(2),
    flags: Flags::WRITE.with(Flags::FAST),
    constant_args: 1,
    keys: &[KeySpec::at(1).flags(&[KeyFlag::Rw, KeyFlag::Access, KeyFlag::Delete])],
    args: &[
        Arg::key("key", 0),
        Arg::new("count", ArgKind::Integer).optional(),
    ],
    examples: &[
        ("ZADD z 1 a 2 b 3 c", ":3\r\n"),
        (
            "ZPOPMAX z 2",
            "*4\r\n$1\r\nc\r\n$1\r\n3\r\n$1\r\nb\r\n$1\r\n2\r\n",
        ),
    ],
    ..Spec::EMPTY
};
/// The end of a set from which elements are removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    Min,
    Max,
}

pub(super) fn zpopmin(
    ctx: &mut Ctx<'_>,
    args: ArgList<'_>,
    reply: &mut Reply<'_>,
) -> Result<(), Error> {
    pop(ctx, args, End::Min, reply)
}

pub(super) fn zpopmax(
    ctx: &mut Ctx<'_>,
    args: ArgList<'_>,
    reply: &mut Reply<'_>,
) -> Result<(), Error> {
    pop(ctx, args, End::Max, reply)
}

fn pop(ctx: &mut Ctx<'_>, args: ArgList<'_>, end: End, reply: &mut Reply<'_>) -> Result<(), Error> {
    if args.len() > 2 {
        return Err(SYNTAX);
    }
    let count = match args.get(1) {
        Some(text) => {
            let count = integer(text)
                .ok()
                .and_then(|count| usize::try_from(count).ok());
            Some(count.ok_or(NOT_POSITIVE)?)
        }
        None => None,
    };
    ctx.view.update(&args[0], |slot| {
        let set = set_of(slot.get())?;
        let len = set.map_or(0, Elements::len).min(count.unwrap_or(1));
        // One element without a count is no array of pairs.
        match count {
            None => reply.array(2 * len),
            Some(_) => Form::WithScores.begin(reply, len),
        }
        take(slot, end, len, &mut |element| match count {
            None => {
                write::member(reply, element.0);
                write::score(reply, element.1);
            }
            Some(_) => Form::WithScores.element(reply, element),
        })
    })
}

/// Removes this many elements of a key, and calls `f` with each, from the end on.
pub(super) fn take(
    slot: &mut Slot<'_>,
    end: End,
    count: usize,
    f: &mut dyn FnMut(respire_store::Scored<'_>),
) -> Result<(), Error> {
    if count == 0 {
        return Ok(());
    }
    let event = if end == End::Min {
        MIN_POPPED
    } else {
        MAX_POPPED
    };
    let taken = slot.edit_existing(event, |set: &mut ZSet| {
        if end == End::Min {
            set.remove_range(0, count, f);
        } else {
            set.read().for_range(0, count, true, f);
            set.remove_range(set.read().len() - count, count, &mut |_| {});
        }
        Edited::Changed(())
    });
    taken.map_err(wrong_type)?;
    Ok(())
}
