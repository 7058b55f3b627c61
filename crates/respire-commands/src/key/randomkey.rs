//! `RANDOMKEY`: returns a random key of the database, or null if it is empty.

use crate::Ctx;
use respire_engine::{ArgList, Arity, Error, Flags, Group, Reply, Spec};

pub(super) static RANDOMKEY: Spec = Spec {
    name: "randomkey",
    summary: "Return a random key from the keyspace",
    since: "1.0.0",
    complexity: "O(1)",
    group: Group::Generic,
    arity: Arity::exactly(1),
    flags: Flags::READONLY.with(Flags::ALL_KEYS),
    tips: &["request_policy:all_shards", "nondeterministic_output"],
    examples: &[
        ("RANDOMKEY", "$-1\r\n"),
        ("SET a 1", "+OK\r\n"),
        ("RANDOMKEY", "$1\r\na\r\n"),
        (
            "RANDOMKEY a",
            "-ERR wrong number of arguments for 'randomkey' command\r\n",
        ),
    ],
    ..Spec::EMPTY
};

pub(super) fn run(
    ctx: &mut Ctx<'_>,
    _args: ArgList<'_>,
    reply: &mut Reply<'_>,
) -> Result<(), Error> {
    match ctx.view.random_key() {
        Some(key) => reply.bulk(key),
        None => reply.null(),
    }
    Ok(())
}
