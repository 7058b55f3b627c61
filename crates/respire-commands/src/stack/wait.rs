//! `STACK.BPOP key [key ...] timeout`, `STACK.BMOVE from to timeout`: pop an element, and wait for it.

use crate::Ctx;
use crate::block::{self, NullArray, Take};
use crate::errors::wrong_type;
use crate::stack::edit::{POPPED, PUSHED};
use respire_engine::{
    Arg, ArgKind, ArgList, Arity, Bytes, Error, Flags, KeySpec, Later, Null, Reply, Spec,
};
use respire_store::{Edited, Elements, Scope, Stack, View, WrongType};

pub(super) static BPOP: Spec = Spec {
    name: "stack.bpop",
    summary: "Pops the last element of the first stack that has one, and waits for it.",
    arity: Arity::at_least(3),
    flags: Flags::WRITE.with(Flags::NOSCRIPT).with(Flags::BLOCKING),
    keys: &[KeySpec::range(1, -2, 1).update()],
    args: &[
        Arg::key("key", 0).multiple(),
        Arg::new("timeout", ArgKind::Double),
    ],
    examples: &[
        ("STACK.PUSH a one", ":1\r\n"),
        ("STACK.BPOP b a 1", "*2\r\n$1\r\na\r\n$3\r\none\r\n"),
    ],
    ..Spec::EMPTY
};

pub(super) static BMOVE: Spec = Spec {
    name: "stack.bmove",
    summary: "Moves the last element of a stack to another, and waits for it.",
    arity: Arity::exactly(4),
    flags: Flags::WRITE.with(Flags::NOSCRIPT).with(Flags::BLOCKING),
    keys: &[KeySpec::range(1, 2, 1).update()],
    args: &[
        Arg::key("from", 0),
        Arg::key("to", 0),
        Arg::new("timeout", ArgKind::Double),
    ],
    examples: &[
        ("STACK.PUSH a one", ":1\r\n"),
        ("STACK.BMOVE a b 1", "$3\r\none\r\n"),
        ("STACK.LEN b", ":1\r\n"),
    ],
    ..Spec::EMPTY
};

type Popped = Result<Option<Box<[u8]>>, WrongType>;

fn pop(view: &mut View<'_>, key: &[u8]) -> Popped {
    let popped = view.update(key, |slot| {
        slot.edit_existing(POPPED, |stack: &mut Stack| Edited::Changed(stack.pop()))
    });
    popped.map(Option::flatten)
}

fn push(view: &mut View<'_>, key: &[u8], element: &[u8]) -> Result<(), WrongType> {
    view.update(key, |slot| {
        slot.edit(PUSHED, |stack: &mut Stack| {
            stack.push(element);
            Edited::Changed(())
        })
    })
}

/// The last element.
fn top(view: &mut View<'_>, key: &[u8]) -> Result<Option<Bytes>, WrongType> {
    view.peek(key, |entry| {
        let stack = entry.map(|entry| entry.typed::<Stack>()).transpose()?;
        let top = stack.and_then(|stack| stack.get(stack.len() - 1));
        Ok(top.map(Bytes::copy_from_slice))
    })
}

pub(super) fn bpop(
    ctx: &mut Ctx<'_>,
    args: ArgList<'_>,
    reply: &mut Reply<'_>,
) -> Result<(), Error> {
    let (keys, timeout) = block::keys_and_timeout(args);
    block::timeout(timeout)?;
    let scope: Vec<(u32, &[u8])> = keys.clone().map(|key| (ctx.view.db(), key)).collect();
    let popped = ctx.view.locked(&Scope::Keys(&scope), |view| {
        for key in keys {
            if let Some(element) = pop(view, key)? {
                return Ok(Some((key, element)));
            }
        }
        Ok(None)
    });
    match popped.map_err(wrong_type)? {
        Some((key, element)) => {
            reply.array(2);
            reply.bulk(key);
            reply.bulk(&*element);
        }
        None if ctx.wait() => {}
        None => reply.null_array(),
    }
    Ok(())
}

struct Pop;

impl Take for Pop {
    type Taken = (Bytes, Bytes);

    fn look(&self, view: &mut View<'_>, key: &[u8]) -> Option<Result<Self::Taken, Error>> {
        let element = top(view, key).ok()??;
        Some(Ok((Bytes::copy_from_slice(key), element)))
    }

    fn take(&self, view: &mut View<'_>, key: &[u8]) {
        let popped = pop(view, key);
        debug_assert!(popped.is_ok_and(|popped| popped.is_some()));
    }
}

pub(super) fn wait_to_pop(ctx: &mut Ctx<'_>, args: ArgList<'_>, later: Later) {
    let (keys, timeout) = block::keys_and_timeout(args);
    let timeout = block::timeout(timeout).unwrap_or_default();
    block::for_keys(ctx, keys, (timeout, NullArray), later, Pop);
}

fn move_top(view: &mut View<'_>, from: &[u8], to: &[u8]) -> Popped {
    if top(view, from)?.is_none() {
        return Ok(None);
    }
    top(view, to)?;
    let popped = pop(view, from)?;
    popped
        .iter()
        .try_for_each(|element| push(view, to, element))?;
    Ok(popped)
}

pub(super) fn bmove(
    ctx: &mut Ctx<'_>,
    args: ArgList<'_>,
    reply: &mut Reply<'_>,
) -> Result<(), Error> {
    block::timeout(&args[2])?;
    let db = ctx.view.db();
    let scope = [(db, &args[0]), (db, &args[1])];
    let moved = ctx.view.locked(&Scope::Keys(&scope), |view| {
        move_top(view, &args[0], &args[1])
    });
    match moved.map_err(wrong_type)? {
        Some(element) => reply.bulk(&*element),
        None if ctx.wait() => {}
        None => reply.null(),
    }
    Ok(())
}

struct Move {
    to: Bytes,
}

impl Take for Move {
    type Taken = Bytes;

    fn other_key(&self) -> Option<&[u8]> {
        Some(&self.to)
    }

    fn look(&self, view: &mut View<'_>, key: &[u8]) -> Option<Result<Bytes, Error>> {
        let element = top(view, key).ok()??;
        Some(top(view, &self.to).map(|_| element).map_err(wrong_type))
    }

    fn take(&self, view: &mut View<'_>, key: &[u8]) {
        let moved = move_top(view, key, &self.to);
        debug_assert!(moved.is_ok_and(|moved| moved.is_some()));
    }
}

pub(super) fn wait_to_move(ctx: &mut Ctx<'_>, args: ArgList<'_>, later: Later) {
    let timeout = block::timeout(&args[2]).unwrap_or_default();
    let to = Bytes::copy_from_slice(&args[1]);
    let from = core::iter::once(&args[0]);
    block::for_keys(ctx, from, (timeout, Null), later, Move { to });
}
