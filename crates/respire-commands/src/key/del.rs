//! `DEL key [key ...]`, `UNLINK key [key ...]`: removes keys atomically, and replies with the
//! number of keys that existed.
//!
//! Both commands are the same: housekeeping frees the memory of large values later. In Redis, `DEL`
//! frees it before anything else runs.

use crate::Ctx;
use crate::notify;
use respire_engine::{Arg, ArgList, Arity, Error, Flags, Group, KeyFlag, KeySpec, Reply, Spec};

pub(super) static DEL: Spec = Spec {
    name: "del",
    summary: "Delete a key",
    since: "1.0.0",
    complexity: "O(N) where N is the number of keys that will be removed. When a key to remove holds a value other than a string, the individual complexity for this key is O(M) where M is the number of elements in the list, set, sorted set or hash. Removing a single key that holds a string value is O(1).",
    group: Group::Generic,
    arity: Arity::at_least(2),
    flags: Flags::WRITE,
    keys: &[KeySpec::range(1, -1, 1).flags(&[KeyFlag::Rm, KeyFlag::Delete])],
    args: &[Arg::key("key", 0).multiple()],
    tips: &["request_policy:multi_shard", "response_policy:agg_sum"],
    examples: &[
        ("SET a 1", "+OK\r\n"),
        ("DEL a b a", ":1\r\n"),
        ("DEL a", ":0\r\n"),
        (
            "DEL",
            "-ERR wrong number of arguments for 'del' command\r\n",
        ),
    ],
    ..Spec::EMPTY
};

pub(super) static UNLINK: Spec = Spec {
    name: "unlink",
    summary: "Delete a key asynchronously in another thread. Otherwise it is just as DEL, but non blocking.",
    since: "4.0.0",
    complexity: "O(1) for each key removed regardless of its size. Then the command does O(N) work in a different thread in order to reclaim memory, where N is the number of allocations the deleted objects where composed of.",
    group: Group::Generic,
    arity: Arity::at_least(2),
    flags: Flags::WRITE.with(Flags::FAST),
    keys: &[KeySpec::range(1, -1, 1).flags(&[KeyFlag::Rm, KeyFlag::Delete])],
    args: &[Arg::key("key", 0).multiple()],
    tips: &["request_policy:multi_shard", "response_policy:agg_sum"],
    examples: &[
        ("SET a 1", "+OK\r\n"),
        ("UNLINK a b", ":1\r\n"),
        (
            "UNLINK",
            "-ERR wrong number of arguments for 'unlink' command\r\n",
        ),
    ],
    ..Spec::EMPTY
};

pub(super) fn del(
    ctx: &mut Ctx<'_>,
    args: ArgList<'_>,
    reply: &mut Reply<'_>,
) -> Result<(), Error> {
    let mut removed = 0;
    ctx.view.update_many(args.iter(), |_, slot| {
        if slot.remove() {
            removed += 1;
            slot.event(notify::DEL);
        }
    });
    reply.int(removed);
    Ok(())
}

#[cfg(test)]
mod tests {
    use crate::key::testing::Client;
    use std::time::Duration;

    #[test]
    fn expired_key_is_not_counted() {
        let mut client = Client::new();
        client.check(&[("SET a 1 PX 10", "+OK\r\n"), ("SET b 1 PX 10", "+OK\r\n")]);
        client.advance(Duration::from_millis(10));
        client.check(&[("DEL a", ":0\r\n"), ("UNLINK a b", ":0\r\n")]);
    }
}
