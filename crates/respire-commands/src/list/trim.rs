//! `LTRIM key start stop`: keeps only the elements from index `start` to `stop`, which count from the end if they are
//! negative.

use super::range_of;
use crate::Ctx;
use crate::errors::wrong_type;
use crate::notify;
use crate::options::integer;
use respire_engine::{
    Arg, ArgKind, ArgList, Arity, Error, Flags, Group, KeyFlag, KeySpec, Reply, Spec,
};
use respire_store::{Edited, End, List};

pub(super) static LTRIM: Spec = Spec {
    name: "ltrim",
    summary: "Trim a list to the specified range",
    since: "1.0.0",
    complexity: "O(N) where N is the number of elements to be removed by the operation.",
    group: Group::List,
    arity: Arity::exactly(4),
    flags: Flags::WRITE,
    keys: &[KeySpec::at(1).flags(&[KeyFlag::Rw, KeyFlag::Delete])],
    args: &[
        Arg::key("key", 0),
        Arg::new("start", ArgKind::Integer),
        Arg::new("stop", ArgKind::Integer),
    ],
    examples: &[
        ("RPUSH a w x y z", ":4\r\n"),
        ("LTRIM a 1 -2", "+OK\r\n"),
        ("LRANGE a 0 -1", "*2\r\n$1\r\nx\r\n$1\r\ny\r\n"),
        ("LTRIM a 2 1", "+OK\r\n"),
        ("EXISTS a", ":0\r\n"),
    ],
    ..Spec::EMPTY
};

pub(super) fn run(
    ctx: &mut Ctx<'_>,
    args: ArgList<'_>,
    reply: &mut Reply<'_>,
) -> Result<(), Error> {
    let (start, stop) = (integer(&args[1])?, integer(&args[2])?);
    let trimmed = ctx.view.update(&args[0], |slot| {
        slot.edit_existing(notify::LTRIM, |list: &mut List| {
            let range = range_of(start, stop, list.len()).unwrap_or(0..0);
            list.cut(End::Right, list.len() - range.end);
            list.cut(End::Left, range.start);
            // As in Redis, it counts as a change even if nothing was removed.
            Edited::Changed(())
        })
    });
    trimmed.map_err(wrong_type)?;
    reply.ok();
    Ok(())
}
