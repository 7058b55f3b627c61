//! `ZREMRANGEBYRANK key start stop`, `ZREMRANGEBYSCORE key min max`, `ZREMRANGEBYLEX key min max`: remove the elements of
//! a range.

use super::bounds::{Bounds, By};
use super::{LEX_RANGE_REMOVED, RANK_RANGE_REMOVED, SCORE_RANGE_REMOVED};
use crate::Ctx;
use crate::errors::wrong_type;
use respire_engine::{
    Arg, ArgKind, ArgList, Arity, Error, Flags, Group, KeyFlag, KeySpec, Reply, Spec,
};
use respire_store::{Edited, Kind, ZSet};

pub(super) static ZREMRANGEBYRANK: Spec = Spec {
    name: "zremrangebyrank",
    summary: "Remove all members in a sorted set within the given indexes",
    since: "2.0.0",
    complexity: "O(log(N)+M) with N being the number of elements in the sorted set and M the number of elements removed by the operation.",
    group: Group::SortedSet,
    arity: Arity::exactly(4),
    flags: Flags::WRITE,
    keys: &[KeySpec::at(1).flags(&[KeyFlag::Rw, KeyFlag::Delete])],
    args: &[
        Arg::key("key", 0),
        Arg::new("start", ArgKind::Integer),
        Arg::new("stop", ArgKind::Integer),
    ],
    examples: &[
        ("ZADD z 1 a 2 b 3 c", ":3\r\n"),
        ("ZREMRANGEBYRANK z 0 -2", ":2\r\n"),
        ("ZRANGE z 0 -1", "*1\r\n$1\r\nc\r\n"),
    ],
    ..Spec::EMPTY
};
pub(super) static ZREMRANGEBYSCORE: Spec = Spec {
    name: "zremrangebyscore",
    summary: "Remove all members in a sorted set within the given scores",
    since: "1.2.0",
    complexity: "O(log(N)+M) with N being the number of elements in the sorted set and M the number of elements removed by the operation.",
    group: Group::SortedSet,
    arity: Arity::exactly(4),
    flags: Flags::WRITE,
    keys: &[KeySpec::at(1).flags(&[KeyFlag::Rw, KeyFlag::Delete])],
    args: &[
        Arg::key("key", 0),
        Arg::new("min", ArgKind::Double),
        Arg::new("max", ArgKind::Double),
    ],
    examples: &[
        ("ZADD z 1 a 2 b 3 c", ":3\r\n"),
        ("ZREMRANGEBYSCORE z -inf (3", ":2\r\n"),
        ("ZREMRANGEBYSCORE z 0 9", ":1\r\n"),
        ("EXISTS z", ":0\r\n"),
    ],
    ..Spec::EMPTY
};
pub(super) static ZREMRANGEBYLEX: Spec = Spec {
    name: "zremrangebylex",
    summary: "Remove all members in a sorted set between the given lexicographical range",
    since: "2.8.9",
    complexity: "O(log(N)+M) with N being the number of elements in the sorted set and M the number of elements removed by the operation.",
    group: Group::SortedSet,
    arity: Arity::exactly(4),
    flags: Flags::WRITE,
    keys: &[KeySpec::at(1).flags(&[KeyFlag::Rw, KeyFlag::Delete])],
    args: &[
        Arg::key("key", 0),
        Arg::new("min", ArgKind::String),
        Arg::new("max", ArgKind::String),
    ],
    examples: &[
        ("ZADD z 0 a 0 b 0 c", ":3\r\n"),
        ("ZREMRANGEBYLEX z - (c", ":2\r\n"),
        (
            "ZREMRANGEBYLEX z a c",
            "-ERR min or max not valid string range item\r\n",
        ),
    ],
    ..Spec::EMPTY
};
pub(super) fn zremrangebyrank(
    ctx: &mut Ctx<'_>,
    args: ArgList<'_>,
    reply: &mut Reply<'_>,
) -> Result<(), Error> {
    remove(ctx, args, By::Rank, reply)
}

pub(super) fn zremrangebyscore(
    ctx: &mut Ctx<'_>,
    args: ArgList<'_>,
    reply: &mut Reply<'_>,
) -> Result<(), Error> {
    remove(ctx, args, By::Score, reply)
}

pub(super) fn zremrangebylex(
    ctx: &mut Ctx<'_>,
    args: ArgList<'_>,
    reply: &mut Reply<'_>,
) -> Result<(), Error> {
    remove(ctx, args, By::Lex, reply)
}

fn remove(
    ctx: &mut Ctx<'_>,
    args: ArgList<'_>,
    by: By,
    reply: &mut Reply<'_>,
) -> Result<(), Error> {
    let bounds = Bounds::parse(by, &args[1], &args[2])?;
    let event = match by {
        By::Rank => RANK_RANGE_REMOVED,
        By::Score => SCORE_RANGE_REMOVED,
        By::Lex => LEX_RANGE_REMOVED,
    };
    let removed = ctx.view.update(&args[0], |slot| {
        slot.edit_existing(event, |set: &mut ZSet| {
            let ranks = bounds.ranks(set.read(), false);
            if ranks.is_empty() {
                return Edited::Unchanged(0);
            }
            set.remove_range(ranks.start, ranks.len(), &mut |_| {});
            Edited::Changed(ranks.len())
        })
    });
    reply.int(removed.map_err(wrong_type)?.unwrap_or(0) as i64);
    Ok(())
}
