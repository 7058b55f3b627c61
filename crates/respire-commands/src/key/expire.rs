//! `EXPIRE key seconds [NX | XX | GT | LT]`, `PEXPIRE key milliseconds [...]`,
//! `EXPIREAT key unix-seconds [...]`, `PEXPIREAT key unix-milliseconds [...]`: sets the expiry of a
//! key.
//!
//! The reply is 1, or 0 if there is no such key or the condition does not hold. A time that is not
//! in the future removes the key. A key without an expiry counts as living forever, so `GT` never
//! holds for it and `LT` always does.

use crate::Ctx;
use crate::errors::{EXPIRE_GT_AND_LT, EXPIRE_NX, invalid_expire, unsupported_option};
use crate::notify;
use crate::options::{TimeBase, TimeUnit, integer, is_word};
use respire_engine::{
    Arg, ArgKind, ArgList, Arity, Error, Flags, Group, KeyFlag, KeySpec, Reply, Spec,
};

pub(super) static EXPIRE: Spec = Spec {
    name: "expire",
    summary: "Set a key's time to live in seconds",
    since: "1.0.0",
    complexity: "O(1)",
    group: Group::Generic,
    arity: Arity::at_least(3),
    flags: Flags::WRITE.with(Flags::FAST).with(Flags::CONSTANT),
    keys: &[KeySpec::at(1).flags(&[KeyFlag::Rw, KeyFlag::Update])],
    args: &[
        Arg::key("key", 0),
        Arg::new("seconds", ArgKind::Integer),
        Arg::one_of(
            "condition",
            &[
                Arg::word("nx", "NX"),
                Arg::word("xx", "XX"),
                Arg::word("gt", "GT"),
                Arg::word("lt", "LT"),
            ],
        )
        .since("7.0.0")
        .optional(),
    ],
    history: &[("7.0.0", "Added options: `NX`, `XX`, `GT` and `LT`.")],
    examples: &[
        ("SET a 1", "+OK\r\n"),
        ("EXPIRE a 100", ":1\r\n"),
        ("TTL a", ":100\r\n"),
        ("EXPIRE a 50 GT", ":0\r\n"),
        ("EXPIRE a 50 NX", ":0\r\n"),
        ("EXPIRE b 50", ":0\r\n"),
        (
            "EXPIRE a 50 NX XX",
            "-ERR NX and XX, GT or LT options at the same time are not compatible\r\n",
        ),
        ("EXPIRE a 50 NEVER", "-ERR Unsupported option NEVER\r\n"),
        (
            "EXPIRE a 9223372036854775807",
            "-ERR invalid expire time in 'expire' command\r\n",
        ),
    ],
    ..Spec::EMPTY
};

pub(super) static PEXPIRE: Spec = Spec {
    name: "pexpire",
    summary: "Set a key's time to live in milliseconds",
    since: "2.6.0",
    complexity: "O(1)",
    group: Group::Generic,
    arity: Arity::at_least(3),
    flags: Flags::WRITE.with(Flags::FAST).with(Flags::CONSTANT),
    keys: &[KeySpec::at(1).flags(&[KeyFlag::Rw, KeyFlag::Update])],
    args: &[
        Arg::key("key", 0),
        Arg::new("milliseconds", ArgKind::Integer),
        Arg::one_of(
            "condition",
            &[
                Arg::word("nx", "NX"),
                Arg::word("xx", "XX"),
                Arg::word("gt", "GT"),
                Arg::word("lt", "LT"),
            ],
        )
        .since("7.0.0")
        .optional(),
    ],
    history: &[("7.0.0", "Added options: `NX`, `XX`, `GT` and `LT`.")],
    examples: &[
        ("SET a 1", "+OK\r\n"),
        ("PEXPIRE a 100000 XX", ":0\r\n"),
        ("PEXPIRE a 100000 LT", ":1\r\n"),
        ("TTL a", ":100\r\n"),
        (
            "PEXPIRE a soon",
            "-ERR value is not an integer or out of range\r\n",
        ),
    ],
    ..Spec::EMPTY
};

