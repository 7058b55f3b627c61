//! `ZRANK key member [WITHSCORE]`, `ZREVRANK key member [WITHSCORE]`: the number of elements before a member, or behind
//! it. `WITHSCORE` is in Redis 7.2.

use super::reply as write;
use super::set_of;
use crate::Ctx;
use crate::errors::wrong_arity;
use crate::options::{FEW_ARGS, is_word};
use respire_engine::{Arg, ArgKind, ArgList, Arity, Error, Flags, Group, KeySpec, Reply, Spec};
use respire_store::Elements;

pub(super) static ZRANK: Spec = Spec {
    name: "zrank",
    summary: "Determine the index of a member in a sorted set",
    since: "2.0.0",
    complexity: "O(log(N))",
    group: Group::SortedSet,
    arity: Arity::at_least(3),
    flags: Flags::READONLY.with(Flags::FAST),
    constant_args: FEW_ARGS,
    keys: &[KeySpec::at(1)],
    element: 2,
    args: &[
        Arg::key("key", 0),
        Arg::new("member", ArgKind::String),
        Arg::word("withscore", "WITHSCORE")
            .since("7.2.0")
            .optional(),
    ],
    examples: &[
        ("ZADD z 1 a 2 b", ":2\r\n"),
        ("ZRANK z b", ":1\r\n"),
        ("ZRANK z b WITHSCORE", "*2\r\n:1\r\n$1\r\n2\r\n"),
        ("ZRANK z c", "$-1\r\n"),
        ("ZRANK z c WITHSCORE", "*-1\r\n"),
    ],
    ..Spec::EMPTY
};
pub(super) static ZREVRANK: Spec = Spec {
    name: "zrevrank",
    summary: "Determine the index of a member in a sorted set, with scores ordered from high to low",
    since: "2.0.0",
    complexity: "O(log(N))",
    group: Group::SortedSet,
    arity: Arity::at_least(3),
    flags: Flags::READONLY.with(Flags::FAST),
    constant_args: FEW_ARGS,
    keys: &[KeySpec::at(1)],
    element: 2,
    args: &[
        Arg::key("key", 0),
        Arg::new("member", ArgKind::String),
        Arg::word("withscore", "WITHSCORE")
            .since("7.2.0")
            .optional(),
    ],
    examples: &[
        ("ZADD z 1 a 2 b", ":2\r\n"),
        ("ZREVRANK z b", ":0\r\n"),
        ("ZREVRANK z c", "$-1\r\n"),
        (
            "ZREVRANK z c WITHSCORES",
            "-ERR wrong number of arguments for 'zrevrank' command\r\n",
        ),
    ],
    ..Spec::EMPTY
};
pub(super) fn zrank(
    ctx: &mut Ctx<'_>,
    args: ArgList<'_>,
    reply: &mut Reply<'_>,
) -> Result<(), Error> {
    rank(ctx, args, false, reply)
}

pub(super) fn zrevrank(
    ctx: &mut Ctx<'_>,
    args: ArgList<'_>,
    reply: &mut Reply<'_>,
) -> Result<(), Error> {
    rank(ctx, args, true, reply)
}

fn rank(
    ctx: &mut Ctx<'_>,
    args: ArgList<'_>,
    reverse: bool,
    reply: &mut Reply<'_>,
) -> Result<(), Error> {
    let with_score = match args.get(2) {
        None => false,
        Some(word) if args.len() == 3 && is_word(word, "WITHSCORE") => true,
        // Redis 7.0 has no option at all.
        Some(_) => return Err(wrong_arity(if reverse { "zrevrank" } else { "zrank" })),
    };
    let found = ctx.read(&args[0], |entry| {
        Ok(set_of(entry)?.and_then(|set| {
            let (rank, score) = set.rank(&args[1])?;
            Some((if reverse { set.len() - 1 - rank } else { rank }, score))
        }))
    })?;
    match found {
        Some((rank, score)) if with_score => {
            reply.array(2);
            reply.int(rank as i64);
            write::score(reply, score);
        }
        Some((rank, _)) => reply.int(rank as i64),
        None if with_score => reply.null_array(),
        None => reply.null(),
    }
    Ok(())
}
