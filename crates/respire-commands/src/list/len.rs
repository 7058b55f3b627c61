//! `LLEN key`: the number of elements of a list.

use super::list_if_any;
use crate::Ctx;
use respire_engine::{Arg, ArgList, Arity, Error, Flags, Group, KeyFlag, KeySpec, Reply, Spec};
use respire_store::Elements;

pub(super) static LLEN: Spec = Spec {
    name: "llen",
    summary: "Get the length of a list",
    since: "1.0.0",
    complexity: "O(1)",
    group: Group::List,
    arity: Arity::exactly(2),
    flags: Flags::READONLY.with(Flags::FAST).with(Flags::CONSTANT),
    keys: &[KeySpec::at(1).flags(&[KeyFlag::Ro])],
    args: &[Arg::key("key", 0)],
    examples: &[
        ("LLEN a", ":0\r\n"),
        ("RPUSH a x y", ":2\r\n"),
        ("LLEN a", ":2\r\n"),
    ],
    ..Spec::EMPTY
};

pub(super) fn run(
    ctx: &mut Ctx<'_>,
    args: ArgList<'_>,
    reply: &mut Reply<'_>,
) -> Result<(), Error> {
    let len = ctx.read(&args[0], |entry| {
        Ok::<_, Error>(list_if_any(entry)?.map_or(0, Elements::len))
    })?;
    reply.int(len as i64);
    Ok(())
}