pub(super) static EXPIREAT: Spec = Spec {
    name: "expireat",
    summary: "Set the expiration for a key as a UNIX timestamp",
    since: "1.2.0",
    complexity: "O(1)",
    group: Group::Generic,
    arity: Arity::at_least(3),
    flags: Flags::WRITE.with(Flags::FAST).with(Flags::CONSTANT),
    keys: &[KeySpec::at(1).flags(&[KeyFlag::Rw, KeyFlag::Update])],
    args: &[
        Arg::key("key", 0),
        Arg::new("unix-time-seconds", ArgKind::UnixTime),
        Arg::one_of(
            "condition",
            &[
                Arg::word("nx", "NX"),
                Arg::word("xx", "XX"),
                Arg::word("gt", "GT"),
                Arg::word("lt", "LT"),
            ],
        )
        .since("7.0.0")
        .optional(),
    ],
    history: &[("7.0.0", "Added options: `NX`, `XX`, `GT` and `LT`.")],
    examples: &[
        ("SET a 1", "+OK\r\n"),
        ("EXPIREAT a 33177117420", ":1\r\n"),
        ("EXPIRETIME a", ":33177117420\r\n"),
        ("EXPIREAT a 1", ":1\r\n"),
        ("EXISTS a", ":0\r\n"),
        (
            "EXPIREAT a",
            "-ERR wrong number of arguments for 'expireat' command\r\n",
        ),
    ],
    ..Spec::EMPTY
};

pub(super) static PEXPIREAT: Spec = Spec {
    name: "pexpireat",
    summary: "Set the expiration for a key as a UNIX timestamp specified in milliseconds",
    since: "2.6.0",
    complexity: "O(1)",
    group: Group::Generic,
    arity: Arity::at_least(3),
    flags: Flags::WRITE.with(Flags::FAST).with(Flags::CONSTANT),
    keys: &[KeySpec::at(1).flags(&[KeyFlag::Rw, KeyFlag::Update])],
    args: &[
        Arg::key("key", 0),
        Arg::new("unix-time-milliseconds", ArgKind::UnixTime),
        Arg::one_of(
            "condition",
            &[
                Arg::word("nx", "NX"),
                Arg::word("xx", "XX"),
                Arg::word("gt", "GT"),
                Arg::word("lt", "LT"),
            ],
        )
        .since("7.0.0")
        .optional(),
    ],
    history: &[("7.0.0", "Added options: `NX`, `XX`, `GT` and `LT`.")],
    examples: &[
        ("SET a 1", "+OK\r\n"),
        ("PEXPIREAT a 33177117420000", ":1\r\n"),
        ("PEXPIRETIME a", ":33177117420000\r\n"),
        (
            "PEXPIREAT a 1 GT LT",
            "-ERR GT and LT options at the same time are not compatible\r\n",
        ),
    ],
    ..Spec::EMPTY
};

pub(super) fn expire(
    ctx: &mut Ctx<'_>,
    args: ArgList<'_>,
    reply: &mut Reply<'_>,
) -> Result<(), Error> {
    run(
        ctx,
        args,
        reply,
        Form {
            name: "expire",
            base: TimeBase::Now,
            unit: TimeUnit::Seconds,
        },
    )
}

pub(super) fn pexpire(
    ctx: &mut Ctx<'_>,
    args: ArgList<'_>,
    reply: &mut Reply<'_>,
) -> Result<(), Error> {
    run(
        ctx,
        args,
        reply,
        Form {
            name: "pexpire",
            base: TimeBase::Now,
            unit: TimeUnit::Milliseconds,
        },
    )
}

pub(super) fn expireat(
    ctx: &mut Ctx<'_>,
    args: ArgList<'_>,
    reply: &mut Reply<'_>,
) -> Result<(), Error> {
    run(
        ctx,
        args,
        reply,
        Form {
            name: "expireat",
            base: TimeBase::Epoch,
            unit: TimeUnit::Seconds,
        },
    )
}

pub(super) fn pexpireat(
    ctx: &mut Ctx<'_>,
    args: ArgList<'_>,
    reply: &mut Reply<'_>,
) -> Result<(), Error> {
    run(
        ctx,
        args,
        reply,
        Form {
            name: "pexpireat",
            base: TimeBase::Epoch,
            unit: TimeUnit::Milliseconds,
        },
    )
}

/// The differences between the four commands.
#[derive(Clone, Copy)]
struct Form {
    name: &'static str,
    base: TimeBase,
    unit: TimeUnit,
}

