//! `STRLEN key`: returns the length of a string in bytes, or 0 for an absent key, as in Redis.

use crate::Ctx;
use crate::value::string_if_any;
use respire_engine::{Arg, ArgList, Arity, Error, Flags, Group, KeyFlag, KeySpec, Reply, Spec};
use respire_store::StringRef;

pub(super) static STRLEN: Spec = Spec {
    name: "strlen",
    summary: "Get the length of the value stored in a key",
    since: "2.2.0",
    group: Group::String,
    arity: Arity::exactly(2),
    flags: Flags::READONLY.with(Flags::FAST).with(Flags::CONSTANT),
    keys: &[KeySpec::at(1).flags(&[KeyFlag::Ro])],
    args: &[Arg::key("key", 0)],
    examples: &[
        ("SET k \"Hello World\"", "+OK\r\n"),
        ("STRLEN k", ":11\r\n"),
        ("STRLEN missing", ":0\r\n"),
    ],
    ..Spec::EMPTY
};

pub(super) fn strlen(
    ctx: &mut Ctx<'_>,
    args: ArgList<'_>,
    reply: &mut Reply<'_>,
) -> Result<(), Error> {
    let len = ctx.read(&args[0], |entry| {
        Ok(string_if_any(entry)?.map_or(0, StringRef::len))
    })?;
    reply.int(len as i64);
    Ok(())
}
