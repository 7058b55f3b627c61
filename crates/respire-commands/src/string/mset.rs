//! `MSET key value [key value ...]` and `MSETNX key value [key value ...]`: sets several keys in
//! one atomic step.
//!
//! As in Redis, `MSETNX` does so only if none of the keys exists.

use crate::Ctx;
use crate::errors::wrong_arity;
use crate::notify;
use crate::value::set_to_arg;
use respire_engine::{
    Arg, ArgKind, ArgList, Arity, Client, Error, Flags, Group, KeyFlag, KeySpec, Reply, Spec,
};
use respire_store::Slot;

pub(super) static MSET: Spec = Spec {
    name: "mset",
    summary: "Set multiple keys to multiple values",
    since: "1.0.1",
    complexity: "O(N) where N is the number of keys to set.",
    group: Group::String,
    arity: Arity::at_least(3),
    flags: Flags::WRITE.with(Flags::DENYOOM),
    keys: &[KeySpec::range(1, -1, 2).flags(&[KeyFlag::Ow, KeyFlag::Update])],
    args: &[Arg::block(
        "key_value",
        &[Arg::key("key", 0), Arg::new("value", ArgKind::String)],
    )
    .multiple()],
    tips: &[
        "request_policy:multi_shard",
        "response_policy:all_succeeded",
    ],
    examples: &[
        ("MSET a 1 b 2", "+OK\r\n"),
        ("GET b", "$1\r\n2\r\n"),
        (
            "MSET a 1 b",
            "-ERR wrong number of arguments for 'mset' command\r\n",
        ),
    ],
    ..Spec::EMPTY
};

pub(super) static MSETNX: Spec = Spec {
    name: "msetnx",
    summary: "Set multiple keys to multiple values, only if none of the keys exist",
    since: "1.0.1",
    complexity: "O(N) where N is the number of keys to set.",
    group: Group::String,
    arity: Arity::at_least(3),
    flags: Flags::WRITE.with(Flags::DENYOOM),
    keys: &[KeySpec::range(1, -1, 2).flags(&[KeyFlag::Ow, KeyFlag::Insert])],
    args: &[Arg::block(
        "key_value",
        &[Arg::key("key", 0), Arg::new("value", ArgKind::String)],
    )
    .multiple()],
    tips: &["request_policy:multi_shard", "response_policy:agg_min"],
    examples: &[
        ("MSETNX a 1 b 2", ":1\r\n"),
        ("MSETNX b 3 c 4", ":0\r\n"),
        ("GET c", "$-1\r\n"),
    ],
    ..Spec::EMPTY
};

pub(super) fn mset(
    ctx: &mut Ctx<'_>,
    args: ArgList<'_>,
    reply: &mut Reply<'_>,
) -> Result<(), Error> {
    let (client, keys) = (ctx.client, keys(args, MSET.name)?);
    ctx.view
        .update_many(keys, |at, slot| write(slot, client, args, at));
    reply.ok();
    Ok(())
}

pub(super) fn msetnx(
    ctx: &mut Ctx<'_>,
    args: ArgList<'_>,
    reply: &mut Reply<'_>,
) -> Result<(), Error> {
    let (client, keys) = (ctx.client, keys(args, MSETNX.name)?);
    let is_set = ctx
        .view
        .insert_many(keys, |at, slot| write(slot, client, args, at));
    reply.int(i64::from(is_set));
    Ok(())
}

/// The keys among the arguments.
fn keys<'a>(
    args: ArgList<'a>,
    command: &str,
) -> Result<impl ExactSizeIterator<Item = &'a [u8]>, Error> {
    if args.len().is_multiple_of(2) {
        Ok(args.iter().step_by(2))
    } else {
        Err(wrong_arity(command))
    }
}

/// Sets a key to its value; `at` is the index of the pair.
fn write(slot: &mut Slot<'_>, client: &Client, args: ArgList<'_>, at: usize) {
    set_to_arg(slot, client, &args[2 * at + 1]);
    slot.event(notify::SET);
}

#[cfg(test)]
mod tests {
    use crate::key::testing::Client;

    #[test]
    fn key_without_a_value_is_refused_and_a_repeated_key_gets_its_last_value() {
        Client::new().check(&[
            (
                "MSET a",
                "-ERR wrong number of arguments for 'mset' command\r\n",
            ),
            (
                "MSET a 1 b",
                "-ERR wrong number of arguments for 'mset' command\r\n",
            ),
            (
                "MSETNX a 1 b",
                "-ERR wrong number of arguments for 'msetnx' command\r\n",
            ),
            ("MSET a 1 a 2", "+OK\r\n"),
            ("GET a", "$1\r\n2\r\n"),
            ("MSETNX c 1 c 2", ":1\r\n"),
            ("GET c", "$1\r\n2\r\n"),
            ("MSETNX d 1 a 3", ":0\r\n"),
            ("EXISTS d", ":0\r\n"),
        ]);
    }

    #[test]
    fn mset_clears_the_expiry() {
        Client::new().check(&[
            ("SET a 1 EX 100", "+OK\r\n"),
            ("MSET a 2", "+OK\r\n"),
            ("TTL a", ":-1\r\n"),
        ]);
    }
}
