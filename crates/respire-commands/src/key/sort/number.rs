//! Parses numbers as `SORT` does: whatever C's `strtod` reads up to the end of the string, which is at the first NUL.

use resp_codec::number::{parse_f64, parse_i64};

/// Numbers up to this size have one canonical text each, and no two of them are rounded to the same `f64`.
const EXACT_MAX: u64 = 1 << 53;

/// The number that a text means, and whether no other text means an equal number and is canonical too.
pub(super) fn number_and_text(text: &[u8]) -> Option<(f64, bool)> {
    match parse_i64(text) {
        Some(number) => Some((number as f64, number.unsigned_abs() <= EXACT_MAX)),
        None => Some((other_number(text)?, false)),
    }
}

/// The number that a text means; `None` if it is none. Blanks may precede it, and no text at all is 0.
pub(super) fn number(text: &[u8]) -> Option<f64> {
    number_and_text(text).map(|(number, _)| number)
}

fn other_number(text: &[u8]) -> Option<f64> {
    let end = text.iter().position(|byte| *byte == 0);
    let text = &text[..end.unwrap_or(text.len())];
    if text.is_empty() {
        return Some(0.0);
    }
    let is_blank = |byte: &u8| matches!(byte, b' ' | b'\t'..=b'\r');
    let start = text.iter().position(|byte| !is_blank(byte))?;
    parse_f64(&text[start..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_numbers_as_far_as_strtod_reads_them() {
        for (text, expected) in [
            (&b"12"[..], Some(12.0)),
            (b"-1.5e3", Some(-1500.0)),
            (b"", Some(0.0)),
            (b" \t\n7", Some(7.0)),
            (b"0x10", Some(16.0)),
            (b"inf", Some(f64::INFINITY)),
            (b"3\x00x", Some(3.0)),
            (b"\x00x", Some(0.0)),
            (b"007", Some(7.0)),
            (b" ", None),
            (b"7 ", None),
            (b"nan", None),
            (b"1e400", None),
            (b"x", None),
        ] {
            assert_eq!(number(text), expected, "{text:?}");
        }
    }
}
