//! `EXISTS key [key ...]`: counts the keys that exist. A key that is named several times counts as
//! often.

use crate::Ctx;
use respire_engine::{Arg, ArgList, Arity, Error, Flags, Group, KeyFlag, KeySpec, Reply, Spec};

pub(super) static EXISTS: Spec = Spec {
    name: "exists",
    summary: "Determine if a key exists",
    since: "1.0.0",
    complexity: "O(N) where N is the number of keys to check.",
    group: Group::Generic,
    arity: Arity::at_least(2),
    flags: Flags::READONLY.with(Flags::FAST),
    keys: &[KeySpec::range(1, -1, 1).flags(&[KeyFlag::Ro])],
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

pub(super) fn run(
    ctx: &mut Ctx<'_>,
    args: ArgList<'_>,
    reply: &mut Reply<'_>,
) -> Result<(), Error> {
    let mut existing = 0;
    ctx.view.set_touch(false);
    ctx.read_many(args.iter(), |entry| existing += i64::from(entry.is_some()));
    reply.int(existing);
    Ok(())
}

#[cfg(test)]
mod tests {
    use crate::key::testing::Client;
    use std::time::Duration;

    #[test]
    fn exists_type_and_ttl_do_not_count_as_a_use() {
        let mut client = Client::new();
        client.check(&[("SET a 1", "+OK\r\n")]);
        client.advance(Duration::from_secs(20));
        client.check(&[
            ("EXISTS a", ":1\r\n"),
            ("EXISTS a a", ":2\r\n"),
            ("TYPE a", "+string\r\n"),
            ("TTL a", ":-1\r\n"),
            ("OBJECT IDLETIME a", ":20\r\n"),
            ("GET a", "$1\r\n1\r\n"),
            ("OBJECT IDLETIME a", ":0\r\n"),
        ]);
    }

    #[test]
    fn expired_key_does_not_exist() {
        let mut client = Client::new();
        client.check(&[("SET a 1 PX 10", "+OK\r\n"), ("EXISTS a a", ":2\r\n")]);
        client.advance(Duration::from_millis(10));
        client.check(&[
            ("EXISTS a", ":0\r\n"),
            ("EXISTS a a", ":0\r\n"),
            ("TYPE a", "+none\r\n"),
        ]);
    }
}
