//! `HEXPIRE key seconds [NX | XX | GT | LT] FIELDS numfields field [field ...]`, `HPEXPIRE key milliseconds ...`,
//! `HEXPIREAT key unix-seconds ...`, `HPEXPIREAT key unix-milliseconds ...`: set the expiry of fields of a hash.
//!
//! The reply has a number for each field: 1 if its expiry is set, 0 if the condition does not hold, 2 if the time is
//! in the past, so that the field was removed, -2 if there is no such field. `GT` never holds for a field
//! without an expiry, and `LT` always does.

use super::fields::{FIELDS, NO_FIELD, Time, check_type, fields};
use crate::Ctx;
use crate::errors::{HEXPIRE_POSITIVE, wrong_type};
use crate::notify;
use crate::options::{TimeBase, TimeUnit, is_word};
use respire_engine::{Arg, ArgKind, ArgList, Arity, Error, Flags, Group, KeySpec, Reply, Spec};
use respire_store::{Edited, Growth, Hash, Kind};

const CONDITION: Arg = Arg::one_of(
    "condition",
    &[
        Arg::word("nx", "NX"),
        Arg::word("xx", "XX"),
        Arg::word("gt", "GT"),
        Arg::word("lt", "LT"),
    ],
)
.optional();

/// What the four commands have in common.
const BASE: Spec = Spec {
    since: "7.4.0",
    complexity: "O(N) where N is the number of specified fields",
    group: Group::Hash,
    arity: Arity::at_least(6),
    flags: Flags::WRITE.with(Flags::DENYOOM).with(Flags::FAST),
    keys: &[KeySpec::at(1).update()],
    ..Spec::EMPTY
};

pub(super) static HEXPIRE: Spec = Spec {
    name: "hexpire",
    summary: "Set expiry for hash field using relative time to expire (seconds)",
    args: &[
        Arg::key("key", 0),
        Arg::new("seconds", ArgKind::Integer),
        CONDITION,
        FIELDS,
    ],
    examples: &[
        ("HSET h a 1 b 2", ":2\r\n"),
        ("HEXPIRE h 100 FIELDS 2 a nothing", "*2\r\n:1\r\n:-2\r\n"),
        ("HTTL h FIELDS 2 a b", "*2\r\n:100\r\n:-1\r\n"),
        ("HEXPIRE h 50 GT FIELDS 1 a", "*1\r\n:0\r\n"),
        ("HEXPIRE h 0 FIELDS 1 a", "*1\r\n:2\r\n"),
        ("HGET h a", "$-1\r\n"),
        (
            "HEXPIRE h 50 FIELDS 2 a",
            "-ERR The `numfields` parameter must match the number of arguments\r\n",
        ),
    ],
    ..BASE
};

pub(super) static HPEXPIRE: Spec = Spec {
    name: "hpexpire",
    summary: "Set expiry for hash field using relative time to expire (milliseconds)",
    args: &[
        Arg::key("key", 0),
        Arg::new("milliseconds", ArgKind::Integer),
        CONDITION,
        FIELDS,
    ],
    examples: &[
        ("HSET h a 1", ":1\r\n"),
        ("HPEXPIRE h 100000 NX FIELDS 1 a", "*1\r\n:1\r\n"),
        ("HTTL h FIELDS 1 a", "*1\r\n:100\r\n"),
    ],
    ..BASE
};

pub(super) static HEXPIREAT: Spec = Spec {
    name: "hexpireat",
    summary: "Set expiry for hash field using an absolute Unix timestamp (seconds)",
    args: &[
        Arg::key("key", 0),
        Arg::new("unix-time-seconds", ArgKind::UnixTime),
        CONDITION,
        FIELDS,
    ],
    examples: &[
        ("HSET h a 1", ":1\r\n"),
        ("HEXPIREAT h 33177117420 FIELDS 1 a", "*1\r\n:1\r\n"),
        ("HEXPIRETIME h FIELDS 1 a", "*1\r\n:33177117420\r\n"),
        ("HEXPIREAT h 1 FIELDS 1 a", "*1\r\n:2\r\n"),
        ("EXISTS h", ":0\r\n"),
    ],
    ..BASE
};

