//! `SET key value [NX | XX | IFEQ value | IFNE value] [GET] [EX seconds | PX milliseconds | EXAT
//! unix-time-seconds | PXAT unix-time-milliseconds | KEEPTTL]`: sets a key to a value, whatever it
//! held before.
//!
//! `IFEQ` and `IFNE` are in Redis 8.4, `IFEQ` in Valkey 8.1. Neither of them may be repeated or stand
//! beside another condition, although Redis accepts the repetition. They refuse a key that holds
//! another type of value. Redis also has conditions on digests, `IFDEQ` and `IFDNE`.
//!
//! This file also has the older forms `SETNX key value`, `SETEX key seconds value`,
//! `PSETEX key milliseconds value` and `GETSET key value`. As in Redis, an option may be repeated,
//! and the last amount counts; a time in the past is accepted and leaves the key absent.

use super::comparison::Comparison;
use crate::Ctx;
use crate::errors::SYNTAX;
use crate::notify;
use crate::options::{
    ExpiryChoice, ExpiryOption, ExpiryWord, Options, TimeBase, TimeUnit, expires_at, is_word,
    set_once,
};
use crate::value::{new_value, reply_held, set_to_arg};
use respire_engine::{
    Arg, ArgKind, ArgList, Arity, Error, Flags, Group, KeyFlag, KeySpec, Reply, Spec,
};
use respire_store::{Expiry, NewValue, Slot};

pub(super) static SET: Spec = Spec {
    name: "set",
    summary: "Set the string value of a key",
    group: Group::String,
    arity: Arity::at_least(3),
    flags: Flags::WRITE.with(Flags::DENYOOM).with(Flags::CONSTANT),
    keys: &[KeySpec::at(1)
        .flags(&[
            KeyFlag::Rw,
            KeyFlag::Access,
            KeyFlag::Update,
            KeyFlag::VariableFlags,
        ])
        .notes("RW and ACCESS due to the optional `GET` argument")],
    args: &[
        Arg::key("key", 0),
        Arg::new("value", ArgKind::String),
        Arg::one_of(
            "condition",
            &[
                Arg::word("nx", "NX"),
                Arg::word("xx", "XX"),
                Arg::new("ifeq-value", ArgKind::String)
                    .token("IFEQ")
                    .since("8.4.0"),
                Arg::new("ifne-value", ArgKind::String)
                    .token("IFNE")
                    .since("8.4.0"),
            ],
        )
        .since("2.6.12")
        .optional(),
        Arg::word("get", "GET").since("6.2.0").optional(),
        Arg::one_of(
            "expiration",
            &[
                Arg::new("seconds", ArgKind::Integer)
                    .token("EX")
                    .since("2.6.12"),
                Arg::new("milliseconds", ArgKind::Integer)
                    .token("PX")
                    .since("2.6.12"),
                Arg::new("unix-time-seconds", ArgKind::UnixTime)
                    .token("EXAT")
                    .since("6.2.0"),
                Arg::new("unix-time-milliseconds", ArgKind::UnixTime)
                    .token("PXAT")
                    .since("6.2.0"),
                Arg::word("keepttl", "KEEPTTL").since("6.0.0"),
            ],
        )
        .optional(),
    ],
    history: &[
        ("2.6.12", "Added the `EX`, `PX`, `NX` and `XX` options."),
        ("6.0.0", "Added the `KEEPTTL` option."),
        ("6.2.0", "Added the `GET`, `EXAT` and `PXAT` option."),
        (
            "7.0.0",
            "Allowed the `NX` and `GET` options to be used together.",
        ),
        ("8.4.0", "Added the `IFEQ` and `IFNE` options."),
    ],
    examples: &[
        ("SET k v", "+OK\r\n"),
        ("SET k w NX", "$-1\r\n"),
        ("SET k w XX GET", "$1\r\nv\r\n"),
        ("SET k w EX 60", "+OK\r\n"),
        ("TTL k", ":60\r\n"),
        ("SET k w KEEPTTL", "+OK\r\n"),
        ("TTL k", ":60\r\n"),
        ("SET k w EX 60 PX 1", "-ERR syntax error\r\n"),
        (
            "SET k w EX 0",
            "-ERR invalid expire time in 'set' command\r\n",
        ),
    ],
    ..Spec::EMPTY
};

