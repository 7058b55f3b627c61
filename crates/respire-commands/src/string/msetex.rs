//! `MSETEX numkeys key value [key value ...] [NX | XX] [EX seconds | PX milliseconds | EXAT
//! unix-time-seconds | PXAT unix-time-milliseconds | KEEPTTL]`: sets several keys, all with the same
//! expiry, in one atomic step; replies with 1, or with 0 if the condition does not hold.
//!
//! The command is in Redis 8.4 and in Valkey 9.1. With `NX` it sets the keys only if none of them
//! exists, with `XX` only if all of them do. As with `SET`, the options may come in any order and be
//! repeated, without `KEEPTTL` an earlier expiry is removed, and a time in the past leaves the keys
//! absent.

use crate::Ctx;
use crate::errors::{MSETEX_NUMBER, MSETEX_PAIRS, SYNTAX};
use crate::notify;
use crate::options::{ExpiryChoice, ExpiryOption, ExpiryWord, Options, is_word, set_once};
use crate::value::new_value;
use resp_codec::number::parse_i64;
use respire_engine::{
    Arg, ArgKind, ArgList, Arity, Error, Flags, Group, KeyFind, KeyFlag, KeySpec, Reply, Spec,
};
use respire_store::{Expiry, Scope, Slot};

pub(super) static MSETEX: Spec = Spec {
    name: "msetex",
    summary: "Set multiple keys to multiple values with a shared expiration, optionally only if none or all of the keys exist",
    since: "8.4.0",
    complexity: "O(N) where N is the number of keys to set.",
    group: Group::String,
    arity: Arity::at_least(4),
    flags: Flags::WRITE.with(Flags::DENYOOM),
    keys: &[KEYS],
    args: &[
        Arg::new("numkeys", ArgKind::Integer),
        Arg::block(
            "data",
            &[Arg::key("key", 0), Arg::new("value", ArgKind::String)],
        )
        .multiple(),
        Arg::one_of("condition", &[Arg::word("nx", "NX"), Arg::word("xx", "XX")]).optional(),
        Arg::one_of(
            "expiration",
            &[
                Arg::new("seconds", ArgKind::Integer).token("EX"),
                Arg::new("milliseconds", ArgKind::Integer).token("PX"),
                Arg::new("unix-time-seconds", ArgKind::UnixTime).token("EXAT"),
                Arg::new("unix-time-milliseconds", ArgKind::UnixTime).token("PXAT"),
                Arg::word("keepttl", "KEEPTTL"),
            ],
        )
        .optional(),
    ],
    tips: &[
        "request_policy:multi_shard",
        "response_policy:all_succeeded",
    ],
    examples: &[
        ("MSETEX 2 a 1 b 2 NX EX 60", ":1\r\n"),
        ("TTL b", ":60\r\n"),
        ("MSETEX 2 b 3 c 3 NX", ":0\r\n"),
        ("MSETEX 2 b 3 c 3 XX", ":0\r\n"),
        ("MGET b c", "*2\r\n$1\r\n2\r\n$-1\r\n"),
        ("MSETEX 2 a 4 b 4 XX KEEPTTL", ":1\r\n"),
        ("TTL b", ":60\r\n"),
        ("MSETEX 0 a 1", "-ERR invalid numkeys value\r\n"),
        ("MSETEX 2 a 1 b", "-ERR wrong number of key-value pairs\r\n"),
    ],
    ..Spec::EMPTY
};

/// As many keys as argument 1 says, each with a value behind it.
const KEYS: KeySpec = KeySpec {
    find: KeyFind::Counted {
        count: 0,
        first: 1,
        step: 2,
    },
    ..KeySpec::counted(1).flags(&[KeyFlag::Ow, KeyFlag::Update])
};

pub(super) fn msetex(
    ctx: &mut Ctx<'_>,
    args: ArgList<'_>,
    reply: &mut Reply<'_>,
) -> Result<(), Error> {
    let (number, pairs) = (number(args)?, args.skip(1));
    let (condition, expiry) = parse(pairs.skip(2 * number))?;
    let now_ms = ctx.now.unix_ms();
    let expiry = match expiry.resolve(MSETEX.name, now_ms)? {
        ExpiryChoice::At(at) => Expiry::At(at),
        ExpiryChoice::Keep => Expiry::Keep,
        ExpiryChoice::Unsaid | ExpiryChoice::Persist => Expiry::Clear,
    };
    let client = ctx.client;
    let keys = pairs.iter().step_by(2).take(number);
    let write = |at: usize, slot: &mut Slot<'_>| {
        slot.set(new_value(client, &pairs[2 * at + 1]), expiry);
        notify::was_set(slot, expiry, now_ms);
    };
    let is_set = match condition {
        None => {
            ctx.view.update_many(keys, write);
            true
        }
        Some(Condition::NoneExists) => ctx.view.insert_many(keys, write),
        Some(Condition::AllExist) => {
            let db = ctx.view.db();
            let scope: Vec<(u32, &[u8])> = keys.clone().map(|key| (db, key)).collect();
            ctx.view.locked(&Scope::Keys(&scope), |view| {
                let mut do_all_exist = true;
                view.peek_many(keys.clone(), |_, entry| do_all_exist &= entry.is_some());
                if do_all_exist {
                    view.update_many(keys, write);
                }
                do_all_exist
            })
        }
    };
    reply.int(i64::from(is_set));
    Ok(())
}

/// The condition under which the keys are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Condition {
    /// `NX`
    NoneExists,
    /// `XX`
    AllExist,
}

