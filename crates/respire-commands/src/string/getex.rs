//! `GETEX key [EX seconds | PX milliseconds | EXAT unix-time-seconds | PXAT unix-time-milliseconds
//! | PERSIST]`: returns the value of a key, and sets or removes its expiry.
//!
//! As in Redis, a time is checked only if the key exists, and a time in the past deletes the key.

use crate::Ctx;
use crate::errors::SYNTAX;
use crate::notify;
use crate::options::{ExpiryChoice, ExpiryOption, ExpiryWord, Options};
use crate::value::{reply_held, string_of};
use respire_engine::{Arg, ArgKind, ArgList, Arity, Error, Flags, Group, KeySpec, Reply, Spec};

pub(super) static GETEX: Spec = Spec {
    name: "getex",
    summary: "Get the value of a key and optionally set its expiration",
    since: "6.2.0",
    group: Group::String,
    arity: Arity::at_least(2),
    flags: Flags::WRITE.with(Flags::FAST).with(Flags::CONSTANT),
    keys: &[KeySpec::at(1)
        .update()
        .notes("RW and UPDATE because it changes the TTL")],
    args: &[
        Arg::key("key", 0),
        Arg::one_of(
            "expiration",
            &[
                Arg::new("seconds", ArgKind::Integer).token("EX"),
                Arg::new("milliseconds", ArgKind::Integer).token("PX"),
                Arg::new("unix-time-seconds", ArgKind::UnixTime).token("EXAT"),
                Arg::new("unix-time-milliseconds", ArgKind::UnixTime).token("PXAT"),
                Arg::word("persist", "PERSIST"),
            ],
        )
        .optional(),
    ],
    examples: &[
        ("SET k v", "+OK\r\n"),
        ("GETEX k EX 60", "$1\r\nv\r\n"),
        ("TTL k", ":60\r\n"),
        ("GETEX k PERSIST", "$1\r\nv\r\n"),
        ("TTL k", ":-1\r\n"),
        (
            "GETEX k EX 0",
            "-ERR invalid expire time in 'getex' command\r\n",
        ),
        ("GETEX missing EX 0", "$-1\r\n"),
        ("GETEX k KEEPTTL", "-ERR syntax error\r\n"),
    ],
    ..Spec::EMPTY
};

pub(super) fn getex(
    ctx: &mut Ctx<'_>,
    args: ArgList<'_>,
    reply: &mut Reply<'_>,
) -> Result<(), Error> {
    let expiry = parse(args.skip(1))?;
    let now_ms = ctx.now.unix_ms();
    ctx.read_and_update(&args[0], |slot| {
        let Some(entry) = slot.get() else {
            reply.null();
            return Ok(());
        };
        string_of(entry)?;
        let has_expiry = entry.expires_at().is_some();
        let choice = expiry.resolve(GETEX.name, now_ms)?;
        reply_held(reply, slot)?;
        match choice {
            ExpiryChoice::At(at) => {
                slot.set_expiry(Some(at));
                notify::was_given_expiry(slot, at, now_ms);
            }
            ExpiryChoice::Persist if has_expiry => {
                slot.set_expiry(None);
                slot.event(notify::PERSIST);
            }
            ExpiryChoice::Persist | ExpiryChoice::Keep | ExpiryChoice::Unsaid => {}
        }
        Ok(())
    })
}

fn parse(rest: ArgList<'_>) -> Result<ExpiryOption<'_>, Error> {
    let mut options = Options::new(rest);
    let mut expiry = ExpiryOption::default();
    while let Some(option) = options.next() {
        match ExpiryWord::parse(option) {
            None | Some(ExpiryWord::KeepTtl) => return Err(SYNTAX),
            Some(word) => expiry.set(word, &mut options)?,
        }
    }
    Ok(expiry)
}

#[cfg(test)]
mod tests {
    use crate::key::testing::Client;

    #[test]
    fn amount_is_checked_only_if_the_key_exists() {
        Client::new().check(&[
            ("GETEX k EX 0", "$-1\r\n"),
            ("GETEX k EX x", "$-1\r\n"),
            ("GETEX k EX", "-ERR syntax error\r\n"),
            ("GETEX k EX 1 PX 1", "-ERR syntax error\r\n"),
            ("SET k v", "+OK\r\n"),
            (
                "GETEX k EX 0",
                "-ERR invalid expire time in 'getex' command\r\n",
            ),
            (
                "GETEX k EX x",
                "-ERR value is not an integer or out of range\r\n",
            ),
            ("TTL k", ":-1\r\n"),
        ]);
    }

    #[test]
    fn time_in_the_past_deletes_the_key() {
        Client::new().check(&[
            ("SET k v", "+OK\r\n"),
            ("GETEX k PXAT 1", "$1\r\nv\r\n"),
            ("GET k", "$-1\r\n"),
        ]);
    }

    #[test]
    fn option_that_only_set_has_is_refused() {
        Client::new().check(&[
            ("SET k v", "+OK\r\n"),
            ("GETEX k NX", "-ERR syntax error\r\n"),
            ("GETEX k GET", "-ERR syntax error\r\n"),
            ("GETEX k KEEPTTL", "-ERR syntax error\r\n"),
            ("GETEX k persist PERSIST", "$1\r\nv\r\n"),
            ("GETEX k PERSIST EX 10", "-ERR syntax error\r\n"),
        ]);
    }
}
