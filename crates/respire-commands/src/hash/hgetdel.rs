//! `HGETDEL key FIELDS numfields field [field ...]`: returns the values of fields of a hash, and removes the fields.

use super::fields::{FIELDS, check_type, fields};
use crate::Ctx;
use crate::errors::{FIELDS_POSITIVE, wrong_type};
use crate::notify;
use crate::value::reply_string_or_null;
use respire_engine::{Arg, ArgList, Arity, Error, Flags, Group, KeyFlag, KeySpec, Reply, Spec};
use respire_store::{Edited, Hash, Kind};

pub(super) static HGETDEL: Spec = Spec {
    name: "hgetdel",
    summary: "Returns the value of a field and deletes it from the hash.",
    since: "8.0.0",
    complexity: "O(N) where N is the number of specified fields",
    group: Group::Hash,
    arity: Arity::at_least(5),
    flags: Flags::WRITE.with(Flags::FAST),
    keys: &[KeySpec::at(1).flags(&[KeyFlag::Rw, KeyFlag::Access, KeyFlag::Delete])],
    args: &[Arg::key("key", 0), FIELDS],
    examples: &[
        ("HSET h a 1 b 2", ":2\r\n"),
        ("HGETDEL h FIELDS 2 a c", "*2\r\n$1\r\n1\r\n$-1\r\n"),
        ("HGETDEL h FIELDS 1 b", "*1\r\n$1\r\n2\r\n"),
        ("EXISTS h", ":0\r\n"),
        (
            "HGETDEL h FIELDS 0 a",
            "-ERR Number of fields must be a positive integer\r\n",
        ),
    ],
    ..Spec::EMPTY
};

pub(super) fn hgetdel(
    ctx: &mut Ctx<'_>,
    args: ArgList<'_>,
    reply: &mut Reply<'_>,
) -> Result<(), Error> {
    ctx.view.update(&args[0], |slot| {
        check_type(slot)?;
        let fields = fields(args.skip(1), FIELDS_POSITIVE)?;
        reply.array(fields.len());
        let found = slot.edit_existing(notify::HDEL, |hash: &mut Hash| {
            let mut any = false;
            for field in fields.iter() {
                reply_string_or_null(reply, hash.read().get(field));
                any |= hash.remove(field);
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
