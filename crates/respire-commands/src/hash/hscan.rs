//! `HSCAN key cursor [MATCH pattern] [COUNT count]`: returns one step of an iteration over the fields
//! and values of a hash.
//!
//! A small hash is returned in one step, as in Redis. A field that exists during the whole
//! iteration is returned exactly once.

use super::access::hash_if_any;
use crate::Ctx;
use crate::options::Options;
use crate::scan_options::{ScanOptions, parse_cursor};
use crate::value::reply_string;
use respire_engine::{Arg, ArgKind, ArgList, Arity, Error, Flags, Group, KeySpec, Reply, Spec};
use respire_store::{Elements, HashRef};

pub(super) static HSCAN: Spec = Spec {
    name: "hscan",
    summary: "Incrementally iterate hash fields and associated values",
    since: "2.8.0",
    complexity: "O(1) for every call. O(N) for a complete iteration, including enough command calls for the cursor to return back to 0. N is the number of elements inside the collection..",
    group: Group::Hash,
    arity: Arity::at_least(3),
    flags: Flags::READONLY,
    keys: &[KeySpec::at(1)],
    args: &[
        Arg::key("key", 0),
        Arg::new("cursor", ArgKind::Integer),
        Arg::new("pattern", ArgKind::Pattern)
            .token("MATCH")
            .optional(),
        Arg::new("count", ArgKind::Integer)
            .token("COUNT")
            .optional(),
    ],
    tips: &["nondeterministic_output"],
    examples: &[
        ("HSET h a 1 b 2", ":2\r\n"),
        (
            "HSCAN h 0 MATCH b*",
            "*2\r\n$1\r\n0\r\n*2\r\n$1\r\nb\r\n$1\r\n2\r\n",
        ),
        ("HSCAN nothing 0", "*2\r\n$1\r\n0\r\n*0\r\n"),
        ("HSCAN h next", "-ERR invalid cursor\r\n"),
        ("HSCAN h 0 TYPE hash", "-ERR syntax error\r\n"),
    ],
    ..Spec::EMPTY
};

pub(super) fn hscan(
    ctx: &mut Ctx<'_>,
    args: ArgList<'_>,
    reply: &mut Reply<'_>,
) -> Result<(), Error> {
    let cursor = parse_cursor(&args[1])?;
    let options = ScanOptions::parse(Options::new(args.skip(2)), false);
    ctx.read(&args[0], |entry| {
        match hash_if_any(entry)? {
            Some(hash) => step(hash, cursor, &options?, reply),
            // The options of an absent key are not read.
            None => {
                reply.array(2);
                reply.bulk("0");
                reply.array(0);
            }
        }
        Ok(())
    })
}

fn step(hash: HashRef<'_>, cursor: u64, options: &ScanOptions<'_>, reply: &mut Reply<'_>) {
    let mut found = Vec::new();
    let next = hash.scan(cursor, options.count, &mut |(field, value)| {
        if options.pattern.matches(field.as_bytes(&mut [0; 20])) {
            found.push((field, value));
        }
    });
    reply.array(2);
    reply.bulk(itoa::Buffer::new().format(next));
    reply.array(2 * found.len());
    for (field, value) in found {
        reply_string(reply, field);
        reply_string(reply, value);
    }
}

#[cfg(test)]
mod tests {
    use crate::key::testing::Client;
    use std::collections::BTreeSet;

    #[test]
    fn iteration_returns_every_field_of_a_large_hash_in_steps() {
        let mut client = Client::new();
        let pairs: Vec<String> = (0..2_000).map(|it| format!("f{it} v{it}")).collect();
        client.send(&format!("HSET k {}", pairs.join(" ")));
        let (mut fields, mut cursor, mut steps) = (BTreeSet::new(), "0".to_owned(), 0);
        loop {
            let reply = client.send(&format!("HSCAN k {cursor} COUNT 20"));
            let mut bulks = reply
                .split("\r\n")
                .filter(|line| !line.starts_with(['*', '$']));
            cursor = bulks.next().expect("a cursor").to_owned();
            let found: Vec<&str> = bulks.filter(|line| line.starts_with('f')).collect();
            assert!(found.len() <= 21, "{}", found.len());
            fields.extend(found.into_iter().map(str::to_owned));
            steps += 1;
            if cursor == "0" {
                break;
            }
        }
        assert_eq!((fields.len(), steps >= 90), (2_000, true));
    }

    #[test]
    fn options_are_read_only_if_the_key_exists() {
        const EMPTY: &str = "*2\r\n$1\r\n0\r\n*0\r\n";
        Client::new().check(&[
            ("HSCAN h 0 COUNT 0", EMPTY),
            ("HSCAN h x", "-ERR invalid cursor\r\n"),
            ("HSET h a 1", ":1\r\n"),
            ("HSCAN h 0 COUNT 0", "-ERR syntax error\r\n"),
            (
                "HSCAN h 5 COUNT 1",
                "*2\r\n$1\r\n0\r\n*2\r\n$1\r\na\r\n$1\r\n1\r\n",
            ),
        ]);
    }
}
