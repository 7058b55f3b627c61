//! `XACKDEL key group [KEEPREF | DELREF | ACKED] IDS numids id [id ...]`: acknowledges entries and deletes them from the
//! stream.

use super::references::{CONDITION, Done, IDS, delete_each};
use crate::Ctx;
use respire_engine::{
    Arg, ArgKind, ArgList, Arity, Error, Flags, Group, KeyFlag, KeySpec, Reply, Spec,
};
use respire_store::Deletion;

pub(super) static XACKDEL: Spec = Spec {
    name: "xackdel",
    summary: "Acknowledges and deletes one or multiple messages for a stream consumer group.",
    since: "8.2.0",
    complexity: "O(1) for each message ID processed.",
    group: Group::Stream,
    arity: Arity::at_least(6),
    flags: Flags::WRITE.with(Flags::FAST),
    keys: &[KeySpec::at(1).flags(&[KeyFlag::Rw, KeyFlag::Update, KeyFlag::Delete])],
    args: &[
        Arg::key("key", 0),
        Arg::new("group", ArgKind::String),
        CONDITION,
        IDS,
    ],
    examples: &[
        ("XADD s 1 name Ada", "$3\r\n1-0\r\n"),
        ("XGROUP CREATE s g 0", "+OK\r\n"),
        (
            "XREADGROUP GROUP g Bob COUNT 1 STREAMS s >",
            "*1\r\n*2\r\n$1\r\ns\r\n*1\r\n*2\r\n$3\r\n1-0\r\n*2\r\n$4\r\nname\r\n$3\r\nAda\r\n",
        ),
        ("XACKDEL s g ACKED IDS 2 1 2", "*2\r\n:1\r\n:-1\r\n"),
        ("XLEN s", ":0\r\n"),
    ],
    ..Spec::EMPTY
};

pub(super) fn xackdel(
    ctx: &mut Ctx<'_>,
    args: ArgList<'_>,
    reply: &mut Reply<'_>,
) -> Result<(), Error> {
    let group = &args[1];
    let request = (&args[0], args.skip(2));
    delete_each(ctx, request, reply, |stream, id, references| {
        let is_pending = stream.edit_group(group, |group, _| group.acknowledge(id));
        if is_pending != Some(true) {
            return Done::Nothing;
        }
        match stream.delete_with(id, references) {
            Deletion::Deleted => Done::Deleted,
            // As in Redis, an entry that was deleted before counts as deleted.
            Deletion::Missing { .. } => Done::Absent,
            Deletion::Referenced => Done::Stays { is_changed: true },
        }
    })
}
