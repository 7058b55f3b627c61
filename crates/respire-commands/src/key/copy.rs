//! `COPY source destination [DB destination-db] [REPLACE]`: copies a value with its expiry,
//! atomically.
//!
//! The reply is 1 if it copied, and 0 if the source is absent or, without `REPLACE`, the
//! destination exists.

use super::{db_index, int};
use crate::Ctx;
use crate::errors::{SAME_OBJECT, SYNTAX};
use crate::notify;
use crate::options::{Options, is_word};
use crate::unlocked::{is_edited, share};
use respire_engine::{
    Arg, ArgKind, ArgList, Arity, Error, Flags, Group, KeyFlag, KeySpec, Reply, Spec,
};
use respire_store::{EntryRef, Scope, Store};

pub(super) static COPY: Spec = Spec {
    name: "copy",
    summary: "Copy a key",
    since: "6.2.0",
    complexity: "O(N) worst case for collections, where N is the number of nested items. O(1) for string values.",
    group: Group::Generic,
    arity: Arity::at_least(3),
    flags: Flags::WRITE.with(Flags::DENYOOM).with(Flags::ALL_KEYS),
    keys: &[
        KeySpec::at(1),
        KeySpec::at(2).flags(&[KeyFlag::Ow, KeyFlag::Update]),
    ],
    args: &[
        Arg::key("source", 0),
        Arg::key("destination", 1),
        Arg::new("destination-db", ArgKind::Integer)
            .token("DB")
            .optional(),
        Arg::word("replace", "REPLACE").optional(),
    ],
    examples: &[
        ("SET a 1", "+OK\r\n"),
        ("COPY a b", ":1\r\n"),
        ("COPY a b", ":0\r\n"),
        ("COPY a b REPLACE", ":1\r\n"),
        ("COPY a a DB 1", ":1\r\n"),
        ("COPY c d", ":0\r\n"),
        (
            "COPY a a",
            "-ERR source and destination objects are the same\r\n",
        ),
        ("COPY a b DB 16", "-ERR DB index is out of range\r\n"),
    ],
    ..Spec::EMPTY
};

pub(super) fn run(
    ctx: &mut Ctx<'_>,
    args: ArgList<'_>,
    reply: &mut Reply<'_>,
) -> Result<(), Error> {
    let (from, to) = (&args[0], &args[1]);
    let from_db = ctx.view.db();
    let target = Target::parse(Options::new(args.skip(2)), ctx.kv.store(), from_db)?;
    if target.db == from_db && from == to {
        return Err(SAME_OBJECT);
    }
    let scope = [(from_db, from), (target.db, to)];
    let (is_found, is_copied) = ctx.view.locked(&Scope::Keys(&scope), |view| {
        let owned = view.read(from, |entry| match entry {
            Some(entry) if is_edited(entry) => Err(()),
            entry => Ok(entry.map(EntryRef::owned)),
        });
        let Some(owned) = owned.unwrap_or_else(|()| view.update(from, share)) else {
            return (false, false);
        };
        let is_copied = view.in_db(target.db).update(to, |slot| {
            let is_free = target.replace || !slot.exists();
            if is_free {
                slot.put_anew(owned);
                slot.event(notify::COPY_TO);
            }
            is_free
        });
        (true, is_copied)
    });
    ctx.looked_up(is_found);
    reply.int(i64::from(is_copied));
    Ok(())
}

/// The options of one request.
struct Target {
    db: u32,
    replace: bool,
}

impl Target {
    fn parse(mut options: Options<'_>, store: &Store, own_db: u32) -> Result<Self, Error> {
        let mut target = Self {
            db: own_db,
            replace: false,
        };
        while let Some(word) = options.next() {
            if is_word(word, "REPLACE") {
                target.replace = true;
            } else if is_word(word, "DB") {
                target.db = db_index(store, int(options.value()?)?)?;
            } else {
                return Err(SYNTAX);
            }
        }
        Ok(target)
    }
}

#[cfg(test)]
mod tests {
    use crate::key::testing::Client;

    #[test]
    fn copy_has_the_expiry_of_its_source_and_changes_independently() {
        Client::new().check(&[
            ("SET a one EX 100", "+OK\r\n"),
            ("SET b two EX 200", "+OK\r\n"),
            ("COPY a b REPLACE", ":1\r\n"),
            ("TTL b", ":100\r\n"),
            ("APPEND a !", ":4\r\n"),
            ("GET b", "$3\r\none\r\n"),
        ]);
    }

    #[test]
    fn copy_to_another_database_works_inside_a_transaction() {
        Client::new().check(&[
            ("SET a one", "+OK\r\n"),
            ("MULTI", "+OK\r\n"),
            ("COPY a b DB 3", "+QUEUED\r\n"),
            ("COPY a b DB 3", "+QUEUED\r\n"),
            ("EXEC", "*2\r\n:1\r\n:0\r\n"),
            ("SELECT 3", "+OK\r\n"),
            ("GET b", "$3\r\none\r\n"),
        ]);
    }

    #[test]
    fn options_are_checked_before_the_keys_are_read() {
        Client::new().check(&[
            ("COPY a a FROM", "-ERR syntax error\r\n"),
            ("COPY a a DB", "-ERR syntax error\r\n"),
            (
                "COPY a a DB x",
                "-ERR value is not an integer or out of range\r\n",
            ),
            ("COPY a a DB -1", "-ERR DB index is out of range\r\n"),
            (
                "COPY a a DB 1 DB 0",
                "-ERR source and destination objects are the same\r\n",
            ),
        ]);
    }
}