pub(super) static SETNX: Spec = Spec {
    name: "setnx",
    summary: "Set the value of a key, only if the key does not exist",
    group: Group::String,
    arity: Arity::exactly(3),
    flags: Flags::WRITE
        .with(Flags::DENYOOM)
        .with(Flags::FAST)
        .with(Flags::CONSTANT),
    keys: &[KeySpec::at(1).flags(&[KeyFlag::Ow, KeyFlag::Insert])],
    args: &[Arg::key("key", 0), Arg::new("value", ArgKind::String)],
    examples: &[
        ("SETNX k v", ":1\r\n"),
        ("SETNX k w", ":0\r\n"),
        ("GET k", "$1\r\nv\r\n"),
    ],
    ..Spec::EMPTY
};

pub(super) static SETEX: Spec = Spec {
    name: "setex",
    summary: "Set the value and expiration of a key",
    since: "2.0.0",
    group: Group::String,
    arity: Arity::exactly(4),
    flags: Flags::WRITE.with(Flags::DENYOOM).with(Flags::CONSTANT),
    keys: &[KeySpec::at(1).flags(&[KeyFlag::Ow, KeyFlag::Update])],
    args: &[
        Arg::key("key", 0),
        Arg::new("seconds", ArgKind::Integer),
        Arg::new("value", ArgKind::String),
    ],
    examples: &[
        ("SETEX k 60 v", "+OK\r\n"),
        ("TTL k", ":60\r\n"),
        (
            "SETEX k -1 v",
            "-ERR invalid expire time in 'setex' command\r\n",
        ),
    ],
    ..Spec::EMPTY
};

pub(super) static PSETEX: Spec = Spec {
    name: "psetex",
    summary: "Set the value and expiration in milliseconds of a key",
    since: "2.6.0",
    group: Group::String,
    arity: Arity::exactly(4),
    flags: Flags::WRITE.with(Flags::DENYOOM).with(Flags::CONSTANT),
    keys: &[KeySpec::at(1).flags(&[KeyFlag::Ow, KeyFlag::Update])],
    args: &[
        Arg::key("key", 0),
        Arg::new("milliseconds", ArgKind::Integer),
        Arg::new("value", ArgKind::String),
    ],
    examples: &[
        ("PSETEX k 60000 v", "+OK\r\n"),
        ("TTL k", ":60\r\n"),
        (
            "PSETEX k 0 v",
            "-ERR invalid expire time in 'psetex' command\r\n",
        ),
    ],
    ..Spec::EMPTY
};

pub(super) static GETSET: Spec = Spec {
    name: "getset",
    summary: "Set the string value of a key and return its old value",
    group: Group::String,
    arity: Arity::exactly(3),
    flags: Flags::WRITE
        .with(Flags::DENYOOM)
        .with(Flags::FAST)
        .with(Flags::CONSTANT),
    keys: &[KeySpec::at(1).update()],
    args: &[Arg::key("key", 0), Arg::new("value", ArgKind::String)],
    deprecated: Some(("6.2.0", "`SET` with the `!GET` argument")),
    examples: &[
        ("GETSET k Hello", "$-1\r\n"),
        ("GETSET k World", "$5\r\nHello\r\n"),
        ("GET k", "$5\r\nWorld\r\n"),
    ],
    ..Spec::EMPTY
};

