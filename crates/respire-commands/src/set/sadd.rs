//! `SADD key member [member ...]` and `SREM key member [member ...]`: add and remove members, and
//! reply with the number of those that were new or there.

use crate::Ctx;
use crate::errors::wrong_type;
use crate::notify;
use crate::options::FEW_ARGS;
use respire_engine::{
    Arg, ArgKind, ArgList, Arity, Error, Flags, Group, KeyFlag, KeySpec, Reply, Spec,
};
use respire_store::{Edited, Set};

pub(super) static SADD: Spec = Spec {
    name: "sadd",
    summary: "Add one or more members to a set",
    since: "1.0.0",
    complexity: "O(1) for each element added, so O(N) to add N elements when the command is called with multiple arguments.",
    group: Group::Set,
    arity: Arity::at_least(3),
    flags: Flags::WRITE.with(Flags::DENYOOM).with(Flags::FAST),
    constant_args: FEW_ARGS,
    keys: &[KeySpec::at(1).flags(&[KeyFlag::Rw, KeyFlag::Insert])],
    element: 2,
    args: &[
        Arg::key("key", 0),
        Arg::new("member", ArgKind::String).multiple(),
    ],
    history: &[("2.4.0", "Accepts multiple `member` arguments.")],
    examples: &[
        ("SADD a x y x", ":2\r\n"),
        ("SADD a x", ":0\r\n"),
        ("SET s 1", "+OK\r\n"),
        (
            "SADD s x",
            "-WRONGTYPE Operation against a key holding the wrong kind of value\r\n",
        ),
    ],
    ..Spec::EMPTY
};

pub(super) static SREM: Spec = Spec {
    name: "srem",
    summary: "Remove one or more members from a set",
    since: "1.0.0",
    complexity: "O(N) where N is the number of members to be removed.",
    group: Group::Set,
    arity: Arity::at_least(3),
    flags: Flags::WRITE.with(Flags::FAST),
    constant_args: FEW_ARGS,
    keys: &[KeySpec::at(1).flags(&[KeyFlag::Rw, KeyFlag::Delete])],
    element: 2,
    args: &[
        Arg::key("key", 0),
        Arg::new("member", ArgKind::String).multiple(),
    ],
    history: &[("2.4.0", "Accepts multiple `member` arguments.")],
    examples: &[
        ("SADD a x y z", ":3\r\n"),
        ("SREM a x y none", ":2\r\n"),
        ("SREM a z", ":1\r\n"),
        ("EXISTS a", ":0\r\n"),
    ],
    ..Spec::EMPTY
};

pub(super) fn sadd(
    ctx: &mut Ctx<'_>,
    args: ArgList<'_>,
    reply: &mut Reply<'_>,
) -> Result<(), Error> {
    let added = ctx.view.update(&args[0], |slot| {
        let growth = slot.growth::<Set>();
        slot.edit(notify::SADD, |set: &mut Set| {
            let members = args.skip(1);
            edited(members.iter().filter(|member| set.insert(member, &growth)))
        })
    });
    reply.int(added.map_err(wrong_type)?);
    Ok(())
}

pub(super) fn srem(
    ctx: &mut Ctx<'_>,
    args: ArgList<'_>,
    reply: &mut Reply<'_>,
) -> Result<(), Error> {
    let removed = ctx.view.update(&args[0], |slot| {
        slot.edit_existing(notify::SREM, |set: &mut Set| {
            let members = args.skip(1);
            edited(members.iter().filter(|member| set.remove(member)))
        })
    });
    reply.int(removed.map_err(wrong_type)?.unwrap_or(0));
    Ok(())
}

/// The number of members that were changed.
fn edited<'m>(members: impl Iterator<Item = &'m [u8]>) -> Edited<i64> {
    match members.count() {
        0 => Edited::Unchanged(0),
        count => Edited::Changed(count as i64),
    }
}

#[cfg(test)]
mod tests {
    use crate::key::testing::Client;

    #[test]
    fn encoding_is_that_of_redis() {
        let mut client = Client::new();
        let numbers = |range: std::ops::Range<u32>| {
            let numbers: Vec<String> = range.map(|it| it.to_string()).collect();
            numbers.join(" ")
        };
        client.send(&format!("SADD ints {}", numbers(0..512)));
        client.check(&[
            ("OBJECT ENCODING ints", "$6\r\nintset\r\n"),
            ("SADD ints 512", ":1\r\n"),
            ("OBJECT ENCODING ints", "$9\r\nhashtable\r\n"),
            ("SREM ints 512", ":1\r\n"),
            ("OBJECT ENCODING ints", "$9\r\nhashtable\r\n"),
            ("SADD k 1 2", ":2\r\n"),
            ("OBJECT ENCODING k", "$6\r\nintset\r\n"),
            ("SADD k 02", ":1\r\n"),
            ("OBJECT ENCODING k", "$9\r\nhashtable\r\n"),
            ("SREM k 02", ":1\r\n"),
            ("OBJECT ENCODING k", "$9\r\nhashtable\r\n"),
            ("CONFIG SET set-max-intset-entries 2", "+OK\r\n"),
            ("SADD few 1 2", ":2\r\n"),
            ("OBJECT ENCODING few", "$6\r\nintset\r\n"),
            ("SADD few 1", ":0\r\n"),
            ("OBJECT ENCODING few", "$6\r\nintset\r\n"),
            ("SADD few 3", ":1\r\n"),
            ("OBJECT ENCODING few", "$9\r\nhashtable\r\n"),
            ("SCARD few", ":3\r\n"),
        ]);
    }

    #[test]
    fn only_a_change_touches_watches() {
        let mut client = Client::new();
        let mut other = client.other();
        client.send("SADD k a b");
        for (request, reply, is_change) in [
            ("SADD k a b", ":0\r\n", false),
            ("SREM k c", ":0\r\n", false),
            ("SADD k c", ":1\r\n", true),
            ("SREM k a none", ":1\r\n", true),
        ] {
            client.check(&[("WATCH k", "+OK\r\n")]);
            other.check(&[(request, reply)]);
            let expected = if is_change { "*-1\r\n" } else { "*0\r\n" };
            client.check(&[("MULTI", "+OK\r\n"), ("EXEC", expected)]);
        }
    }
}
