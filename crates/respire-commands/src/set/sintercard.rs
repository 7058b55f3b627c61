//! `SINTERCARD numkeys key [key ...] [LIMIT limit]`: counts the members that all of several sets
//! have, up to a limit.

use super::combine::intersect;
use super::read::Snapshot;
use super::store::read_sets;
use crate::Ctx;
use crate::errors::{LIMIT_NEGATIVE, NUMKEYS_ARGS, NUMKEYS_ZERO, SYNTAX};
use crate::options::is_word;
use crate::work::work_begins;
use resp_codec::number::parse_i64;
use respire_engine::{
    Arg, ArgKind, ArgList, Arity, Error, Flags, Group, KeySpec, LongWork, Reply, Spec,
};
use respire_store::SetRef;

pub(super) static SINTERCARD: Spec = Spec {
    name: "sintercard",
    summary: "Intersect multiple sets and return the cardinality of the result",
    since: "7.0.0",
    complexity: "O(N*M) worst case where N is the cardinality of the smallest set and M is the number of sets.",
    group: Group::Set,
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
        ("SADD a 1 2 3", ":3\r\n"),
        ("SADD b 2 3 4", ":3\r\n"),
        ("SINTERCARD 2 a b", ":2\r\n"),
        ("SINTERCARD 2 a b LIMIT 1", ":1\r\n"),
        ("SINTERCARD 2 a none", ":0\r\n"),
        (
            "SINTERCARD 0 a",
            "-ERR numkeys should be greater than 0\r\n",
        ),
    ],
    ..Spec::EMPTY
};

pub(super) fn sintercard(
    ctx: &mut Ctx<'_>,
    args: ArgList<'_>,
    reply: &mut Reply<'_>,
) -> Result<(), Error> {
    let count = parse_i64(&args[0]).filter(|count| *count > 0);
    let count = usize::try_from(count.ok_or(NUMKEYS_ZERO)?).map_err(|_| NUMKEYS_ARGS)?;
    if count > args.len() - 1 {
        return Err(NUMKEYS_ARGS);
    }
    let limit = parse_limit(args.skip(1 + count))?;
    let sets = read_sets(ctx, args.skip(1).iter().take(count))?;
    work_begins();
    let existing: Option<Vec<SetRef<'_>>> = sets
        .iter()
        .map(|set| set.as_ref().map(Snapshot::set))
        .collect();
    let mut found = 0;
    if let Some(sets) = existing {
        let mut work = ctx.long_work();
        let mut step = || work.iter_mut().for_each(LongWork::step);
        intersect(sets, &mut step, |_| {
            found += 1;
            found != limit
        });
    }
    reply.int(found);
    Ok(())
}

/// The limit; 0 is none.
fn parse_limit(mut options: ArgList<'_>) -> Result<i64, Error> {
    let mut limit = 0;
    while let Some(word) = options.get(0) {
        let value = options.get(1).filter(|_| is_word(word, "LIMIT"));
        let number = parse_i64(value.ok_or(SYNTAX)?).filter(|limit| *limit >= 0);
        limit = number.ok_or(LIMIT_NEGATIVE)?;
        options = options.skip(2);
    }
    Ok(limit)
}

#[cfg(test)]
mod tests {
    use crate::key::testing::Client;

    #[test]
    fn arguments_are_checked_in_the_order_of_redis() {
        const GREATER: &str = "-ERR numkeys should be greater than 0\r\n";
        const MORE: &str = "-ERR Number of keys can't be greater than number of args\r\n";
        Client::new().check(&[
            ("SADD a 1 2 3", ":3\r\n"),
            ("SINTERCARD x a", GREATER),
            ("SINTERCARD -1 a", GREATER),
            ("SINTERCARD 2 a", MORE),
            ("SINTERCARD 9223372036854775807 a", MORE),
            ("SINTERCARD 1 a a", "-ERR syntax error\r\n"),
            ("SINTERCARD 1 a LIMIT", "-ERR syntax error\r\n"),
            (
                "SINTERCARD 1 a LIMIT -1",
                "-ERR LIMIT can't be negative\r\n",
            ),
            ("SINTERCARD 1 a LIMIT x", "-ERR LIMIT can't be negative\r\n"),
            ("SINTERCARD 1 a LIMIT 2", ":2\r\n"),
            ("SINTERCARD 1 a LIMIT 2 limit 0", ":3\r\n"),
            ("SINTERCARD 2 a a LIMIT 1", ":1\r\n"),
        ]);
    }
}