pub(super) fn set(
    ctx: &mut Ctx<'_>,
    args: ArgList<'_>,
    reply: &mut Reply<'_>,
) -> Result<(), Error> {
    if args.len() == 3 && is_word(&args[2], "GET") {
        // The binary protocol maps its `SET` to this form.
        return getset(ctx, args, reply);
    }
    let (key, client) = (&args[0], ctx.client);
    if args.len() == 2 {
        ctx.view.update(key, |slot| {
            set_to_arg(slot, client, &args[1]);
            slot.event(notify::SET);
        });
        reply.ok();
        return Ok(());
    }
    let value = new_value(client, &args[1]);
    let (options, now_ms) = (parse(args.skip(2))?, ctx.now.unix_ms());
    let expiry = match options.expiry.resolve(SET.name, now_ms)? {
        ExpiryChoice::At(at) => Expiry::At(at),
        ExpiryChoice::Keep => Expiry::Keep,
        ExpiryChoice::Unsaid | ExpiryChoice::Persist => Expiry::Clear,
    };
    if options.get && options.condition.is_none() {
        return ctx.exchange(key, &args[1], expiry, reply);
    }
    if options.get {
        return ctx.read_and_update(key, |slot| {
            reply_held(reply, slot)?;
            write(slot, value, options.condition, (expiry, now_ms)).map(|_| ())
        });
    }
    if ctx.view.update(key, |slot| {
        write(slot, value, options.condition, (expiry, now_ms))
    })? {
        reply.ok();
    } else {
        reply.null();
    }
    Ok(())
}

pub(super) fn setnx(
    ctx: &mut Ctx<'_>,
    args: ArgList<'_>,
    reply: &mut Reply<'_>,
) -> Result<(), Error> {
    let absent = Some(Condition::IfAbsent);
    let value = new_value(ctx.client, &args[1]);
    let is_set = ctx.view.update(&args[0], |slot| {
        write(slot, value, absent, (Expiry::Clear, 0))
    })?;
    reply.int(i64::from(is_set));
    Ok(())
}

pub(super) fn setex(
    ctx: &mut Ctx<'_>,
    args: ArgList<'_>,
    reply: &mut Reply<'_>,
) -> Result<(), Error> {
    set_for(ctx, args, reply, TimeUnit::Seconds, SETEX.name)
}

pub(super) fn psetex(
    ctx: &mut Ctx<'_>,
    args: ArgList<'_>,
    reply: &mut Reply<'_>,
) -> Result<(), Error> {
    set_for(ctx, args, reply, TimeUnit::Milliseconds, PSETEX.name)
}

fn set_for(
    ctx: &mut Ctx<'_>,
    args: ArgList<'_>,
    reply: &mut Reply<'_>,
    unit: TimeUnit,
    command: &str,
) -> Result<(), Error> {
    let at = expires_at(&args[1], TimeBase::Now, unit, command, ctx.now.unix_ms())?;
    let value = new_value(ctx.client, &args[2]);
    let (expiry, now_ms) = (Expiry::At(at), ctx.now.unix_ms());
    ctx.view.update(&args[0], |slot| {
        slot.set(value, expiry);
        notify::was_set(slot, expiry, now_ms);
    });
    reply.ok();
    Ok(())
}

pub(super) fn getset(
    ctx: &mut Ctx<'_>,
    args: ArgList<'_>,
    reply: &mut Reply<'_>,
) -> Result<(), Error> {
    ctx.exchange(&args[0], &args[1], Expiry::Clear, reply)
}

/// Writes the value and its expiry if the condition holds; returns whether it does.
fn write(
    slot: &mut Slot<'_>,
    value: NewValue<'_>,
    condition: Option<Condition<'_>>,
    (expiry, now_ms): (Expiry, u64),
) -> Result<bool, Error> {
    let holds = match condition {
        None => true,
        Some(Condition::IfAbsent) => !slot.exists(),
        Some(Condition::IfPresent) => slot.exists(),
        Some(Condition::If(comparison)) => comparison.holds(slot.get())?,
    };
    if holds {
        slot.set(value, expiry);
        notify::was_set(slot, expiry, now_ms);
    }
    Ok(holds)
}

