//! `LSET key index element`: replaces the element of this index, counted from the end if it is negative.

use super::element::Element;
use super::{index_of, list_if_any};
use crate::Ctx;
use crate::errors::{INDEX_RANGE, NO_SUCH_KEY, wrong_type};
use crate::notify;
use crate::options::integer;
use respire_engine::{
    Arg, ArgKind, ArgList, Arity, Error, Flags, Group, KeyFlag, KeySpec, Reply, Spec,
};
use respire_store::{Edited, Elements, List};

pub(super) static LSET: Spec = Spec {
    name: "lset",
    summary: "Set the value of an element in a list by its index",
    since: "1.0.0",
    complexity: "O(N) where N is the length of the list. Setting either the first or the last element of the list is O(1).",
    group: Group::List,
    arity: Arity::exactly(4),
    flags: Flags::WRITE.with(Flags::DENYOOM),
    keys: &[KeySpec::at(1).flags(&[KeyFlag::Rw, KeyFlag::Update])],
    args: &[
        Arg::key("key", 0),
        Arg::new("index", ArgKind::Integer),
        Arg::new("element", ArgKind::String),
    ],
    examples: &[
        ("LSET a 0 x", "-ERR no such key\r\n"),
        ("RPUSH a x y", ":2\r\n"),
        ("LSET a -1 z", "+OK\r\n"),
        ("LRANGE a 0 -1", "*2\r\n$1\r\nx\r\n$1\r\nz\r\n"),
        ("LSET a 2 z", "-ERR index out of range\r\n"),
    ],
    ..Spec::EMPTY
};

pub(super) fn run(
    ctx: &mut Ctx<'_>,
    args: ArgList<'_>,
    reply: &mut Reply<'_>,
) -> Result<(), Error> {
    let element = Element::of_argument(ctx.client, &args[2]);
    ctx.view.update(&args[0], |slot| {
        let list = list_if_any(slot.get())?.ok_or(NO_SUCH_KEY)?;
        let index = index_of(integer(&args[1])?, list.len()).ok_or(INDEX_RANGE)?;
        let limits = slot.limits::<List>();
        let set = slot.edit_existing(notify::LSET, |list: &mut List| {
            Edited::Changed(list.set(index, element.as_ref(), limits))
        });
        set.map_err(wrong_type)
    })?;
    reply.ok();
    Ok(())
}