pub(super) static HPEXPIREAT: Spec = Spec {
    name: "hpexpireat",
    summary: "Set expiry for hash field using an absolute Unix timestamp (milliseconds)",
    args: &[
        Arg::key("key", 0),
        Arg::new("unix-time-milliseconds", ArgKind::UnixTime),
        CONDITION,
        FIELDS,
    ],
    examples: &[
        ("HSET h a 1", ":1\r\n"),
        ("HPEXPIREAT h 33177117420001 FIELDS 1 a", "*1\r\n:1\r\n"),
        ("HPEXPIRETIME h FIELDS 1 a", "*1\r\n:33177117420001\r\n"),
        ("HEXPIRETIME h FIELDS 1 a", "*1\r\n:33177117421\r\n"),
    ],
    ..BASE
};

pub(super) fn hexpire(
    ctx: &mut Ctx<'_>,
    args: ArgList<'_>,
    reply: &mut Reply<'_>,
) -> Result<(), Error> {
    run(ctx, args, reply, (HEXPIRE.name, SECONDS_FROM_NOW))
}

pub(super) fn hpexpire(
    ctx: &mut Ctx<'_>,
    args: ArgList<'_>,
    reply: &mut Reply<'_>,
) -> Result<(), Error> {
    let time = Time {
        unit: TimeUnit::Milliseconds,
        ..SECONDS_FROM_NOW
    };
    run(ctx, args, reply, (HPEXPIRE.name, time))
}

pub(super) fn hexpireat(
    ctx: &mut Ctx<'_>,
    args: ArgList<'_>,
    reply: &mut Reply<'_>,
) -> Result<(), Error> {
    let time = Time {
        base: TimeBase::Epoch,
        ..SECONDS_FROM_NOW
    };
    run(ctx, args, reply, (HEXPIREAT.name, time))
}

pub(super) fn hpexpireat(
    ctx: &mut Ctx<'_>,
    args: ArgList<'_>,
    reply: &mut Reply<'_>,
) -> Result<(), Error> {
    let time = Time {
        base: TimeBase::Epoch,
        unit: TimeUnit::Milliseconds,
    };
    run(ctx, args, reply, (HPEXPIREAT.name, time))
}

const SECONDS_FROM_NOW: Time = Time {
    base: TimeBase::Now,
    unit: TimeUnit::Seconds,
};

/// The replies for a field that exists.
const CONDITION_FAILED: i64 = 0;
const EXPIRY_SET: i64 = 1;
const REMOVED: i64 = 2;

fn run(
    ctx: &mut Ctx<'_>,
    args: ArgList<'_>,
    reply: &mut Reply<'_>,
    (name, time): (&str, Time),
) -> Result<(), Error> {
    let (now, due_ms) = (ctx.now, ctx.view.now_ms());
    let codes = ctx.view.update(&args[0], |slot| {
        check_type(slot)?;
        let at = time.parse(&args[1], name, now.unix_ms())?;
        let condition = args.get(2).and_then(Condition::parse);
        let rest = args.skip(2 + usize::from(condition.is_some()));
        let fields = fields(rest, HEXPIRE_POSITIVE)?;
        let growth = slot.growth::<Hash>();
        let is_past = at <= due_ms;
        let event = if is_past {
            notify::HDEL
        } else {
            notify::HEXPIRE
        };
        let codes = slot.edit_existing(event, |hash: &mut Hash| {
            let at = if is_past { None } else { Some(at) };
            let set = |field: &[u8]| set(hash, field, at, condition, &growth);
            let codes: Vec<i64> = fields.iter().map(set).collect();
            match codes.iter().any(|code| *code > CONDITION_FAILED) {
                true => Edited::Changed(codes),
                false => Edited::Unchanged(codes),
            }
        });
        let codes = codes.map_err(wrong_type)?;
        Ok::<_, Error>(codes.unwrap_or_else(|| vec![NO_FIELD; fields.len()]))
    })?;
    reply.array(codes.len());
    codes.into_iter().for_each(|code| reply.int(code));
    Ok(())
}

