//! `LASTSAVE`: returns the time of the last save to disk, in unix seconds.
//!
//! Before the first save it returns the time of the server's start, as Redis does.

use crate::Ctx;
use respire_engine::{ArgList, Arity, Error, Flags, Group, Reply, Spec};

pub(super) static LASTSAVE: Spec = Spec {
    name: "lastsave",
    summary: "Get the UNIX time stamp of the last successful save to disk",
    since: "1.0.0",
    complexity: "O(1)",
    group: Group::Server,
    arity: Arity::exactly(1),
    flags: Flags::LOADING.with(Flags::STALE).with(Flags::FAST),
    categories: &["admin", "dangerous"],
    tips: &["nondeterministic_output"],
    examples: &[(
        "LASTSAVE a",
        "-ERR wrong number of arguments for 'lastsave' command\r\n",
    )],
    ..Spec::EMPTY
};

pub(super) fn run(
    ctx: &mut Ctx<'_>,
    _args: ArgList<'_>,
    reply: &mut Reply<'_>,
) -> Result<(), Error> {
    let started_s = ctx.started().unix_us() / 1_000_000;
    reply.int(started_s.max(ctx.kv.saved_at_s()) as i64);
    Ok(())
}

#[cfg(test)]
mod tests {
    use crate::key::testing::Client;
    use std::time::Duration;

    #[test]
    fn lastsave_always_returns_the_start_time() {
        let mut client = Client::new();
        client.check(&[("LASTSAVE", ":1700000000\r\n")]);
        client.advance(Duration::from_secs(60));
        client.check(&[("LASTSAVE", ":1700000000\r\n")]);
    }
}
