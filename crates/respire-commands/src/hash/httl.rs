//! `HTTL key FIELDS numfields field [field ...]`, `HPTTL`: return the remaining time to live of fields of a hash, in
//! seconds or milliseconds. `HEXPIRETIME`, `HPEXPIRETIME`: return the unix times at which they expire.
//!
//! The reply has a number for each field: -1 if it has no expiry, -2 if there is no such field. Seconds are rounded
//! up.

use super::access::hash_if_any;
use super::fields::{FIELDS, NO_FIELD, fields};
use crate::Ctx;
use crate::errors::FIELDS_POSITIVE;
use crate::options::{TimeBase, TimeUnit};
use respire_engine::{Arg, ArgList, Arity, Error, Flags, Group, KeySpec, Reply, Spec};

/// What the four commands have in common.
const BASE: Spec = Spec {
    since: "7.4.0",
    complexity: "O(N) where N is the number of specified fields",
    group: Group::Hash,
    arity: Arity::at_least(5),
    flags: Flags::READONLY.with(Flags::FAST),
    keys: &[KeySpec::at(1)],
    args: &[Arg::key("key", 0), FIELDS],
    ..Spec::EMPTY
};

pub(super) static HTTL: Spec = Spec {
    name: "httl",
    summary: "Returns the TTL in seconds of a hash field.",
    tips: &["nondeterministic_output"],
    examples: &[
        ("HSET h a 1 b 2", ":2\r\n"),
        ("HPEXPIRE h 99100 FIELDS 1 a", "*1\r\n:1\r\n"),
        ("HTTL h FIELDS 3 a b c", "*3\r\n:100\r\n:-1\r\n:-2\r\n"),
        ("HTTL nothing FIELDS 1 a", "*1\r\n:-2\r\n"),
        (
            "HTTL h FIELD 1 a",
            "-ERR Mandatory argument FIELDS is missing or not at the right position\r\n",
        ),
    ],
    ..BASE
};

pub(super) static HPTTL: Spec = Spec {
    name: "hpttl",
    summary: "Returns the TTL in milliseconds of a hash field.",
    tips: &["nondeterministic_output"],
    examples: &[
        ("HSET h a 1", ":1\r\n"),
        ("HPTTL h FIELDS 2 a b", "*2\r\n:-1\r\n:-2\r\n"),
    ],
    ..BASE
};

pub(super) static HEXPIRETIME: Spec = Spec {
    name: "hexpiretime",
    summary: "Returns the expiration time of a hash field as a Unix timestamp, in seconds.",
    examples: &[
        ("HSET h a 1", ":1\r\n"),
        ("HEXPIREAT h 33177117420 FIELDS 1 a", "*1\r\n:1\r\n"),
        (
            "HEXPIRETIME h FIELDS 2 a b",
            "*2\r\n:33177117420\r\n:-2\r\n",
        ),
    ],
    ..BASE
};

pub(super) static HPEXPIRETIME: Spec = Spec {
    name: "hpexpiretime",
    summary: "Returns the expiration time of a hash field as a Unix timestamp, in msec.",
    examples: &[
        ("HSET h a 1 b 2", ":2\r\n"),
        ("HEXPIREAT h 33177117420 FIELDS 1 a", "*1\r\n:1\r\n"),
        (
            "HPEXPIRETIME h FIELDS 2 a b",
            "*2\r\n:33177117420000\r\n:-1\r\n",
        ),
    ],
    ..BASE
};

pub(super) fn httl(
    ctx: &mut Ctx<'_>,
    args: ArgList<'_>,
    reply: &mut Reply<'_>,
) -> Result<(), Error> {
    run(ctx, args, reply, (TimeBase::Now, TimeUnit::Seconds))
}

pub(super) fn hpttl(
    ctx: &mut Ctx<'_>,
    args: ArgList<'_>,
    reply: &mut Reply<'_>,
) -> Result<(), Error> {
    run(ctx, args, reply, (TimeBase::Now, TimeUnit::Milliseconds))
}

pub(super) fn hexpiretime(
    ctx: &mut Ctx<'_>,
    args: ArgList<'_>,
    reply: &mut Reply<'_>,
) -> Result<(), Error> {
    run(ctx, args, reply, (TimeBase::Epoch, TimeUnit::Seconds))
}

pub(super) fn hpexpiretime(
    ctx: &mut Ctx<'_>,
    args: ArgList<'_>,
    reply: &mut Reply<'_>,
) -> Result<(), Error> {
    run(ctx, args, reply, (TimeBase::Epoch, TimeUnit::Milliseconds))
}

/// The reply for a field without an expiry.
const NO_EXPIRY: i64 = -1;

fn run(
    ctx: &mut Ctx<'_>,
    args: ArgList<'_>,
    reply: &mut Reply<'_>,
    (base, unit): (TimeBase, TimeUnit),
) -> Result<(), Error> {
    let base_ms = match base {
        TimeBase::Now => ctx.view.now_ms(),
        TimeBase::Epoch => 0,
    };
    let in_unit = |at: u64| {
        let ms = at.saturating_sub(base_ms);
        match unit {
            TimeUnit::Seconds => ms.div_ceil(1000) as i64,
            TimeUnit::Milliseconds => ms as i64,
        }
    };
    ctx.read(&args[0], |entry| {
        let hash = hash_if_any(entry)?;
        let fields = fields(args.skip(1), FIELDS_POSITIVE)?;
        reply.array(fields.len());
        for field in fields.iter() {
            reply.int(match hash.and_then(|hash| hash.expiry_of(field)) {
                None => NO_FIELD,
                Some(None) => NO_EXPIRY,
                Some(Some(at)) => in_unit(at),
            });
        }
        Ok(())
    })
}
