//! `LCS key1 key2 [LEN] [IDX] [MINMATCHLEN len] [WITHMATCHLEN]`: the longest common subsequence of
//! two strings, its length, or where its parts lie. As in Redis: the table behind it takes
//! 4 bytes per pair of bytes, and may not outgrow `proto-max-bulk-len`.

use crate::Ctx;
use crate::errors::{LCS_LEN_AND_IDX, LCS_MEMORY, LCS_NOT_STRINGS, SYNTAX};
use crate::options::{Options, is_word};
use respire_engine::{Arg, ArgKind, ArgList, Arity, Error, Flags, Group, KeySpec, Reply, Spec};

pub(super) static LCS: Spec = Spec {
    name: "lcs",
    summary: "Find longest common substring",
    since: "7.0.0",
    complexity: "O(N*M) where N and M are the lengths of s1 and s2, respectively",
    group: Group::String,
    arity: Arity::at_least(3),
    flags: Flags::READONLY,
    keys: &[KeySpec::range(1, 1, 1)],
    args: &[
        Arg::key("key1", 0),
        Arg::key("key2", 0),
        Arg::word("len", "LEN").optional(),
        Arg::word("idx", "IDX").optional(),
        Arg::new("len", ArgKind::Integer)
            .token("MINMATCHLEN")
            .optional(),
        Arg::word("withmatchlen", "WITHMATCHLEN").optional(),
    ],
    examples: &[
        ("MSET a ohmytext b mynewtext", "+OK\r\n"),
        ("LCS a b", "$6\r\nmytext\r\n"),
        ("LCS a b LEN", ":6\r\n"),
        (
            "LCS a b IDX",
            "*4\r\n$7\r\nmatches\r\n*2\r\n*2\r\n*2\r\n:4\r\n:7\r\n*2\r\n:5\r\n:8\r\n*2\r\n*2\r\n:2\r\n:3\r\n*2\r\n:0\r\n:1\r\n$3\r\nlen\r\n:6\r\n",
        ),
        (
            "LCS a b IDX MINMATCHLEN 4 WITHMATCHLEN",
            "*4\r\n$7\r\nmatches\r\n*1\r\n*3\r\n*2\r\n:4\r\n:7\r\n*2\r\n:5\r\n:8\r\n:4\r\n$3\r\nlen\r\n:6\r\n",
        ),
        (
            "LCS a b IDX LEN",
            "-ERR If you want both the length and indexes, please just use IDX.\r\n",
        ),
    ],
    ..Spec::EMPTY
};

pub(super) fn lcs(
    ctx: &mut Ctx<'_>,
    args: ArgList<'_>,
    reply: &mut Reply<'_>,
) -> Result<(), Error> {
    let mut strings = [Vec::new(), Vec::new()];
    let mut slots = strings.iter_mut();
    let mut are_strings = true;
    ctx.read_many(args.iter().take(2), |entry| {
        let string = entry.map(|entry| entry.value().as_string());
        are_strings &= !matches!(string, Some(None));
        if let (Some(slot), Some(Some(string))) = (slots.next(), string) {
            *slot = string.to_vec();
        }
    });
    if !are_strings {
        return Err(LCS_NOT_STRINGS);
    }
    let wanted = parse(args.skip(2))?;
    let [a, b] = &strings;
    let cells = (a.len() as u64 + 1).saturating_mul(b.len() as u64 + 1);
    if cells.saturating_mul(size_of::<u32>() as u64) > ctx.string_bytes_max() {
        return Err(LCS_MEMORY);
    }
    let table = Table::new(a, b);
    match wanted {
        Wanted::Length => reply.int(i64::from(table.at(a.len(), b.len()))),
        Wanted::Subsequence => reply.bulk(table.subsequence()),
        Wanted::Matches { len_min, with_len } => reply_matches(reply, &table, len_min, with_len),
    }
    Ok(())
}

fn reply_matches(reply: &mut Reply<'_>, table: &Table<'_>, len_min: i64, with_len: bool) {
    let mut matches = table.matches();
    matches.retain(|found| i64::from(found.len) >= len_min);
    reply.map(2);
    reply.bulk("matches");
    reply.array(matches.len());
    for found in matches {
        reply.array(if with_len { 3 } else { 2 });
        for start in [found.a, found.b] {
            reply.array(2);
            reply.int(i64::from(start));
            reply.int(i64::from(start + found.len - 1));
        }
        if with_len {
            reply.int(i64::from(found.len));
        }
    }
    reply.bulk("len");
    reply.int(i64::from(table.at(table.a.len(), table.b.len())));
}

/// What is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wanted {
    Subsequence,
    Length,
    Matches { len_min: i64, with_len: bool },
}

fn parse(rest: ArgList<'_>) -> Result<Wanted, Error> {
    let mut options = Options::new(rest);
    let (mut is_len, mut is_idx, mut with_len, mut len_min) = (false, false, false, 0);
    while let Some(option) = options.next() {
        if is_word(option, "IDX") {
            is_idx = true;
        } else if is_word(option, "LEN") {
            is_len = true;
        } else if is_word(option, "WITHMATCHLEN") {
            with_len = true;
        } else if is_word(option, "MINMATCHLEN") {
            len_min = options.integer()?;
        } else {
            return Err(SYNTAX);
        }
    }
    match (is_len, is_idx) {
        (true, true) => Err(LCS_LEN_AND_IDX),
        (true, false) => Ok(Wanted::Length),
        (false, true) => Ok(Wanted::Matches { len_min, with_len }),
        (false, false) => Ok(Wanted::Subsequence),
    }
}

