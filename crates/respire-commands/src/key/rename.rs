//! `RENAME key newkey`, `RENAMENX key newkey`: moves a value with its expiry to another key,
//! atomically.
//!
//! `RENAME` replaces an existing value; `RENAMENX` replies with 0 instead.

use crate::Ctx;
use crate::errors::NO_SUCH_KEY;
use crate::notify;
use respire_engine::{Arg, ArgList, Arity, Error, Flags, Group, KeyFlag, KeySpec, Reply, Spec};
use respire_store::Scope;

pub(super) static RENAME: Spec = Spec {
    name: "rename",
    summary: "Rename a key",
    since: "1.0.0",
    complexity: "O(1)",
    group: Group::Generic,
    arity: Arity::exactly(3),
    flags: Flags::WRITE,
    keys: &[
        KeySpec::at(1).flags(&[KeyFlag::Rw, KeyFlag::Access, KeyFlag::Delete]),
        KeySpec::at(2).flags(&[KeyFlag::Ow, KeyFlag::Update]),
    ],
    args: &[Arg::key("key", 0), Arg::key("newkey", 1)],
    examples: &[
        ("MSET a 1 b 2", "+OK\r\n"),
        ("RENAME a b", "+OK\r\n"),
        ("MGET a b", "*2\r\n$-1\r\n$1\r\n1\r\n"),
        ("RENAME a b", "-ERR no such key\r\n"),
    ],
    ..Spec::EMPTY
};

pub(super) static RENAMENX: Spec = Spec {
    name: "renamenx",
    summary: "Rename a key, only if the new key does not exist",
    since: "1.0.0",
    complexity: "O(1)",
    group: Group::Generic,
    arity: Arity::exactly(3),
    flags: Flags::WRITE.with(Flags::FAST),
    keys: &[
        KeySpec::at(1).flags(&[KeyFlag::Rw, KeyFlag::Access, KeyFlag::Delete]),
        KeySpec::at(2).flags(&[KeyFlag::Ow, KeyFlag::Insert]),
    ],
    args: &[Arg::key("key", 0), Arg::key("newkey", 1)],
    history: &[(
        "3.2.0",
        "The command no longer returns an error when source and destination names are the same.",
    )],
    examples: &[
        ("MSET a 1 b 2", "+OK\r\n"),
        ("RENAMENX a b", ":0\r\n"),
        ("RENAMENX a c", ":1\r\n"),
        ("RENAMENX a c", "-ERR no such key\r\n"),
    ],
    ..Spec::EMPTY
};

pub(super) fn rename(
    ctx: &mut Ctx<'_>,
    args: ArgList<'_>,
    reply: &mut Reply<'_>,
) -> Result<(), Error> {
    run(ctx, &args[0], &args[1], Target::Any)?;
    reply.ok();
    Ok(())
}

pub(super) fn renamenx(
    ctx: &mut Ctx<'_>,
    args: ArgList<'_>,
    reply: &mut Reply<'_>,
) -> Result<(), Error> {
    let is_renamed = run(ctx, &args[0], &args[1], Target::Absent)?;
    reply.int(i64::from(is_renamed));
    Ok(())
}

/// The requirement on the new key.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Target {
    Any,
    Absent,
}

fn run(ctx: &mut Ctx<'_>, from: &[u8], to: &[u8], target: Target) -> Result<bool, Error> {
    let db = ctx.view.db();
    ctx.view
        .locked(&Scope::Keys(&[(db, from), (db, to)]), |view| {
            if !view.peek(from, |entry| entry.is_some()) {
                return Err(NO_SUCH_KEY);
            }
            // A key renamed to itself blocks itself: this check applies to it too.
            if target == Target::Absent && view.peek(to, |entry| entry.is_some()) {
                return Ok(false);
            }
            if from != to
                && let Some(owned) = view.update(from, |slot| slot.take())
            {
                view.update(to, |slot| slot.put_anew(owned));
                view.event(from, notify::RENAME_FROM);
                view.event(to, notify::RENAME_TO);
            }
            Ok(true)
        })
}

#[cfg(test)]
mod tests {
    use crate::key::testing::Client;

    #[test]
    fn rename_keeps_the_expiry_and_replaces_that_of_the_target() {
        Client::new().check(&[
            ("SET a 1 EX 100", "+OK\r\n"),
            ("SET b 2 EX 200", "+OK\r\n"),
            ("RENAME a b", "+OK\r\n"),
            ("TTL b", ":100\r\n"),
            ("SET c 3", "+OK\r\n"),
            ("RENAME c b", "+OK\r\n"),
            ("TTL b", ":-1\r\n"),
            ("KEYS *", "*1\r\n$1\r\nb\r\n"),
        ]);
    }

    #[test]
    fn key_renamed_to_itself_is_unchanged() {
        Client::new().check(&[
            ("RENAME a a", "-ERR no such key\r\n"),
            ("RENAMENX a a", "-ERR no such key\r\n"),
            ("SET a 1 EX 100", "+OK\r\n"),
            ("RENAME a a", "+OK\r\n"),
            ("RENAMENX a a", ":0\r\n"),
            ("TTL a", ":100\r\n"),
        ]);
    }
}
