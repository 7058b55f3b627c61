//! The cursor and the options of `SCAN` and its relatives.

use crate::errors::{CURSOR, SYNTAX};
use crate::options::{Options, is_word};
use respire_engine::{Error, glob_match};

/// The number of elements that a step visits if the request gives no count.
const COUNT_DEFAULT: usize = 10;

/// Parses a cursor as C's `strtoul` does, which Redis uses: blanks are refused, but a sign is
/// accepted, and the empty text is 0.
pub(crate) fn parse_cursor(text: &[u8]) -> Result<u64, Error> {
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
pub(crate) struct ScanOptions<'a> {
    pub(crate) pattern: Pattern<'a>,
    pub(crate) count: usize,
    /// The type of value that `SCAN` asks for.
    pub(crate) type_name: Option<&'a [u8]>,
}

impl<'a> ScanOptions<'a> {
    /// Parses `[MATCH pattern] [COUNT count]` and, for iterations over keys, `[TYPE type]`.
    pub(crate) fn parse(mut options: Options<'a>, is_over_keys: bool) -> Result<Self, Error> {
        let mut parsed = Self {
            pattern: Pattern::ANY,
            count: COUNT_DEFAULT,
            type_name: None,
        };
        while let Some(word) = options.next() {
            if is_word(word, "COUNT") {
                let count = options.integer()?;
                parsed.count = usize::try_from(count)
                    .ok()
                    .filter(|count| *count > 0)
                    .ok_or(SYNTAX)?;
            } else if is_word(word, "MATCH") {
                parsed.pattern = Pattern::new(options.value()?);
            } else if is_over_keys && is_word(word, "TYPE") {
                parsed.type_name = Some(options.value()?);
            } else {
                return Err(SYNTAX);
            }
        }
        Ok(parsed)
    }
}

/// A glob pattern for keys and elements. Here, unlike elsewhere, `*` also matches the empty text.
#[derive(Clone, Copy)]
pub(crate) struct Pattern<'p> {
    pattern: &'p [u8],
}

impl<'p> Pattern<'p> {
    pub(crate) const ANY: Pattern<'static> = Pattern { pattern: b"*" };

    pub(crate) fn new(pattern: &'p [u8]) -> Self {
        Self { pattern }
    }

    pub(crate) fn matches(self, text: &[u8]) -> bool {
        self.pattern == b"*" || glob_match(self.pattern, text, false)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn single_star_matches_the_empty_key() {
        assert!(Pattern::ANY.matches(b""));
        assert!(!Pattern::new(b"**").matches(b""));
        assert!(Pattern::new(b"**").matches(b"a"));
    }

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
}
