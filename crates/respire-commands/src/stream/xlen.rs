//! `XLEN key`: the number of entries of a stream.

use crate::Ctx;
use respire_engine::{Arg, ArgList, Arity, Error, Flags, Group, KeyFlag, KeySpec, Reply, Spec};
use respire_store::Elements;

pub(super) static XLEN: Spec = Spec {
    name: "xlen",
    summary: "Return the number of entries in a stream",
    since: "5.0.0",
    complexity: "O(1)",
    group: Group::Stream,
    arity: Arity::exactly(2),
    flags: Flags::READONLY.with(Flags::FAST).with(Flags::CONSTANT),
    keys: &[KeySpec::at(1).flags(&[KeyFlag::Ro])],
    args: &[Arg::key("key", 0)],
    examples: &[
        ("XADD s 1 name Ada", "$3\r\n1-0\r\n"),
        ("XLEN s", ":1\r\n"),
        ("XLEN nothing", ":0\r\n"),
    ],
    ..Spec::EMPTY
};

pub(super) fn xlen(
    ctx: &mut Ctx<'_>,
    args: ArgList<'_>,
    reply: &mut Reply<'_>,
) -> Result<(), Error> {
    let len = ctx.read_stream(&args[0], |stream| stream.map_or(0, Elements::len))?;
    reply.int(len as i64);
    Ok(())
}
