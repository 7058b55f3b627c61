//! `ZUNIONSTORE destination numkeys key [key ...] [WEIGHTS weight [weight ...]] [AGGREGATE SUM | MIN | MAX]`,
//! `ZINTERSTORE destination numkeys key [...]`, `ZDIFFSTORE destination numkeys key [key ...]`: store the union,
//! intersection or difference of sets, in one atomic step.

use super::combine::{self, Store};
use super::operation::{Operation, Request};
use super::{DIFFERENCE_STORED, INTERSECTION_STORED, UNION_STORED};
use crate::Ctx;
use respire_engine::{
    Arg, ArgKind, ArgList, Arity, Error, Flags, Group, KeyFlag, KeySpec, Reply, Spec,
};
use respire_store::EventName;

pub(super) static ZUNIONSTORE: Spec = Spec {
    name: "zunionstore",
    summary: "Add multiple sorted sets and store the resulting sorted set in a new key",
    since: "2.0.0",
    complexity: "O(N)+O(M log(M)) with N being the sum of the sizes of the input sorted sets, and M being the number of elements in the resulting sorted set.",
    group: Group::SortedSet,
    arity: Arity::at_least(4),
    flags: Flags::WRITE.with(Flags::DENYOOM).with(Flags::MOVABLE_KEYS),
    keys: &[
        KeySpec::at(1).flags(&[KeyFlag::Ow, KeyFlag::Update]),
        KeySpec::counted(2),
    ],
    args: &[
        Arg::key("destination", 0),
        Arg::new("numkeys", ArgKind::Integer),
        Arg::key("key", 1).multiple(),
        Arg::new("weight", ArgKind::Integer)
            .token("WEIGHTS")
            .optional()
            .multiple(),
        Arg::one_of(
            "aggregate",
            &[
                Arg::word("sum", "SUM"),
                Arg::word("min", "MIN"),
                Arg::word("max", "MAX"),
            ],
        )
        .token("AGGREGATE")
        .optional(),
    ],
    examples: &[
        ("ZADD a 1 x 2 y", ":2\r\n"),
        ("ZADD b 10 y 20 z", ":2\r\n"),
        ("ZUNIONSTORE d 2 a b AGGREGATE MIN", ":3\r\n"),
        ("ZSCORE d y", "$1\r\n2\r\n"),
    ],
    ..Spec::EMPTY
};
pub(super) static ZINTERSTORE: Spec = Spec {
    name: "zinterstore",
    summary: "Intersect multiple sorted sets and store the resulting sorted set in a new key",
    since: "2.0.0",
    complexity: "O(N*K)+O(M*log(M)) worst case with N being the smallest input sorted set, K being the number of input sorted sets and M being the number of elements in the resulting sorted set.",
    group: Group::SortedSet,
    arity: Arity::at_least(4),
    flags: Flags::WRITE.with(Flags::DENYOOM).with(Flags::MOVABLE_KEYS),
    keys: &[
        KeySpec::at(1).flags(&[KeyFlag::Ow, KeyFlag::Update]),
        KeySpec::counted(2),
    ],
    args: &[
        Arg::key("destination", 0),
        Arg::new("numkeys", ArgKind::Integer),
        Arg::key("key", 1).multiple(),
        Arg::new("weight", ArgKind::Integer)
            .token("WEIGHTS")
            .optional()
            .multiple(),
        Arg::one_of(
            "aggregate",
            &[
                Arg::word("sum", "SUM"),
                Arg::word("min", "MIN"),
                Arg::word("max", "MAX"),
            ],
        )
        .token("AGGREGATE")
        .optional(),
    ],
    examples: &[
        ("ZADD a 1 x 2 y", ":2\r\n"),
        ("ZADD b 10 y 20 z", ":2\r\n"),
        ("ZINTERSTORE d 2 a b WEIGHTS 1 -1", ":1\r\n"),
        ("ZSCORE d y", "$2\r\n-8\r\n"),
        (
            "ZINTERSTORE d 2 a b WEIGHTS 1 x",
            "-ERR weight value is not a float\r\n",
        ),
    ],
    ..Spec::EMPTY
};
pub(super) static ZDIFFSTORE: Spec = Spec {
    name: "zdiffstore",
    summary: "Subtract multiple sorted sets and store the resulting sorted set in a new key",
    since: "6.2.0",
    complexity: "O(L + (N-K)log(N)) worst case where L is the total number of elements in all the sets, N is the size of the first set, and K is the size of the result set.",
    group: Group::SortedSet,
    arity: Arity::at_least(4),
    flags: Flags::WRITE.with(Flags::DENYOOM).with(Flags::MOVABLE_KEYS),
    keys: &[
        KeySpec::at(1).flags(&[KeyFlag::Ow, KeyFlag::Update]),
        KeySpec::counted(2),
    ],
    args: &[
        Arg::key("destination", 0),
        Arg::new("numkeys", ArgKind::Integer),
        Arg::key("key", 1).multiple(),
    ],
    examples: &[
        ("ZADD a 1 x 2 y", ":2\r\n"),
        ("ZADD b 10 y 20 z", ":2\r\n"),
        ("ZDIFFSTORE a 2 a b", ":1\r\n"),
        ("ZRANGE a 0 -1", "*1\r\n$1\r\nx\r\n"),
        ("ZDIFFSTORE a 2 a a", ":0\r\n"),
        ("EXISTS a", ":0\r\n"),
    ],
    ..Spec::EMPTY
};
pub(super) fn zunionstore(
    ctx: &mut Ctx<'_>,
    args: ArgList<'_>,
    reply: &mut Reply<'_>,
) -> Result<(), Error> {
    let request = Request::parse(Operation::Union, "zunionstore", args.skip(1))?;
    run(ctx, &args[0], &request, UNION_STORED, reply)
}

pub(super) fn zinterstore(
    ctx: &mut Ctx<'_>,
    args: ArgList<'_>,
    reply: &mut Reply<'_>,
) -> Result<(), Error> {
    let request = Request::parse(Operation::Intersection, "zinterstore", args.skip(1))?;
    run(ctx, &args[0], &request, INTERSECTION_STORED, reply)
}

pub(super) fn zdiffstore(
    ctx: &mut Ctx<'_>,
    args: ArgList<'_>,
    reply: &mut Reply<'_>,
) -> Result<(), Error> {
    let request = Request::parse(Operation::Difference, "zdiffstore", args.skip(1))?;
    run(ctx, &args[0], &request, DIFFERENCE_STORED, reply)
}

fn run(
    ctx: &mut Ctx<'_>,
    destination: &[u8],
    request: &Request<'_>,
    event: EventName,
    reply: &mut Reply<'_>,
) -> Result<(), Error> {
    let store = Store {
        destination,
        sources: request.keys.clone(),
        event,
    };
    let len = combine::store(ctx, store, &mut |sources, step| {
        Ok(request.compute(sources, true, step)?.0)
    })?;
    reply.int(len as i64);
    Ok(())
}
