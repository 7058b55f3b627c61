//! `HGETEX key [EX seconds | PX milliseconds | EXAT unix-seconds | PXAT unix-milliseconds | PERSIST] FIELDS numfields
//! field [field ...]`: returns the values of fields of a hash, and sets or removes their expiry. A time in the past
//! removes them.

use super::fields::{FIELDS, Time, check_type, fields};
use crate::Ctx;
use crate::errors::{FIELDS_POSITIVE, wrong_arity, wrong_type};
use crate::notify;
use crate::options::ExpiryWord;
use crate::value::reply_string_or_null;
use respire_engine::{
    Arg, ArgKind, ArgList, Arity, Error, Flags, Group, KeyFlag, KeySpec, Now, Reply, Spec,
};
use respire_store::{Edited, Growth, Hash, Kind};

pub(super) static HGETEX: Spec = Spec {
    name: "hgetex",
    summary: "Get the value of one or more fields of a given hash key, and optionally set their expiration.",
    since: "8.0.0",
    complexity: "O(N) where N is the number of specified fields",
    group: Group::Hash,
    arity: Arity::at_least(5),
    flags: Flags::WRITE.with(Flags::FAST),
    keys: &[KeySpec::at(1).flags(&[KeyFlag::Rw, KeyFlag::Access, KeyFlag::Update])],
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
        FIELDS,
    ],
    examples: &[
        ("HSET h a 1 b 2", ":2\r\n"),
        ("HGETEX h EX 100 FIELDS 2 a c", "*2\r\n$1\r\n1\r\n$-1\r\n"),
        ("HTTL h FIELDS 2 a b", "*2\r\n:100\r\n:-1\r\n"),
        ("HGETEX h PERSIST FIELDS 1 a", "*1\r\n$1\r\n1\r\n"),
        ("HTTL h FIELDS 1 a", "*1\r\n:-1\r\n"),
        ("HGETEX h EXAT 1 FIELDS 1 a", "*1\r\n$1\r\n1\r\n"),
        ("HGETEX h FIELDS 2 a b", "*2\r\n$-1\r\n$1\r\n2\r\n"),
    ],
    ..Spec::EMPTY
};

/// What happens to the fields.
#[derive(Clone, Copy)]
enum Change {
    Nothing,
    Persist,
    ExpireAt(u64),
    Remove,
}

pub(super) fn hgetex(
    ctx: &mut Ctx<'_>,
    args: ArgList<'_>,
    reply: &mut Reply<'_>,
) -> Result<(), Error> {
    let now = ctx.now;
    ctx.view.update(&args[0], |slot| {
        check_type(slot)?;
        let (change, rest) = parse(args.skip(1), now)?;
        let fields = fields(rest, FIELDS_POSITIVE)?;
        let event = match change {
            Change::Persist => notify::HPERSIST,
            Change::Remove => notify::HDEL,
            Change::Nothing | Change::ExpireAt(_) => notify::HEXPIRE,
        };
        let growth = slot.growth::<Hash>();
        reply.array(fields.len());
        let found = slot.edit_existing(event, |hash: &mut Hash| {
            let mut any = false;
            for field in fields.iter() {
                reply_string_or_null(reply, hash.read().get(field));
                any |= apply(hash, field, change, &growth);
            }
            match any {
                true => Edited::Changed(()),
                false => Edited::Unchanged(()),
            }
        });
        if found.map_err(wrong_type)?.is_none() {
            fields.iter().for_each(|_| reply.null());
        }
        Ok(())
    })
}

/// Parses the options, and returns the arguments after them.
fn parse(args: ArgList<'_>, now: Now) -> Result<(Change, ArgList<'_>), Error> {
    Ok(match ExpiryWord::parse(&args[0]) {
        Some(ExpiryWord::Time(base, unit)) => {
            let amount = args.get(1).ok_or_else(|| wrong_arity(HGETEX.name))?;
            let at = Time { base, unit }.parse(amount, HGETEX.name, now.unix_ms())?;
            let change = if at <= now.due_ms() {
                Change::Remove
            } else {
                Change::ExpireAt(at)
            };
            (change, args.skip(2))
        }
        Some(ExpiryWord::Persist) => (Change::Persist, args.skip(1)),
        Some(ExpiryWord::KeepTtl) | None => (Change::Nothing, args),
    })
}

/// Changes a field, and returns whether there was something to change.
fn apply(hash: &mut Hash, field: &[u8], change: Change, growth: &Growth) -> bool {
    match change {
        Change::Nothing => false,
        Change::Remove => hash.remove(field),
        Change::ExpireAt(at) => hash.set_expiry(field, Some(at), growth),
        Change::Persist => {
            let is_expiring = hash.read().expiry_of(field).flatten().is_some();
            is_expiring && hash.set_expiry(field, None, growth)
        }
    }
}
