//! `STACK.PUSH key element [element ...]`, `STACK.POP key`, `STACK.LEN key`: add, remove and count
//! the elements of a stack.

use crate::Ctx;
use crate::errors::wrong_type;
use crate::notify::EventClass;
use respire_engine::{Arg, ArgKind, ArgList, Arity, Error, Flags, KeySpec, Reply, Spec};
use respire_store::{Edited, Elements, EntryRef, EventName, Stack};

pub(super) const PUSHED: EventName = EventClass::Module.event("stack.push");
pub(super) const POPPED: EventName = EventClass::Module.event("stack.pop");

pub(super) static PUSH: Spec = Spec {
    name: "stack.push",
    summary: "Pushes elements on a stack; its length.",
    arity: Arity::at_least(3),
    flags: Flags::WRITE.with(Flags::DENYOOM),
    keys: &[KeySpec::at(1).update()],
    element: 2,
    args: &[
        Arg::key("key", 0),
        Arg::new("element", ArgKind::String).multiple(),
    ],
    examples: &[("STACK.PUSH a one two", ":2\r\n")],
    ..Spec::EMPTY
};

pub(super) static POP: Spec = Spec {
    name: "stack.pop",
    summary: "Pops the last element of a stack.",
    arity: Arity::exactly(2),
    flags: Flags::WRITE,
    keys: &[KeySpec::at(1).update()],
    args: &[Arg::key("key", 0)],
    examples: &[
        ("STACK.PUSH a one", ":1\r\n"),
        ("STACK.POP a", "$3\r\none\r\n"),
        ("STACK.POP a", "$-1\r\n"),
        ("EXISTS a", ":0\r\n"),
    ],
    ..Spec::EMPTY
};

pub(super) static LEN: Spec = Spec {
    name: "stack.len",
    summary: "The length of a stack.",
    arity: Arity::exactly(2),
    flags: Flags::READONLY,
    keys: &[KeySpec::at(1)],
    args: &[Arg::key("key", 0)],
    examples: &[
        ("STACK.LEN a", ":0\r\n"),
        ("SET a 1", "+OK\r\n"),
        (
            "STACK.LEN a",
            "-WRONGTYPE Operation against a key holding the wrong kind of value\r\n",
        ),
    ],
    ..Spec::EMPTY
};

pub(super) fn push(
    ctx: &mut Ctx<'_>,
    args: ArgList<'_>,
    reply: &mut Reply<'_>,
) -> Result<(), Error> {
    let len = ctx.view.update(&args[0], |slot| {
        slot.edit(PUSHED, |stack: &mut Stack| {
            args.skip(1).iter().for_each(|element| stack.push(element));
            Edited::Changed(stack.len())
        })
    });
    reply.int(len.map_err(wrong_type)? as i64);
    Ok(())
}

pub(super) fn pop(
    ctx: &mut Ctx<'_>,
    args: ArgList<'_>,
    reply: &mut Reply<'_>,
) -> Result<(), Error> {
    let popped = ctx.view.update(&args[0], |slot| {
        slot.edit_existing(POPPED, |stack: &mut Stack| Edited::Changed(stack.pop()))
    });
    match popped.map_err(wrong_type)?.flatten() {
        Some(element) => reply.bulk(&*element),
        None => reply.null(),
    }
    Ok(())
}

pub(super) fn len(
    ctx: &mut Ctx<'_>,
    args: ArgList<'_>,
    reply: &mut Reply<'_>,
) -> Result<(), Error> {
    let len = ctx.read(&args[0], |entry| {
        let stack = entry.map(EntryRef::typed::<Stack>).transpose();
        stack.map(|stack| stack.map_or(0, Elements::len))
    });
    reply.int(len.map_err(wrong_type)? as i64);
    Ok(())
}
