//! `HSTRLEN key field`: returns the length of the value of a field of a hash, in bytes.

use super::access::hash_if_any;
use crate::Ctx;
use respire_engine::{
    Arg, ArgKind, ArgList, Arity, Error, Flags, Group, KeyFlag, KeySpec, Reply, Spec,
};
use respire_store::StringRef;

pub(super) static HSTRLEN: Spec = Spec {
    name: "hstrlen",
    summary: "Get the length of the value of a hash field",
    since: "3.2.0",
    complexity: "O(1)",
    group: Group::Hash,
    arity: Arity::exactly(3),
    flags: Flags::READONLY.with(Flags::FAST).with(Flags::CONSTANT),
    keys: &[KeySpec::at(1).flags(&[KeyFlag::Ro])],
    element: 2,
    args: &[Arg::key("key", 0), Arg::new("field", ArgKind::String)],
    examples: &[
        ("HSET h a hello n -17", ":2\r\n"),
        ("HSTRLEN h a", ":5\r\n"),
        ("HSTRLEN h n", ":3\r\n"),
        ("HSTRLEN h b", ":0\r\n"),
    ],
    ..Spec::EMPTY
};

pub(super) fn hstrlen(
    ctx: &mut Ctx<'_>,
    args: ArgList<'_>,
    reply: &mut Reply<'_>,
) -> Result<(), Error> {
    let len = ctx.read(&args[0], |entry| {
        let hash = hash_if_any(entry)?;
        let value = hash.and_then(|hash| hash.get(&args[1]));
        Ok(value.map_or(0, StringRef::len))
    })?;
    reply.int(len as i64);
    Ok(())
}
