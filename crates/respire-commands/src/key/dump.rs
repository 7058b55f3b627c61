//! `DUMP key`: returns the value as a payload that `RESTORE` accepts, here or in Redis 7.0 and
//! newer.
//!
//! For the same string the payload is byte for byte the one that Redis 7.0 returns.

use crate::{Ctx, rdb};
use respire_engine::{Arg, ArgList, Arity, Error, Flags, Group, KeySpec, LongWork, Reply, Spec};
use respire_store::SHARED_BYTES_MIN;

pub(super) static DUMP: Spec = Spec {
    name: "dump",
    summary: "Return a serialized version of the value stored at the specified key.",
    since: "2.6.0",
    complexity: "O(1) to access the key and additional O(N*M) to serialize it, where N is the number of Redis objects composing the value and M their average size. For small string values the time complexity is thus O(1)+O(1*M) where M is small, so simply O(1).",
    group: Group::Generic,
    arity: Arity::exactly(2),
    flags: Flags::READONLY,
    keys: &[KeySpec::at(1)],
    args: &[Arg::key("key", 0)],
    tips: &["nondeterministic_output"],
    examples: &[
        ("SET a cwl", "+OK\r\n"),
        ("DUMP a", "$15\r\n\0\x03cwl\n\0sW{~a/+4\r\n"),
        ("DUMP b", "$-1\r\n"),
        (
            "DUMP",
            "-ERR wrong number of arguments for 'dump' command\r\n",
        ),
    ],
    ..Spec::EMPTY
};

pub(super) fn run(
    ctx: &mut Ctx<'_>,
    args: ArgList<'_>,
    reply: &mut Reply<'_>,
) -> Result<(), Error> {
    // Packing may take long, so it runs without the lock, and others are served meanwhile.
    let Some(owned) = ctx.read_owned(&args[0]) else {
        reply.null();
        return Ok(());
    };
    let mut work = ctx.long_work();
    let mut step = || work.iter_mut().for_each(LongWork::step);
    let payload = rdb::dump(owned.value(), ctx.kv.types, &mut step);
    if payload.as_slice().len() < SHARED_BYTES_MIN {
        reply.bulk(payload.as_slice());
    } else {
        reply.bulk_shared(payload.into_shared());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use crate::key::testing::Client;

    #[test]
    fn number_and_its_text_have_the_same_payload() {
        let mut client = Client::new();
        client.check(&[("SET a 65", "+OK\r\n"), ("APPEND b 65", ":2\r\n")]);
        assert_eq!(client.send("DUMP a"), client.send("DUMP b"));
    }
}
