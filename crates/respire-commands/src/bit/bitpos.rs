//! `BITPOS key bit [start [end [BYTE | BIT]]]`: finds the first set or clear bit of a string.
//!
//! As in Redis, without an end the clear bits past the string count too, and the reply is -1 if
//! there is no such bit.

use super::range::{Parts, Unit, read_bits};
use crate::Ctx;
use crate::errors::{BIT_ARGUMENT, SYNTAX};
use crate::options::integer;
use crate::work::work_begins;
use respire_engine::{Arg, ArgKind, ArgList, Arity, Error, Flags, Group, KeySpec, Reply, Spec};
use std::cell::Cell;
use std::ops::Range;

pub(super) static BITPOS: Spec = Spec {
    name: "bitpos",
    summary: "Find first bit set or clear in a string",
    since: "2.8.7",
    complexity: "O(N)",
    group: Group::Bitmap,
    arity: Arity::at_least(3),
    flags: Flags::READONLY,
    keys: &[KeySpec::at(1)],
    args: &[
        Arg::key("key", 0),
        Arg::new("bit", ArgKind::Integer),
        Arg::block(
            "index",
            &[
                Arg::new("start", ArgKind::Integer),
                Arg::block(
                    "end_index",
                    &[
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
        )
        .optional(),
    ],
    history: &[("7.0.0", "Added the `BYTE|BIT` option.")],
    examples: &[
        ("SETBIT k 12 1", ":0\r\n"),
        ("BITPOS k 1", ":12\r\n"),
        ("BITPOS k 0", ":0\r\n"),
        ("BITPOS k 1 13 -1 BIT", ":-1\r\n"),
        ("BITPOS k 2", "-ERR The bit argument must be 1 or 0.\r\n"),
    ],
    ..Spec::EMPTY
};

pub(super) fn bitpos(
    ctx: &mut Ctx<'_>,
    args: ArgList<'_>,
    reply: &mut Reply<'_>,
) -> Result<(), Error> {
    let bit = match integer(&args[1])? {
        0 => false,
        1 => true,
        _ => return Err(BIT_ARGUMENT),
    };
    let range = args.skip(2);
    let looked_at = Cell::new(None);
    let bits = |bytes| {
        let bits = requested_bits(range, bytes)?;
        let first = bits.as_ref().map_or(0, |bits| bits.start / 8 * 8);
        looked_at.set(Some((first, bytes * 8)));
        Ok(bits)
    };
    let found = read_bits(ctx, &args[0], bits, |bytes, bits| find(bytes, bit, bits))?;
    let position = match (looked_at.get(), found) {
        (None, _) => (!bit).then_some(0),
        (Some(_), None) => None,
        (Some((first, _)), Some(Some(position))) => Some(first + position),
        (Some((_, behind)), Some(None)) => (!bit && range.len() < 2).then_some(behind),
    };
    reply.int(position.map_or(-1, |position| position as i64));
    Ok(())
}

/// The requested bits of a string of `bytes` bytes; `None` if there are none.
fn requested_bits(range: ArgList<'_>, bytes: usize) -> Result<Option<Range<usize>>, Error> {
    if range.len() > 3 {
        return Err(SYNTAX);
    }
    let start = range.get(0).map_or(Ok(0), integer)?;
    let unit = Unit::parse(range.get(2))?;
    let end = range.get(1).map_or(Ok(-1), integer)?;
    Ok(unit.bits(start, end, bytes))
}

/// The index of the first bit in the range `bits` that equals `bit`.
fn find(bytes: &[u8], bit: bool, bits: &Range<usize>) -> Option<usize> {
    work_begins();
    let first = bits.start / 8 * 8;
    let parts = Parts::new(bytes, bits, !bit);
    let in_byte = |byte: u8| {
        let zeros = if bit {
            byte.leading_zeros()
        } else {
            byte.leading_ones()
        };
        (zeros < 8).then_some(zeros as usize)
    };
    if let Some(position) = in_byte(parts.head) {
        return Some(first + position);
    }
    let skipped = if bit { 0 } else { 0xff };
    let start = equal_start(parts.middle, skipped);
    let rest = &parts.middle[start..];
    if let Some(at) = rest.iter().position(|byte| *byte != skipped) {
        return in_byte(rest[at]).map(|position| first + 8 * (1 + start + at) + position);
    }
    in_byte(parts.tail).map(|position| first + 8 * (1 + parts.middle.len()) + position)
}

/// The number of leading bytes that equal `skipped`, rounded down to whole cache lines.
fn equal_start(bytes: &[u8], skipped: u8) -> usize {
    const LINE: usize = 64;
    let (lines, _) = bytes.as_chunks::<LINE>();
    // The fold does not stop early within a line, so that many bytes are compared at a time.
    let is_equal =
        |line: &&[u8; LINE]| line.iter().fold(0, |all, byte| all | (byte ^ skipped)) == 0;
    lines.iter().take_while(is_equal).count() * LINE
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::key::testing::Client;

    #[test]
    fn first_bit_is_found_in_any_range() {
        for set_bit in 0..96 {
            for bit in [true, false] {
                let mut bytes = [if bit { 0 } else { 0xff }; 12];
                bytes[set_bit / 8] ^= 0x80 >> (set_bit % 8);
                for start in 0..96 {
                    let end = 96 - start / 3;
                    if start < end {
                        let expected = (start..end).contains(&set_bit).then_some(set_bit);
                        assert_eq!(find(&bytes, bit, &(start..end)), expected, "{start}..{end}");
                    }
                }
            }
        }
    }

    #[test]
    fn bit_is_found_at_any_position_of_a_long_string() {
        for len in [64, 65, 66, 130, 300] {
            for set_bit in 0..8 * len {
                let mut bytes = vec![0; len];
                bytes[set_bit / 8] = 0x80 >> (set_bit % 8);
                assert_eq!(find(&bytes, true, &(0..8 * len)), Some(set_bit));
                bytes.iter_mut().for_each(|byte| *byte = !*byte);
                assert_eq!(find(&bytes, false, &(0..8 * len)), Some(set_bit));
            }
        }
    }

    #[test]
    fn clear_bit_past_the_string_counts_if_no_end_is_given() {
        Client::new().check(&[
            ("SETRANGE k 0 \"\\xff\\xff\"", ":2\r\n"),
            ("BITPOS k 0", ":16\r\n"),
            ("BITPOS k 0 1", ":16\r\n"),
            ("BITPOS k 0 0 -1", ":-1\r\n"),
            ("BITPOS k 0 2", ":-1\r\n"),
            ("BITPOS k 1 2", ":-1\r\n"),
            ("BITPOS k 1 7 15 bit", ":7\r\n"),
        ]);
    }

    #[test]
    fn absent_key_reads_as_zeros_and_its_range_is_not_checked() {
        Client::new().check(&[
            ("BITPOS k 0", ":0\r\n"),
            ("BITPOS k 1", ":-1\r\n"),
            ("BITPOS k 1 a b c d", ":-1\r\n"),
            ("BITPOS k 2", "-ERR The bit argument must be 1 or 0.\r\n"),
            (
                "BITPOS k x",
                "-ERR value is not an integer or out of range\r\n",
            ),
            ("SET k a", "+OK\r\n"),
            (
                "BITPOS k 1 a",
                "-ERR value is not an integer or out of range\r\n",
            ),
            ("BITPOS k 1 0 a FOO", "-ERR syntax error\r\n"),
            (
                "BITPOS k 1 0 a BIT",
                "-ERR value is not an integer or out of range\r\n",
            ),
            ("BITPOS k 1 0 1 BIT x", "-ERR syntax error\r\n"),
        ]);
    }
}
