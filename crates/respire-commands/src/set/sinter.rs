//! `SINTER key [key ...]` and `SINTERSTORE destination key [key ...]`:
//! lists or stores the members that all of several sets have.

use super::combine::Operation;
use super::store::{reply_combined, store_combined};
use crate::Ctx;
use respire_engine::{Arg, ArgList, Arity, Error, Flags, Group, KeyFlag, KeySpec, Reply, Spec};

pub(super) static SINTER: Spec = Spec {
    name: "sinter",
    summary: "Intersect multiple sets",
    since: "1.0.0",
    complexity: "O(N*M) worst case where N is the cardinality of the smallest set and M is the number of sets.",
    group: Group::Set,
    arity: Arity::at_least(2),
    flags: Flags::READONLY,
    keys: &[KeySpec::range(1, -1, 1)],
    args: &[Arg::key("key", 0).multiple()],
    tips: &["nondeterministic_output_order"],
    examples: &[
        ("SADD a 1 2", ":2\r\n"),
        ("SADD b 2 3", ":2\r\n"),
        ("SINTER a b", "*1\r\n$1\r\n2\r\n"),
        ("SINTER none", "*0\r\n"),
    ],
    ..Spec::EMPTY
};

pub(super) static SINTERSTORE: Spec = Spec {
    name: "sinterstore",
    summary: "Intersect multiple sets and store the resulting set in a key",
    since: "1.0.0",
    complexity: "O(N*M) worst case where N is the cardinality of the smallest set and M is the number of sets.",
    group: Group::Set,
    arity: Arity::at_least(3),
    flags: Flags::WRITE.with(Flags::DENYOOM),
    keys: &[
        KeySpec::at(1).flags(&[KeyFlag::Rw, KeyFlag::Update]),
        KeySpec::range(2, -1, 1),
    ],
    args: &[Arg::key("destination", 0), Arg::key("key", 1).multiple()],
    examples: &[
        ("SADD a 1 2", ":2\r\n"),
        ("SADD b 2 3", ":2\r\n"),
        ("SINTERSTORE d a b", ":1\r\n"),
        ("SCARD d", ":1\r\n"),
        ("SINTERSTORE d none", ":0\r\n"),
        ("EXISTS d", ":0\r\n"),
    ],
    ..Spec::EMPTY
};

pub(super) fn sinter(
    ctx: &mut Ctx<'_>,
    args: ArgList<'_>,
    reply: &mut Reply<'_>,
) -> Result<(), Error> {
    reply_combined(ctx, Operation::Intersection, args, reply)
}

pub(super) fn sinterstore(
    ctx: &mut Ctx<'_>,
    args: ArgList<'_>,
    reply: &mut Reply<'_>,
) -> Result<(), Error> {
    store_combined(ctx, Operation::Intersection, args, reply)
}
