//! `SMOVE source destination member`: moves a member to another set, in one atomic step.
//!
//! As in Redis, the destination's type does not matter if there is no source.

use super::read::set_if_any;
use crate::Ctx;
use crate::errors::wrong_type;
use crate::notify;
use respire_engine::{
    Arg, ArgKind, ArgList, Arity, Error, Flags, Group, KeyFlag, KeySpec, Reply, Spec,
};
use respire_store::{Edited, Scope, Set, View};

pub(super) static SMOVE: Spec = Spec {
    name: "smove",
    summary: "Move a member from one set to another",
    since: "1.0.0",
    group: Group::Set,
    arity: Arity::exactly(4),
    flags: Flags::WRITE.with(Flags::FAST),
    keys: &[
        KeySpec::at(1).flags(&[KeyFlag::Rw, KeyFlag::Access, KeyFlag::Delete]),
        KeySpec::at(2).flags(&[KeyFlag::Rw, KeyFlag::Insert]),
    ],
    element: 3,
    args: &[
        Arg::key("source", 0),
        Arg::key("destination", 1),
        Arg::new("member", ArgKind::String),
    ],
    examples: &[
        ("SADD a x y", ":2\r\n"),
        ("SMOVE a b x", ":1\r\n"),
        ("SMOVE a b x", ":0\r\n"),
        ("SISMEMBER b x", ":1\r\n"),
    ],
    ..Spec::EMPTY
};

pub(super) fn smove(
    ctx: &mut Ctx<'_>,
    args: ArgList<'_>,
    reply: &mut Reply<'_>,
) -> Result<(), Error> {
    let db = ctx.view.db();
    let keys = [(db, &args[0]), (db, &args[1])];
    let is_moved = ctx.locked(&Scope::Keys(&keys), |view, _| {
        move_member(view, &args[0], &args[1], &args[2])
    })?;
    reply.int(i64::from(is_moved));
    Ok(())
}

/// Moves a member between locked keys; returns whether the source had it.
fn move_member(
    view: &mut View<'_>,
    source: &[u8],
    destination: &[u8],
    member: &[u8],
) -> Result<bool, Error> {
    let Some(has_member) = view.update(source, |slot| {
        let set = set_if_any(slot.get())?;
        Ok::<_, Error>(set.map(|set| set.contains(member)))
    })?
    else {
        return Ok(false);
    };
    view.update(destination, |slot| set_if_any(slot.get()).map(|_| ()))?;
    if !has_member || source == destination {
        return Ok(has_member);
    }
    view.update(source, |slot| {
        slot.edit_existing(notify::SREM, |set: &mut Set| {
            Edited::Changed(set.remove(member))
        })
    })
    .map_err(wrong_type)?;
    view.update(destination, |slot| {
        let growth = slot.growth::<Set>();
        slot.edit(notify::SADD, |set: &mut Set| {
            if set.insert(member, &growth) {
                Edited::Changed(())
            } else {
                Edited::Unchanged(())
            }
        })
    })
    .map_err(wrong_type)?;
    Ok(true)
}

#[cfg(test)]
mod tests {
    use crate::key::testing::Client;

    const WRONG_TYPE: &str =
        "-WRONGTYPE Operation against a key holding the wrong kind of value\r\n";

    #[test]
    fn types_are_checked_once_there_is_a_source() {
        Client::new().check(&[
            ("SET s 1", "+OK\r\n"),
            ("SMOVE none s x", ":0\r\n"),
            ("SADD a x", ":1\r\n"),
            ("SMOVE a s none", WRONG_TYPE),
            ("SMOVE s a x", WRONG_TYPE),
            ("SMOVE s none x", WRONG_TYPE),
            ("SMOVE a a x", ":1\r\n"),
            ("SMOVE a a y", ":0\r\n"),
            ("SCARD a", ":1\r\n"),
        ]);
    }

    #[test]
    fn last_member_takes_its_key_with_it() {
        Client::new().check(&[
            ("SADD a 1", ":1\r\n"),
            ("SADD b x 1", ":2\r\n"),
            ("SMOVE a b 1", ":1\r\n"),
            ("EXISTS a", ":0\r\n"),
            ("SCARD b", ":2\r\n"),
            ("SMOVE b a 1", ":1\r\n"),
            ("OBJECT ENCODING a", "$6\r\nintset\r\n"),
        ]);
    }
}
