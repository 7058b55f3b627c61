//! `HGET key field`: returns the value of a field of a hash.

use super::access::hash_if_any;
use crate::Ctx;
use crate::value::reply_string_or_null;
use respire_engine::{Arg, ArgKind, ArgList, Arity, Error, Flags, Group, KeySpec, Reply, Spec};

pub(super) static HGET: Spec = Spec {
    name: "hget",
    summary: "Get the value of a hash field",
    since: "2.0.0",
    complexity: "O(1)",
    group: Group::Hash,
    arity: Arity::exactly(3),
    flags: Flags::READONLY.with(Flags::FAST).with(Flags::CONSTANT),
    keys: &[KeySpec::at(1)],
    element: 2,
    args: &[Arg::key("key", 0), Arg::new("field", ArgKind::String)],
    examples: &[
        ("HSET h a 1", ":1\r\n"),
        ("HGET h a", "$1\r\n1\r\n"),
        ("HGET h b", "$-1\r\n"),
        ("HGET nothing a", "$-1\r\n"),
    ],
    ..Spec::EMPTY
};

pub(super) fn hget(
    ctx: &mut Ctx<'_>,
    args: ArgList<'_>,
    reply: &mut Reply<'_>,
) -> Result<(), Error> {
    ctx.read(&args[0], |entry| {
        let hash = hash_if_any(entry)?;
        reply_string_or_null(reply, hash.and_then(|hash| hash.get(&args[1])));
        Ok(())
    })
}