fn run(
    ctx: &mut Ctx<'_>,
    args: ArgList<'_>,
    reply: &mut Reply<'_>,
    form: Form,
) -> Result<(), Error> {
    let conditions = Conditions::parse(args.skip(2))?;
    let amount = integer(&args[1])?;
    let at = form
        .unit
        .to_ms(amount)
        .and_then(|ms| match form.base {
            TimeBase::Now => ms.checked_add_unsigned(ctx.now.unix_ms()),
            TimeBase::Epoch => Some(ms),
        })
        .ok_or_else(|| invalid_expire(form.name))?;
    // A time before 1970 is in the past, as 1970 itself is.
    let at = u64::try_from(at).unwrap_or(0);
    let now_ms = ctx.view.now_ms();
    let is_set = ctx.view.update(&args[0], |slot| {
        let holds = slot
            .get()
            .is_some_and(|entry| conditions.hold(entry.expires_at(), at));
        let is_set = holds && slot.set_expiry(Some(at));
        if is_set {
            notify::was_given_expiry(slot, at, now_ms);
        }
        is_set
    });
    reply.int(i64::from(is_set));
    Ok(())
}

/// The conditions of one request. Without any, the expiry is always set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Conditions {
    nx: bool,
    xx: bool,
    gt: bool,
    lt: bool,
}

impl Conditions {
    fn parse(words: ArgList<'_>) -> Result<Self, Error> {
        let mut conditions = Self::default();
        for word in words.iter() {
            match word {
                _ if is_word(word, "NX") => conditions.nx = true,
                _ if is_word(word, "XX") => conditions.xx = true,
                _ if is_word(word, "GT") => conditions.gt = true,
                _ if is_word(word, "LT") => conditions.lt = true,
                _ => return Err(unsupported_option(word)),
            }
        }
        let Self { nx, xx, gt, lt } = conditions;
        if nx && (xx || gt || lt) {
            return Err(EXPIRE_NX);
        }
        if gt && lt {
            return Err(EXPIRE_GT_AND_LT);
        }
        Ok(conditions)
    }

    fn hold(self, before: Option<u64>, at: u64) -> bool {
        (!self.nx || before.is_none())
            && (!self.xx || before.is_some())
            && (!self.gt || before.is_some_and(|before| at > before))
            && (!self.lt || before.is_none_or(|before| at < before))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::key::testing::Client;

    #[test]
    fn conditions_hold_as_in_redis() {
        let none = Conditions::default();
        let gt = Conditions { gt: true, ..none };
        let lt = Conditions { lt: true, ..none };
        let xx_and_gt = Conditions {
            xx: true,
            gt: true,
            ..none
        };
        let xx_and_lt = Conditions {
            xx: true,
            lt: true,
            ..none
        };
        let cases = [
            (none, None, true),
            (none, Some(10), true),
            (Conditions { nx: true, ..none }, None, true),
            (Conditions { nx: true, ..none }, Some(10), false),
            (Conditions { xx: true, ..none }, None, false),
            (Conditions { xx: true, ..none }, Some(10), true),
            (gt, None, false),
            (gt, Some(9), true),
            (gt, Some(10), false),
            (lt, None, true),
            (lt, Some(11), true),
            (lt, Some(10), false),
            (xx_and_gt, Some(9), true),
            (xx_and_lt, None, false),
        ];
        for (conditions, before, holds) in cases {
            assert_eq!(
                conditions.hold(before, 10),
                holds,
                "{conditions:?} {before:?}"
            );
        }
    }

    #[test]
    fn time_in_the_past_removes_the_key() {
        let mut client = Client::new();
        for request in [
            "EXPIRE a 0",
            "EXPIRE a -1",
            "PEXPIRE a -9223372036854775808",
            "EXPIREAT a 1700000000",
        ] {
            client.check(&[
                ("SET a 1", "+OK\r\n"),
                (request, ":1\r\n"),
                ("EXISTS a", ":0\r\n"),
            ]);
        }
    }

    #[test]
    fn errors_are_checked_in_the_order_of_redis() {
        const RANGE: &str = "-ERR invalid expire time in 'pexpire' command\r\n";
        Client::new().check(&[
            ("EXPIRE a x NEVER", "-ERR Unsupported option NEVER\r\n"),
            (
                "EXPIRE a x",
                "-ERR value is not an integer or out of range\r\n",
            ),
            ("PEXPIRE a 9223372036854775807", RANGE),
            (
                "EXPIRE a -9223372036854776",
                "-ERR invalid expire time in 'expire' command\r\n",
            ),
            ("PEXPIREAT a 9223372036854775807", ":0\r\n"),
        ]);
    }
}
