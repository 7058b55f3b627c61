//! `MOVE key db`: moves a key to another database, atomically.
//!
//! The reply is 1 if it moved the key, and 0 if the key is absent here or exists there.

use super::{db_index, int};
use crate::Ctx;
use crate::errors::SAME_OBJECT;
use crate::notify;
use respire_engine::{Arg, ArgKind, ArgList, Arity, Error, Flags, Group, KeySpec, Reply, Spec};
use respire_store::Scope;

pub(super) static MOVE: Spec = Spec {
    name: "move",
    summary: "Move a key to another database",
    since: "1.0.0",
    complexity: "O(1)",
    group: Group::Generic,
    arity: Arity::exactly(3),
    flags: Flags::WRITE.with(Flags::FAST).with(Flags::ALL_KEYS),
    keys: &[KeySpec::at(1).update()],
    args: &[Arg::key("key", 0), Arg::new("db", ArgKind::Integer)],
    examples: &[
        ("SET a 1", "+OK\r\n"),
        ("MOVE a 1", ":1\r\n"),
        ("MOVE a 1", ":0\r\n"),
        ("SELECT 1", "+OK\r\n"),
        ("GET a", "$1\r\n1\r\n"),
        (
            "MOVE a 1",
            "-ERR source and destination objects are the same\r\n",
        ),
        ("MOVE a 16", "-ERR DB index is out of range\r\n"),
    ],
    ..Spec::EMPTY
};

pub(super) fn run(
    ctx: &mut Ctx<'_>,
    args: ArgList<'_>,
    reply: &mut Reply<'_>,
) -> Result<(), Error> {
    let key = &args[0];
    let from_db = ctx.view.db();
    let to_db = db_index(ctx.kv.store(), int(&args[1])?)?;
    if to_db == from_db {
        return Err(SAME_OBJECT);
    }
    let is_moved = ctx
        .view
        .locked(&Scope::Keys(&[(from_db, key), (to_db, key)]), |view| {
            if view.in_db(to_db).peek(key, |entry| entry.is_some()) {
                return false;
            }
            let Some(owned) = view.update(key, |slot| slot.take()) else {
                return false;
            };
            view.in_db(to_db).update(key, |slot| slot.put(owned));
            view.event(key, notify::MOVE_FROM);
            view.in_db(to_db).event(key, notify::MOVE_TO);
            true
        });
    reply.int(i64::from(is_moved));
    Ok(())
}

#[cfg(test)]
mod tests {
    use crate::key::testing::Client;

    #[test]
    fn move_keeps_the_expiry_and_does_not_replace_a_key() {
        Client::new().check(&[
            ("SET a 1 EX 100", "+OK\r\n"),
            ("MOVE a 2", ":1\r\n"),
            ("SET a 2", "+OK\r\n"),
            ("MOVE a 2", ":0\r\n"),
            ("SELECT 2", "+OK\r\n"),
            ("TTL a", ":100\r\n"),
        ]);
    }

    #[test]
    fn move_works_inside_a_transaction() {
        Client::new().check(&[
            ("SET a 1", "+OK\r\n"),
            ("MULTI", "+OK\r\n"),
            ("MOVE a 2", "+QUEUED\r\n"),
            ("SELECT 2", "+QUEUED\r\n"),
            ("GET a", "+QUEUED\r\n"),
            ("EXEC", "*3\r\n:1\r\n+OK\r\n$1\r\n1\r\n"),
        ]);
    }
}
