//! `HLEN key`: returns the number of fields of a hash.

use super::access::hash_if_any;
use crate::Ctx;
use respire_engine::{Arg, ArgList, Arity, Error, Flags, Group, KeyFlag, KeySpec, Reply, Spec};
use respire_store::Elements;

pub(super) static HLEN: Spec = Spec {
    name: "hlen",
    summary: "Get the number of fields in a hash",
    since: "2.0.0",
    complexity: "O(1)",
    group: Group::Hash,
    arity: Arity::exactly(2),
    flags: Flags::READONLY.with(Flags::FAST).with(Flags::CONSTANT),
    keys: &[KeySpec::at(1).flags(&[KeyFlag::Ro])],
    args: &[Arg::key("key", 0)],
    examples: &[
        ("HLEN h", ":0\r\n"),
        ("HSET h a 1 b 2", ":2\r\n"),
        ("HLEN h", ":2\r\n"),
    ],
    ..Spec::EMPTY
};

pub(super) fn hlen(
    ctx: &mut Ctx<'_>,
    args: ArgList<'_>,
    reply: &mut Reply<'_>,
) -> Result<(), Error> {
    let len = ctx.read(&args[0], |entry| {
        let hash = hash_if_any(entry)?;
        Ok(hash.map_or(0, Elements::len))
    })?;
    reply.int(len as i64);
    Ok(())
}
