//! `HGETALL key`, `HKEYS key`, `HVALS key`: return the fields and values of a hash, the fields, the
//! values.
//!
//! A large hash is replied from a snapshot, without its key's lock, a few hundred fields at a time as the peer
//! reads them.

use super::access::hash_of;
use crate::Ctx;
use crate::streamed::reply_parts;
use crate::value::reply_string;
use respire_engine::{Arg, ArgList, Arity, Error, Flags, Group, KeySpec, Reply, Spec};
use respire_store::{Elements, HashRef, StringRef};

pub(super) static HGETALL: Spec = Spec {
    name: "hgetall",
    summary: "Get all the fields and values in a hash",
    since: "2.0.0",
    complexity: "O(N) where N is the size of the hash.",
    group: Group::Hash,
    arity: Arity::exactly(2),
    flags: Flags::READONLY,
    keys: &[KeySpec::at(1)],
    args: &[Arg::key("key", 0)],
    tips: &["nondeterministic_output_order"],
    examples: &[
        ("HSET h a 1 b 2", ":2\r\n"),
        (
            "HGETALL h",
            "*4\r\n$1\r\na\r\n$1\r\n1\r\n$1\r\nb\r\n$1\r\n2\r\n",
        ),
        ("HGETALL nothing", "*0\r\n"),
    ],
    ..Spec::EMPTY
};

pub(super) static HKEYS: Spec = Spec {
    name: "hkeys",
    summary: "Get all the fields in a hash",
    since: "2.0.0",
    complexity: "O(N) where N is the size of the hash.",
    group: Group::Hash,
    arity: Arity::exactly(2),
    flags: Flags::READONLY,
    keys: &[KeySpec::at(1)],
    args: &[Arg::key("key", 0)],
    tips: &["nondeterministic_output_order"],
    examples: &[
        ("HSET h a 1 b 2", ":2\r\n"),
        ("HKEYS h", "*2\r\n$1\r\na\r\n$1\r\nb\r\n"),
        ("HKEYS nothing", "*0\r\n"),
    ],
    ..Spec::EMPTY
};

pub(super) static HVALS: Spec = Spec {
    name: "hvals",
    summary: "Get all the values in a hash",
    since: "2.0.0",
    complexity: "O(N) where N is the size of the hash.",
    group: Group::Hash,
    arity: Arity::exactly(2),
    flags: Flags::READONLY,
    keys: &[KeySpec::at(1)],
    args: &[Arg::key("key", 0)],
    tips: &["nondeterministic_output_order"],
    examples: &[
        ("HSET h a 1 b 2", ":2\r\n"),
        ("HVALS h", "*2\r\n$1\r\n1\r\n$1\r\n2\r\n"),
        ("HVALS nothing", "*0\r\n"),
    ],
    ..Spec::EMPTY
};

pub(super) fn hgetall(
    ctx: &mut Ctx<'_>,
    args: ArgList<'_>,
    reply: &mut Reply<'_>,
) -> Result<(), Error> {
    reply_all(ctx, &args[0], What::Both, reply)
}

pub(super) fn hkeys(
    ctx: &mut Ctx<'_>,
    args: ArgList<'_>,
    reply: &mut Reply<'_>,
) -> Result<(), Error> {
    reply_all(ctx, &args[0], What::Fields, reply)
}

pub(super) fn hvals(
    ctx: &mut Ctx<'_>,
    args: ArgList<'_>,
    reply: &mut Reply<'_>,
) -> Result<(), Error> {
    reply_all(ctx, &args[0], What::Values, reply)
}

/// What is replied.
#[derive(Clone, Copy)]
enum What {
    Both,
    Fields,
    Values,
}

impl What {
    /// The bytes of an element of a usual hash in a reply.
    fn bytes_guessed(self) -> usize {
        match self {
            What::Both => 40,
            What::Fields | What::Values => 20,
        }
    }
}

fn reply_all(
    ctx: &mut Ctx<'_>,
    key: &[u8],
    what: What,
    reply: &mut Reply<'_>,
) -> Result<(), Error> {
    let snapshot = ctx.read_or_snapshot(key, |hash| {
        begin(reply, hash.map_or(0, HashRef::live_len), what);
        let hash = hash.into_iter();
        hash.for_each(|hash| hash.for_each(&mut |pair| put(reply, pair, what)));
    })?;
    if let Err(snapshot) = snapshot {
        let hash = hash_of(&snapshot);
        let len = hash.live_len();
        begin(reply, len, what);
        let parts = hash.parts();
        reply_parts(
            reply,
            (len, what.bytes_guessed()),
            parts,
            move |at, reply| {
                hash_of(&snapshot).for_part(at, &mut |pair| put(reply, pair, what));
            },
        );
    }
    Ok(())
}

fn begin(reply: &mut Reply<'_>, len: usize, what: What) {
    match what {
        What::Both => reply.map(len),
        What::Fields | What::Values => reply.array(len),
    }
}

fn put(reply: &mut Reply<'_>, (field, value): (StringRef<'_>, StringRef<'_>), what: What) {
    if !matches!(what, What::Values) {
        reply_string(reply, field);
    }
    if !matches!(what, What::Fields) {
        reply_string(reply, value);
    }
}

#[cfg(test)]
mod tests {
    use crate::key::testing::Client;
    use crate::unlocked::tests::send_and_write_meanwhile;

    #[test]
    fn key_is_not_locked_while_a_large_hash_is_read() {
        for request in [
            "HGETALL k",
            "HKEYS k",
            "HVALS k",
            "HRANDFIELD k 900",
            "DUMP k",
        ] {
            let mut client = Client::new();
            let pairs: Vec<String> = (0..1_000).map(|it| format!("f{it} v{it}")).collect();
            client.send(&format!("HSET k {}", pairs.join(" ")));
            let write = || "HSET k meanwhile 1".to_owned();
            let (reply, is_unlocked) = send_and_write_meanwhile(&mut client, request, write);
            assert!(
                !reply.starts_with('-') && !reply.contains("meanwhile"),
                "{request}"
            );
            assert_eq!(is_unlocked, [true], "{request}");
            client.check(&[("HLEN k", ":1001\r\n")]);
        }
    }
}
