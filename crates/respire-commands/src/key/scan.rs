//! `SCAN cursor [MATCH pattern] [COUNT count] [TYPE type]`: returns one step of an iteration over
//! all keys.
//!
//! Start with cursor 0 and continue with the cursor of each reply, until that is 0 again. A key
//! that exists during the whole iteration is returned at least once, whatever happens to other
//! keys. A key that is created or removed meanwhile may or may not be returned, and some keys may
//! be returned twice. Cursors differ from those of Redis: they are valid only on this server.

use super::key_list::KeyList;
use super::keys::Pattern;
use crate::Ctx;
use crate::errors::{CURSOR, SYNTAX};
use crate::options::{Options, is_word};
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

/// The number of keys that a step visits if the request gives no count.
const COUNT_DEFAULT: usize = 10;

pub(super) fn run(
    ctx: &mut Ctx<'_>,
    args: ArgList<'_>,
    reply: &mut Reply<'_>,
) -> Result<(), Error> {
    let cursor = parse_cursor(&args[0])?;
    let filter = Filter::parse(Options::new(args.skip(1)))?;
    let mut keys = KeyList::default();
    let next = ctx.view.scan(cursor, filter.count, |key, entry| {
        if filter.accepts(key, entry.value().type_name()) {
            keys.push(key);
        }
    });
    reply.array(2);
    reply.bulk(itoa::Buffer::new().format(next));
    keys.reply(reply);
    Ok(())
}

/// Parses a cursor as C's `strtoul` does, which Redis uses: blanks are refused, but a sign is
/// accepted, and the empty text is 0.
fn parse_cursor(text: &[u8]) -> Result<u64, Error> {
    let (is_negative, digits) = match text {
        [] => return Ok(0),
        [b'-', digits @ ..] => (true, digits),
        [b'+', digits @ ..] => (false, digits),
        digits => (false, digits),
    };
    if digits.is_empty() {
        return Err(CURSOR);
    }
    let mut cursor = 0_u64;
    for &digit in digits {
        if !digit.is_ascii_digit() {
            return Err(CURSOR);
        }
        cursor = cursor
            .checked_mul(10)
            .and_then(|cursor| cursor.checked_add(u64::from(digit - b'0')))
            .ok_or(CURSOR)?;
    }
    Ok(if is_negative {
        cursor.wrapping_neg()
    } else {
        cursor
    })
}

/// The options of one request.
struct Filter<'a> {
    pattern: Pattern<'a>,
    count: usize,
    type_name: Option<&'a [u8]>,
}

impl<'a> Filter<'a> {
    fn parse(mut options: Options<'a>) -> Result<Self, Error> {
        let mut filter = Self {
            pattern: Pattern::ANY,
            count: COUNT_DEFAULT,
            type_name: None,
        };
        while let Some(word) = options.next() {
            if is_word(word, "COUNT") {
                let count = options.integer()?;
                filter.count = usize::try_from(count)
                    .ok()
                    .filter(|count| *count > 0)
                    .ok_or(SYNTAX)?;
            } else if is_word(word, "MATCH") {
                filter.pattern = Pattern::new(options.value()?);
            } else if is_word(word, "TYPE") {
                filter.type_name = Some(options.value()?);
            } else {
                return Err(SYNTAX);
            }
        }
        Ok(filter)
    }

    fn accepts(&self, key: &[u8], type_name: &str) -> bool {
        self.type_name
            .is_none_or(|wanted| is_word(wanted, type_name))
            && self.pattern.matches(key)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::key::testing::Client;

    #[test]
    fn cursor_is_parsed_as_in_redis() {
        let accepted: [(&[u8], u64); 6] = [
            (b"", 0),
            (b"0", 0),
            (b"007", 7),
            (b"+5", 5),
            (b"-1", u64::MAX),
            (b"18446744073709551615", u64::MAX),
        ];
        for (text, cursor) in accepted {
            assert_eq!(parse_cursor(text), Ok(cursor), "{text:?}");
        }
        for text in [
            &b"x"[..],
            b"1x",
            b" 1",
            b"1 ",
            b"-",
            b"+",
            b"--1",
            b"18446744073709551616",
        ] {
            assert_eq!(parse_cursor(text), Err(CURSOR), "{text:?}");
        }
    }

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
