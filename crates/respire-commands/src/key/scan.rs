//! `SCAN cursor [MATCH pattern] [COUNT count] [TYPE type]`: returns one step of an iteration over
//! all keys.
//!
//! Start with cursor 0 and continue with the cursor of each reply, until that is 0 again. A key
//! that exists during the whole iteration is returned at least once, whatever happens to other
//! keys. A key that is created or removed meanwhile may or may not be returned, and some keys may
//! be returned twice. Cursors differ from those of Redis: they are valid only on this server.

use super::key_list::KeyList;
use crate::Ctx;
use crate::options::{Options, is_word};
use crate::scan_options::{ScanOptions, parse_cursor};
use respire_engine::{Arg, ArgKind, ArgList, Arity, Error, Flags, Group, Reply, Spec};

pub(super) static SCAN: Spec = Spec {
    name: "scan",
    summary: "Incrementally iterate the keys space",
    since: "2.8.0",
    complexity: "O(1) for every call. O(N) for a complete iteration, including enough command calls for the cursor to return back to 0. N is the number of elements inside the collection.",
    group: Group::Generic,
    arity: Arity::at_least(2),
    flags: Flags::READONLY.with(Flags::ALL_KEYS),
    args: &[
        Arg::new("cursor", ArgKind::Integer),
        Arg::new("pattern", ArgKind::Pattern)
            .token("MATCH")
            .optional(),
        Arg::new("count", ArgKind::Integer)
            .token("COUNT")
            .optional(),
        Arg::new("type", ArgKind::String)
            .token("TYPE")
            .since("6.0.0")
            .optional(),
    ],
    tips: &["nondeterministic_output", "request_policy:special"],
    history: &[("6.0.0", "Added the `TYPE` subcommand.")],
    examples: &[
        ("SET a 1", "+OK\r\n"),
        ("SCAN 0 COUNT 1000", "*2\r\n$1\r\n0\r\n*1\r\n$1\r\na\r\n"),
        ("SCAN 0 MATCH b* COUNT 1000", "*2\r\n$1\r\n0\r\n*0\r\n"),
        ("SCAN 0 TYPE hash COUNT 1000", "*2\r\n$1\r\n0\r\n*0\r\n"),
        ("SCAN next", "-ERR invalid cursor\r\n"),
        ("SCAN 0 COUNT 0", "-ERR syntax error\r\n"),
    ],
    ..Spec::EMPTY
};

pub(super) fn run(
    ctx: &mut Ctx<'_>,
    args: ArgList<'_>,
    reply: &mut Reply<'_>,
) -> Result<(), Error> {
    let cursor = parse_cursor(&args[0])?;
    let options = ScanOptions::parse(Options::new(args.skip(1)), true)?;
    let mut keys = KeyList::default();
    let next = ctx.view.scan(cursor, options.count, |key, entry| {
        let type_name = entry.value().type_name();
        let is_wanted = |wanted| is_word(wanted, type_name);
        if options.type_name.is_none_or(is_wanted) && options.pattern.matches(key) {
            keys.push(key);
        }
    });
    reply.array(2);
    reply.bulk(itoa::Buffer::new().format(next));
    keys.reply(reply);
    Ok(())
}

#[cfg(test)]
mod tests {
    use crate::key::testing::Client;

    /// Follows the cursors to the end; returns the keys and the number of steps.
    fn scan_all(client: &mut Client, options: &str) -> (Vec<String>, usize) {
        let (mut keys, mut steps, mut cursor) = (Vec::new(), 0, "0".to_owned());
        loop {
            let reply = client.send(&format!("SCAN {cursor} {options}"));
            let mut bulks = reply
                .split("\r\n")
                .filter(|line| !line.starts_with(['*', '$']))
                .map(str::to_owned);
            cursor = bulks.next().expect("a cursor");
            keys.extend(bulks.filter(|key| !key.is_empty()));
            steps += 1;
            if cursor == "0" {
                return (keys, steps);
            }
            assert!(steps < 10_000, "the iteration does not end");
        }
    }

    #[test]
    fn iteration_returns_every_key_in_steps() {
        let mut client = Client::new();
        client.check(&[
            ("DEBUG POPULATE 500", "+OK\r\n"),
            ("SET other 1", "+OK\r\n"),
        ]);
        let (mut keys, steps) = scan_all(&mut client, "COUNT 10");
        keys.sort();
        keys.dedup();
        assert_eq!(keys.len(), 501);
        assert!(steps >= 10, "{steps}");
        assert_eq!(scan_all(&mut client, "MATCH oth* COUNT 100").0, ["other"]);
        assert_eq!(scan_all(&mut client, "TYPE list").0, Vec::<String>::new());
    }

    #[test]
    fn invalid_options_are_refused_as_in_redis() {
        const SYNTAX_ERROR: &str = "-ERR syntax error\r\n";
        Client::new().check(&[
            ("SCAN x COUNT 0", "-ERR invalid cursor\r\n"),
            ("SCAN 0 COUNT", SYNTAX_ERROR),
            ("SCAN 0 MATCH", SYNTAX_ERROR),
            ("SCAN 0 SORTED", SYNTAX_ERROR),
            ("SCAN 0 COUNT -1", SYNTAX_ERROR),
            (
                "SCAN 0 COUNT many",
                "-ERR value is not an integer or out of range\r\n",
            ),
            ("SCAN 18446744073709551615", "*2\r\n$1\r\n0\r\n*0\r\n"),
        ]);
    }
}
