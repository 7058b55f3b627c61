//! `XDELEX key [KEEPREF | DELREF | ACKED] IDS numids id [id ...]`: deletes entries of a stream, with the references that
//! groups have to them, or only if no group needs them.

use super::references::{CONDITION, Done, IDS, delete_each};
use crate::Ctx;
use respire_engine::{Arg, ArgList, Arity, Error, Flags, Group, KeyFlag, KeySpec, Reply, Spec};
use respire_store::Deletion;

pub(super) static XDELEX: Spec = Spec {
    name: "xdelex",
    summary: "Deletes one or multiple entries from the stream.",
    since: "8.2.0",
    complexity: "O(1) for each single item to delete in the stream, regardless of the stream size.",
    group: Group::Stream,
    arity: Arity::at_least(5),
    flags: Flags::WRITE.with(Flags::FAST),
    keys: &[KeySpec::at(1).flags(&[KeyFlag::Rw, KeyFlag::Delete])],
    args: &[Arg::key("key", 0), CONDITION, IDS],
    examples: &[
        ("XADD s 1 name Ada", "$3\r\n1-0\r\n"),
        ("XGROUP CREATE s g 0", "+OK\r\n"),
        ("XDELEX s ACKED IDS 1 1", "*1\r\n:2\r\n"),
        ("XDELEX s IDS 2 1 2", "*2\r\n:1\r\n:-1\r\n"),
        (
            "XDELEX s IDS 2 1",
            "-ERR The `numids` parameter must match the number of arguments\r\n",
        ),
    ],
    ..Spec::EMPTY
};

pub(super) fn xdelex(
    ctx: &mut Ctx<'_>,
    args: ArgList<'_>,
    reply: &mut Reply<'_>,
) -> Result<(), Error> {
    let request = (&args[0], args.skip(1));
    delete_each(ctx, request, reply, |stream, id, references| {
        match stream.delete_with(id, references) {
            Deletion::Deleted => Done::Deleted,
            Deletion::Missing { is_changed: true } => Done::Unreferenced,
            Deletion::Missing { is_changed: false } => Done::Nothing,
            Deletion::Referenced => Done::Stays { is_changed: false },
        }
    })
}