/// Sets the expiry of a field if the condition holds, or removes it if the time is in the past, hence `None`.
fn set(
    hash: &mut Hash,
    field: &[u8],
    at: Option<u64>,
    condition: Option<Condition>,
    growth: &Growth,
) -> i64 {
    let Some(before) = hash.read().expiry_of(field) else {
        return NO_FIELD;
    };
    // Whatever is in the past is before every expiry that a field has.
    if condition.is_some_and(|condition| !condition.holds(before, at.unwrap_or(0))) {
        return CONDITION_FAILED;
    }
    if at.is_none() {
        hash.remove(field);
        return REMOVED;
    }
    hash.set_expiry(field, at, growth);
    EXPIRY_SET
}

#[derive(Clone, Copy)]
enum Condition {
    Nx,
    Xx,
    Gt,
    Lt,
}

impl Condition {
    fn parse(word: &[u8]) -> Option<Self> {
        [
            ("NX", Self::Nx),
            ("XX", Self::Xx),
            ("GT", Self::Gt),
            ("LT", Self::Lt),
        ]
        .into_iter()
        .find(|(name, _)| is_word(word, name))
        .map(|(_, condition)| condition)
    }

    fn holds(self, before: Option<u64>, at: u64) -> bool {
        match self {
            Self::Nx => before.is_none(),
            Self::Xx => before.is_some(),
            Self::Gt => before.is_some_and(|before| at > before),
            Self::Lt => before.is_none_or(|before| at < before),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::key::testing::Client;

    #[test]
    fn type_comes_before_the_time_and_the_time_before_the_fields() {
        Client::new().check(&[
            ("SET s 1", "+OK\r\n"),
            (
                "HEXPIRE s x FIELDS 1 a",
                "-WRONGTYPE Operation against a key holding the wrong kind of value\r\n",
            ),
            (
                "HEXPIRE h x NX 1 a b",
                "-ERR value is not an integer or out of range\r\n",
            ),
            (
                "HEXPIRE h -1 FIELDS 1 a",
                "-ERR invalid expire time, must be >= 0\r\n",
            ),
            (
                "HPEXPIREAT h 70368744177664 FIELDS 1 a",
                "-ERR invalid expire time in 'hpexpireat' command\r\n",
            ),
            ("HPEXPIREAT h 70368744177663 FIELDS 1 a", "*1\r\n:-2\r\n"),
            (
                "HEXPIRE h 1 NX XX FIELDS 1 a",
                "-ERR Mandatory argument FIELDS is missing or not at the right position\r\n",
            ),
            (
                "HEXPIRE h 1 FIELDS 0 a",
                "-ERR Parameter `numFields` should be greater than 0\r\n",
            ),
        ]);
    }

    #[test]
    fn conditions_compare_with_the_expiry_that_the_field_has() {
        Client::new().check(&[
            ("HSET h a 1", ":1\r\n"),
            ("HEXPIRE h 10 XX FIELDS 1 a", "*1\r\n:0\r\n"),
            ("HEXPIRE h 10 GT FIELDS 1 a", "*1\r\n:0\r\n"),
            ("HEXPIRE h 10 LT FIELDS 1 a", "*1\r\n:1\r\n"),
            ("HEXPIRE h 10 NX FIELDS 1 a", "*1\r\n:0\r\n"),
            ("HEXPIRE h 10 LT FIELDS 1 a", "*1\r\n:0\r\n"),
            ("HEXPIRE h 11 GT FIELDS 1 a", "*1\r\n:1\r\n"),
            ("HINCRBY h a 4", ":5\r\n"),
            ("HINCRBYFLOAT h a 0.5", "$3\r\n5.5\r\n"),
            ("HTTL h FIELDS 1 a", "*1\r\n:11\r\n"),
            ("HSET h a 2", ":0\r\n"),
            ("HTTL h FIELDS 1 a", "*1\r\n:-1\r\n"),
        ]);
    }
}
