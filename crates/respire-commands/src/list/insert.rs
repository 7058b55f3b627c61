//! `LINSERT key BEFORE | AFTER pivot element`: inserts an element beside the first one that is equal to the pivot.
//!
//! The reply is the length; 0 if there is no such key, and -1 if there is no such pivot.

use super::element::Element;
use super::list_if_any;
use crate::Ctx;
use crate::errors::{SYNTAX, wrong_type};
use crate::notify;
use crate::options::is_word;
use respire_engine::{
    Arg, ArgKind, ArgList, Arity, Error, Flags, Group, KeyFlag, KeySpec, Reply, Spec,
};
use respire_store::{Edited, End, List};

pub(super) static LINSERT: Spec = Spec {
    name: "linsert",
    summary: "Insert an element before or after another element in a list",
    since: "2.2.0",
    complexity: "O(N) where N is the number of elements to traverse before seeing the value pivot. This means that inserting somewhere on the left end on the list (head) can be considered O(1) and inserting somewhere on the right end (tail) is O(N).",
    group: Group::List,
    arity: Arity::exactly(5),
    flags: Flags::WRITE.with(Flags::DENYOOM),
    keys: &[KeySpec::at(1).flags(&[KeyFlag::Rw, KeyFlag::Insert])],
    args: &[
        Arg::key("key", 0),
        Arg::one_of(
            "where",
            &[Arg::word("before", "BEFORE"), Arg::word("after", "AFTER")],
        ),
        Arg::new("pivot", ArgKind::String),
        Arg::new("element", ArgKind::String),
    ],
    examples: &[
        ("LINSERT a BEFORE x y", ":0\r\n"),
        ("RPUSH a x z", ":2\r\n"),
        ("LINSERT a BEFORE z y", ":3\r\n"),
        ("LINSERT a AFTER nothing y", ":-1\r\n"),
        ("LRANGE a 0 -1", "*3\r\n$1\r\nx\r\n$1\r\ny\r\n$1\r\nz\r\n"),
    ],
    ..Spec::EMPTY
};

pub(super) fn run(
    ctx: &mut Ctx<'_>,
    args: ArgList<'_>,
    reply: &mut Reply<'_>,
) -> Result<(), Error> {
    let offset = match &args[1] {
        word if is_word(word, "AFTER") => 1,
        word if is_word(word, "BEFORE") => 0,
        _ => return Err(SYNTAX),
    };
    let (pivot, element) = (&args[2], Element::of_argument(ctx.client, &args[3]));
    let len = ctx.view.update(&args[0], |slot| {
        let Some(list) = list_if_any(slot.get())? else {
            return Ok(0);
        };
        let mut found = None;
        list.find(End::Left, pivot, usize::MAX, |index| {
            found = Some(index);
            false
        });
        let Some(index) = found else { return Ok(-1) };
        let limits = slot.limits::<List>();
        let len = slot.edit_existing(notify::LINSERT, |list: &mut List| {
            list.insert(index + offset, element.as_ref(), limits);
            Edited::Changed(list.len())
        });
        let len = len.map_err(wrong_type)?;
        Ok::<_, Error>(len.map_or(0, |len| len as i64))
    })?;
    reply.int(len);
    Ok(())
}
