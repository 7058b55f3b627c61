//! `ZSCORE key member`, `ZMSCORE key member [member ...]`, `ZCARD key`: the scores of members, and their number.

use super::reply as write;
use super::set_of;
use crate::Ctx;
use crate::options::FEW_ARGS;
use respire_engine::{
    Arg, ArgKind, ArgList, Arity, Error, Flags, Group, KeyFlag, KeySpec, Reply, Spec,
};
use respire_store::Elements;

pub(super) static ZSCORE: Spec = Spec {
    name: "zscore",
    summary: "Get the score associated with the given member in a sorted set",
    since: "1.2.0",
    group: Group::SortedSet,
    arity: Arity::exactly(3),
    flags: Flags::READONLY.with(Flags::FAST).with(Flags::CONSTANT),
    keys: &[KeySpec::at(1)],
    element: 2,
    args: &[Arg::key("key", 0), Arg::new("member", ArgKind::String)],
    examples: &[
        ("ZADD z 1.5 a", ":1\r\n"),
        ("ZSCORE z a", "$3\r\n1.5\r\n"),
        ("ZSCORE z b", "$-1\r\n"),
        ("SET s 1", "+OK\r\n"),
        (
            "ZSCORE s a",
            "-WRONGTYPE Operation against a key holding the wrong kind of value\r\n",
        ),
    ],
    ..Spec::EMPTY
};
pub(super) static ZMSCORE: Spec = Spec {
    name: "zmscore",
    summary: "Get the score associated with the given members in a sorted set",
    since: "6.2.0",
    complexity: "O(N) where N is the number of members being requested.",
    group: Group::SortedSet,
    arity: Arity::at_least(3),
    flags: Flags::READONLY.with(Flags::FAST),
    constant_args: FEW_ARGS,
    keys: &[KeySpec::at(1)],
    element: 2,
    args: &[
        Arg::key("key", 0),
        Arg::new("member", ArgKind::String).multiple(),
    ],
    examples: &[
        ("ZADD z 1.5 a", ":1\r\n"),
        ("ZMSCORE z a b", "*2\r\n$3\r\n1.5\r\n$-1\r\n"),
        ("ZMSCORE y a", "*1\r\n$-1\r\n"),
    ],
    ..Spec::EMPTY
};
pub(super) static ZCARD: Spec = Spec {
    name: "zcard",
    summary: "Get the number of members in a sorted set",
    since: "1.2.0",
    group: Group::SortedSet,
    arity: Arity::exactly(2),
    flags: Flags::READONLY.with(Flags::FAST).with(Flags::CONSTANT),
    keys: &[KeySpec::at(1).flags(&[KeyFlag::Ro])],
    args: &[Arg::key("key", 0)],
    examples: &[
        ("ZADD z 1 a 2 b", ":2\r\n"),
        ("ZCARD z", ":2\r\n"),
        ("ZCARD y", ":0\r\n"),
    ],
    ..Spec::EMPTY
};
pub(super) fn zscore(
    ctx: &mut Ctx<'_>,
    args: ArgList<'_>,
    reply: &mut Reply<'_>,
) -> Result<(), Error> {
    let score = ctx.read(&args[0], |entry| {
        Ok(set_of(entry)?.and_then(|set| set.score(&args[1])))
    })?;
    write::score_or_null(reply, score);
    Ok(())
}

pub(super) fn zmscore(
    ctx: &mut Ctx<'_>,
    args: ArgList<'_>,
    reply: &mut Reply<'_>,
) -> Result<(), Error> {
    ctx.read(&args[0], |entry| {
        let set = set_of(entry)?;
        let members = args.skip(1);
        reply.array(members.len());
        for member in members.iter() {
            write::score_or_null(reply, set.and_then(|set| set.score(member)));
        }
        Ok(())
    })
}

pub(super) fn zcard(
    ctx: &mut Ctx<'_>,
    args: ArgList<'_>,
    reply: &mut Reply<'_>,
) -> Result<(), Error> {
    let len = ctx.read(
        &args[0],
        |entry| Ok(set_of(entry)?.map_or(0, Elements::len)),
    )?;
    reply.int(len as i64);
    Ok(())
}
