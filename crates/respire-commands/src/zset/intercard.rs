//! `ZINTERCARD numkeys key [key ...] [LIMIT limit]`: the number of members that all sets have, counted up to a limit.

use super::combine::{Members, Source, read_all};
use super::operation::{Operation, Request, each_common};
use crate::Ctx;
use crate::errors::{LIMIT_NEGATIVE, SYNTAX};
use crate::options::{integer, is_word};
use crate::work::work_begins;
use respire_engine::{
    Arg, ArgKind, ArgList, Arity, Error, Flags, Group, KeySpec, LongWork, Reply, Spec,
};
use respire_store::packed::listpack::Element;

pub(super) static ZINTERCARD: Spec = Spec {
    name: "zintercard",
    summary: "Intersect multiple sorted sets and return the cardinality of the result",
    since: "7.0.0",
    complexity: "O(N*K) worst case with N being the smallest input sorted set, K being the number of input sorted sets.",
    group: Group::SortedSet,
    arity: Arity::at_least(3),
    flags: Flags::READONLY.with(Flags::MOVABLE_KEYS),
    keys: &[KeySpec::counted(1)],
    args: &[
        Arg::new("numkeys", ArgKind::Integer),
        Arg::key("key", 0).multiple(),
        Arg::new("limit", ArgKind::Integer)
            .token("LIMIT")
            .optional(),
    ],
    examples: &[
        ("ZADD a 1 x 2 y 3 z", ":3\r\n"),
        ("ZADD b 10 y 20 z", ":2\r\n"),
        ("ZINTERCARD 2 a b", ":2\r\n"),
        ("ZINTERCARD 2 a b LIMIT 1", ":1\r\n"),
        (
            "ZINTERCARD 2 a b LIMIT -1",
            "-ERR LIMIT can't be negative\r\n",
        ),
    ],
    ..Spec::EMPTY
};
pub(super) fn zintercard(
    ctx: &mut Ctx<'_>,
    args: ArgList<'_>,
    reply: &mut Reply<'_>,
) -> Result<(), Error> {
    let request = Request::parse(Operation::Intersection, "zintercard", args)?;
    let sources = read_all(ctx, &request.keys)?;
    let members = sources
        .iter()
        .map(Source::members)
        .collect::<Result<Vec<Members<'_>>, Error>>()?;
    let limit = limit(&request)?;
    work_begins();
    let mut sets: Vec<(Members<'_>, f64)> =
        members.into_iter().map(|members| (members, 1.0)).collect();
    sets.sort_by_key(|(members, _)| members.len());
    let mut work = ctx.long_work();
    let mut step = || work.iter_mut().for_each(LongWork::step);
    let mut count = 0;
    let mut add = |_: Element<'_>, _: &[f64]| {
        count += 1;
        count != limit
    };
    each_common(&sets, &mut add, &mut step);
    reply.int(count as i64);
    Ok(())
}

/// The number of members at which counting ends; 0 is none.
fn limit(request: &Request<'_>) -> Result<u64, Error> {
    let (mut options, mut limit) = (request.options(), 0);
    while let Some(word) = options.next() {
        if options.len() == 0 || !is_word(word, "LIMIT") {
            return Err(SYNTAX);
        }
        let given = integer(options.value()?).ok();
        limit = given
            .and_then(|given| u64::try_from(given).ok())
            .ok_or(LIMIT_NEGATIVE)?;
    }
    Ok(limit)
}
