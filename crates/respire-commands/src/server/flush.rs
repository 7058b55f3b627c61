//! `FLUSHDB [ASYNC | SYNC]`, `FLUSHALL [ASYNC | SYNC]`: removes every key of the database or of all
//! databases, atomically.
//!
//! The memory stops counting at once. `SYNC` frees it within the command; `ASYNC` leaves it to
//! housekeeping, which frees it in steps. If neither word is given, `lazyfree-lazy-user-flush`
//! decides.

use crate::Ctx;
use crate::errors::SYNTAX;
use crate::options::is_word;
use respire_engine::{Arg, ArgList, Arity, Error, Flags, Group, Reply, Spec};
use respire_store::{Freeing, Scope};

pub(super) static FLUSHDB: Spec = Spec {
    name: "flushdb",
    summary: "Remove all keys from the current database",
    since: "1.0.0",
    complexity: "O(N) where N is the number of keys in the selected database",
    group: Group::Server,
    arity: Arity::at_least(1),
    flags: Flags::WRITE.with(Flags::ALL_KEYS),
    categories: &["dangerous", "keyspace"],
    args: &[Arg::one_of(
        "async",
        &[
            Arg::word("async", "ASYNC").since("4.0.0"),
            Arg::word("sync", "SYNC").since("6.2.0"),
        ],
    )
    .optional()],
    tips: &["request_policy:all_shards", "response_policy:all_succeeded"],
    history: &[
        ("4.0.0", "Added the `ASYNC` flushing mode modifier."),
        ("6.2.0", "Added the `SYNC` flushing mode modifier."),
    ],
    examples: &[
        ("SET a 1", "+OK\r\n"),
        ("FLUSHDB ASYNC", "+OK\r\n"),
        ("DBSIZE", ":0\r\n"),
        ("FLUSHDB NOW", "-ERR syntax error\r\n"),
    ],
    ..Spec::EMPTY
};

pub(super) static FLUSHALL: Spec = Spec {
    name: "flushall",
    summary: "Remove all keys from all databases",
    since: "1.0.0",
    complexity: "O(N) where N is the total number of keys in all databases",
    group: Group::Server,
    arity: Arity::at_least(1),
    flags: Flags::WRITE.with(Flags::ALL_KEYS),
    categories: &["dangerous", "keyspace"],
    args: &[Arg::one_of(
        "async",
        &[
            Arg::word("async", "ASYNC").since("4.0.0"),
            Arg::word("sync", "SYNC").since("6.2.0"),
        ],
    )
    .optional()],
    tips: &["request_policy:all_shards", "response_policy:all_succeeded"],
    history: &[
        ("4.0.0", "Added the `ASYNC` flushing mode modifier."),
        ("6.2.0", "Added the `SYNC` flushing mode modifier."),
    ],
    examples: &[
        ("SET a 1", "+OK\r\n"),
        ("SELECT 1", "+OK\r\n"),
        ("FLUSHALL", "+OK\r\n"),
        ("SELECT 0", "+OK\r\n"),
        ("DBSIZE", ":0\r\n"),
        ("FLUSHALL SYNC ASYNC", "-ERR syntax error\r\n"),
    ],
    ..Spec::EMPTY
};

pub(super) fn flushdb(
    ctx: &mut Ctx<'_>,
    args: ArgList<'_>,
    reply: &mut Reply<'_>,
) -> Result<(), Error> {
    let freeing = parse_mode(ctx, args)?;
    let scope = Scope::Database(ctx.view.db());
    ctx.view.locked(&scope, |view| view.flush(freeing));
    reply.ok();
    Ok(())
}

pub(super) fn flushall(
    ctx: &mut Ctx<'_>,
    args: ArgList<'_>,
    reply: &mut Reply<'_>,
) -> Result<(), Error> {
    let freeing = parse_mode(ctx, args)?;
    ctx.view
        .locked(&Scope::Everything, |view| view.flush_all(freeing));
    reply.ok();
    Ok(())
}

fn parse_mode(ctx: &Ctx<'_>, args: ArgList<'_>) -> Result<Freeing, Error> {
    match args.get(0) {
        None if ctx.kv.tuning().flushes_in_steps => Ok(Freeing::InSteps),
        None => Ok(Freeing::AtOnce),
        Some(_) if args.len() > 1 => Err(SYNTAX),
        Some(mode) if is_word(mode, "SYNC") => Ok(Freeing::AtOnce),
        Some(mode) if is_word(mode, "ASYNC") => Ok(Freeing::InSteps),
        Some(_) => Err(SYNTAX),
    }
}

#[cfg(test)]
mod tests {
    use crate::key::testing::Client;

    #[test]
    fn flushdb_leaves_other_databases_unchanged() {
        Client::new().check(&[
            ("SET a 1", "+OK\r\n"),
            ("SELECT 1", "+OK\r\n"),
            ("SET a 1", "+OK\r\n"),
            ("FLUSHDB sync", "+OK\r\n"),
            ("DBSIZE", ":0\r\n"),
            ("SELECT 0", "+OK\r\n"),
            ("DBSIZE", ":1\r\n"),
        ]);
    }

    #[test]
    fn later_commands_of_a_transaction_see_its_flush() {
        Client::new().check(&[
            ("SET a 1", "+OK\r\n"),
            ("MULTI", "+OK\r\n"),
            ("FLUSHALL", "+QUEUED\r\n"),
            ("DBSIZE", "+QUEUED\r\n"),
            ("SET b 1", "+QUEUED\r\n"),
            ("KEYS *", "+QUEUED\r\n"),
            ("EXEC", "*4\r\n+OK\r\n:0\r\n+OK\r\n*1\r\n$1\r\nb\r\n"),
        ]);
    }

    #[test]
    fn flush_without_sync_or_async_follows_the_setting() {
        let pending = |requests: &[(&str, &str)], keys: usize| {
            let mut client = Client::new();
            client.check(&[("SET a 1", "+OK\r\n"), ("SET b 1", "+OK\r\n")]);
            client.check(requests);
            let info = client.send("INFO memory");
            let line = format!("lazyfree_pending_objects:{keys}\r\n");
            assert!(info.contains(&line), "{requests:?}: {info}");
        };
        let set = ("CONFIG SET lazyfree-lazy-user-flush yes", "+OK\r\n");
        pending(&[("FLUSHALL", "+OK\r\n")], 0);
        pending(&[set, ("FLUSHALL", "+OK\r\n")], 2);
        pending(&[set, ("FLUSHDB", "+OK\r\n")], 2);
        pending(&[set, ("FLUSHALL SYNC", "+OK\r\n")], 0);
    }
}
