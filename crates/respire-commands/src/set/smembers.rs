//! `SMEMBERS key`: lists the members of a set.
//!
//! A large set is listed as it was at one moment, without its lock, while the client reads.

use super::read::{LOCKED_MEMBERS_MAX, Snapshot, reply_members, set_if_any, stream_members};
use crate::Ctx;
use crate::work::work_begins;
use respire_engine::{Arg, ArgList, Arity, Error, Flags, Group, KeySpec, Reply, Spec};
use respire_store::Elements;

pub(super) static SMEMBERS: Spec = Spec {
    name: "smembers",
    summary: "Get all the members in a set",
    since: "1.0.0",
    complexity: "O(N) where N is the set cardinality.",
    group: Group::Set,
    arity: Arity::exactly(2),
    flags: Flags::READONLY,
    keys: &[KeySpec::at(1)],
    args: &[Arg::key("key", 0)],
    tips: &["nondeterministic_output_order"],
    examples: &[
        ("SADD a 2 1", ":2\r\n"),
        ("SMEMBERS a", "*2\r\n$1\r\n1\r\n$1\r\n2\r\n"),
        ("SMEMBERS none", "*0\r\n"),
    ],
    ..Spec::EMPTY
};

pub(super) fn smembers(
    ctx: &mut Ctx<'_>,
    args: ArgList<'_>,
    reply: &mut Reply<'_>,
) -> Result<(), Error> {
    let large = ctx.read(&args[0], |entry| match set_if_any(entry)? {
        Some(set) if set.len() > LOCKED_MEMBERS_MAX => Snapshot::if_any(entry),
        Some(set) => {
            reply_members(reply, set);
            Ok(None)
        }
        None => {
            reply.set(0);
            Ok(None)
        }
    })?;
    if let Some(snapshot) = large {
        work_begins();
        stream_members(reply, snapshot);
    }
    Ok(())
}
