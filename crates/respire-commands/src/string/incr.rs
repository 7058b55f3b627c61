//! `INCR key`, `DECR key`, `INCRBY key increment`, `DECRBY key decrement`: adds to an integer.
//!
//! As in Redis, an absent key counts as 0 and the expiry is kept.

use crate::Ctx;
use crate::errors::{DECREMENT_OVERFLOW, NOT_AN_INTEGER, OVERFLOW};
use crate::notify;
use crate::options::integer;
use crate::value::string_if_any;
use respire_engine::{Arg, ArgKind, ArgList, Arity, Error, Flags, Group, KeySpec, Reply, Spec};
use respire_store::Expiry;

pub(super) static INCR: Spec = Spec {
    name: "incr",
    summary: "Increment the integer value of a key by one",
    group: Group::String,
    arity: Arity::exactly(2),
    flags: Flags::WRITE
        .with(Flags::DENYOOM)
        .with(Flags::FAST)
        .with(Flags::CONSTANT),
    keys: &[KeySpec::at(1).update()],
    args: &[Arg::key("key", 0)],
    examples: &[
        ("INCR n", ":1\r\n"),
        ("SET n 9223372036854775807", "+OK\r\n"),
        ("INCR n", "-ERR increment or decrement would overflow\r\n"),
    ],
    ..Spec::EMPTY
};

pub(super) static DECR: Spec = Spec {
    name: "decr",
    summary: "Decrement the integer value of a key by one",
    group: Group::String,
    arity: Arity::exactly(2),
    flags: Flags::WRITE
        .with(Flags::DENYOOM)
        .with(Flags::FAST)
        .with(Flags::CONSTANT),
    keys: &[KeySpec::at(1).update()],
    args: &[Arg::key("key", 0)],
    examples: &[
        ("SET n 10", "+OK\r\n"),
        ("DECR n", ":9\r\n"),
        ("SET n ten", "+OK\r\n"),
        ("DECR n", "-ERR value is not an integer or out of range\r\n"),
    ],
    ..Spec::EMPTY
};

pub(super) static INCRBY: Spec = Spec {
    name: "incrby",
    summary: "Increment the integer value of a key by the given amount",
    group: Group::String,
    arity: Arity::exactly(3),
    flags: Flags::WRITE
        .with(Flags::DENYOOM)
        .with(Flags::FAST)
        .with(Flags::CONSTANT),
    keys: &[KeySpec::at(1).update()],
    args: &[Arg::key("key", 0), Arg::new("increment", ArgKind::Integer)],
    examples: &[
        ("SET n 10", "+OK\r\n"),
        ("INCRBY n 5", ":15\r\n"),
        (
            "INCRBY n 1.5",
            "-ERR value is not an integer or out of range\r\n",
        ),
    ],
    ..Spec::EMPTY
};

pub(super) static DECRBY: Spec = Spec {
    name: "decrby",
    summary: "Decrement the integer value of a key by the given number",
    group: Group::String,
    arity: Arity::exactly(3),
    flags: Flags::WRITE
        .with(Flags::DENYOOM)
        .with(Flags::FAST)
        .with(Flags::CONSTANT),
    keys: &[KeySpec::at(1).update()],
    args: &[Arg::key("key", 0), Arg::new("decrement", ArgKind::Integer)],
    examples: &[
        ("SET n 10", "+OK\r\n"),
        ("DECRBY n 3", ":7\r\n"),
        (
            "DECRBY n -9223372036854775808",
            "-ERR decrement would overflow\r\n",
        ),
    ],
    ..Spec::EMPTY
};

pub(super) fn incr(
    ctx: &mut Ctx<'_>,
    args: ArgList<'_>,
    reply: &mut Reply<'_>,
) -> Result<(), Error> {
    add(ctx, &args[0], 1, reply)
}

pub(super) fn decr(
    ctx: &mut Ctx<'_>,
    args: ArgList<'_>,
    reply: &mut Reply<'_>,
) -> Result<(), Error> {
    add(ctx, &args[0], -1, reply)
}

pub(super) fn incrby(
    ctx: &mut Ctx<'_>,
    args: ArgList<'_>,
    reply: &mut Reply<'_>,
) -> Result<(), Error> {
    add(ctx, &args[0], integer(&args[1])?, reply)
}

pub(super) fn decrby(
    ctx: &mut Ctx<'_>,
    args: ArgList<'_>,
    reply: &mut Reply<'_>,
) -> Result<(), Error> {
    let increment = integer(&args[1])?.checked_neg().ok_or(DECREMENT_OVERFLOW)?;
    add(ctx, &args[0], increment, reply)
}

fn add(ctx: &mut Ctx<'_>, key: &[u8], increment: i64, reply: &mut Reply<'_>) -> Result<(), Error> {
    let sum = ctx.view.update(key, |slot| {
        let before = match string_if_any(slot.get())? {
            Some(string) => string.to_int().ok_or(NOT_AN_INTEGER)?,
            None => 0,
        };
        let sum = before.checked_add(increment).ok_or(OVERFLOW)?;
        slot.set(sum, Expiry::Keep);
        slot.event(notify::INCRBY);
        Ok(sum)
    })?;
    reply.int(sum);
    Ok(())
}

#[cfg(test)]
mod tests {
    use crate::key::testing::Client;

    #[test]
    fn overflow_is_refused_and_the_expiry_is_kept() {
        Client::new().check(&[
            ("SET n 9223372036854775806 EX 100", "+OK\r\n"),
            ("INCR n", ":9223372036854775807\r\n"),
            ("INCR n", "-ERR increment or decrement would overflow\r\n"),
            (
                "DECRBY n -1",
                "-ERR increment or decrement would overflow\r\n",
            ),
            ("TTL n", ":100\r\n"),
            ("SET n -9223372036854775808", "+OK\r\n"),
            ("DECR n", "-ERR increment or decrement would overflow\r\n"),
            (
                "INCRBY n -1",
                "-ERR increment or decrement would overflow\r\n",
            ),
            ("INCRBY n 9223372036854775807", ":-1\r\n"),
        ]);
    }

    #[test]
    fn value_or_increment_that_is_not_an_integer_is_refused() {
        Client::new().check(&[
            ("SET n \" 1\"", "+OK\r\n"),
            ("INCR n", "-ERR value is not an integer or out of range\r\n"),
            ("SET n 01", "+OK\r\n"),
            ("INCR n", "-ERR value is not an integer or out of range\r\n"),
            ("SET n 1.0", "+OK\r\n"),
            ("DECR n", "-ERR value is not an integer or out of range\r\n"),
            (
                "INCRBY n +1",
                "-ERR value is not an integer or out of range\r\n",
            ),
            (
                "DECRBY n \"\"",
                "-ERR value is not an integer or out of range\r\n",
            ),
            (
                "DECRBY n -9223372036854775808",
                "-ERR decrement would overflow\r\n",
            ),
            ("APPEND raw 10", ":2\r\n"),
            ("INCR raw", ":11\r\n"),
        ]);
    }
}
