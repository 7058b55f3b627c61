//! `SWAPDB index1 index2`: exchanges two databases atomically, for every connection that has
//! selected one of them.

use crate::Ctx;
use crate::errors::{FIRST_DB, SECOND_DB};
use crate::key::{db_index, int};
use respire_engine::{Arg, ArgKind, ArgList, Arity, Error, Flags, Group, Reply, Spec};
use respire_store::Scope;

pub(super) static SWAPDB: Spec = Spec {
    name: "swapdb",
    summary: "Swaps two Redis databases",
    since: "4.0.0",
    complexity: "O(N) where N is the count of clients watching or blocking on keys from both databases.",
    group: Group::Server,
    arity: Arity::exactly(3),
    flags: Flags::WRITE.with(Flags::FAST).with(Flags::ALL_KEYS),
    categories: &["dangerous", "keyspace"],
    args: &[
        Arg::new("index1", ArgKind::Integer),
        Arg::new("index2", ArgKind::Integer),
    ],
    examples: &[
        ("SET a 1", "+OK\r\n"),
        ("SWAPDB 0 1", "+OK\r\n"),
        ("EXISTS a", ":0\r\n"),
        ("SELECT 1", "+OK\r\n"),
        ("EXISTS a", ":1\r\n"),
        ("SWAPDB first 1", "-ERR invalid first DB index\r\n"),
        ("SWAPDB 0 second", "-ERR invalid second DB index\r\n"),
        ("SWAPDB 0 16", "-ERR DB index is out of range\r\n"),
    ],
    ..Spec::EMPTY
};

pub(super) fn run(
    ctx: &mut Ctx<'_>,
    args: ArgList<'_>,
    reply: &mut Reply<'_>,
) -> Result<(), Error> {
    let first = int(&args[0]).map_err(|_| FIRST_DB)?;
    let second = int(&args[1]).map_err(|_| SECOND_DB)?;
    let store = ctx.kv.store();
    let (first, second) = (db_index(store, first)?, db_index(store, second)?);
    if first != second {
        ctx.view.locked(&Scope::Databases(first, second), |view| {
            view.swap(first, second)
        });
    }
    reply.ok();
    Ok(())
}

#[cfg(test)]
mod tests {
    use crate::key::testing::Client;

    #[test]
    fn every_connection_sees_the_exchanged_databases() {
        let mut first = Client::new();
        let mut second = first.other();
        first.check(&[("SET a 1 EX 100", "+OK\r\n")]);
        second.check(&[
            ("SELECT 1", "+OK\r\n"),
            ("SWAPDB 1 0", "+OK\r\n"),
            ("TTL a", ":100\r\n"),
        ]);
        first.check(&[
            ("DBSIZE", ":0\r\n"),
            ("SWAPDB 0 0", "+OK\r\n"),
            ("DBSIZE", ":0\r\n"),
        ]);
        second.check(&[("DBSIZE", ":1\r\n")]);
    }
}
