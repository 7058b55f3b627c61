//! `LREM key count element`: removes the elements that are equal to this one: all if `count` is 0, the first ones if
//! it is positive, the last ones if it is negative. The reply is how many were removed.

use crate::Ctx;
use crate::errors::wrong_type;
use crate::notify;
use crate::options::integer;
use respire_engine::{
    Arg, ArgKind, ArgList, Arity, Error, Flags, Group, KeyFlag, KeySpec, Reply, Spec,
};
use respire_store::{Edited, End, List};

pub(super) static LREM: Spec = Spec {
    name: "lrem",
    summary: "Remove elements from a list",
    since: "1.0.0",
    complexity: "O(N+M) where N is the length of the list and M is the number of elements removed.",
    group: Group::List,
    arity: Arity::exactly(4),
    flags: Flags::WRITE,
    keys: &[KeySpec::at(1).flags(&[KeyFlag::Rw, KeyFlag::Delete])],
    args: &[
        Arg::key("key", 0),
        Arg::new("count", ArgKind::Integer),
        Arg::new("element", ArgKind::String),
    ],
    examples: &[
        ("RPUSH a x y x y x", ":5\r\n"),
        ("LREM a -1 x", ":1\r\n"),
        ("LREM a 0 y", ":2\r\n"),
        ("LRANGE a 0 -1", "*2\r\n$1\r\nx\r\n$1\r\nx\r\n"),
        ("LREM b 0 y", ":0\r\n"),
    ],
    ..Spec::EMPTY
};

pub(super) fn run(
    ctx: &mut Ctx<'_>,
    args: ArgList<'_>,
    reply: &mut Reply<'_>,
) -> Result<(), Error> {
    let (count, element) = (integer(&args[1])?, &args[2]);
    let end = if count < 0 { End::Right } else { End::Left };
    let max = match count.unsigned_abs() {
        0 => usize::MAX,
        count => usize::try_from(count).unwrap_or(usize::MAX),
    };
    let removed = ctx.view.update(&args[0], |slot| {
        let limits = slot.limits::<List>();
        slot.edit_existing(notify::LREM, |list: &mut List| {
            match list.remove_equal(end, element, max, limits) {
                0 => Edited::Unchanged(0),
                removed => Edited::Changed(removed),
            }
        })
    });
    let removed = removed.map_err(wrong_type)?.unwrap_or(0);
    reply.int(removed as i64);
    Ok(())
}