/// The condition under which the value is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Condition<'a> {
    /// `NX`: the key must be absent.
    IfAbsent,
    /// `XX`: the key must exist.
    IfPresent,
    /// `IFEQ`, `IFNE`: the comparison must hold.
    If(Comparison<'a>),
}

#[derive(Default)]
struct SetOptions<'a> {
    condition: Option<Condition<'a>>,
    get: bool,
    expiry: ExpiryOption<'a>,
}

fn parse(rest: ArgList<'_>) -> Result<SetOptions<'_>, Error> {
    let mut options = Options::new(rest);
    let mut found = SetOptions::default();
    while let Some(option) = options.next() {
        if is_word(option, "NX") {
            set_once(&mut found.condition, Condition::IfAbsent)?;
        } else if is_word(option, "XX") {
            set_once(&mut found.condition, Condition::IfPresent)?;
        } else if is_word(option, "GET") {
            found.get = true;
        } else {
            match ExpiryWord::parse(option) {
                Some(ExpiryWord::Persist) => return Err(SYNTAX),
                Some(word) => found.expiry.set(word, &mut options)?,
                None => {
                    let comparison = Comparison::parse(option, &mut options)?.ok_or(SYNTAX)?;
                    if found.condition.is_some() {
                        return Err(SYNTAX);
                    }
                    found.condition = Some(Condition::If(comparison));
                }
            }
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use crate::key::testing::Client;

    #[test]
    fn options_in_any_case_and_order_may_be_repeated() {
        Client::new().check(&[
            ("SET k v ex 10 EX 20 nx NX", "+OK\r\n"),
            ("TTL k", ":20\r\n"),
            ("SET k w xx get KeepTTL keepttl", "$1\r\nv\r\n"),
            ("TTL k", ":20\r\n"),
            ("SET k x PX 5000 GET GET", "$1\r\nw\r\n"),
            ("TTL k", ":5\r\n"),
        ]);
    }

    #[test]
    fn conflicting_or_unknown_options_are_syntax_errors() {
        Client::new().check(&[
            ("SET k v NX XX", "-ERR syntax error\r\n"),
            ("SET k v EX 10 PX 10", "-ERR syntax error\r\n"),
            ("SET k v KEEPTTL EX 10", "-ERR syntax error\r\n"),
            ("SET k v PERSIST", "-ERR syntax error\r\n"),
            ("SET k v EX", "-ERR syntax error\r\n"),
            ("SET k v EX x NX XX", "-ERR syntax error\r\n"),
            ("SET k v foo", "-ERR syntax error\r\n"),
            ("SET k v \"\"", "-ERR syntax error\r\n"),
        ]);
    }

    #[test]
    fn comparison_excludes_every_other_condition_and_its_repetition() {
        for options in [
            "IFEQ",
            "IFNE",
            "IFEQ v NX",
            "NX IFEQ v",
            "XX IFNE v",
            "IFNE v XX",
            "IFEQ v IFNE w",
            "IFEQ v IFEQ v",
            "IFDEQ v",
        ] {
            let reply = Client::new().send(&format!("SET k v {options}"));
            assert_eq!(reply, "-ERR syntax error\r\n", "{options}");
        }
    }

    #[test]
    fn comparison_takes_the_word_after_it_whatever_it_is() {
        Client::new().check(&[
            ("SET k GET", "+OK\r\n"),
            ("SET k NX ifeq GET", "+OK\r\n"),
            ("SET k w EX 100 IFEQ NX GET", "$2\r\nNX\r\n"),
            ("TTL k", ":100\r\n"),
            ("SET k x IFNE KEEPTTL KEEPTTL", "+OK\r\n"),
            ("TTL k", ":100\r\n"),
            ("SET k 07", "+OK\r\n"),
            ("SET k 8 IFEQ 7", "$-1\r\n"),
            ("SET k 8 IFEQ 07", "+OK\r\n"),
            ("SET k 9 IFEQ 8", "+OK\r\n"),
        ]);
    }

    #[test]
    fn absent_key_equals_no_string() {
        Client::new().check(&[
            ("SET k v IFEQ \"\"", "$-1\r\n"),
            ("SET k v IFEQ \"\" GET", "$-1\r\n"),
            ("EXISTS k", ":0\r\n"),
            ("SET k v IFNE \"\"", "+OK\r\n"),
            ("SET k w IFNE v", "$-1\r\n"),
            ("SET k w IFNE v GET", "$1\r\nv\r\n"),
            ("GET k", "$1\r\nv\r\n"),
        ]);
    }

    #[test]
    fn failed_comparison_is_no_change_for_watch() {
        Client::new().check(&[
            ("SET k v", "+OK\r\n"),
            ("WATCH k", "+OK\r\n"),
            ("SET k w IFEQ w", "$-1\r\n"),
            (
                "SET k w EX 0 IFEQ w",
                "-ERR invalid expire time in 'set' command\r\n",
            ),
            ("MULTI", "+OK\r\n"),
            ("SET k w IFEQ v", "+QUEUED\r\n"),
            ("EXEC", "*1\r\n+OK\r\n"),
        ]);
    }

    #[test]
    fn amount_out_of_range_is_refused_and_creates_no_key() {
        Client::new().check(&[
            (
                "SET k v EX 0",
                "-ERR invalid expire time in 'set' command\r\n",
            ),
            (
                "SET k v PX -1",
                "-ERR invalid expire time in 'set' command\r\n",
            ),
            (
                "SET k v EXAT 0",
                "-ERR invalid expire time in 'set' command\r\n",
            ),
            (
                "SET k v EX x",
                "-ERR value is not an integer or out of range\r\n",
            ),
            (
                "SET k v EX 9223372036854775807",
                "-ERR invalid expire time in 'set' command\r\n",
            ),
            (
                "SET k v PX 9223372036854775807",
                "-ERR invalid expire time in 'set' command\r\n",
            ),
            (
                "SETEX k 0 v",
                "-ERR invalid expire time in 'setex' command\r\n",
            ),
            (
                "PSETEX k x v",
                "-ERR value is not an integer or out of range\r\n",
            ),
            ("EXISTS k", ":0\r\n"),
        ]);
    }

    #[test]
    fn key_is_unchanged_if_the_condition_fails() {
        Client::new().check(&[
            ("SET k v XX", "$-1\r\n"),
            ("SET k v XX GET", "$-1\r\n"),
            ("EXISTS k", ":0\r\n"),
            ("SET k v NX GET", "$-1\r\n"),
            ("SET k w NX", "$-1\r\n"),
            ("SET k w NX GET", "$1\r\nv\r\n"),
            ("GET k", "$1\r\nv\r\n"),
        ]);
    }

    #[test]
    fn time_in_the_past_leaves_the_key_absent() {
        Client::new().check(&[
            ("SET k v", "+OK\r\n"),
            ("SET k w PXAT 1", "+OK\r\n"),
            ("GET k", "$-1\r\n"),
            ("SET k w EXAT 1 GET", "$-1\r\n"),
            ("GET k", "$-1\r\n"),
        ]);
    }

    #[test]
    fn time_in_the_past_counts_as_a_change_for_watch() {
        Client::new().check(&[
            ("WATCH k", "+OK\r\n"),
            ("SET k v PXAT 1", "+OK\r\n"),
            ("MULTI", "+OK\r\n"),
            ("EXEC", "*-1\r\n"),
        ]);
    }

    #[test]
    fn expiry_is_cleared_unless_kept() {
        Client::new().check(&[
            ("SETEX k 100 v", "+OK\r\n"),
            ("GETSET k w", "$1\r\nv\r\n"),
            ("TTL k", ":-1\r\n"),
            ("PSETEX k 100000 v", "+OK\r\n"),
            ("SETNX k w", ":0\r\n"),
            ("TTL k", ":100\r\n"),
            ("SET k w", "+OK\r\n"),
            ("TTL k", ":-1\r\n"),
        ]);
    }
}
