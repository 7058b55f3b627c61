//! `BITCOUNT key [start end [BYTE | BIT]]`: counts the set bits of a string or of a part of it.
//!
//! As in Redis 7.0, the count of an absent key is 0, and its range is not checked.

use super::range::{Parts, Unit, read_bits};
use crate::Ctx;
use crate::errors::SYNTAX;
use crate::options::integer;
use crate::work::work_begins;
use respire_engine::{Arg, ArgKind, ArgList, Arity, Error, Flags, Group, KeySpec, Reply, Spec};
use std::ops::Range;

pub(super) static BITCOUNT: Spec = Spec {
    name: "bitcount",
    summary: "Count set bits in a string",
    since: "2.6.0",
    complexity: "O(N)",
    group: Group::Bitmap,
    arity: Arity::at_least(2),
    flags: Flags::READONLY,
    keys: &[KeySpec::at(1)],
    args: &[
        Arg::key("key", 0),
        Arg::block(
            "index",
            &[
                Arg::new("start", ArgKind::Integer),
                Arg::new("end", ArgKind::Integer),
                Arg::one_of(
                    "index_unit",
                    &[Arg::word("byte", "BYTE"), Arg::word("bit", "BIT")],
                )
                .since("7.0.0")
                .optional(),
            ],
        )
        .optional(),
    ],
    history: &[("7.0.0", "Added the `BYTE|BIT` option.")],
    examples: &[
        ("SET k foobar", "+OK\r\n"),
        ("BITCOUNT k", ":26\r\n"),
        ("BITCOUNT k 1 1", ":6\r\n"),
        ("BITCOUNT k 5 30 BIT", ":17\r\n"),
        ("BITCOUNT k 0", "-ERR syntax error\r\n"),
    ],
    ..Spec::EMPTY
};

pub(super) fn bitcount(
    ctx: &mut Ctx<'_>,
    args: ArgList<'_>,
    reply: &mut Reply<'_>,
) -> Result<(), Error> {
    let range = args.skip(1);
    let count = read_bits(
        ctx,
        &args[0],
        |bytes| requested_bits(range, bytes),
        count_in,
    )?;
    reply.int(count.unwrap_or(0) as i64);
    Ok(())
}

/// The requested bits of a string of `bytes` bytes; `None` if there are none.
fn requested_bits(range: ArgList<'_>, bytes: usize) -> Result<Option<Range<usize>>, Error> {
    if range.is_empty() {
        return Ok((bytes > 0).then_some(0..bytes * 8));
    }
    if !(2..=3).contains(&range.len()) {
        return Err(SYNTAX);
    }
    let (start, end) = (integer(&range[0])?, integer(&range[1])?);
    if start < 0 && end < 0 && start > end {
        return Ok(None);
    }
    Ok(Unit::parse(range.get(2))?.bits(start, end, bytes))
}

fn count_in(bytes: &[u8], bits: &Range<usize>) -> u64 {
    work_begins();
    let parts = Parts::new(bytes, bits, false);
    count(parts.middle) + u64::from(parts.head.count_ones() + parts.tail.count_ones())
}

fn count(bytes: &[u8]) -> u64 {
    let (words, rest) = bytes.as_chunks::<8>();
    let in_words: u64 = words
        .iter()
        .map(|word| u64::from(u64::from_ne_bytes(*word).count_ones()))
        .sum();
    in_words
        + rest
            .iter()
            .map(|byte| u64::from(byte.count_ones()))
            .sum::<u64>()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::key::testing::Client;

    #[test]
    fn count_equals_the_sum_over_single_bytes() {
        let bytes: Vec<u8> = (0..=255).collect();
        for len in 0..bytes.len() {
            let one_by_one: u32 = bytes[..len].iter().map(|byte| byte.count_ones()).sum();
            assert_eq!(count(&bytes[..len]), u64::from(one_by_one));
        }
    }

    #[test]
    fn count_in_a_bit_range_equals_the_sum_over_single_bits() {
        let bytes = [0b1010_1010, 0xff, 0b0101_0101];
        for start in 0..24 {
            for end in start..24 {
                let bits = Unit::Bit.bits(start, end, 3).expect("within the string");
                let counted = count_in(&bytes, &bits);
                let is_set = |bit: &usize| bytes[bit / 8] >> (7 - bit % 8) & 1 == 1;
                assert_eq!(
                    counted,
                    bits.filter(is_set).count() as u64,
                    "{start}..={end}"
                );
            }
        }
    }

    #[test]
    fn range_is_not_checked_if_the_key_is_absent() {
        Client::new().check(&[
            ("BITCOUNT k 1", ":0\r\n"),
            ("BITCOUNT k a b c d", ":0\r\n"),
            ("SET k foobar", "+OK\r\n"),
            ("BITCOUNT k 1", "-ERR syntax error\r\n"),
            (
                "BITCOUNT k a 1",
                "-ERR value is not an integer or out of range\r\n",
            ),
            ("BITCOUNT k 0 0 FOO", "-ERR syntax error\r\n"),
            ("BITCOUNT k -1 -2 FOO", ":0\r\n"),
            ("BITCOUNT k 0 -1 bit", ":26\r\n"),
            ("BITCOUNT k -100 -100", ":4\r\n"),
            ("BITCOUNT k 0 0 BYTE x", "-ERR syntax error\r\n"),
        ]);
    }
}
