//! `LINDEX key index`: the element of this index, counted from the end if it is negative.

use super::{index_of, list_if_any};
use crate::Ctx;
use crate::options::integer;
use crate::value::reply_string_or_null;
use respire_engine::{Arg, ArgKind, ArgList, Arity, Error, Flags, Group, KeySpec, Reply, Spec};
use respire_store::Elements;

pub(super) static LINDEX: Spec = Spec {
    name: "lindex",
    summary: "Get an element from a list by its index",
    since: "1.0.0",
    complexity: "O(N) where N is the number of elements to traverse to get to the element at index. This makes asking for the first or the last element of the list O(1).",
    group: Group::List,
    arity: Arity::exactly(3),
    flags: Flags::READONLY,
    keys: &[KeySpec::at(1)],
    args: &[Arg::key("key", 0), Arg::new("index", ArgKind::Integer)],
    examples: &[
        ("RPUSH a x y z", ":3\r\n"),
        ("LINDEX a 0", "$1\r\nx\r\n"),
        ("LINDEX a -1", "$1\r\nz\r\n"),
        ("LINDEX a 3", "$-1\r\n"),
    ],
    ..Spec::EMPTY
};

pub(super) fn run(
    ctx: &mut Ctx<'_>,
    args: ArgList<'_>,
    reply: &mut Reply<'_>,
) -> Result<(), Error> {
    ctx.read(&args[0], |entry| {
        let Some(list) = list_if_any(entry)? else {
            reply.null();
            return Ok(());
        };
        let index = index_of(integer(&args[1])?, list.len());
        reply_string_or_null(reply, index.and_then(|index| list.get(index)));
        Ok(())
    })
}
