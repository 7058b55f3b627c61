//! `SPOP key [count]`: removes random members of a set, and replies with them.

use super::read::{LOCKED_MEMBERS_MAX, Snapshot, reply_members, set_if_any, stream_members};
use crate::Ctx;
use crate::errors::{NOT_POSITIVE, SYNTAX, wrong_type};
use crate::notify;
use resp_codec::number::parse_i64;
use respire_engine::{
    Arg, ArgKind, ArgList, Arity, Error, Flags, Group, KeyFlag, KeySpec, Reply, Spec,
};
use respire_store::{Edited, Elements, Owned, Set, Slot};

pub(super) static SPOP: Spec = Spec {
    name: "spop",
    summary: "Remove and return one or multiple random members from a set",
    since: "1.0.0",
    complexity: "Without the count argument O(1), otherwise O(N) where N is the value of the passed count.",
    group: Group::Set,
    arity: Arity::at_least(2),
    flags: Flags::WRITE.with(Flags::FAST),
    constant_args: 1,
    keys: &[KeySpec::at(1).flags(&[KeyFlag::Rw, KeyFlag::Access, KeyFlag::Delete])],
    args: &[
        Arg::key("key", 0),
        Arg::new("count", ArgKind::Integer)
            .since("3.2.0")
            .optional(),
    ],
    tips: &["nondeterministic_output"],
    history: &[("3.2.0", "Added the `count` argument.")],
    examples: &[
        ("SADD a x", ":1\r\n"),
        ("SPOP a", "$1\r\nx\r\n"),
        ("SPOP a", "$-1\r\n"),
        ("SPOP a 2", "*0\r\n"),
        (
            "SPOP a -1",
            "-ERR value is out of range, must be positive\r\n",
        ),
    ],
    ..Spec::EMPTY
};

pub(super) fn spop(
    ctx: &mut Ctx<'_>,
    args: ArgList<'_>,
    reply: &mut Reply<'_>,
) -> Result<(), Error> {
    match args.len() {
        1 => pop_one(ctx, &args[0], reply),
        2 => {
            let count = parse_i64(&args[1]).and_then(|count| usize::try_from(count).ok());
            let count = count.ok_or(NOT_POSITIVE)?;
            pop_many(ctx, &args[0], count, reply)
        }
        _ => Err(SYNTAX),
    }
}

fn pop_one(ctx: &mut Ctx<'_>, key: &[u8], reply: &mut Reply<'_>) -> Result<(), Error> {
    let random = ctx.view.random();
    let popped = ctx.view.update(key, |slot| {
        slot.edit_existing(notify::SPOP, |set: &mut Set| {
            Edited::Changed(set.pop(random))
        })
    });
    match popped.map_err(wrong_type)?.flatten() {
        Some(member) => reply.bulk(member),
        None => reply.null(),
    }
    Ok(())
}

fn pop_many(
    ctx: &mut Ctx<'_>,
    key: &[u8],
    count: usize,
    reply: &mut Reply<'_>,
) -> Result<(), Error> {
    let random = ctx.view.random();
    let whole = ctx.view.update(key, |slot| {
        let len = set_if_any(slot.get())?.map_or(0, Elements::len);
        if len > 0 && count >= len {
            return Ok(take_whole(slot));
        }
        reply.set(count.min(len));
        if count > 0 && len > 0 {
            let popped = slot.edit_existing(notify::SPOP, |set: &mut Set| {
                for step in 0..count as u64 {
                    if let Some(member) = set.pop(random.wrapping_add(step)) {
                        reply.bulk(member);
                    }
                }
                Edited::Changed(())
            });
            popped.map_err(wrong_type)?;
        }
        Ok(None)
    })?;
    // Without the lock, as there may be many members.
    if let Some(whole) = whole.and_then(Snapshot::of) {
        if whole.set().len() > LOCKED_MEMBERS_MAX {
            stream_members(reply, whole);
        } else {
            reply_members(reply, whole.set());
        }
    }
    Ok(())
}

/// Removes the key.
fn take_whole(slot: &mut Slot<'_>) -> Option<Owned> {
    let whole = slot.take();
    slot.event(notify::SPOP);
    slot.event(notify::DEL);
    whole
}

#[cfg(test)]
mod tests {
    use crate::key::testing::Client;

    #[test]
    fn popped_members_are_gone_and_different() {
        for texts in [
            (0..100).map(|it| it.to_string()).collect::<Vec<_>>(),
            (0..100).map(|it| format!("m{it}")).collect(),
            (0..1000).map(|it| format!("m{it}")).collect(),
        ] {
            let mut client = Client::new();
            client.send(&format!("SADD k {}", texts.join(" ")));
            let mut popped = Vec::new();
            for count in [1, 0, texts.len() / 2, texts.len() / 3, texts.len()] {
                let reply = client.send(&format!("SPOP k {count}"));
                let lines = reply.split("\r\n").skip(1);
                popped.extend(
                    lines
                        .filter(|line| !line.starts_with('$') && !line.is_empty())
                        .map(str::to_owned),
                );
                let left = texts.len() - popped.len();
                client.check(&[("SCARD k", &format!(":{left}\r\n"))]);
            }
            client.check(&[("EXISTS k", ":0\r\n")]);
            let mut expected = texts.clone();
            expected.sort();
            popped.sort();
            assert_eq!(popped, expected);
        }
    }

    #[test]
    fn count_is_parsed_before_the_key_is_looked_up() {
        Client::new().check(&[
            ("SET s 1", "+OK\r\n"),
            (
                "SPOP s x",
                "-ERR value is out of range, must be positive\r\n",
            ),
            (
                "SPOP s -1",
                "-ERR value is out of range, must be positive\r\n",
            ),
            ("SPOP s 1 2", "-ERR syntax error\r\n"),
            (
                "SPOP s 0",
                "-WRONGTYPE Operation against a key holding the wrong kind of value\r\n",
            ),
            ("SPOP none 0", "*0\r\n"),
        ]);
    }
}
