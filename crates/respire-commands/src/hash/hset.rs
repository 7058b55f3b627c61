//! `HSET key field value [field value ...]`, `HMSET key field value [field value ...]`: sets fields
//! of a hash.

use crate::Ctx;
use crate::errors::{wrong_arity, wrong_type};
use crate::notify;
use crate::options::FEW_ARGS;
use crate::value::new_text;
use respire_engine::{
    Arg, ArgKind, ArgList, Arity, Error, Flags, Group, KeyFlag, KeySpec, Reply, Spec,
};
use respire_store::{Edited, Hash};

const ARGS: &[Arg] = &[
    Arg::key("key", 0),
    Arg::block(
        "field_value",
        &[
            Arg::new("field", ArgKind::String),
            Arg::new("value", ArgKind::String),
        ],
    )
    .multiple(),
];

pub(super) static HSET: Spec = Spec {
    name: "hset",
    summary: "Set the string value of a hash field",
    since: "2.0.0",
    complexity: "O(1) for each field/value pair added, so O(N) to add N field/value pairs when the command is called with multiple field/value pairs.",
    group: Group::Hash,
    arity: Arity::at_least(4),
    flags: Flags::WRITE.with(Flags::DENYOOM).with(Flags::FAST),
    constant_args: FEW_ARGS,
    keys: &[KeySpec::at(1).flags(&[KeyFlag::Rw, KeyFlag::Update])],
    element: 2,
    args: ARGS,
    history: &[("4.0.0", "Accepts multiple `field` and `value` arguments.")],
    examples: &[
        ("HSET h a 1 b 2", ":2\r\n"),
        ("HSET h b 3 c 4", ":1\r\n"),
        ("HGET h b", "$1\r\n3\r\n"),
        (
            "HSET h a",
            "-ERR wrong number of arguments for 'hset' command\r\n",
        ),
    ],
    ..Spec::EMPTY
};

pub(super) static HMSET: Spec = Spec {
    name: "hmset",
    summary: "Set multiple hash fields to multiple values",
    since: "2.0.0",
    complexity: "O(N) where N is the number of fields being set.",
    group: Group::Hash,
    arity: Arity::at_least(4),
    flags: Flags::WRITE.with(Flags::DENYOOM).with(Flags::FAST),
    constant_args: FEW_ARGS,
    keys: &[KeySpec::at(1).flags(&[KeyFlag::Rw, KeyFlag::Update])],
    element: 2,
    args: ARGS,
    deprecated: Some(("4.0.0", "`HSET` with multiple field-value pairs")),
    examples: &[("HMSET h a 1 b 2", "+OK\r\n"), ("HLEN h", ":2\r\n")],
    ..Spec::EMPTY
};

pub(super) fn hset(
    ctx: &mut Ctx<'_>,
    args: ArgList<'_>,
    reply: &mut Reply<'_>,
) -> Result<(), Error> {
    let added = set(ctx, args, "hset")?;
    reply.int(added as i64);
    Ok(())
}

pub(super) fn hmset(
    ctx: &mut Ctx<'_>,
    args: ArgList<'_>,
    reply: &mut Reply<'_>,
) -> Result<(), Error> {
    set(ctx, args, "hmset")?;
    reply.ok();
    Ok(())
}

/// Sets the fields, and returns the number of new ones.
fn set(ctx: &mut Ctx<'_>, args: ArgList<'_>, name: &str) -> Result<usize, Error> {
    let pairs = args.skip(1);
    if pairs.len() % 2 == 1 {
        return Err(wrong_arity(name));
    }
    let client = ctx.client;
    let added = ctx.view.update(&args[0], |slot| {
        let growth = slot.growth::<Hash>();
        slot.edit(notify::HSET, |hash: &mut Hash| {
            let mut added = 0;
            for at in (0..pairs.len()).step_by(2) {
                let value = new_text(client, &pairs[at + 1]);
                added += usize::from(hash.insert(&pairs[at], value, &growth));
            }
            Edited::Changed(added)
        })
    });
    added.map_err(wrong_type)
}

#[cfg(test)]
mod tests {
    use crate::key::testing::Client;

    #[test]
    fn field_that_is_given_twice_has_the_last_value() {
        Client::new().check(&[
            ("HSET h a 1 a 2", ":1\r\n"),
            ("HGET h a", "$1\r\n2\r\n"),
            (
                "HMSET h a 3 a 4 b",
                "-ERR wrong number of arguments for 'hmset' command\r\n",
            ),
            ("SET s 1", "+OK\r\n"),
            (
                "HSET s a 1",
                "-WRONGTYPE Operation against a key holding the wrong kind of value\r\n",
            ),
        ]);
    }

    #[test]
    fn large_value_is_replied_from_its_own_memory() {
        let mut client = Client::new();
        let value = "x".repeat(30_000);
        client.check(&[
            (&format!("HSET h a {value}"), ":1\r\n"),
            ("OBJECT ENCODING h", "$9\r\nhashtable\r\n"),
            ("HGET h a", &format!("$30000\r\n{value}\r\n")),
            ("HSTRLEN h a", ":30000\r\n"),
        ]);
    }
}
