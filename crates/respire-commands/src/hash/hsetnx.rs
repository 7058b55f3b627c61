//! `HSETNX key field value`: sets a field of a hash unless it exists.

use crate::Ctx;
use crate::errors::wrong_type;
use crate::notify;
use crate::value::new_text;
use respire_engine::{
    Arg, ArgKind, ArgList, Arity, Error, Flags, Group, KeyFlag, KeySpec, Reply, Spec,
};
use respire_store::{Edited, Hash, Kind};

pub(super) static HSETNX: Spec = Spec {
    name: "hsetnx",
    summary: "Set the value of a hash field, only if the field does not exist",
    since: "2.0.0",
    complexity: "O(1)",
    group: Group::Hash,
    arity: Arity::exactly(4),
    flags: Flags::WRITE
        .with(Flags::DENYOOM)
        .with(Flags::FAST)
        .with(Flags::CONSTANT),
    keys: &[KeySpec::at(1).flags(&[KeyFlag::Rw, KeyFlag::Insert])],
    element: 2,
    args: &[
        Arg::key("key", 0),
        Arg::new("field", ArgKind::String),
        Arg::new("value", ArgKind::String),
    ],
    examples: &[
        ("HSETNX h a 1", ":1\r\n"),
        ("HSETNX h a 2", ":0\r\n"),
        ("HGET h a", "$1\r\n1\r\n"),
    ],
    ..Spec::EMPTY
};

pub(super) fn hsetnx(
    ctx: &mut Ctx<'_>,
    args: ArgList<'_>,
    reply: &mut Reply<'_>,
) -> Result<(), Error> {
    let client = ctx.client;
    let is_new = ctx.view.update(&args[0], |slot| {
        let growth = slot.growth::<Hash>();
        slot.edit(notify::HSET, |hash: &mut Hash| {
            if hash.read().contains(&args[1]) {
                return Edited::Unchanged(false);
            }
            hash.insert(&args[1], new_text(client, &args[2]), &growth);
            Edited::Changed(true)
        })
    });
    reply.int(is_new.map_err(wrong_type)?.into());
    Ok(())
}
