//! `TYPE key`: returns the type of the value of a key, or `none`.

use super::read_untouched;
use crate::Ctx;
use respire_engine::{Arg, ArgList, Arity, Error, Flags, Group, KeyFlag, KeySpec, Reply, Spec};

pub(super) static TYPE: Spec = Spec {
    name: "type",
    summary: "Determine the type stored at key",
    since: "1.0.0",
    complexity: "O(1)",
    group: Group::Generic,
    arity: Arity::exactly(2),
    flags: Flags::READONLY.with(Flags::FAST).with(Flags::CONSTANT),
    keys: &[KeySpec::at(1).flags(&[KeyFlag::Ro])],
    args: &[Arg::key("key", 0)],
    examples: &[
        ("SET a 1", "+OK\r\n"),
        ("TYPE a", "+string\r\n"),
        ("TYPE b", "+none\r\n"),
        (
            "TYPE a b",
            "-ERR wrong number of arguments for 'type' command\r\n",
        ),
    ],
    ..Spec::EMPTY
};

pub(super) fn run(
    ctx: &mut Ctx<'_>,
    args: ArgList<'_>,
    reply: &mut Reply<'_>,
) -> Result<(), Error> {
    let name = read_untouched(ctx, &args[0], |entry| {
        entry.map_or("none", |entry| entry.value().type_name())
    });
    reply.simple(name);
    Ok(())
}
