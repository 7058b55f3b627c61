//! `ZCOUNT key min max`, `ZLEXCOUNT key min max`: the number of elements between two scores, or two members.

use super::bounds::{Bounds, By};
use super::set_of;
use crate::Ctx;
use respire_engine::{Arg, ArgKind, ArgList, Arity, Error, Flags, Group, KeySpec, Reply, Spec};

pub(super) static ZCOUNT: Spec = Spec {
    name: "zcount",
    summary: "Count the members in a sorted set with scores within the given values",
    since: "2.0.0",
    complexity: "O(log(N)) with N being the number of elements in the sorted set.",
    group: Group::SortedSet,
    arity: Arity::exactly(4),
    flags: Flags::READONLY.with(Flags::FAST),
    keys: &[KeySpec::at(1)],
    args: &[
        Arg::key("key", 0),
        Arg::new("min", ArgKind::Double),
        Arg::new("max", ArgKind::Double),
    ],
    examples: &[
        ("ZADD z 1 a 2 b 3 c", ":3\r\n"),
        ("ZCOUNT z (1 +inf", ":2\r\n"),
        ("ZCOUNT z x 1", "-ERR min or max is not a float\r\n"),
    ],
    ..Spec::EMPTY
};
pub(super) static ZLEXCOUNT: Spec = Spec {
    name: "zlexcount",
    summary: "Count the number of members in a sorted set between a given lexicographical range",
    since: "2.8.9",
    complexity: "O(log(N)) with N being the number of elements in the sorted set.",
    group: Group::SortedSet,
    arity: Arity::exactly(4),
    flags: Flags::READONLY.with(Flags::FAST),
    keys: &[KeySpec::at(1)],
    args: &[
        Arg::key("key", 0),
        Arg::new("min", ArgKind::String),
        Arg::new("max", ArgKind::String),
    ],
    examples: &[
        ("ZADD z 0 a 0 b 0 c", ":3\r\n"),
        ("ZLEXCOUNT z [b +", ":2\r\n"),
        (
            "ZLEXCOUNT z b +",
            "-ERR min or max not valid string range item\r\n",
        ),
    ],
    ..Spec::EMPTY
};
pub(super) fn zcount(
    ctx: &mut Ctx<'_>,
    args: ArgList<'_>,
    reply: &mut Reply<'_>,
) -> Result<(), Error> {
    count(ctx, args, By::Score, reply)
}

pub(super) fn zlexcount(
    ctx: &mut Ctx<'_>,
    args: ArgList<'_>,
    reply: &mut Reply<'_>,
) -> Result<(), Error> {
    count(ctx, args, By::Lex, reply)
}

fn count(ctx: &mut Ctx<'_>, args: ArgList<'_>, by: By, reply: &mut Reply<'_>) -> Result<(), Error> {
    let bounds = Bounds::parse(by, &args[1], &args[2])?;
    let len = ctx.read(&args[0], |entry| {
        Ok(set_of(entry)?.map_or(0, |set| bounds.ranks(set, false).len()))
    })?;
    reply.int(len as i64);
    Ok(())
}
