//! `DELEX key [IFEQ value | IFNE value]` and `DELIFEQ key value`: removes a key if its string equals
//! a value, or differs from it, and replies with the number of keys removed.
//!
//! With these commands a lock is released without a script: `DELIFEQ lock token`.
//!
//! `DELEX` is in Redis 8.4 and, with one of the two conditions, in Valkey 9.2; `DELIFEQ` is in
//! Valkey 9. As in Redis, `DELEX` without a condition removes a key of any type. The errors are those
//! of `SET`, where Redis has texts of its own: WRONGTYPE for a key that does not hold a string, and a
//! syntax error for another word than `IFEQ` or `IFNE`, such as Redis's conditions on digests.

use super::comparison::Comparison;
use crate::Ctx;
use crate::errors::{SYNTAX, wrong_arity};
use crate::notify;
use crate::options::Options;
use respire_engine::{
    Arg, ArgKind, ArgList, Arity, Error, Flags, Group, KeyFlag, KeySpec, Reply, Spec,
};
use respire_store::Slot;

pub(super) static DELEX: Spec = Spec {
    name: "delex",
    summary: "Delete a key, optionally only if its string equals a value or differs from it",
    since: "8.4.0",
    group: Group::String,
    arity: Arity::at_least(2),
    flags: Flags::WRITE.with(Flags::FAST).with(Flags::CONSTANT),
    keys: &[KeySpec::at(1)
        .flags(&[KeyFlag::Rw, KeyFlag::Delete, KeyFlag::VariableFlags])
        .notes("RW due to the optional conditions")],
    args: &[
        Arg::key("key", 0),
        Arg::one_of(
            "condition",
            &[
                Arg::new("ifeq-value", ArgKind::String).token("IFEQ"),
                Arg::new("ifne-value", ArgKind::String).token("IFNE"),
            ],
        )
        .optional(),
    ],
    examples: &[
        ("SET lock token", "+OK\r\n"),
        ("DELEX lock IFEQ other", ":0\r\n"),
        ("DELEX lock IFNE token", ":0\r\n"),
        ("DELEX lock IFEQ token", ":1\r\n"),
        ("DELEX lock IFEQ token", ":0\r\n"),
        ("SET lock token", "+OK\r\n"),
        ("DELEX lock", ":1\r\n"),
    ],
    ..Spec::EMPTY
};

pub(super) static DELIFEQ: Spec = Spec {
    name: "delifeq",
    summary: "Delete a key, only if its string equals a value",
    since: "9.0.0",
    group: Group::String,
    arity: Arity::exactly(3),
    flags: Flags::WRITE.with(Flags::FAST).with(Flags::CONSTANT),
    keys: &[KeySpec::at(1).flags(&[KeyFlag::Rw, KeyFlag::Delete])],
    args: &[Arg::key("key", 0), Arg::new("value", ArgKind::String)],
    examples: &[
        ("SET lock token", "+OK\r\n"),
        ("DELIFEQ lock other", ":0\r\n"),
        ("DELIFEQ lock token", ":1\r\n"),
        ("DELIFEQ lock token", ":0\r\n"),
    ],
    ..Spec::EMPTY
};

pub(super) fn delex(
    ctx: &mut Ctx<'_>,
    args: ArgList<'_>,
    reply: &mut Reply<'_>,
) -> Result<(), Error> {
    let condition = match args.len() {
        1 => None,
        3 => {
            let mut operand = Options::new(args.skip(2));
            Some(Comparison::parse(&args[1], &mut operand)?.ok_or(SYNTAX)?)
        }
        _ => return Err(wrong_arity(DELEX.name)),
    };
    remove_if(ctx, &args[0], condition, reply)
}

pub(super) fn delifeq(
    ctx: &mut Ctx<'_>,
    args: ArgList<'_>,
    reply: &mut Reply<'_>,
) -> Result<(), Error> {
    remove_if(ctx, &args[0], Some(Comparison::Equal(&args[1])), reply)
}

fn remove_if(
    ctx: &mut Ctx<'_>,
    key: &[u8],
    condition: Option<Comparison<'_>>,
    reply: &mut Reply<'_>,
) -> Result<(), Error> {
    let remove = |slot: &mut Slot<'_>| {
        let holds = match condition {
            Some(condition) => condition.holds(slot.get())?,
            None => true,
        };
        let is_removed = holds && slot.remove();
        if is_removed {
            slot.event(notify::DEL);
        }
        Ok(is_removed)
    };
    let is_removed = ctx.view.update(key, remove)?;
    reply.int(i64::from(is_removed));
    Ok(())
}

#[cfg(test)]
mod tests {
    use crate::key::testing::Client;
    use respire_store::SHARED_BYTES_MIN;
    use std::time::Duration;

    #[test]
    fn integer_equals_only_its_own_digits() {
        Client::new().check(&[
            ("SET k 100", "+OK\r\n"),
            ("DELIFEQ k 0100", ":0\r\n"),
            ("DELIFEQ k 1e2", ":0\r\n"),
            ("DELEX k IFNE 100", ":0\r\n"),
            ("DELIFEQ k 100", ":1\r\n"),
        ]);
    }

    #[test]
    fn edited_and_shared_strings_are_compared_by_their_bytes() {
        let large = "x".repeat(SHARED_BYTES_MIN);
        let mut client = Client::new();
        for between in ["GET k", "PING"] {
            client.send(&format!("SET k {large}"));
            client.send("APPEND k y");
            client.send(between);
            let is_removed = client.send(&format!("DELIFEQ k {large}z"));
            assert_eq!(is_removed, ":0\r\n");
            let is_removed = client.send(&format!("DELEX k ifeq {large}y"));
            assert_eq!(is_removed, ":1\r\n");
        }
    }

    #[test]
    fn absent_and_expired_keys_are_not_removed() {
        let mut client = Client::new();
        client.check(&[("SET k v PX 10", "+OK\r\n")]);
        client.advance(Duration::from_millis(10));
        client.check(&[
            ("DELIFEQ k v", ":0\r\n"),
            ("DELEX k", ":0\r\n"),
            ("DELEX k IFEQ \"\"", ":0\r\n"),
            ("DELEX k IFNE w", ":0\r\n"),
        ]);
    }

    #[test]
    fn arguments_are_checked_before_the_key() {
        Client::new().check(&[
            (
                "DELEX k IFEQ",
                "-ERR wrong number of arguments for 'delex' command\r\n",
            ),
            (
                "DELEX k IFEQ v w",
                "-ERR wrong number of arguments for 'delex' command\r\n",
            ),
            ("DELEX k NX v", "-ERR syntax error\r\n"),
            (
                "DELIFEQ k",
                "-ERR wrong number of arguments for 'delifeq' command\r\n",
            ),
        ]);
    }

    #[test]
    fn failed_condition_is_no_change_for_watch() {
        Client::new().check(&[
            ("SET k v", "+OK\r\n"),
            ("WATCH k", "+OK\r\n"),
            ("DELIFEQ k w", ":0\r\n"),
            ("MULTI", "+OK\r\n"),
            ("DELIFEQ k v", "+QUEUED\r\n"),
            ("EXEC", "*1\r\n:1\r\n"),
        ]);
    }
}
