//! `HSETEX key [FNX | FXX] [EX seconds | PX milliseconds | EXAT unix-seconds | PXAT unix-milliseconds | KEEPTTL] FIELDS
//! numfields field value [field value ...]`: sets fields of a hash and their expiry, if none of them exists (`FNX`)
//! or all do (`FXX`).
//!
//! The reply is 1, or 0 if the condition does not hold. Without an option for it, the fields have no expiry; with a
//! time in the past they are removed.

use super::fields::{Time, check_type, insert_keeping};
use crate::Ctx;
use crate::errors::{
    HSETEX_CONDITIONS, HSETEX_EXPIRIES, HSETEX_NO_TIME, HSETEX_NUMBER, wrong_arity, wrong_type,
};
use crate::notify;
use crate::options::{ExpiryWord, Options, is_word, positive};
use crate::value::new_text;
use respire_engine::{
    Arg, ArgKind, ArgList, Arity, Error, Flags, Group, KeySpec, Now, Reply, Spec,
};
use respire_store::{Edited, Hash, Kind};

pub(super) static HSETEX: Spec = Spec {
    name: "hsetex",
    summary: "Set the value of one or more fields of a given hash key, and optionally set their expiration.",
    since: "8.0.0",
    complexity: "O(N) where N is the number of fields being set.",
    group: Group::Hash,
    arity: Arity::at_least(6),
    flags: Flags::WRITE.with(Flags::DENYOOM).with(Flags::FAST),
    keys: &[KeySpec::at(1).update()],
    args: &[
        Arg::key("key", 0),
        Arg::one_of(
            "condition",
            &[Arg::word("fnx", "FNX"), Arg::word("fxx", "FXX")],
        )
        .optional(),
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
        Arg::block(
            "fields",
            &[
                Arg::new("numfields", ArgKind::Integer),
                Arg::block(
                    "data",
                    &[
                        Arg::new("field", ArgKind::String),
                        Arg::new("value", ArgKind::String),
                    ],
                )
                .multiple(),
            ],
        )
        .token("FIELDS"),
    ],
    examples: &[
        ("HSETEX h EX 100 FIELDS 2 a 1 b 2", ":1\r\n"),
        ("HTTL h FIELDS 2 a b", "*2\r\n:100\r\n:100\r\n"),
        ("HSETEX h FNX FIELDS 1 a 3", ":0\r\n"),
        ("HSETEX h FXX KEEPTTL FIELDS 1 a 3", ":1\r\n"),
        ("HSETEX h FIELDS 1 b 4", ":1\r\n"),
        ("HTTL h FIELDS 2 a b", "*2\r\n:100\r\n:-1\r\n"),
    ],
    ..Spec::EMPTY
};

/// What a request says beside its fields.
struct Request<'a> {
    /// Whether all fields have to exist, or none.
    exist: Option<bool>,
    keeps: bool,
    expires_at: Option<u64>,
    pairs: ArgList<'a>,
}

pub(super) fn hsetex(
    ctx: &mut Ctx<'_>,
    args: ArgList<'_>,
    reply: &mut Reply<'_>,
) -> Result<(), Error> {
    let (now_ms, client) = (ctx.view.now_ms(), ctx.client);
    let request = parse(args.skip(1), ctx.now)?;
    let (pairs, fields) = (request.pairs, || request.pairs.iter().step_by(2));
    let is_set = ctx.view.update(&args[0], |slot| {
        check_type(slot)?;
        let growth = slot.growth::<Hash>();
        let is_set = slot.edit(notify::HSET, |hash: &mut Hash| {
            let is_right = |exist| fields().all(|it| hash.read().contains(it) == exist);
            if !request.exist.is_none_or(is_right) {
                return Edited::Unchanged(false);
            }
            for at in (0..pairs.len()).step_by(2) {
                let value = new_text(client, &pairs[at + 1]);
                if request.keeps {
                    insert_keeping(hash, &pairs[at], value, &growth);
                } else {
                    let expires_at = request.expires_at.filter(|at| *at > now_ms);
                    hash.insert_until(&pairs[at], value, expires_at, &growth);
                }
            }
            Edited::Changed(true)
        });
        let is_set = is_set.map_err(wrong_type)?;
        match request.expires_at {
            Some(at) if is_set && at > now_ms => slot.event(notify::HEXPIRE),
            Some(_) if is_set => {
                let removed = slot.edit_existing(notify::HDEL, |hash: &mut Hash| {
                    for field in fields() {
                        hash.remove(field);
                    }
                    Edited::Changed(())
                });
                removed.map_err(wrong_type)?;
            }
            _ => {}
        }
        Ok::<_, Error>(is_set)
    })?;
    reply.int(is_set.into());
    Ok(())
}

