//! `DBSIZE`: returns the number of keys in the database, as of one moment.
//!
//! As in Redis, expired keys count until they are swept.

use crate::Ctx;
use respire_engine::{ArgList, Arity, Error, Flags, Group, Reply, Spec};

pub(super) static DBSIZE: Spec = Spec {
    name: "dbsize",
    summary: "Return the number of keys in the selected database",
    since: "1.0.0",
    complexity: "O(1)",
    group: Group::Server,
    arity: Arity::exactly(1),
    flags: Flags::READONLY.with(Flags::FAST).with(Flags::ALL_KEYS),
    categories: &["keyspace"],
    tips: &["request_policy:all_shards", "response_policy:agg_sum"],
    examples: &[
        ("DBSIZE", ":0\r\n"),
        ("MSET a 1 b 2", "+OK\r\n"),
        ("DBSIZE", ":2\r\n"),
        (
            "DBSIZE a",
            "-ERR wrong number of arguments for 'dbsize' command\r\n",
        ),
    ],
    ..Spec::EMPTY
};

pub(super) fn run(
    ctx: &mut Ctx<'_>,
    _args: ArgList<'_>,
    reply: &mut Reply<'_>,
) -> Result<(), Error> {
    reply.int(ctx.view.len() as i64);
    Ok(())
}

#[cfg(test)]
mod tests {
    use crate::key::testing::Client;

    #[test]
    fn changes_of_the_same_transaction_are_counted() {
        Client::new().check(&[
            ("MULTI", "+OK\r\n"),
            ("SET a 1", "+QUEUED\r\n"),
            ("DBSIZE", "+QUEUED\r\n"),
            ("EXEC", "*2\r\n+OK\r\n:1\r\n"),
        ]);
    }
}
