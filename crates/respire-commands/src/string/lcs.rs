//! `LCS key1 key2 [LEN] [IDX] [MINMATCHLEN len] [WITHMATCHLEN]`: returns the longest common
//! subsequence of two strings, its length, or the positions of its parts.
//!
//! As in Redis, strings are refused if 4 bytes per pair of bytes exceed `proto-max-bulk-len`,
//! although this implementation needs less memory.

use super::subsequence::{self, Rows};
use crate::Ctx;
use crate::errors::{LCS_LEN_AND_IDX, LCS_MEMORY, LCS_NOT_STRINGS, SYNTAX};
use crate::options::{Options, is_word};
use respire_engine::{Arg, ArgKind, ArgList, Arity, Error, Flags, Group, KeySpec, Reply, Spec};
use respire_store::StringRef;

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
    let keys = [&args[0], &args[1]];
    let values = ctx.read_many_owned(keys.into_iter());
    let mut strings = [StringRef::Bytes(b""); 2];
    for (string, value) in strings.iter_mut().zip(&values) {
        if let Some(value) = value {
            *string = value.value().as_string().ok_or(LCS_NOT_STRINGS)?;
        }
    }
    let kind = parse(args.skip(2))?;
    let (mut a_digits, mut b_digits) = ([0; 20], [0; 20]);
    let (a, b) = (
        strings[0].as_bytes(&mut a_digits),
        strings[1].as_bytes(&mut b_digits),
    );
    let cells = (a.len() as u64 + 1).saturating_mul(b.len() as u64 + 1);
    if cells.saturating_mul(size_of::<u32>() as u64) > ctx.string_bytes_max() {
        return Err(LCS_MEMORY);
    }
    match kind {
        ReplyKind::Length => reply.int(subsequence::len(a, b) as i64),
        ReplyKind::Subsequence => reply.bulk(Rows::new(a, b).subsequence()),
        ReplyKind::Matches { len_min, with_len } => {
            reply_matches(reply, &Rows::new(a, b), len_min, with_len);
        }
    }
    Ok(())
}

fn reply_matches(reply: &mut Reply<'_>, rows: &Rows<'_>, len_min: i64, with_len: bool) {
    let mut matches = rows.matches();
    matches.retain(|found| found.len as i64 >= len_min);
    reply.map(2);
    reply.bulk("matches");
    reply.array(matches.len());
    for found in matches {
        reply.array(if with_len { 3 } else { 2 });
        for start in [found.a, found.b] {
            reply.array(2);
            reply.int(start as i64);
            reply.int((start + found.len - 1) as i64);
        }
        if with_len {
            reply.int(found.len as i64);
        }
    }
    reply.bulk("len");
    reply.int(rows.len() as i64);
}

/// The kind of reply that was requested.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ReplyKind {
    Subsequence,
    Length,
    Matches { len_min: i64, with_len: bool },
}

fn parse(rest: ArgList<'_>) -> Result<ReplyKind, Error> {
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
        (true, false) => Ok(ReplyKind::Length),
        (false, true) => Ok(ReplyKind::Matches { len_min, with_len }),
        (false, false) => Ok(ReplyKind::Subsequence),
    }
}

#[cfg(test)]
mod tests {
    use crate::key::testing::Client;

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