fn parse(args: ArgList<'_>, now: Now) -> Result<Request<'_>, Error> {
    let arity = || wrong_arity(HSETEX.name);
    let mut options = Options::new(args);
    let mut request = Request {
        exist: None,
        keeps: false,
        expires_at: None,
        pairs: args,
    };
    while let Some(word) = options.next() {
        if is_word(word, "FIELDS") {
            let rest = args.skip(args.len() - options.len());
            if rest.len() < 3 {
                return Err(arity());
            }
            let number = positive(&rest[0], HSETEX_NUMBER)?;
            if i32::try_from(number).is_err() {
                return Err(HSETEX_NUMBER);
            }
            request.pairs = rest.skip(1);
            let is_right = number.checked_mul(2) == Some(request.pairs.len());
            return if is_right { Ok(request) } else { Err(arity()) };
        }
        let condition = [("FNX", false), ("FXX", true)]
            .into_iter()
            .find(|(name, _)| is_word(word, name));
        if let Some((_, exist)) = condition {
            if request.exist.replace(exist).is_some() {
                return Err(HSETEX_CONDITIONS);
            }
            continue;
        }
        let expiry = ExpiryWord::parse(word).filter(|word| *word != ExpiryWord::Persist);
        let expiry = expiry.ok_or_else(|| unknown(word))?;
        if request.keeps || request.expires_at.is_some() {
            return Err(HSETEX_EXPIRIES);
        }
        match expiry {
            ExpiryWord::Time(base, unit) => {
                let amount = options.next().ok_or(HSETEX_NO_TIME)?;
                let at = Time { base, unit }.parse(amount, HSETEX.name, now.unix_ms())?;
                request.expires_at = Some(at);
            }
            ExpiryWord::KeepTtl | ExpiryWord::Persist => request.keeps = true,
        }
    }
    Err(arity())
}

fn unknown(word: &[u8]) -> Error {
    Error::owned([b"ERR unknown argument: ", word].concat())
}

#[cfg(test)]
mod tests {
    use crate::key::testing::Client;

    #[test]
    fn options_are_refused_as_redis_refuses_them() {
        Client::new().check(&[
            (
                "HSETEX h FNX FXX FIELDS 1 a 1",
                "-ERR Only one of FXX or FNX arguments can be specified\r\n",
            ),
            (
                "HSETEX h EX 1 KEEPTTL FIELDS 1 a 1",
                "-ERR Only one of EX, PX, EXAT, PXAT or KEEPTTL arguments can be specified\r\n",
            ),
            (
                "HSETEX h FIELDS 2 a 1",
                "-ERR wrong number of arguments for 'hsetex' command\r\n",
            ),
            ("HSETEX h FIELDS 0 a 1", "-ERR invalid number of fields\r\n"),
            (
                "HSETEX h PERSIST FIELDS 1 a 1",
                "-ERR unknown argument: PERSIST\r\n",
            ),
            (
                "HSETEX h FNX FNX a 1 EX",
                "-ERR Only one of FXX or FNX arguments can be specified\r\n",
            ),
            ("HSETEX h FNX KEEPTTL 1 EX", "-ERR unknown argument: 1\r\n"),
            (
                "HSETEX h FNX PX 9 FXX EX",
                "-ERR Only one of FXX or FNX arguments can be specified\r\n",
            ),
            ("EXISTS h", ":0\r\n"),
        ]);
    }

    #[test]
    fn time_in_the_past_removes_the_fields_and_an_empty_hash() {
        Client::new().check(&[
            ("HSETEX h PXAT 1 FIELDS 1 a 1", ":1\r\n"),
            ("EXISTS h", ":0\r\n"),
            ("HSET h a 1 b 2", ":2\r\n"),
            ("HSETEX h FXX EX 0 FIELDS 1 a 3", ":1\r\n"),
            ("HGETALL h", "*2\r\n$1\r\nb\r\n$1\r\n2\r\n"),
            ("HSETEX nothing FXX FIELDS 1 a 3", ":0\r\n"),
            ("EXISTS nothing", ":0\r\n"),
        ]);
    }
}
