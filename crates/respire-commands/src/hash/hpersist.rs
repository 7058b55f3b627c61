//! `HPERSIST key FIELDS numfields field [field ...]`: removes the expiry of fields of a hash.
//!
//! The reply has a number for each field: 1 if it has no expiry any more, -1 if it had none, -2 if there is no such
//! field.

use super::fields::{FIELDS, NO_FIELD, check_type, fields};
use crate::Ctx;
use crate::errors::{FIELDS_POSITIVE, wrong_type};
use crate::notify;
use respire_engine::{Arg, ArgList, Arity, Error, Flags, Group, KeySpec, Reply, Spec};
use respire_store::{Edited, Growth, Hash, Kind};

pub(super) static HPERSIST: Spec = Spec {
    name: "hpersist",
    summary: "Removes the expiration time for each specified field",
    since: "7.4.0",
    complexity: "O(N) where N is the number of specified fields",
    group: Group::Hash,
    arity: Arity::at_least(5),
    flags: Flags::WRITE.with(Flags::FAST),
    keys: &[KeySpec::at(1).update()],
    args: &[Arg::key("key", 0), FIELDS],
    examples: &[
        ("HSET h a 1 b 2", ":2\r\n"),
        ("HEXPIRE h 100 FIELDS 1 a", "*1\r\n:1\r\n"),
        ("HPERSIST h FIELDS 3 a b c", "*3\r\n:1\r\n:-1\r\n:-2\r\n"),
        ("HTTL h FIELDS 1 a", "*1\r\n:-1\r\n"),
    ],
    ..Spec::EMPTY
};

const PERSISTED: i64 = 1;
const NO_EXPIRY: i64 = -1;

pub(super) fn hpersist(
    ctx: &mut Ctx<'_>,
    args: ArgList<'_>,
    reply: &mut Reply<'_>,
) -> Result<(), Error> {
    let codes = ctx.view.update(&args[0], |slot| {
        check_type(slot)?;
        let fields = fields(args.skip(1), FIELDS_POSITIVE)?;
        let growth = slot.growth::<Hash>();
        let codes = slot.edit_existing(notify::HPERSIST, |hash: &mut Hash| {
            let persist = |field: &[u8]| persist(hash, field, &growth);
            let codes: Vec<i64> = fields.iter().map(persist).collect();
            match codes.contains(&PERSISTED) {
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

fn persist(hash: &mut Hash, field: &[u8], growth: &Growth) -> i64 {
    match hash.read().expiry_of(field) {
        None => NO_FIELD,
        Some(None) => NO_EXPIRY,
        Some(Some(_)) => {
            hash.set_expiry(field, None, growth);
            PERSISTED
        }
    }
}
