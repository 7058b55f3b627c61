//! `GET key`: the value of a key. As in Redis.

use crate::Ctx;
use crate::value::{reply_string_or_null, string_if_any};
use respire_engine::{Arg, ArgList, Arity, Error, Flags, Group, KeySpec, Reply, Spec};

pub(super) static GET: Spec = Spec {
    name: "get",
    summary: "Get the value of a key",
    group: Group::String,
    arity: Arity::exactly(2),
    flags: Flags::READONLY.with(Flags::FAST),
    keys: &[KeySpec::at(1)],
    args: &[Arg::key("key", 0)],
    examples: &[
        ("GET k", "$-1\r\n"),
        ("SET k v", "+OK\r\n"),
        ("GET k", "$1\r\nv\r\n"),
        (
            "GET k x",
            "-ERR wrong number of arguments for 'get' command\r\n",
        ),
    ],
    ..Spec::EMPTY
};

pub(super) fn get(
    ctx: &mut Ctx<'_>,
    args: ArgList<'_>,
    reply: &mut Reply<'_>,
) -> Result<(), Error> {
    ctx.read(&args[0], |entry| {
        reply_string_or_null(reply, string_if_any(entry)?);
        Ok(())
    })
}
