//! `TTL key`, `PTTL key`: returns the remaining time to live of a key, in seconds or milliseconds.
//! `EXPIRETIME key`, `PEXPIRETIME key`: returns the unix time at which a key expires.
//!
//! The reply is -1 if the key has no expiry, and -2 if it does not exist. Seconds are rounded to
//! the nearest.

use super::read_untouched;
use crate::Ctx;
use crate::options::{TimeBase, TimeUnit};
use respire_engine::{Arg, ArgList, Arity, Error, Flags, Group, KeySpec, Reply, Spec};

pub(super) static TTL: Spec = Spec {
    name: "ttl",
    summary: "Get the time to live for a key in seconds",
    since: "1.0.0",
    complexity: "O(1)",
    group: Group::Generic,
    arity: Arity::exactly(2),
    flags: Flags::READONLY.with(Flags::FAST).with(Flags::CONSTANT),
    keys: &[KeySpec::at(1)],
    args: &[Arg::key("key", 0)],
    tips: &["nondeterministic_output"],
    history: &[("2.8.0", "Added the -2 reply.")],
    examples: &[
        ("TTL a", ":-2\r\n"),
        ("SET a 1", "+OK\r\n"),
        ("TTL a", ":-1\r\n"),
        ("PEXPIRE a 99600", ":1\r\n"),
        ("TTL a", ":100\r\n"),
        (
            "TTL",
            "-ERR wrong number of arguments for 'ttl' command\r\n",
        ),
    ],
    ..Spec::EMPTY
};

pub(super) static PTTL: Spec = Spec {
    name: "pttl",
    summary: "Get the time to live for a key in milliseconds",
    since: "2.6.0",
    complexity: "O(1)",
    group: Group::Generic,
    arity: Arity::exactly(2),
    flags: Flags::READONLY.with(Flags::FAST).with(Flags::CONSTANT),
    keys: &[KeySpec::at(1)],
    args: &[Arg::key("key", 0)],
    tips: &["nondeterministic_output"],
    history: &[("2.8.0", "Added the -2 reply.")],
    examples: &[
        ("SET a 1", "+OK\r\n"),
        ("PTTL a", ":-1\r\n"),
        ("PTTL b", ":-2\r\n"),
        (
            "PTTL",
            "-ERR wrong number of arguments for 'pttl' command\r\n",
        ),
    ],
    ..Spec::EMPTY
};

pub(super) static EXPIRETIME: Spec = Spec {
    name: "expiretime",
    summary: "Get the expiration Unix timestamp for a key",
    since: "7.0.0",
    complexity: "O(1)",
    group: Group::Generic,
    arity: Arity::exactly(2),
    flags: Flags::READONLY.with(Flags::FAST).with(Flags::CONSTANT),
    keys: &[KeySpec::at(1)],
    args: &[Arg::key("key", 0)],
    examples: &[
        ("SET a 1 PXAT 33177117419600", "+OK\r\n"),
        ("EXPIRETIME a", ":33177117420\r\n"),
        ("EXPIRETIME b", ":-2\r\n"),
        (
            "EXPIRETIME",
            "-ERR wrong number of arguments for 'expiretime' command\r\n",
        ),
    ],
    ..Spec::EMPTY
};

pub(super) static PEXPIRETIME: Spec = Spec {
    name: "pexpiretime",
    summary: "Get the expiration Unix timestamp for a key in milliseconds",
    since: "7.0.0",
    complexity: "O(1)",
    group: Group::Generic,
    arity: Arity::exactly(2),
    flags: Flags::READONLY.with(Flags::FAST).with(Flags::CONSTANT),
    keys: &[KeySpec::at(1)],
    args: &[Arg::key("key", 0)],
    examples: &[
        ("SET a 1 PXAT 33177117419600", "+OK\r\n"),
        ("PEXPIRETIME a", ":33177117419600\r\n"),
        ("PERSIST a", ":1\r\n"),
        ("PEXPIRETIME a", ":-1\r\n"),
        (
            "PEXPIRETIME",
            "-ERR wrong number of arguments for 'pexpiretime' command\r\n",
        ),
    ],
    ..Spec::EMPTY
};

pub(super) fn ttl(
    ctx: &mut Ctx<'_>,
    args: ArgList<'_>,
    reply: &mut Reply<'_>,
) -> Result<(), Error> {
    run(ctx, args, reply, TimeBase::Now, TimeUnit::Seconds)
}

pub(super) fn pttl(
    ctx: &mut Ctx<'_>,
    args: ArgList<'_>,
    reply: &mut Reply<'_>,
) -> Result<(), Error> {
    run(ctx, args, reply, TimeBase::Now, TimeUnit::Milliseconds)
}

pub(super) fn expiretime(
    ctx: &mut Ctx<'_>,
    args: ArgList<'_>,
    reply: &mut Reply<'_>,
) -> Result<(), Error> {
    run(ctx, args, reply, TimeBase::Epoch, TimeUnit::Seconds)
}

pub(super) fn pexpiretime(
    ctx: &mut Ctx<'_>,
    args: ArgList<'_>,
    reply: &mut Reply<'_>,
) -> Result<(), Error> {
    run(ctx, args, reply, TimeBase::Epoch, TimeUnit::Milliseconds)
}

const NO_KEY: i64 = -2;
const NO_EXPIRY: i64 = -1;

fn run(
    ctx: &mut Ctx<'_>,
    args: ArgList<'_>,
    reply: &mut Reply<'_>,
    base: TimeBase,
    unit: TimeUnit,
) -> Result<(), Error> {
    let now_ms = ctx.view.now_ms();
    let expires_at = read_untouched(ctx, &args[0], |entry| entry.map(|entry| entry.expires_at()));
    reply.int(match expires_at {
        None => NO_KEY,
        Some(None) => NO_EXPIRY,
        Some(Some(at)) => {
            let ms = match base {
                TimeBase::Now => at.saturating_sub(now_ms),
                TimeBase::Epoch => at,
            };
            let amount = match unit {
                TimeUnit::Seconds => ms.saturating_add(500) / 1000,
                TimeUnit::Milliseconds => ms,
            };
            i64::try_from(amount).unwrap_or(i64::MAX)
        }
    });
    Ok(())
}

#[cfg(test)]
mod tests {
    use crate::key::testing::Client;
    use std::time::Duration;

    #[test]
    fn remaining_time_decreases_and_is_rounded_to_the_nearest_second() {
        let mut client = Client::new();
        client.check(&[("SET a 1 PX 2000", "+OK\r\n")]);
        client.advance(Duration::from_millis(500));
        client.check(&[
            ("TTL a", ":2\r\n"),
            ("PTTL a", ":1500\r\n"),
            ("EXPIRETIME a", ":1700000002\r\n"),
        ]);
        client.advance(Duration::from_millis(1));
        client.check(&[("TTL a", ":1\r\n")]);
        client.advance(Duration::from_millis(1498));
        client.check(&[("PTTL a", ":1\r\n"), ("TTL a", ":0\r\n")]);
        client.advance(Duration::from_millis(1));
        client.check(&[("PTTL a", ":-2\r\n"), ("PEXPIRETIME a", ":-2\r\n")]);
    }

    #[test]
    fn largest_expiry_does_not_overflow() {
        Client::new().check(&[
            ("SET a 1", "+OK\r\n"),
            ("PEXPIREAT a 9223372036854775807", ":1\r\n"),
            ("PEXPIRETIME a", ":9223372036854775807\r\n"),
            ("EXPIRETIME a", ":9223372036854776\r\n"),
        ]);
    }
}
