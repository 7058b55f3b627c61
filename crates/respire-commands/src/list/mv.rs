//! `LMOVE source destination LEFT | RIGHT LEFT | RIGHT`: removes an element from an end of a list and adds it at an
//! end of another, or of the same; the reply is the element. `RPOPLPUSH source destination` is `LMOVE` with `RIGHT`
//! and `LEFT`.

use super::element::Element;
use super::{end, list_if_any, popped, pushed};
use crate::Ctx;
use crate::errors::wrong_type;
use crate::value::reply_string;
use respire_engine::{Arg, ArgList, Arity, Error, Flags, Group, KeyFlag, KeySpec, Reply, Spec};
use respire_store::{Edited, End, List, Scope, Slot, StringRef, View};

pub(super) const KEYS: &[KeySpec] = &[
    KeySpec::at(1).flags(&[KeyFlag::Rw, KeyFlag::Access, KeyFlag::Delete]),
    KeySpec::at(2).flags(&[KeyFlag::Rw, KeyFlag::Insert]),
];

pub(super) static LMOVE: Spec = Spec {
    name: "lmove",
    summary: "Pop an element from a list, push it to another list and return it",
    since: "6.2.0",
    complexity: "O(1)",
    group: Group::List,
    arity: Arity::exactly(5),
    flags: Flags::WRITE.with(Flags::DENYOOM),
    keys: KEYS,
    args: &[
        Arg::key("source", 0),
        Arg::key("destination", 1),
        Arg::one_of(
            "wherefrom",
            &[Arg::word("left", "LEFT"), Arg::word("right", "RIGHT")],
        ),
        Arg::one_of(
            "whereto",
            &[Arg::word("left", "LEFT"), Arg::word("right", "RIGHT")],
        ),
    ],
    examples: &[
        ("RPUSH a x y", ":2\r\n"),
        ("LMOVE a b LEFT RIGHT", "$1\r\nx\r\n"),
        ("LMOVE a b RIGHT LEFT", "$1\r\ny\r\n"),
        ("LMOVE a b LEFT LEFT", "$-1\r\n"),
        ("LRANGE b 0 -1", "*2\r\n$1\r\ny\r\n$1\r\nx\r\n"),
    ],
    ..Spec::EMPTY
};

pub(super) static RPOPLPUSH: Spec = Spec {
    name: "rpoplpush",
    summary: "Remove the last element in a list, prepend it to another list and return it",
    since: "1.2.0",
    complexity: "O(1)",
    group: Group::List,
    arity: Arity::exactly(3),
    flags: Flags::WRITE.with(Flags::DENYOOM),
    keys: KEYS,
    args: &[Arg::key("source", 0), Arg::key("destination", 1)],
    deprecated: Some(("6.2.0", "`LMOVE` with the `RIGHT` and `LEFT` arguments")),
    examples: &[
        ("RPUSH a x y", ":2\r\n"),
        ("RPOPLPUSH a b", "$1\r\ny\r\n"),
        ("RPOPLPUSH nothing b", "$-1\r\n"),
    ],
    ..Spec::EMPTY
};

pub(super) fn lmove(
    ctx: &mut Ctx<'_>,
    args: ArgList<'_>,
    reply: &mut Reply<'_>,
) -> Result<(), Error> {
    let ends = (end(&args[2])?, end(&args[3])?);
    move_and_reply(ctx, args, ends, reply)
}

pub(super) fn rpoplpush(
    ctx: &mut Ctx<'_>,
    args: ArgList<'_>,
    reply: &mut Reply<'_>,
) -> Result<(), Error> {
    move_and_reply(ctx, args, (End::Right, End::Left), reply)
}

fn move_and_reply(
    ctx: &mut Ctx<'_>,
    args: ArgList<'_>,
    ends: (End, End),
    reply: &mut Reply<'_>,
) -> Result<(), Error> {
    match move_element(ctx, &args[0], &args[1], ends)? {
        Some(element) => reply_string(reply, element.as_ref()),
        None => reply.null(),
    }
    Ok(())
}

/// Moves an element between the ends of two lists, and returns it; `None` if the source does not exist.
pub(super) fn move_element(
    ctx: &mut Ctx<'_>,
    from: &[u8],
    to: &[u8],
    ends: (End, End),
) -> Result<Option<Element<'static>>, Error> {
    let db = ctx.view.db();
    let scope = [(db, from), (db, to)];
    ctx.view.locked(&Scope::Keys(&scope), |view| {
        move_within(view, from, to, ends)
    })
}

/// Moves an element like [`move_element`] within a view that covers both keys.
pub(super) fn move_within(
    view: &mut View<'_>,
    from: &[u8],
    to: &[u8],
    (from_end, to_end): (End, End),
) -> Result<Option<Element<'static>>, Error> {
    let Some(element) = look(view, from, from_end)? else {
        return Ok(None);
    };
    // As in Redis, the event of the push comes first. The push fails before anything has changed.
    view.update(to, |slot| push(slot, to_end, element.as_ref()))?;
    let popped = view.update(from, |slot| {
        slot.edit_existing(popped(from_end), |list: &mut List| {
            list.cut(from_end, 1);
            Edited::Changed(())
        })
    });
    popped.map_err(wrong_type)?;
    Ok(Some(element))
}

fn push(slot: &mut Slot<'_>, end: End, element: StringRef<'_>) -> Result<(), Error> {
    let limits = slot.limits::<List>();
    let pushed = slot.edit(pushed(end), |list: &mut List| {
        list.push(end, element, limits);
        Edited::Changed(())
    });
    pushed.map_err(wrong_type)
}

/// The element at an end of a list; `None` if there is no such key.
pub(super) fn look(
    view: &mut View<'_>,
    key: &[u8],
    end: End,
) -> Result<Option<Element<'static>>, Error> {
    view.peek(key, |entry| {
        let element = list_if_any(entry)?.and_then(|list| list.iter(end).next());
        Ok(element.map(Element::copied))
    })
}
