//! The bounds of ranges, as arguments give them.

use crate::errors::{NOT_A_LEX_RANGE, NOT_A_SCORE_RANGE};
use crate::options::integer;
use resp_codec::number::parse_f64;
use respire_engine::Error;
use respire_store::packed::listpack::Element;
use respire_store::{Bound, Elements, ZSetRef};
use std::ops::Range;

/// A range of elements.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Bounds<'a> {
    /// From one index to another; both are inclusive, and count from the end if negative.
    Ranks(i64, i64),
    Between(Bound<'a>, Bound<'a>),
    /// The same by members, of which all have the same score.
    Lex(Bound<'a>, Bound<'a>),
}

/// What the arguments of a range are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum By {
    Rank,
    Score,
    Lex,
}

impl<'a> Bounds<'a> {
    pub(super) fn parse(by: By, min: &'a [u8], max: &'a [u8]) -> Result<Self, Error> {
        Ok(match by {
            By::Rank => Self::Ranks(integer(min)?, integer(max)?),
            By::Score => {
                let (min, min_is_open) = score(min).ok_or(NOT_A_SCORE_RANGE)?;
                let (max, max_is_open) = score(max).ok_or(NOT_A_SCORE_RANGE)?;
                let from = if min_is_open {
                    Bound::ThroughScore(min)
                } else {
                    Bound::BelowScore(min)
                };
                let to = if max_is_open {
                    Bound::BelowScore(max)
                } else {
                    Bound::ThroughScore(max)
                };
                Self::Between(from, to)
            }
            By::Lex => {
                let from = member(min, Bound::BelowMember, Bound::ThroughMember);
                let to = member(max, Bound::ThroughMember, Bound::BelowMember);
                Self::Lex(from.ok_or(NOT_A_LEX_RANGE)?, to.ok_or(NOT_A_LEX_RANGE)?)
            }
        })
    }

    /// Returns the ranks of the elements in the range. In reverse, those of [`Bounds::Ranks`] count from the last
    /// element.
    pub(super) fn ranks(self, set: ZSetRef<'_>, reverse: bool) -> Range<usize> {
        match self {
            Self::Ranks(start, end) => ranks_from(start, end, set.len()),
            Self::Between(from, to) => {
                let start = set.count_below(from);
                start..set.count_below(to).max(start)
            }
            Self::Lex(from, to) => lex_ranks(set, from, to, reverse),
        }
    }
}

/// Converts inclusive indexes, which count from the end if negative. An end before the first element is none, unlike
/// in ranges of strings.
fn ranks_from(start: i64, end: i64, len: usize) -> Range<usize> {
    let from_front = |index: i64| match usize::try_from(index) {
        Ok(index) => Some(index),
        Err(_) => len.checked_sub(usize::try_from(index.unsigned_abs()).unwrap_or(usize::MAX)),
    };
    let start = from_front(start).unwrap_or(0);
    let end = from_front(end).map_or(0, |end| end.saturating_add(1).min(len));
    start..end.max(start)
}

/// Returns the range between two bounds of members. If the scores differ, Redis still tests the last and the first
/// element, and begins with the end from which it replies; so does this function on a packed set.
fn lex_ranks(set: ZSetRef<'_>, from: Bound<'_>, to: Bound<'_>, reverse: bool) -> Range<usize> {
    let is_at_end = |reverse, test: &dyn Fn(Element<'_>) -> bool| {
        let mut is = false;
        set.for_range(0, 1, reverse, &mut |(member, _)| is = test(member));
        is
    };
    let is_behind_from = |member: Element<'_>| is_behind(member, from);
    let is_before_to = |member: Element<'_>| !is_behind(member, to);
    if !is_at_end(true, &is_behind_from) || !is_at_end(false, &is_before_to) {
        return 0..0;
    }
    if !reverse || set.listpack().is_none() {
        return Bounds::Between(from, to).ranks(set, reverse);
    }
    let mut members = Vec::with_capacity(set.len());
    set.for_range(0, usize::MAX, true, &mut |(member, _)| members.push(member));
    let skipped = members.iter().take_while(|member| !is_before_to(**member));
    let skipped = skipped.count();
    let taken = members[skipped..]
        .iter()
        .take_while(|member| is_behind_from(**member));
    let end = set.len() - skipped;
    end - taken.count()..end
}

