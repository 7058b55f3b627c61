//! `ZREVRANGE key start stop [WITHSCORES]`, `ZRANGEBYSCORE key min max [WITHSCORES] [LIMIT offset count]`,
//! `ZREVRANGEBYSCORE key max min [...]`, `ZRANGEBYLEX key min max [LIMIT offset count]`, `ZREVRANGEBYLEX key max min
//! [...]`: the older forms of `ZRANGE`.

use super::bounds::By;
use super::range::{Named, run};
use crate::Ctx;
use respire_engine::{Arg, ArgKind, ArgList, Arity, Error, Flags, Group, KeySpec, Reply, Spec};

pub(super) static ZREVRANGE: Spec = Spec {
    name: "zrevrange",
    summary: "Return a range of members in a sorted set, by index, with scores ordered from high to low",
    since: "1.2.0",
    complexity: "O(log(N)+M) with N being the number of elements in the sorted set and M the number of elements returned.",
    group: Group::SortedSet,
    arity: Arity::at_least(4),
    flags: Flags::READONLY,
    keys: &[KeySpec::at(1)],
    args: &[
        Arg::key("key", 0),
        Arg::new("start", ArgKind::Integer),
        Arg::new("stop", ArgKind::Integer),
        Arg::word("withscores", "WITHSCORES").optional(),
    ],
    deprecated: Some(("6.2.0", "`ZRANGE` with the `REV` argument")),
    examples: &[
        ("ZADD z 1 a 2 b 3 c", ":3\r\n"),
        (
            "ZREVRANGE z 0 1 WITHSCORES",
            "*4\r\n$1\r\nc\r\n$1\r\n3\r\n$1\r\nb\r\n$1\r\n2\r\n",
        ),
    ],
    ..Spec::EMPTY
};
pub(super) static ZRANGEBYSCORE: Spec = Spec {
    name: "zrangebyscore",
    summary: "Return a range of members in a sorted set, by score",
    since: "1.0.5",
    complexity: "O(log(N)+M) with N being the number of elements in the sorted set and M the number of elements being returned. If M is constant (e.g. always asking for the first 10 elements with LIMIT), you can consider it O(log(N)).",
    group: Group::SortedSet,
    arity: Arity::at_least(4),
    flags: Flags::READONLY,
    keys: &[KeySpec::at(1)],
    args: &[
        Arg::key("key", 0),
        Arg::new("min", ArgKind::Double),
        Arg::new("max", ArgKind::Double),
        Arg::word("withscores", "WITHSCORES")
            .since("2.0.0")
            .optional(),
        Arg::block(
            "offset_count",
            &[
                Arg::new("offset", ArgKind::Integer),
                Arg::new("count", ArgKind::Integer),
            ],
        )
        .token("LIMIT")
        .optional(),
    ],
    history: &[("2.0.0", "Added the `WITHSCORES` modifier.")],
    deprecated: Some(("6.2.0", "`ZRANGE` with the `BYSCORE` argument")),
    examples: &[
        ("ZADD z 1 a 2 b 3 c", ":3\r\n"),
        ("ZRANGEBYSCORE z (1 3 LIMIT 1 1", "*1\r\n$1\r\nc\r\n"),
        ("ZRANGEBYSCORE z a b", "-ERR min or max is not a float\r\n"),
    ],
    ..Spec::EMPTY
};
pub(super) static ZREVRANGEBYSCORE: Spec = Spec {
    name: "zrevrangebyscore",
    summary: "Return a range of members in a sorted set, by score, with scores ordered from high to low",
    since: "2.2.0",
    complexity: "O(log(N)+M) with N being the number of elements in the sorted set and M the number of elements being returned. If M is constant (e.g. always asking for the first 10 elements with LIMIT), you can consider it O(log(N)).",
    group: Group::SortedSet,
    arity: Arity::at_least(4),
    flags: Flags::READONLY,
    keys: &[KeySpec::at(1)],
    args: &[
        Arg::key("key", 0),
        Arg::new("max", ArgKind::Double),
        Arg::new("min", ArgKind::Double),
        Arg::word("withscores", "WITHSCORES").optional(),
        Arg::block(
            "offset_count",
            &[
                Arg::new("offset", ArgKind::Integer),
                Arg::new("count", ArgKind::Integer),
            ],
        )
        .token("LIMIT")
        .optional(),
    ],
    history: &[("2.1.6", "`min` and `max` can be exclusive.")],
    deprecated: Some(("6.2.0", "`ZRANGE` with the `REV` and `BYSCORE` arguments")),
    examples: &[
        ("ZADD z 1 a 2 b 3 c", ":3\r\n"),
        ("ZREVRANGEBYSCORE z 3 (1", "*2\r\n$1\r\nc\r\n$1\r\nb\r\n"),
    ],
    ..Spec::EMPTY
};
pub(super) static ZRANGEBYLEX: Spec = Spec {
    name: "zrangebylex",
    summary: "Return a range of members in a sorted set, by lexicographical range",
    since: "2.8.9",
    complexity: "O(log(N)+M) with N being the number of elements in the sorted set and M the number of elements being returned. If M is constant (e.g. always asking for the first 10 elements with LIMIT), you can consider it O(log(N)).",
    group: Group::SortedSet,
    arity: Arity::at_least(4),
    flags: Flags::READONLY,
    keys: &[KeySpec::at(1)],
    args: &[
        Arg::key("key", 0),
        Arg::new("min", ArgKind::String),
        Arg::new("max", ArgKind::String),
        Arg::block(
            "offset_count",
            &[
                Arg::new("offset", ArgKind::Integer),
                Arg::new("count", ArgKind::Integer),
            ],
        )
        .token("LIMIT")
        .optional(),
    ],
    deprecated: Some(("6.2.0", "`ZRANGE` with the `BYLEX` argument")),
    examples: &[
        ("ZADD z 0 a 0 b 0 c", ":3\r\n"),
        ("ZRANGEBYLEX z (a [c", "*2\r\n$1\r\nb\r\n$1\r\nc\r\n"),
        (
            "ZRANGEBYLEX z a b",
            "-ERR min or max not valid string range item\r\n",
        ),
    ],
    ..Spec::EMPTY
};
pub(super) static ZREVRANGEBYLEX: Spec = Spec {
    name: "zrevrangebylex",
    summary: "Return a range of members in a sorted set, by lexicographical range, ordered from higher to lower strings.",
    since: "2.8.9",
    complexity: "O(log(N)+M) with N being the number of elements in the sorted set and M the number of elements being returned. If M is constant (e.g. always asking for the first 10 elements with LIMIT), you can consider it O(log(N)).",
    group: Group::SortedSet,
    arity: Arity::at_least(4),
    flags: Flags::READONLY,
    keys: &[KeySpec::at(1)],
    args: &[
        Arg::key("key", 0),
        Arg::new("max", ArgKind::String),
        Arg::new("min", ArgKind::String),
        Arg::block(
            "offset_count",
            &[
                Arg::new("offset", ArgKind::Integer),
                Arg::new("count", ArgKind::Integer),
            ],
        )
        .token("LIMIT")
        .optional(),
    ],
    deprecated: Some(("6.2.0", "`ZRANGE` with the `REV` and `BYLEX` arguments")),
    examples: &[
        ("ZADD z 0 a 0 b 0 c", ":3\r\n"),
        ("ZREVRANGEBYLEX z + (a LIMIT 0 1", "*1\r\n$1\r\nc\r\n"),
    ],
    ..Spec::EMPTY
};
pub(super) fn zrevrange(
    ctx: &mut Ctx<'_>,
    args: ArgList<'_>,
    reply: &mut Reply<'_>,
) -> Result<(), Error> {
    run(
        ctx,
        args,
        Named::Only {
            by: By::Rank,
            reverse: true,
        },
        reply,
    )
}

