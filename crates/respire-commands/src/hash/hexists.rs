//! `HEXISTS key field`: tells whether a hash has a field.

use super::access::hash_if_any;
use crate::Ctx;
use respire_engine::{
    Arg, ArgKind, ArgList, Arity, Error, Flags, Group, KeyFlag, KeySpec, Reply, Spec,
};

pub(super) static HEXISTS: Spec = Spec {
    name: "hexists",
    summary: "Determine if a hash field exists",
    since: "2.0.0",
    complexity: "O(1)",
    group: Group::Hash,
    arity: Arity::exactly(3),
    flags: Flags::READONLY.with(Flags::FAST).with(Flags::CONSTANT),
    keys: &[KeySpec::at(1).flags(&[KeyFlag::Ro])],
    element: 2,
    args: &[Arg::key("key", 0), Arg::new("field", ArgKind::String)],
    examples: &[
        ("HSET h a 1", ":1\r\n"),
        ("HEXISTS h a", ":1\r\n"),
        ("HEXISTS h b", ":0\r\n"),
        ("HEXISTS nothing a", ":0\r\n"),
    ],
    ..Spec::EMPTY
};

pub(super) fn hexists(
    ctx: &mut Ctx<'_>,
    args: ArgList<'_>,
    reply: &mut Reply<'_>,
) -> Result<(), Error> {
    let exists = ctx.read(&args[0], |entry| {
        let hash = hash_if_any(entry)?;
        Ok(hash.is_some_and(|hash| hash.contains(&args[1])))
    })?;
    reply.int(exists.into());
    Ok(())
}
