//! `MGET key [key ...]`: returns the values of several keys, read atomically.
//!
//! As in Redis, the reply is null for a key that is absent or does not hold a string.

use crate::Ctx;
use crate::value::{is_copied, reply_string_or_null, reply_uncopied};
use respire_engine::{Arg, ArgList, Arity, Error, Flags, Group, KeySpec, Reply, Spec};
use respire_store::EntryRef;

pub(super) static MGET: Spec = Spec {
    name: "mget",
    summary: "Get the values of all the given keys",
    complexity: "O(N) where N is the number of keys to retrieve.",
    group: Group::String,
    arity: Arity::at_least(2),
    flags: Flags::READONLY.with(Flags::FAST),
    keys: &[KeySpec::range(1, -1, 1)],
    args: &[Arg::key("key", 0).multiple()],
    tips: &["request_policy:multi_shard"],
    examples: &[
        ("MSET a 1 b 2", "+OK\r\n"),
        ("MGET a nothing b", "*3\r\n$1\r\n1\r\n$-1\r\n$1\r\n2\r\n"),
    ],
    ..Spec::EMPTY
};

pub(super) fn mget(
    ctx: &mut Ctx<'_>,
    args: ArgList<'_>,
    reply: &mut Reply<'_>,
) -> Result<(), Error> {
    let mark = reply.sink().mark();
    let mut is_copied = false;
    reply.array(args.len());
    ctx.read_many(args.iter(), |entry| {
        let string = entry.and_then(|entry| entry.value().as_string());
        is_copied |= !reply_uncopied(reply, string);
    });
    if is_copied {
        reply.sink().cut(mark);
        mget_edited(ctx, args, reply);
    }
    Ok(())
}

/// Shares large values that were edited in place with the reply, then reads all keys again,
/// atomically.
#[cold]
fn mget_edited(ctx: &mut Ctx<'_>, args: ArgList<'_>, reply: &mut Reply<'_>) {
    for key in args.iter() {
        let is_edited = |entry: Option<EntryRef<'_>>| {
            let string = entry.and_then(|entry| entry.value().as_string());
            string.is_some_and(is_copied)
        };
        if ctx.view.peek(key, is_edited) {
            ctx.view.update(key, |slot| slot.share_string());
        }
    }
    reply.array(args.len());
    // The first read has counted them and noted their use.
    ctx.view.peek_many(args.iter(), |_, entry| {
        reply_string_or_null(reply, entry.and_then(|entry| entry.value().as_string()));
    });
}
