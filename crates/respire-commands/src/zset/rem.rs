//! `ZREM key member [member ...]`: removes members.

use super::REMOVED;
use crate::Ctx;
use crate::errors::wrong_type;
use crate::options::FEW_ARGS;
use respire_engine::{
    Arg, ArgKind, ArgList, Arity, Error, Flags, Group, KeyFlag, KeySpec, Reply, Spec,
};
use respire_store::{Edited, ZSet};

pub(super) static ZREM: Spec = Spec {
    name: "zrem",
    summary: "Remove one or more members from a sorted set",
    since: "1.2.0",
    complexity: "O(M*log(N)) with N being the number of elements in the sorted set and M the number of elements to be removed.",
    group: Group::SortedSet,
    arity: Arity::at_least(3),
    flags: Flags::WRITE.with(Flags::FAST),
    constant_args: FEW_ARGS,
    keys: &[KeySpec::at(1).flags(&[KeyFlag::Rw, KeyFlag::Delete])],
    element: 2,
    args: &[
        Arg::key("key", 0),
        Arg::new("member", ArgKind::String).multiple(),
    ],
    history: &[("2.4.0", "Accepts multiple elements.")],
    examples: &[
        ("ZADD z 1 a 2 b", ":2\r\n"),
        ("ZREM z a c", ":1\r\n"),
        ("ZREM z b", ":1\r\n"),
        ("EXISTS z", ":0\r\n"),
    ],
    ..Spec::EMPTY
};
pub(super) fn zrem(
    ctx: &mut Ctx<'_>,
    args: ArgList<'_>,
    reply: &mut Reply<'_>,
) -> Result<(), Error> {
    let removed = ctx.view.update(&args[0], |slot| {
        slot.edit_existing(REMOVED, |set: &mut ZSet| {
            let members = args.skip(1);
            match members
                .iter()
                .filter(|member| set.remove(member).is_some())
                .count()
            {
                0 => Edited::Unchanged(0),
                removed => Edited::Changed(removed),
            }
        })
    });
    reply.int(removed.map_err(wrong_type)?.unwrap_or(0) as i64);
    Ok(())
}
