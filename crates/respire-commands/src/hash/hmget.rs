//! `HMGET key field [field ...]`: returns the values of fields of a hash.

use super::access::hash_if_any;
use crate::Ctx;
use crate::options::FEW_ARGS;
use crate::value::reply_string_or_null;
use respire_engine::{Arg, ArgKind, ArgList, Arity, Error, Flags, Group, KeySpec, Reply, Spec};

pub(super) static HMGET: Spec = Spec {
    name: "hmget",
    summary: "Get the values of all the given hash fields",
    since: "2.0.0",
    complexity: "O(N) where N is the number of fields being requested.",
    group: Group::Hash,
    arity: Arity::at_least(3),
    flags: Flags::READONLY.with(Flags::FAST),
    constant_args: FEW_ARGS,
    keys: &[KeySpec::at(1)],
    element: 2,
    args: &[
        Arg::key("key", 0),
        Arg::new("field", ArgKind::String).multiple(),
    ],
    examples: &[
        ("HSET h a 1 b 2", ":2\r\n"),
        ("HMGET h b nothing a", "*3\r\n$1\r\n2\r\n$-1\r\n$1\r\n1\r\n"),
        ("HMGET nothing a", "*1\r\n$-1\r\n"),
    ],
    ..Spec::EMPTY
};

pub(super) fn hmget(
    ctx: &mut Ctx<'_>,
    args: ArgList<'_>,
    reply: &mut Reply<'_>,
) -> Result<(), Error> {
    let fields = args.skip(1);
    ctx.read(&args[0], |entry| {
        let hash = hash_if_any(entry)?;
        reply.array(fields.len());
        for field in fields.iter() {
            reply_string_or_null(reply, hash.and_then(|hash| hash.get(field)));
        }
        Ok(())
    })
}
