//! `EXISTS key [key ...]`: how many of the keys exist, each counted as often as it is named.

use super::look;
use crate::Ctx;
use respire_engine::{Arg, Arity, Flags, Group, KeySpec, Spec};
use respire_engine::{Args, Error, Reply};

pub(super) static EXISTS: Spec = Spec {
    name: "exists",
    summary: "Determine if a key exists",
    since: "1.0.0",
    complexity: "O(N) where N is the number of keys to check.",
    group: Group::Generic,
    arity: Arity::at_least(2),
    flags: Flags::READONLY.with(Flags::FAST),
    keys: &[KeySpec::range(1, -1, 1).flags(&["RO"])],
    args: &[Arg::key("key", 0).multiple()],
    tips: &["request_policy:multi_shard", "response_policy:agg_sum"],
    history: &[("3.0.3", "Accepts multiple `key` arguments.")],
    examples: &[
        ("SET a 1", "+OK\r\n"),
        ("EXISTS a", ":1\r\n"),
        ("EXISTS a b a", ":2\r\n"),
        (
            "EXISTS",
            "-ERR wrong number of arguments for 'exists' command\r\n",
        ),
    ],
    ..Spec::EMPTY
};

pub(super) fn run(ctx: &mut Ctx<'_>, args: Args<'_>, reply: &mut Reply<'_>) -> Result<(), Error> {
    let existing = if args.len() == 1 {
        usize::from(look(ctx, &args[0], |entry| entry.is_some()))
    } else {
        let mut existing = 0;
        ctx.view.set_touch(false);
        ctx.read_many(args.iter(), |entry| {
            existing += usize::from(entry.is_some())
        });
        existing
    };
    reply.int(existing as i64);
    Ok(())
}