pub(super) fn zrangebyscore(
    ctx: &mut Ctx<'_>,
    args: ArgList<'_>,
    reply: &mut Reply<'_>,
) -> Result<(), Error> {
    run(
        ctx,
        args,
        Named::Only {
            by: By::Score,
            reverse: false,
        },
        reply,
    )
}

pub(super) fn zrevrangebyscore(
    ctx: &mut Ctx<'_>,
    args: ArgList<'_>,
    reply: &mut Reply<'_>,
) -> Result<(), Error> {
    run(
        ctx,
        args,
        Named::Only {
            by: By::Score,
            reverse: true,
        },
        reply,
    )
}

pub(super) fn zrangebylex(
    ctx: &mut Ctx<'_>,
    args: ArgList<'_>,
    reply: &mut Reply<'_>,
) -> Result<(), Error> {
    run(
        ctx,
        args,
        Named::Only {
            by: By::Lex,
            reverse: false,
        },
        reply,
    )
}

pub(super) fn zrevrangebylex(
    ctx: &mut Ctx<'_>,
    args: ArgList<'_>,
    reply: &mut Reply<'_>,
) -> Result<(), Error> {
    run(
        ctx,
        args,
        Named::Only {
            by: By::Lex,
            reverse: true,
        },
        reply,
    )
}
