//! `SDIFF key [key ...]` and `SDIFFSTORE destination key [key ...]`:
//! lists or stores the members of the first set that no other one has.

use super::combine::Operation;
use super::store::{reply_combined, store_combined};
use crate::Ctx;
use respire_engine::{Arg, ArgList, Arity, Error, Flags, Group, KeyFlag, KeySpec, Reply, Spec};

pub(super) static SDIFF: Spec = Spec {
    name: "sdiff",
    summary: "Subtract multiple sets",
    since: "1.0.0",
    complexity: "O(N) where N is the total number of elements in all given sets.",
    group: Group::Set,
    arity: Arity::at_least(2),
    flags: Flags::READONLY,
    keys: &[KeySpec::range(1, -1, 1)],
    args: &[Arg::key("key", 0).multiple()],
    tips: &["nondeterministic_output_order"],
    examples: &[
        ("SADD a 1 2", ":2\r\n"),
        ("SADD b 2 3", ":2\r\n"),
        ("SDIFF a b", "*1\r\n$1\r\n1\r\n"),
        ("SDIFF none", "*0\r\n"),
    ],
    ..Spec::EMPTY
};

pub(super) static SDIFFSTORE: Spec = Spec {
    name: "sdiffstore",
    summary: "Subtract multiple sets and store the resulting set in a key",
    since: "1.0.0",
    complexity: "O(N) where N is the total number of elements in all given sets.",
    group: Group::Set,
    arity: Arity::at_least(3),
    flags: Flags::WRITE.with(Flags::DENYOOM),
    keys: &[
        KeySpec::at(1).flags(&[KeyFlag::Ow, KeyFlag::Update]),
        KeySpec::range(2, -1, 1),
    ],
    args: &[Arg::key("destination", 0), Arg::key("key", 1).multiple()],
    examples: &[
        ("SADD a 1 2", ":2\r\n"),
        ("SADD b 2 3", ":2\r\n"),
        ("SDIFFSTORE d a b", ":1\r\n"),
        ("SCARD d", ":1\r\n"),
        ("SDIFFSTORE d none", ":0\r\n"),
        ("EXISTS d", ":0\r\n"),
    ],
    ..Spec::EMPTY
};

pub(super) fn sdiff(
    ctx: &mut Ctx<'_>,
    args: ArgList<'_>,
    reply: &mut Reply<'_>,
) -> Result<(), Error> {
    reply_combined(ctx, Operation::Difference, args, reply)
}

pub(super) fn sdiffstore(
    ctx: &mut Ctx<'_>,
    args: ArgList<'_>,
    reply: &mut Reply<'_>,
) -> Result<(), Error> {
    store_combined(ctx, Operation::Difference, args, reply)
}