/// A run of bytes that both strings have, with where it begins in each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Match {
    a: u32,
    b: u32,
    len: u32,
}

/// The lengths of the longest common subsequences of all prefixes of two strings.
struct Table<'s> {
    a: &'s [u8],
    b: &'s [u8],
    lengths: Vec<u32>,
}

impl<'s> Table<'s> {
    /// O(n·m) in time and memory.
    fn new(a: &'s [u8], b: &'s [u8]) -> Self {
        let width = b.len() + 1;
        let mut lengths = vec![0; (a.len() + 1) * width];
        for (row, byte) in a.iter().enumerate() {
            let (above, below) = lengths[row * width..(row + 2) * width].split_at_mut(width);
            for (column, other) in b.iter().enumerate() {
                below[column + 1] = if byte == other {
                    above[column] + 1
                } else {
                    above[column + 1].max(below[column])
                };
            }
        }
        Self { a, b, lengths }
    }

    /// The length for the first `a` bytes of the one string and the first `b` of the other.
    fn at(&self, a: usize, b: usize) -> u32 {
        self.lengths[a * (self.b.len() + 1) + b]
    }

    /// Goes from the ends of both strings to their starts, and calls `found` with the indexes of
    /// each byte of the subsequence, the last one first.
    fn walk(&self, mut found: impl FnMut(usize, usize)) {
        let (mut a, mut b) = (self.a.len(), self.b.len());
        while a > 0 && b > 0 {
            if self.a[a - 1] == self.b[b - 1] {
                a -= 1;
                b -= 1;
                found(a, b);
            } else if self.at(a - 1, b) > self.at(a, b - 1) {
                a -= 1;
            } else {
                b -= 1;
            }
        }
    }

    fn subsequence(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(self.at(self.a.len(), self.b.len()) as usize);
        self.walk(|a, _| bytes.push(self.a[a]));
        bytes.reverse();
        bytes
    }

    /// The runs that the subsequence consists of, the last one first.
    fn matches(&self) -> Vec<Match> {
        let mut matches: Vec<Match> = Vec::new();
        self.walk(|a, b| {
            let (a, b) = (a as u32, b as u32);
            match matches.last_mut() {
                Some(last) if last.a == a + 1 && last.b == b + 1 => {
                    *last = Match {
                        a,
                        b,
                        len: last.len + 1,
                    };
                }
                _ => matches.push(Match { a, b, len: 1 }),
            }
        });
        matches
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::key::testing::Client;

    fn matches(a: &str, b: &str) -> Vec<(u32, u32, u32)> {
        let table = Table::new(a.as_bytes(), b.as_bytes());
        table
            .matches()
            .iter()
            .map(|found| (found.a, found.b, found.len))
            .collect()
    }

    #[test]
    fn subsequence_is_the_longest_one() {
        let table = Table::new(b"ohmytext", b"mynewtext");
        assert_eq!(table.subsequence(), b"mytext");
        assert_eq!(table.at(8, 9), 6);
        assert_eq!(Table::new(b"abc", b"").subsequence(), b"");
    }

    #[test]
    fn matches_are_runs_from_the_back() {
        assert_eq!(matches("ohmytext", "mynewtext"), [(4, 5, 4), (2, 0, 2)]);
        assert_eq!(matches("abc", "abc"), [(0, 0, 3)]);
        assert_eq!(matches("abc", "xyz"), []);
        assert_eq!(matches("", "xyz"), []);
    }

    #[test]
    fn options_are_checked_before_the_strings_are_compared() {
        Client::new().check(&[
            ("LCS a b", "$0\r\n\r\n"),
            (
                "LCS a b IDX",
                "*4\r\n$7\r\nmatches\r\n*0\r\n$3\r\nlen\r\n:0\r\n",
            ),
            ("LCS a b LEN", ":0\r\n"),
            (
                "LCS a b LEN IDX",
                "-ERR If you want both the length and indexes, please just use IDX.\r\n",
            ),
            ("LCS a b FOO", "-ERR syntax error\r\n"),
            ("LCS a b MINMATCHLEN", "-ERR syntax error\r\n"),
            (
                "LCS a b MINMATCHLEN x",
                "-ERR value is not an integer or out of range\r\n",
            ),
            ("LCS a b MINMATCHLEN -1", "$0\r\n\r\n"),
        ]);
    }

    #[test]
    fn matches_are_a_map_in_resp3() {
        let mut client = Client::new();
        client.check(&[("MSET a ohmytext b mynewtext", "+OK\r\n")]);
        client.send("HELLO 3");
        client.check(&[
            ("LCS a b IDX WITHMATCHLEN", "%2\r\n$7\r\nmatches\r\n*2\r\n*3\r\n*2\r\n:4\r\n:7\r\n*2\r\n:5\r\n:8\r\n:4\r\n*3\r\n*2\r\n:2\r\n:3\r\n*2\r\n:0\r\n:1\r\n:2\r\n$3\r\nlen\r\n:6\r\n"),
        ]);
    }
}
