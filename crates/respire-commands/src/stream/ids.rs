//! IDs of entries in requests and replies.

use respire_engine::{Error, Reply};
use respire_store::StreamId;

/// An ID that is none.
pub(super) const INVALID_ID: Error =
    Error::fixed("ERR Invalid stream ID specified as stream command argument");

const START: Error = Error::fixed("ERR invalid start ID for the interval");
const END: Error = Error::fixed("ERR invalid end ID for the interval");

/// The longest text of an ID.
const TEXT_BYTES_MAX: usize = 127;

/// Parses an ID, without `-` and `+`. An ID of a time alone gets this number.
pub(super) fn strict_id(text: &[u8], missing_seq: u64) -> Result<StreamId, Error> {
    match text {
        b"-" | b"+" => Err(INVALID_ID),
        text => id(text, missing_seq),
    }
}

/// Parses an ID. `-` is the smallest, and `+` is the largest.
pub(super) fn id(text: &[u8], missing_seq: u64) -> Result<StreamId, Error> {
    match parse(text, missing_seq)? {
        (id, true) => Ok(id),
        (_, false) => Err(INVALID_ID),
    }
}

/// Parses the ID of a new entry. Returns whether its number is given; if not, it is `*`.
pub(super) fn new_id(text: &[u8]) -> Result<(StreamId, bool), Error> {
    match text {
        b"-" | b"+" => Err(INVALID_ID),
        text => parse(text, 0),
    }
}

fn parse(text: &[u8], missing_seq: u64) -> Result<(StreamId, bool), Error> {
    if text.len() > TEXT_BYTES_MAX {
        return Err(INVALID_ID);
    }
    // As in Redis, the text ends with the first zero byte.
    let text = text.split(|byte| *byte == 0).next().unwrap_or_default();
    match text {
        b"-" => return Ok((StreamId::MIN, true)),
        b"+" => return Ok((StreamId::MAX, true)),
        _ => {}
    }
    let mut parts = text.splitn(2, |byte| *byte == b'-');
    let ms = number(parts.next().unwrap_or_default()).ok_or(INVALID_ID)?;
    let (seq, is_given) = match parts.next() {
        None => (missing_seq, true),
        Some(b"*") => (0, false),
        Some(seq) => (number(seq).ok_or(INVALID_ID)?, true),
    };
    Ok((StreamId { ms, seq }, is_given))
}

/// Parses a number as C's `strtoull` does: blanks and a sign may come before it, and `-` takes it from 2⁶⁴. Redis does
/// not accept one that is the usual text of a negative number.
fn number(text: &[u8]) -> Option<u64> {
    if let Some(number) = resp_codec::number::parse_i64(text) {
        return u64::try_from(number).ok();
    }
    let is_blank = |byte: &u8| matches!(byte, b' ' | b'\t'..=b'\r');
    let text = &text[text.iter().take_while(|byte| is_blank(byte)).count()..];
    let (digits, is_negative) = match text {
        [b'-', digits @ ..] => (digits, true),
        [b'+', digits @ ..] => (digits, false),
        digits => (digits, false),
    };
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let number = digits.iter().try_fold(0_u64, |number, digit| {
        let digit = u64::from(digit - b'0');
        number.checked_mul(10)?.checked_add(digit)
    })?;
    Some(if is_negative {
        number.wrapping_neg()
    } else {
        number
    })
}

/// Parses the start of an interval, which `(` excludes.
pub(super) fn interval_start(text: &[u8]) -> Result<StreamId, Error> {
    match excluded(text) {
        Some(text) => strict_id(text, 0)?.next().ok_or(START),
        None => id(text, 0),
    }
}

/// Parses the end of an interval, which `(` excludes.
pub(super) fn interval_end(text: &[u8]) -> Result<StreamId, Error> {
    match excluded(text) {
        Some(text) => strict_id(text, u64::MAX)?.before().ok_or(END),
        None => id(text, u64::MAX),
    }
}

fn excluded(text: &[u8]) -> Option<&[u8]> {
    text.strip_prefix(b"(").filter(|text| !text.is_empty())
}

/// The largest length of the text of an ID.
const ID_BYTES_MAX: usize = 41;

/// Replies with an ID.
pub(super) fn reply_id(reply: &mut Reply<'_>, id: StreamId) {
    let (mut room, mut len) = ([0; ID_BYTES_MAX], 0);
    let mut digits = itoa::Buffer::new();
    for part in [digits.format(id.ms).as_bytes(), b"-"] {
        room[len..len + part.len()].copy_from_slice(part);
        len += part.len();
    }
    let seq = digits.format(id.seq).as_bytes();
    room[len..len + seq.len()].copy_from_slice(seq);
    reply.bulk(&room[..len + seq.len()]);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(ms: u64, seq: u64) -> Result<StreamId, Error> {
        Ok(StreamId { ms, seq })
    }

    #[test]
    fn id_is_parsed_as_redis_does() {
        for (text, expected) in [
            ("5", of(5, 9)),
            ("5-6", of(5, 6)),
            (
                "18446744073709551615-18446744073709551615",
                Ok(StreamId::MAX),
            ),
            ("007-+1", of(7, 1)),
            (" 7- 1", of(7, 1)),
            ("1--01", of(1, u64::MAX)),
            ("5-6\0-7", of(5, 6)),
            ("", Err(INVALID_ID)),
            ("-", Err(INVALID_ID)),
            ("+", Err(INVALID_ID)),
            ("-1", Err(INVALID_ID)),
            ("1-", Err(INVALID_ID)),
            ("1--1", Err(INVALID_ID)),
            ("1-1-1", Err(INVALID_ID)),
            ("1-*", Err(INVALID_ID)),
            ("18446744073709551616", Err(INVALID_ID)),
        ] {
            assert_eq!(strict_id(text.as_bytes(), 9), expected, "{text:?}");
        }
        assert_eq!(id(b"-", 1), Ok(StreamId::MIN));
        assert_eq!(id(b"+", 1), Ok(StreamId::MAX));
        assert_eq!(
            new_id(b"5-*").map(|(id, is_given)| (id.ms, is_given)),
            Ok((5, false))
        );
    }

    #[test]
    fn interval_excludes_its_ends_on_request() {
        assert_eq!(interval_start(b"(5"), of(5, 1));
        assert_eq!(interval_end(b"(5"), of(5, u64::MAX - 1));
        assert_eq!(interval_end(b"(5-0"), of(4, u64::MAX));
        assert_eq!(interval_start(b"5"), of(5, 0));
        assert_eq!(interval_end(b"5"), of(5, u64::MAX));
        assert_eq!(interval_end(b"(0-0"), Err(END));
        assert_eq!(interval_start(b"("), Err(INVALID_ID));
        assert_eq!(interval_start(b"(-"), Err(INVALID_ID));
        let largest = b"(18446744073709551615-18446744073709551615";
        assert_eq!(interval_start(largest), Err(START));
    }
}
