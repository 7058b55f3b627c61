//! `XDEL key id [id ...]`: deletes entries of a stream. The stream stays, even without entries.

use super::ids::strict_id;
use crate::Ctx;
use crate::errors::wrong_type;
use crate::notify;
use respire_engine::{
    Arg, ArgKind, ArgList, Arity, Error, Flags, Group, KeyFlag, KeySpec, Reply, Spec,
};
use respire_store::{Edited, Stream};

pub(super) static XDEL: Spec = Spec {
    name: "xdel",
    summary: "Removes the specified entries from the stream. Returns the number of items actually deleted, that may be different from the number of IDs passed in case certain IDs do not exist.",
    since: "5.0.0",
    complexity: "O(1) for each single item to delete in the stream, regardless of the stream size.",
    group: Group::Stream,
    arity: Arity::at_least(3),
    flags: Flags::WRITE.with(Flags::FAST),
    keys: &[KeySpec::at(1).flags(&[KeyFlag::Rw, KeyFlag::Delete])],
    args: &[
        Arg::key("key", 0),
        Arg::new("id", ArgKind::String).multiple(),
    ],
    examples: &[
        ("XADD s 1 name Ada", "$3\r\n1-0\r\n"),
        ("XDEL s 1 2", ":1\r\n"),
        ("EXISTS s", ":1\r\n"),
    ],
    ..Spec::EMPTY
};

pub(super) fn xdel(
    ctx: &mut Ctx<'_>,
    args: ArgList<'_>,
    reply: &mut Reply<'_>,
) -> Result<(), Error> {
    let deleted = ctx.view.update(&args[0], |slot| {
        slot.edit_existing(notify::XDEL, |stream: &mut Stream| {
            let ids: Result<Vec<_>, Error> =
                args.skip(1).iter().map(|id| strict_id(id, 0)).collect();
            let deleted = ids.map(|ids| ids.into_iter().filter(|id| stream.delete(*id)).count());
            match deleted {
                Err(_) | Ok(0) => Edited::Unchanged(deleted),
                Ok(_) => Edited::Changed(deleted),
            }
        })
    });
    let deleted = deleted.map_err(wrong_type)?.transpose()?;
    reply.int(deleted.unwrap_or(0) as i64);
    Ok(())
}
