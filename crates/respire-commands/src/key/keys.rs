//! `KEYS pattern`: lists every key of the database that matches a glob pattern, as of one moment.
//!
//! Writes wait until it is done, as in Redis: prefer `SCAN` on a database that is in use.

use super::key_list::KeyList;
use crate::Ctx;
use crate::scan_options::Pattern;
use respire_engine::{Arg, ArgKind, ArgList, Arity, Error, Flags, Group, Reply, Spec};

pub(super) static KEYS: Spec = Spec {
    name: "keys",
    summary: "Find all keys matching the given pattern",
    since: "1.0.0",
    complexity: "O(N) with N being the number of keys in the database, under the assumption that the key names in the database and the given pattern have limited length.",
    group: Group::Generic,
    arity: Arity::exactly(2),
    flags: Flags::READONLY.with(Flags::ALL_KEYS),
    categories: &["dangerous"],
    args: &[Arg::new("pattern", ArgKind::Pattern)],
    tips: &["request_policy:all_shards", "nondeterministic_output_order"],
    examples: &[
        ("MSET one 1 two 2", "+OK\r\n"),
        ("KEYS t*", "*1\r\n$3\r\ntwo\r\n"),
        ("KEYS [^ot]*", "*0\r\n"),
        (
            "KEYS",
            "-ERR wrong number of arguments for 'keys' command\r\n",
        ),
    ],
    ..Spec::EMPTY
};

pub(super) fn run(
    ctx: &mut Ctx<'_>,
    args: ArgList<'_>,
    reply: &mut Reply<'_>,
) -> Result<(), Error> {
    let pattern = Pattern::new(&args[0]);
    let mut keys = KeyList::default();
    ctx.view.for_each(|key, _| {
        if pattern.matches(key) {
            keys.push(key);
        }
    });
    keys.reply(reply);
    Ok(())
}

#[cfg(test)]
mod tests {
    use crate::key::testing::Client;
    use std::time::Duration;

    #[test]
    fn expired_keys_are_not_listed() {
        let mut client = Client::new();
        client.check(&[
            ("SET a 1 PX 10", "+OK\r\n"),
            ("KEYS *", "*1\r\n$1\r\na\r\n"),
        ]);
        client.advance(Duration::from_millis(10));
        client.check(&[("KEYS *", "*0\r\n"), ("KEYS a", "*0\r\n")]);
    }

    #[test]
    fn only_the_selected_database_is_listed() {
        Client::new().check(&[
            ("SET a 1", "+OK\r\n"),
            ("SELECT 1", "+OK\r\n"),
            ("SET \"\" 1", "+OK\r\n"),
            ("KEYS *", "*1\r\n$0\r\n\r\n"),
        ]);
    }
}
