//! `HDEL key field [field ...]`: removes fields of a hash. A hash without fields is removed.

use crate::Ctx;
use crate::errors::wrong_type;
use crate::notify;
use crate::options::FEW_ARGS;
use respire_engine::{
    Arg, ArgKind, ArgList, Arity, Error, Flags, Group, KeyFlag, KeySpec, Reply, Spec,
};
use respire_store::{Edited, Hash};

pub(super) static HDEL: Spec = Spec {
    name: "hdel",
    summary: "Delete one or more hash fields",
    since: "2.0.0",
    complexity: "O(N) where N is the number of fields to be removed.",
    group: Group::Hash,
    arity: Arity::at_least(3),
    flags: Flags::WRITE.with(Flags::FAST),
    constant_args: FEW_ARGS,
    keys: &[KeySpec::at(1).flags(&[KeyFlag::Rw, KeyFlag::Delete])],
    element: 2,
    args: &[
        Arg::key("key", 0),
        Arg::new("field", ArgKind::String).multiple(),
    ],
    history: &[("2.4.0", "Accepts multiple `field` arguments.")],
    examples: &[
        ("HSET h a 1 b 2", ":2\r\n"),
        ("HDEL h a nothing", ":1\r\n"),
        ("HDEL h b", ":1\r\n"),
        ("EXISTS h", ":0\r\n"),
    ],
    ..Spec::EMPTY
};

pub(super) fn hdel(
    ctx: &mut Ctx<'_>,
    args: ArgList<'_>,
    reply: &mut Reply<'_>,
) -> Result<(), Error> {
    let removed = ctx.view.update(&args[0], |slot| {
        slot.edit_existing(notify::HDEL, |hash: &mut Hash| {
            let removed = args.skip(1).iter().filter(|field| hash.remove(field));
            match removed.count() {
                0 => Edited::Unchanged(0),
                removed => Edited::Changed(removed),
            }
        })
    });
    let removed = removed.map_err(wrong_type)?;
    reply.int(removed.unwrap_or(0) as i64);
    Ok(())
}
