//! `SISMEMBER key member`, `SMISMEMBER key member [member ...]` and `SCARD key`: whether members are
//! in a set, and how many it has.

use super::read::set_if_any;
use crate::Ctx;
use crate::options::FEW_ARGS;
use respire_engine::{
    Arg, ArgKind, ArgList, Arity, Error, Flags, Group, KeyFlag, KeySpec, Reply, Spec,
};
use respire_store::Elements;

pub(super) static SISMEMBER: Spec = Spec {
    name: "sismember",
    summary: "Determine if a given value is a member of a set",
    since: "1.0.0",
    group: Group::Set,
    arity: Arity::exactly(3),
    flags: Flags::READONLY.with(Flags::FAST).with(Flags::CONSTANT),
    keys: &[KeySpec::at(1).flags(&[KeyFlag::Ro])],
    element: 2,
    args: &[Arg::key("key", 0), Arg::new("member", ArgKind::String)],
    examples: &[
        ("SADD a x 1", ":2\r\n"),
        ("SISMEMBER a x", ":1\r\n"),
        ("SISMEMBER a 01", ":0\r\n"),
        ("SISMEMBER none x", ":0\r\n"),
    ],
    ..Spec::EMPTY
};

pub(super) static SMISMEMBER: Spec = Spec {
    name: "smismember",
    summary: "Returns the membership associated with the given elements for a set",
    since: "6.2.0",
    complexity: "O(N) where N is the number of elements being checked for membership",
    group: Group::Set,
    arity: Arity::at_least(3),
    flags: Flags::READONLY.with(Flags::FAST),
    constant_args: FEW_ARGS,
    keys: &[KeySpec::at(1)],
    element: 2,
    args: &[
        Arg::key("key", 0),
        Arg::new("member", ArgKind::String).multiple(),
    ],
    examples: &[
        ("SADD a x", ":1\r\n"),
        ("SMISMEMBER a x y x", "*3\r\n:1\r\n:0\r\n:1\r\n"),
        ("SMISMEMBER none x", "*1\r\n:0\r\n"),
    ],
    ..Spec::EMPTY
};

pub(super) static SCARD: Spec = Spec {
    name: "scard",
    summary: "Get the number of members in a set",
    since: "1.0.0",
    group: Group::Set,
    arity: Arity::exactly(2),
    flags: Flags::READONLY.with(Flags::FAST).with(Flags::CONSTANT),
    keys: &[KeySpec::at(1).flags(&[KeyFlag::Ro])],
    args: &[Arg::key("key", 0)],
    examples: &[
        ("SADD a x y", ":2\r\n"),
        ("SCARD a", ":2\r\n"),
        ("SCARD none", ":0\r\n"),
    ],
    ..Spec::EMPTY
};

pub(super) fn sismember(
    ctx: &mut Ctx<'_>,
    args: ArgList<'_>,
    reply: &mut Reply<'_>,
) -> Result<(), Error> {
    let is_member = ctx.read(&args[0], |entry| {
        Ok::<_, Error>(set_if_any(entry)?.is_some_and(|set| set.contains(&args[1])))
    })?;
    reply.int(i64::from(is_member));
    Ok(())
}

pub(super) fn smismember(
    ctx: &mut Ctx<'_>,
    args: ArgList<'_>,
    reply: &mut Reply<'_>,
) -> Result<(), Error> {
    let members = args.skip(1);
    ctx.read(&args[0], |entry| {
        let set = set_if_any(entry)?;
        reply.array(members.len());
        for member in members.iter() {
            reply.int(i64::from(set.is_some_and(|set| set.contains(member))));
        }
        Ok(())
    })
}

pub(super) fn scard(
    ctx: &mut Ctx<'_>,
    args: ArgList<'_>,
    reply: &mut Reply<'_>,
) -> Result<(), Error> {
    let len = ctx.read(&args[0], |entry| {
        Ok::<_, Error>(set_if_any(entry)?.map_or(0, Elements::len))
    })?;
    reply.int(len as i64);
    Ok(())
}
