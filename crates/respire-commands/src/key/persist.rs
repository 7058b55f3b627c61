//! `PERSIST key`: removes the expiry of a key. The reply is 1 if the key had one, otherwise 0.

use crate::Ctx;
use crate::notify;
use respire_engine::{Arg, ArgList, Arity, Error, Flags, Group, KeyFlag, KeySpec, Reply, Spec};

pub(super) static PERSIST: Spec = Spec {
    name: "persist",
    summary: "Remove the expiration from a key",
    since: "2.2.0",
    complexity: "O(1)",
    group: Group::Generic,
    arity: Arity::exactly(2),
    flags: Flags::WRITE.with(Flags::FAST).with(Flags::CONSTANT),
    keys: &[KeySpec::at(1).flags(&[KeyFlag::Rw, KeyFlag::Update])],
    args: &[Arg::key("key", 0)],
    examples: &[
        ("SET a 1 EX 100", "+OK\r\n"),
        ("PERSIST a", ":1\r\n"),
        ("TTL a", ":-1\r\n"),
        ("PERSIST a", ":0\r\n"),
        ("PERSIST b", ":0\r\n"),
        (
            "PERSIST",
            "-ERR wrong number of arguments for 'persist' command\r\n",
        ),
    ],
    ..Spec::EMPTY
};

pub(super) fn run(
    ctx: &mut Ctx<'_>,
    args: ArgList<'_>,
    reply: &mut Reply<'_>,
) -> Result<(), Error> {
    let had_expiry = ctx.view.update(&args[0], |slot| {
        let has_expiry = slot.get().is_some_and(|entry| entry.expires_at().is_some());
        let had_expiry = has_expiry && slot.set_expiry(None);
        if had_expiry {
            slot.event(notify::PERSIST);
        }
        had_expiry
    });
    reply.int(i64::from(had_expiry));
    Ok(())
}
