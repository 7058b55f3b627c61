//! `SSCAN key cursor [MATCH pattern] [COUNT count]`: returns one step of an iteration over the
//! members of a set.
//!
//! A member that is in the set during the whole iteration is returned, whatever happens to others.
//! As in Redis, a small set is returned in one step, and options are not checked without a key.

use super::read::{LOCKED_MEMBERS_MAX, read_set};
use crate::Ctx;
use crate::options::Options;
use crate::scan_options::{ScanOptions, parse_cursor};
use crate::value::reply_string;
use respire_engine::{Arg, ArgKind, ArgList, Arity, Error, Flags, Group, KeySpec, Reply, Spec};
use respire_store::{Elements, SetRef, StringRef};

pub(super) static SSCAN: Spec = Spec {
    name: "sscan",
    summary: "Incrementally iterate Set elements",
    since: "2.8.0",
    complexity: "O(1) for every call. O(N) for a complete iteration, including enough command calls for the cursor to return back to 0. N is the number of elements inside the collection..",
    group: Group::Set,
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
        ("SADD a 1 2", ":2\r\n"),
        ("SSCAN a 0 MATCH 2*", "*2\r\n$1\r\n0\r\n*1\r\n$1\r\n2\r\n"),
        ("SSCAN none 0", "*2\r\n$1\r\n0\r\n*0\r\n"),
        ("SSCAN a x", "-ERR invalid cursor\r\n"),
        ("SSCAN a 0 COUNT 0", "-ERR syntax error\r\n"),
    ],
    ..Spec::EMPTY
};

pub(super) fn sscan(
    ctx: &mut Ctx<'_>,
    args: ArgList<'_>,
    reply: &mut Reply<'_>,
) -> Result<(), Error> {
    let cursor = parse_cursor(&args[1])?;
    let options = ScanOptions::parse(Options::new(args.skip(2)), false);
    // A step of a few members is short however large the set is.
    let is_short = matches!(&options, Ok(options) if options.count <= LOCKED_MEMBERS_MAX);
    let members_max = if is_short {
        usize::MAX
    } else {
        LOCKED_MEMBERS_MAX
    };
    let found = read_set(ctx, &args[0], members_max, |set| {
        reply_step(set, cursor, &options?, reply);
        Ok(())
    })?;
    found.unwrap_or_else(|| {
        reply.array(2);
        reply.bulk("0");
        reply.array(0);
        Ok(())
    })
}

fn reply_step(set: SetRef<'_>, cursor: u64, options: &ScanOptions<'_>, reply: &mut Reply<'_>) {
    let mut found: Vec<StringRef<'_>> = Vec::new();
    let next = set.scan(cursor, options.count, &mut |member| {
        if options.pattern.matches(member.as_bytes(&mut [0; 20])) {
            found.push(member);
        }
    });
    reply.array(2);
    reply.bulk(itoa::Buffer::new().format(next));
    reply.array(found.len());
    found
        .into_iter()
        .for_each(|member| reply_string(reply, member));
}

#[cfg(test)]
mod tests {
    use crate::key::testing::Client;

    #[test]
    fn iteration_returns_every_member_once_in_steps() {
        let mut client = Client::new();
        let texts: Vec<String> = (0..3000).map(|it| format!("m{it}")).collect();
        client.send(&format!("SADD k {}", texts.join(" ")));
        for count in [10, 500, 5000] {
            let (mut found, mut steps, mut cursor) = (Vec::new(), 0, "0".to_owned());
            loop {
                let reply = client.send(&format!("SSCAN k {cursor} COUNT {count}"));
                let mut lines = reply
                    .split("\r\n")
                    .filter(|line| !line.is_empty() && !line.starts_with(['*', '$']))
                    .map(str::to_owned);
                cursor = lines.next().expect("a cursor");
                found.extend(lines);
                steps += 1;
                if cursor == "0" {
                    break;
                }
            }
            found.sort();
            let mut expected = texts.clone();
            expected.sort();
            assert_eq!(found, expected);
            let least = 3000 / count;
            assert!(
                (least..2 * least + 2).contains(&steps),
                "{steps} of {count}"
            );
        }
    }

    #[test]
    fn options_are_checked_after_the_key() {
        Client::new().check(&[
            ("SSCAN none x", "-ERR invalid cursor\r\n"),
            ("SSCAN none 0 FOO", "*2\r\n$1\r\n0\r\n*0\r\n"),
            ("SET s 1", "+OK\r\n"),
            (
                "SSCAN s 0 FOO",
                "-WRONGTYPE Operation against a key holding the wrong kind of value\r\n",
            ),
            ("SADD k a", ":1\r\n"),
            ("SSCAN k 0 FOO", "-ERR syntax error\r\n"),
            ("SSCAN k 0 TYPE set", "-ERR syntax error\r\n"),
            (
                "SSCAN k 0 COUNT x",
                "-ERR value is not an integer or out of range\r\n",
            ),
        ]);
    }
}
