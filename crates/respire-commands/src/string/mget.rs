//! `MGET key [key ...]`: the values of several keys at one moment; null for a key that is absent
//! or holds no string. As in Redis.

use crate::Ctx;
use crate::value::reply_string_or_null;
use respire_engine::{Arg, ArgList, Arity, Error, Flags, Group, KeySpec, Reply, Spec};

pub(super) static MGET: Spec = Spec {
    name: "mget",
    summary: "Get the values of all the given keys",
    complexity: "O(N) where N is the number of keys to retrieve.",
    group: Group::String,
    arity: Arity::at_least(2),
    flags: Flags::READONLY.with(Flags::FAST),
    keys: &[KeySpec::range(1, -1, 1)],
    args: &[Arg::key("key", 0).multiple()],
    tips: &["request_policy:multi_shard"],
    examples: &[
        ("MSET a 1 b 2", "+OK\r\n"),
        ("MGET a nothing b", "*3\r\n$1\r\n1\r\n$-1\r\n$1\r\n2\r\n"),
    ],
    ..Spec::EMPTY
};

pub(super) fn mget(
    ctx: &mut Ctx<'_>,
    args: ArgList<'_>,
    reply: &mut Reply<'_>,
) -> Result<(), Error> {
    reply.array(args.len());
    ctx.read_many(args.iter(), |entry| {
        reply_string_or_null(reply, entry.and_then(|entry| entry.value().as_string()));
    });
    Ok(())
}
