//! `GETDEL key`: returns the value of a key and deletes the key, as in Redis.

use crate::Ctx;
use crate::notify;
use crate::value::reply_held;
use respire_engine::{Arg, ArgList, Arity, Error, Flags, Group, KeyFlag, KeySpec, Reply, Spec};

pub(super) static GETDEL: Spec = Spec {
    name: "getdel",
    summary: "Get the value of a key and delete the key",
    since: "6.2.0",
    group: Group::String,
    arity: Arity::exactly(2),
    flags: Flags::WRITE.with(Flags::FAST).with(Flags::CONSTANT),
    keys: &[KeySpec::at(1).flags(&[KeyFlag::Rw, KeyFlag::Access, KeyFlag::Delete])],
    args: &[Arg::key("key", 0)],
    examples: &[
        ("SET k v", "+OK\r\n"),
        ("GETDEL k", "$1\r\nv\r\n"),
        ("GET k", "$-1\r\n"),
        ("GETDEL k", "$-1\r\n"),
    ],
    ..Spec::EMPTY
};

pub(super) fn getdel(
    ctx: &mut Ctx<'_>,
    args: ArgList<'_>,
    reply: &mut Reply<'_>,
) -> Result<(), Error> {
    ctx.read_and_update(&args[0], |slot| {
        reply_held(reply, slot)?;
        if slot.remove() {
            slot.event(notify::DEL);
        }
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use crate::key::testing::Client;

    #[test]
    fn getdel_removes_the_key_and_its_expiry() {
        Client::new().check(&[
            ("SET k v EX 100", "+OK\r\n"),
            ("GETDEL k", "$1\r\nv\r\n"),
            ("TTL k", ":-2\r\n"),
            ("GETDEL k", "$-1\r\n"),
        ]);
    }
}