/// The number of pairs, all of which are there.
fn number(args: ArgList<'_>) -> Result<usize, Error> {
    let number = parse_i64(&args[0]).filter(|number| (1..=i64::from(i32::MAX)).contains(number));
    let number = number.ok_or(MSETEX_NUMBER)?;
    let behind = (args.len() - 1) as u64;
    if number.unsigned_abs() * 2 > behind {
        return Err(MSETEX_PAIRS);
    }
    Ok(number as usize)
}

fn parse(rest: ArgList<'_>) -> Result<(Option<Condition>, ExpiryOption<'_>), Error> {
    let mut options = Options::new(rest);
    let (mut condition, mut expiry) = (None, ExpiryOption::default());
    while let Some(option) = options.next() {
        if is_word(option, "NX") {
            set_once(&mut condition, Condition::NoneExists)?;
        } else if is_word(option, "XX") {
            set_once(&mut condition, Condition::AllExist)?;
        } else {
            match ExpiryWord::parse(option) {
                None | Some(ExpiryWord::Persist) => return Err(SYNTAX),
                Some(word) => expiry.set(word, &mut options)?,
            }
        }
    }
    Ok((condition, expiry))
}

#[cfg(test)]
mod tests {
    use crate::key::testing::Client;
    use std::time::Duration;

    #[test]
    fn number_is_checked_before_the_pairs_and_these_before_the_options() {
        let mut client = Client::new();
        for (number, error) in [
            ("0", "invalid numkeys value"),
            ("-1", "invalid numkeys value"),
            ("x", "invalid numkeys value"),
            ("2147483648", "invalid numkeys value"),
            ("9223372036854775808", "invalid numkeys value"),
            ("2147483647", "wrong number of key-value pairs"),
            ("4", "wrong number of key-value pairs"),
            ("1", "syntax error"),
        ] {
            let reply = client.send(&format!("MSETEX {number} a 1 b 2 NX XX"));
            assert_eq!(reply, format!("-ERR {error}\r\n"), "{number}");
        }
        client.check(&[("EXISTS a b", ":0\r\n")]);
    }

    #[test]
    fn conflicting_options_and_bad_amounts_set_nothing() {
        Client::new().check(&[
            ("MSETEX 1 a 1 NX XX", "-ERR syntax error\r\n"),
            ("MSETEX 1 a 1 EX 10 PX 10", "-ERR syntax error\r\n"),
            ("MSETEX 1 a 1 KEEPTTL EX 10", "-ERR syntax error\r\n"),
            ("MSETEX 1 a 1 PERSIST", "-ERR syntax error\r\n"),
            ("MSETEX 1 a 1 GET", "-ERR syntax error\r\n"),
            ("MSETEX 1 a 1 EX", "-ERR syntax error\r\n"),
            (
                "MSETEX 1 a 1 EX 0",
                "-ERR invalid expire time in 'msetex' command\r\n",
            ),
            (
                "MSETEX 1 a 1 PX x",
                "-ERR value is not an integer or out of range\r\n",
            ),
            ("EXISTS a", ":0\r\n"),
        ]);
    }

    #[test]
    fn keys_named_as_options_are_keys() {
        Client::new().check(&[
            (
                "MSETEX 2 NX XX EX PX px 5000 xx nx",
                "-ERR syntax error\r\n",
            ),
            ("MSETEX 2 NX XX EX PX px 5000 nx nx", ":1\r\n"),
            ("PTTL EX", ":5000\r\n"),
            ("GET NX", "$2\r\nXX\r\n"),
        ]);
    }

    #[test]
    fn expired_keys_do_not_exist() {
        let mut client = Client::new();
        client.check(&[("MSETEX 2 a 1 b 1 PX 10", ":1\r\n"), ("SET c 1", "+OK\r\n")]);
        client.advance(Duration::from_millis(10));
        client.check(&[
            ("MSETEX 2 c 2 b 2 XX", ":0\r\n"),
            ("GET c", "$1\r\n1\r\n"),
            ("MSETEX 2 a 2 b 2 NX", ":1\r\n"),
            ("TTL a", ":-1\r\n"),
        ]);
    }

    #[test]
    fn repeated_key_gets_its_last_value() {
        Client::new().check(&[
            ("MSETEX 2 a 1 a 2 NX", ":1\r\n"),
            ("GET a", "$1\r\n2\r\n"),
            ("MSETEX 2 a 3 a 4 XX EX 10", ":1\r\n"),
            ("GET a", "$1\r\n4\r\n"),
            ("TTL a", ":10\r\n"),
            ("MSETEX 2 a 5 a 6", ":1\r\n"),
            ("TTL a", ":-1\r\n"),
            ("MSETEX 1 a 5 EXAT 1", ":1\r\n"),
            ("EXISTS a", ":0\r\n"),
        ]);
    }

    #[test]
    fn transaction_holds_the_counted_keys() {
        Client::new().check(&[
            ("SET a 1", "+OK\r\n"),
            ("MULTI", "+OK\r\n"),
            ("MSETEX 2 a 1 b 1 XX", "+QUEUED\r\n"),
            ("MSETEX 2 b 2 c 2 NX", "+QUEUED\r\n"),
            ("MSETEX 2 b 3 c 3 XX", "+QUEUED\r\n"),
            ("MSETEX 9 b 4 c 4", "+QUEUED\r\n"),
            (
                "EXEC",
                "*4\r\n:0\r\n:1\r\n:1\r\n-ERR wrong number of key-value pairs\r\n",
            ),
            (
                "COMMAND GETKEYS MSETEX 2 a 1 b 2 KEEPTTL",
                "*2\r\n$1\r\na\r\n$1\r\nb\r\n",
            ),
        ]);
    }
}
