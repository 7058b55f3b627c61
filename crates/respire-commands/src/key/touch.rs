//! `TOUCH key [key ...]`: marks keys as used now, and replies with the number of keys that exist.
//!
//! It does so even after `CLIENT NO-TOUCH ON`.

use crate::Ctx;
use respire_engine::{Arg, ArgList, Arity, Error, Flags, Group, KeyFlag, KeySpec, Reply, Spec};

pub(super) static TOUCH: Spec = Spec {
    name: "touch",
    summary: "Alters the last access time of a key(s). Returns the number of existing keys specified.",
    since: "3.2.1",
    complexity: "O(N) where N is the number of keys that will be touched.",
    group: Group::Generic,
    arity: Arity::at_least(2),
    flags: Flags::READONLY.with(Flags::FAST),
    keys: &[KeySpec::range(1, -1, 1).flags(&[KeyFlag::Ro])],
    args: &[Arg::key("key", 0).multiple()],
    tips: &["request_policy:multi_shard", "response_policy:agg_sum"],
    examples: &[
        ("SET a 1", "+OK\r\n"),
        ("TOUCH a b a", ":2\r\n"),
        (
            "TOUCH",
            "-ERR wrong number of arguments for 'touch' command\r\n",
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
    ctx.view.set_touch(true);
    ctx.read_many(args.iter(), |entry| existing += i64::from(entry.is_some()));
    reply.int(existing);
    Ok(())
}

#[cfg(test)]
mod tests {
    use crate::key::testing::Client;
    use std::time::Duration;

    #[test]
    fn touched_key_is_no_longer_idle() {
        let mut client = Client::new();
        client.check(&[("MSET a 1 b 2", "+OK\r\n")]);
        client.advance(Duration::from_secs(20));
        client.check(&[
            ("TOUCH a", ":1\r\n"),
            ("OBJECT IDLETIME a", ":0\r\n"),
            ("OBJECT IDLETIME b", ":20\r\n"),
        ]);
    }
}