/// Whether a member is behind a bound.
fn is_behind(member: Element<'_>, bound: Bound<'_>) -> bool {
    let mut room = itoa::Buffer::new();
    let member = bytes_of(member, &mut room);
    match bound {
        Bound::BelowMember(limit) => member >= limit,
        Bound::ThroughMember(limit) => member > limit,
        Bound::End => false,
        _ => true,
    }
}

/// Parses a score, behind a `(` if the bound is open. As with C's `strtod`, blanks before it are skipped, a number
/// too large is infinite, and nothing at all is 0.
fn score(text: &[u8]) -> Option<(f64, bool)> {
    let (text, is_open) = match text {
        [b'(', rest @ ..] => (rest, true),
        text => (text, false),
    };
    if text.is_empty() {
        return Some((0.0, is_open));
    }
    let blanks = text
        .iter()
        .take_while(|byte| byte.is_ascii_whitespace() || **byte == 0x0b);
    let number = &text[blanks.count()..];
    let out_of_range = || {
        let is_decimal = number
            .iter()
            .all(|byte| matches!(byte, b'0'..=b'9' | b'+' | b'-' | b'.' | b'e' | b'E'));
        let text = std::str::from_utf8(number).ok().filter(|_| is_decimal);
        text.and_then(|text| text.parse().ok())
    };
    Some((parse_f64(number).or_else(out_of_range)?, is_open))
}

fn member<'a>(
    text: &'a [u8],
    closed: fn(&'a [u8]) -> Bound<'a>,
    open: fn(&'a [u8]) -> Bound<'a>,
) -> Option<Bound<'a>> {
    match text {
        b"-" => Some(Bound::Start),
        b"+" => Some(Bound::End),
        [b'[', member @ ..] => Some(closed(member)),
        [b'(', member @ ..] => Some(open(member)),
        _ => None,
    }
}

/// The bytes of a member, in the room if it is a number.
pub(super) fn bytes_of<'m>(member: Element<'m>, room: &'m mut itoa::Buffer) -> &'m [u8] {
    match member {
        Element::Bytes(bytes) => bytes,
        Element::Int(number) => room.format(number).as_bytes(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn score_bound_is_parsed_as_by_c() {
        for (text, expected) in [
            (&b"1.5"[..], (1.5, false)),
            (b"(1.5", (1.5, true)),
            (b"", (0.0, false)),
            (b"(", (0.0, true)),
            (b" \t-2", (-2.0, false)),
            (b"+inf", (f64::INFINITY, false)),
            (b"(-INF", (f64::NEG_INFINITY, true)),
            (b"1e400", (f64::INFINITY, false)),
            (b"1e-400", (0.0, false)),
            (b"0x10", (16.0, false)),
        ] {
            assert_eq!(score(text), Some(expected), "{text:?}");
        }
        for text in [&b"x"[..], b"1x", b"nan", b"((1", b" ", b"1 ", b"[1"] {
            assert_eq!(score(text), None, "{text:?}");
        }
    }

    #[test]
    fn ranks_count_from_both_ends_and_an_end_before_the_first_is_none() {
        for (start, end, len) in [(0, -1, 5), (-2, 9, 2), (i64::MIN, i64::MAX, 5), (1, 1, 1)] {
            assert_eq!(ranks_from(start, end, 5).len(), len);
        }
        for (start, end) in [(0, -6), (3, 2), (5, 9), (i64::MAX, i64::MAX), (0, i64::MIN)] {
            assert!(ranks_from(start, end, 5).is_empty());
        }
    }

    #[test]
    fn lexical_bound_begins_with_a_bracket_or_is_a_sign() {
        let parse = |text| Bounds::parse(By::Lex, text, text);
        assert_eq!(parse(b"-"), Ok(Bounds::Lex(Bound::Start, Bound::Start)));
        let open = Bounds::Lex(Bound::ThroughMember(b"a"), Bound::BelowMember(b"a"));
        assert_eq!(parse(b"(a"), Ok(open));
        let closed = Bounds::Lex(Bound::BelowMember(b""), Bound::ThroughMember(b""));
        assert_eq!(parse(b"["), Ok(closed));
        for text in [&b"a"[..], b"", b"-a", b"++"] {
            assert_eq!(parse(text), Err(NOT_A_LEX_RANGE));
        }
    }
}
