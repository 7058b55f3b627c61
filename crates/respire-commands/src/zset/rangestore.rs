//! `ZRANGESTORE dst src min max [BYSCORE | BYLEX] [REV] [LIMIT offset count]`: stores the elements of a range.

use super::RANGE_STORED;
use super::combine::{self, Store};
use super::range::{Named, Query};
use crate::Ctx;
use respire_engine::{
    Arg, ArgKind, ArgList, Arity, Error, Flags, Group, KeyFlag, KeySpec, Reply, Spec,
};

pub(super) static ZRANGESTORE: Spec = Spec {
    name: "zrangestore",
    summary: "Store a range of members from sorted set into another key",
    since: "6.2.0",
    complexity: "O(log(N)+M) with N being the number of elements in the sorted set and M the number of elements stored into the destination key.",
    group: Group::SortedSet,
    arity: Arity::at_least(5),
    flags: Flags::WRITE.with(Flags::DENYOOM),
    keys: &[
        KeySpec::at(1).flags(&[KeyFlag::Ow, KeyFlag::Update]),
        KeySpec::at(2),
    ],
    args: &[
        Arg::key("dst", 0),
        Arg::key("src", 1),
        Arg::new("min", ArgKind::String),
        Arg::new("max", ArgKind::String),
        Arg::one_of(
            "sortby",
            &[Arg::word("byscore", "BYSCORE"), Arg::word("bylex", "BYLEX")],
        )
        .optional(),
        Arg::word("rev", "REV").optional(),
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
    examples: &[
        ("ZADD z 1 a 2 b 3 c", ":3\r\n"),
        ("ZRANGESTORE d z 1 2", ":2\r\n"),
        ("ZRANGE d 0 -1", "*2\r\n$1\r\nb\r\n$1\r\nc\r\n"),
        ("ZRANGESTORE d z 5 6", ":0\r\n"),
        ("EXISTS d", ":0\r\n"),
    ],
    ..Spec::EMPTY
};
pub(super) fn zrangestore(
    ctx: &mut Ctx<'_>,
    args: ArgList<'_>,
    reply: &mut Reply<'_>,
) -> Result<(), Error> {
    let query = Query::parse(args.skip(2), Named::Stored)?;
    let store = Store {
        destination: &args[0],
        sources: vec![&args[1]],
        event: RANGE_STORED,
    };
    let len = combine::store(ctx, store, &mut |sources, step| {
        let mut elements = Vec::new();
        if let Some(set) = sources[0].sorted_set()? {
            let ranks = query.ranks(set);
            set.for_range(
                ranks.start,
                ranks.len(),
                query.reverse(),
                &mut |(member, score)| {
                    step();
                    elements.push((member.to_bytes(), score));
                },
            );
        }
        Ok(elements)
    })?;
    reply.int(len as i64);
    Ok(())
}
