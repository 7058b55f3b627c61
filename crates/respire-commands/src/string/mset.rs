//! `MSET key value [key value ...]` and `MSETNX key value [key value ...]`: set several keys in one
//! atomic step; `MSETNX` only if none of them exists. As in Redis.

use crate::Ctx;
use crate::errors::wrong_arity;
use crate::value::new_value;
use respire_engine::{
    Arg, ArgKind, ArgList, Arity, Client, Error, Flags, Group, KeySpec, Reply, Spec,
};
use respire_store::{Expiry, Scope, View};

pub(super) static MSET: Spec = Spec {
    name: "mset",
    summary: "Set multiple keys to multiple values",
    since: "1.0.1",
    complexity: "O(N) where N is the number of keys to set.",
    group: Group::String,
    arity: Arity::at_least(3),
    flags: Flags::WRITE.with(Flags::DENYOOM),
    keys: &[KeySpec::range(1, -1, 2).flags(&["OW", "update"])],
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
    keys: &[KeySpec::range(1, -1, 2).flags(&["OW", "insert"])],
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
    let client = ctx.client;
    with_keys(ctx, args, MSET.name, |view| write(view, client, args))?;
    reply.ok();
    Ok(())
}

pub(super) fn msetnx(
    ctx: &mut Ctx<'_>,
    args: ArgList<'_>,
    reply: &mut Reply<'_>,
) -> Result<(), Error> {
    let client = ctx.client;
    let is_set = with_keys(ctx, args, MSETNX.name, |view| {
        let mut keys = args.iter().step_by(2);
        let is_free = !keys.any(|key| view.peek(key, |entry| entry.is_some()));
        if is_free {
            write(view, client, args);
        }
        is_free
    })?;
    reply.int(i64::from(is_set));
    Ok(())
}

/// Runs `f` with all keys held for writing.
fn with_keys<R>(
    ctx: &mut Ctx<'_>,
    args: ArgList<'_>,
    command: &str,
    f: impl FnOnce(&mut View<'_>) -> R,
) -> Result<R, Error> {
    if !args.len().is_multiple_of(2) {
        return Err(wrong_arity(command));
    }
    let db = ctx.view.db();
    let keys: Vec<(u32, &[u8])> = args.iter().step_by(2).map(|key| (db, key)).collect();
    Ok(ctx.view.locked(&Scope::Keys(&keys), f))
}

fn write(view: &mut View<'_>, client: &Client, args: ArgList<'_>) {
    for (key, value) in args.iter().step_by(2).zip(args.iter().skip(1).step_by(2)) {
        let value = new_value(client, value);
        view.update(key, |slot| slot.set(value, Expiry::Clear));
    }
}

#[cfg(test)]
mod tests {
    use crate::key::testing::Client;

    #[test]
    fn odd_arguments_are_refused_and_the_last_of_equal_keys_counts() {
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
    fn expiry_is_cleared() {
        Client::new().check(&[
            ("SET a 1 EX 100", "+OK\r\n"),
            ("MSET a 2", "+OK\r\n"),
            ("TTL a", ":-1\r\n"),
        ]);
    }
}
