//! Parsing and formatting of numbers as in Redis.

use core::fmt::{self, Write};

use crate::Sink;

/// Longest text of [`format_i64`], in bytes: `-9223372036854775808`.
///
/// ```
/// use resp_codec::number::{I64_BYTES_MAX, format_i64};
/// assert_eq!(format_i64(i64::MIN, &mut [0; I64_BYTES_MAX]).len(), I64_BYTES_MAX);
/// ```
pub const I64_BYTES_MAX: usize = 20;

/// Longest text of [`format_f64`], in bytes: `-1.2345678901234567e-308` and some spare bytes.
///
/// ```
/// use resp_codec::number::{F64_BYTES_MAX, format_f64};
/// let text = format_f64(-1.2345678901234567e-308, &mut [0; F64_BYTES_MAX]).len();
/// assert!(text <= F64_BYTES_MAX);
/// ```
pub const F64_BYTES_MAX: usize = 32;

/// Parses a canonical decimal `i64`, as Redis's `string2ll` does: `0`, `-1`; no `+`, no leading
/// zero, no blank, no `-0`.
///
/// ```
/// use resp_codec::number::parse_i64;
/// assert_eq!(parse_i64(b"-9223372036854775808"), Some(i64::MIN));
/// assert_eq!(parse_i64(b"007"), None);
/// assert_eq!(parse_i64(b" 7"), None);
/// ```
#[inline]
pub fn parse_i64(text: &[u8]) -> Option<i64> {
    let (negative, digits) = match text {
        [b'-', digits @ ..] => (true, digits),
        digits => (false, digits),
    };
    if digits == b"0" && !negative {
        return Some(0);
    }
    if digits.is_empty() || digits.len() > 19 || digits[0] == b'0' {
        return None;
    }
    // Nineteen digits stay below 10^19, which fits 64 bits.
    let mut value = 0u64;
    for &byte in digits {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            return None;
        }
        value = value * 10 + u64::from(digit);
    }
    if negative {
        0i64.checked_sub_unsigned(value)
    } else {
        i64::try_from(value).ok()
    }
}

const PAIRS: &[u8; 200] = b"0001020304050607080910111213141516171819\
2021222324252627282930313233343536373839\
4041424344454647484950515253545556575859\
6061626364656667686970717273747576777879\
8081828384858687888990919293949596979899";

/// Writes `value` in decimal into the end of `room`, and returns the text.
///
/// ```
/// use resp_codec::number::{I64_BYTES_MAX, format_i64};
/// assert_eq!(format_i64(-42, &mut [0; I64_BYTES_MAX]), b"-42");
/// ```
#[inline]
pub fn format_i64(value: i64, room: &mut [u8; I64_BYTES_MAX]) -> &[u8] {
    let mut start = format_u64(value.unsigned_abs(), room);
    if value < 0 {
        start -= 1;
        room[start] = b'-';
    }
    &room[start..]
}

/// Writes `value` in decimal into the end of `room`, and returns where it starts.
#[inline]
pub(crate) fn format_u64(mut value: u64, room: &mut [u8; I64_BYTES_MAX]) -> usize {
    let mut start = room.len();
    while value >= 100 {
        let pair = (value % 100) as usize * 2;
        value /= 100;
        start -= 2;
        room[start..start + 2].copy_from_slice(&PAIRS[pair..pair + 2]);
    }
    if value >= 10 {
        let pair = value as usize * 2;
        start -= 2;
        room[start..start + 2].copy_from_slice(&PAIRS[pair..pair + 2]);
    } else {
        start -= 1;
        room[start] = b'0' + value as u8;
    }
    start
}

/// Appends `value` in decimal.
///
/// ```
/// let mut out = Vec::new();
/// resp_codec::number::write_i64(&mut out, i64::MIN);
/// assert_eq!(out, b"-9223372036854775808");
/// ```
#[inline]
pub fn write_i64(out: &mut impl Sink, value: i64) {
    out.put(format_i64(value, &mut [0; I64_BYTES_MAX]));
}

/// Parses a float as Redis parses the arguments of its commands: everything that C's `strtod`
/// accepts as a whole and without blanks, except NaN and numbers out of range.
///
/// Accepted: `3`, `+3.5`, `.5`, `5.`, `1e-3`, `inf`, `-Infinity`, `0x1.8p3`. A number that
/// overflows, or underflows to zero, is refused.
///
/// ```
/// use resp_codec::number::parse_f64;
/// assert_eq!(parse_f64(b"3.0e2"), Some(300.0));
/// assert_eq!(parse_f64(b"-inf"), Some(f64::NEG_INFINITY));
/// assert_eq!(parse_f64(b"nan"), None);
/// assert_eq!(parse_f64(b" 1"), None);
/// assert_eq!(parse_f64(b"1e400"), None);
/// ```
pub fn parse_f64(text: &[u8]) -> Option<f64> {
    let (negative, magnitude) = match text {
        [b'-', rest @ ..] => (true, rest),
        [b'+', rest @ ..] => (false, rest),
        rest => (false, rest),
    };
    let value = match magnitude {
        [b'0', b'x' | b'X', rest @ ..] => parse_hex(rest)?,
        [b'0'..=b'9' | b'.', ..] => parse_decimal(magnitude)?,
        _ if magnitude.eq_ignore_ascii_case(b"inf")
            || magnitude.eq_ignore_ascii_case(b"infinity") =>
        {
            f64::INFINITY
        }
        _ => return None,
    };
    Some(if negative { -value } else { value })
}

fn parse_decimal(text: &[u8]) -> Option<f64> {
    let value: f64 = core::str::from_utf8(text).ok()?.parse().ok()?;
    let mantissa = text
        .split(|byte| matches!(byte, b'e' | b'E'))
        .next()
        .unwrap_or(text);
    let underflow = value == 0.0 && mantissa.iter().any(|byte| matches!(byte, b'1'..=b'9'));
    (value.is_finite() && !underflow).then_some(value)
}

/// Parses the text after `0x`: hexadecimal digits with a point and a binary exponent, rounded to
/// even.
fn parse_hex(text: &[u8]) -> Option<f64> {
    let (digits, exponent) = match text.iter().position(|byte| matches!(byte, b'p' | b'P')) {
        Some(at) => (&text[..at], parse_exponent(&text[at + 1..])?),
        None => (text, 0),
    };
    let mut mantissa = 0u64;
    let mut exponent = i64::from(exponent);
    let (mut any, mut point) = (false, false);
    for &byte in digits {
        if byte == b'.' && !point {
            point = true;
            continue;
        }
        let digit = (byte as char).to_digit(16)?;
        any = true;
        if mantissa >> 59 == 0 {
            mantissa = mantissa << 4 | u64::from(digit);
            exponent -= if point { 4 } else { 0 };
        } else {
            // Beyond 60 bits, rounding only needs to know whether any bit is set.
            mantissa |= u64::from(digit != 0);
            exponent += if point { 0 } else { 4 };
        }
    }
    if !any {
        return None;
    }
    let value = scale(mantissa, exponent.clamp(-4000, 4000) as i32);
    (value.is_finite() && (value != 0.0 || mantissa == 0)).then_some(value)
}

fn parse_exponent(text: &[u8]) -> Option<i32> {
    let digits = text
        .strip_prefix(b"-")
        .or(text.strip_prefix(b"+"))
        .unwrap_or(text);
    if digits.is_empty() {
        return None;
    }
    let mut value = 0i32;
    for &byte in digits {
        value = (value * 10 + (byte as char).to_digit(10)? as i32).min(1 << 20);
    }
    Some(if text[0] == b'-' { -value } else { value })
}

/// `mantissa * 2^exponent`, rounded once.
fn scale(mantissa: u64, exponent: i32) -> f64 {
    if mantissa == 0 {
        return 0.0;
    }
    // A subnormal result has fewer bits: round to them first, so that the conversion is exact.
    let top = 63 - mantissa.leading_zeros() as i32 + exponent;
    let bits = if top < -1022 { 53 - (-1022 - top) } else { 53 };
    let drop = (64 - mantissa.leading_zeros() as i32 - bits).clamp(0, 64) as u32;
    let (mut kept, mut exponent) = (mantissa, exponent);
    if drop == 64 {
        return 0.0;
    }
    if drop > 0 {
        let rest = mantissa & ((1 << drop) - 1);
        let half = 1 << (drop - 1);
        kept = mantissa >> drop;
        kept += u64::from(rest > half || (rest == half && kept & 1 == 1));
        exponent += drop as i32;
    }
    let mut value = kept as f64;
    while exponent != 0 {
        let step = exponent.clamp(-1000, 1000);
        value *= f64::from_bits(((step + 1023) as u64) << 52);
        exponent -= step;
    }
    value
}

/// Appends `value` as Redis writes doubles in RESP3.
///
/// Integers up to 2^62 have no point or exponent. Other numbers get the fewest digits that parse
/// back to the same number, with an exponent if they are very large or small (`1e+20`, `1e-9`). The
/// rest is `inf`, `-inf`, `nan`; `-0` keeps its sign.
///
/// ```
/// use resp_codec::number::write_f64;
/// let text = |value| { let mut out = Vec::new(); write_f64(&mut out, value); String::from_utf8(out).unwrap() };
/// assert_eq!(text(0.1), "0.1");
/// assert_eq!(text(3.0), "3");
/// assert_eq!(text(1e20), "1e+20");
/// assert_eq!(text(1e300), "1e+300");
/// assert_eq!(text(f64::NEG_INFINITY), "-inf");
/// ```
pub fn write_f64(out: &mut impl Sink, value: f64) {
    out.put(format_f64(value, &mut [0; F64_BYTES_MAX]));
}

/// Writes `value` into `room` in the form of [`write_f64`], and returns the text.
///
/// ```
/// use resp_codec::number::{F64_BYTES_MAX, format_f64};
/// assert_eq!(format_f64(-1.5e-9, &mut [0; F64_BYTES_MAX]), b"-1.5e-9");
/// ```
pub fn format_f64(value: f64, room: &mut [u8; F64_BYTES_MAX]) -> &[u8] {
    let mut text = Text { room, len: 0 };
    if value.is_nan() {
        text.push(b"nan");
    } else if value.is_infinite() {
        text.push(if value > 0.0 { b"inf" } else { b"-inf" });
    } else {
        finite(value, &mut text);
    }
    let len = text.len;
    &room[..len]
}

fn finite(value: f64, text: &mut Text<'_>) {
    if value.is_sign_negative() {
        text.push(b"-");
    }
    let magnitude = value.abs();
    if magnitude <= (1u64 << 62) as f64 && magnitude == (magnitude as u64) as f64 {
        let mut room = [0; I64_BYTES_MAX];
        let start = format_u64(magnitude as u64, &mut room);
        text.push(&room[start..]);
        return;
    }
    // `{:e}` gives the shortest digits that parse back: `d.ddde-N`.
    let mut room = [0; F64_BYTES_MAX];
    let mut scientific = Text {
        room: &mut room,
        len: 0,
    };
    write!(scientific, "{magnitude:e}").expect("invariant: 17 digits and an exponent fit");
    let len = scientific.len;
    let (mut digits, mut count, mut exponent) = ([0; 20], 0, 0i32);
    let mut parts = room[..len].split(|&byte| byte == b'e');
    for &byte in parts
        .next()
        .into_iter()
        .flatten()
        .filter(|&&byte| byte != b'.')
    {
        digits[count] = byte;
        count += 1;
    }
    if let Some(exp) = parts.next().and_then(parse_exponent) {
        exponent = exp;
    }
    place(&digits[..count], exponent, text);
}

/// Lays out the digits of `d.ddd × 10^exponent` as `fpconv_dtoa` does, which Redis uses.
fn place(digits: &[u8], exponent: i32, text: &mut Text<'_>) {
    let count = digits.len() as i32;
    let trailing = exponent - count + 1;
    if trailing >= 0 && exponent < count + 7 {
        text.push(digits);
        for _ in 0..trailing {
            text.push(b"0");
        }
    } else if trailing < 0 && (trailing > -7 || exponent.abs() < 4) {
        if exponent < 0 {
            text.push(b"0.");
            for _ in 0..-exponent - 1 {
                text.push(b"0");
            }
            text.push(digits);
        } else {
            let (whole, fraction) = digits.split_at(exponent as usize + 1);
            text.push(whole);
            text.push(b".");
            text.push(fraction);
        }
    } else {
        text.push(&digits[..1]);
        if count > 1 {
            text.push(b".");
            text.push(&digits[1..]);
        }
        text.push(if exponent < 0 { b"e-" } else { b"e+" });
        let mut room = [0; I64_BYTES_MAX];
        let start = format_u64(u64::from(exponent.unsigned_abs()), &mut room);
        text.push(&room[start..]);
    }
}

struct Text<'a> {
    room: &'a mut [u8; F64_BYTES_MAX],
    len: usize,
}

impl Text<'_> {
    fn push(&mut self, bytes: &[u8]) {
        self.room[self.len..self.len + bytes.len()].copy_from_slice(bytes);
        self.len += bytes.len();
    }
}

impl Write for Text<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.push(text.as_bytes());
        Ok(())
    }
}

/// The double in a RESP3 line that is known to be well-formed.
pub(crate) fn double(text: &[u8]) -> Option<f64> {
    match text {
        b"nan" | b"-nan" => Some(f64::NAN),
        _ => core::str::from_utf8(text).ok()?.parse().ok(),
    }
}

/// The integer in a RESP line that is known to be well-formed, `+` and leading zeros included.
pub(crate) fn integer(text: &[u8]) -> Option<i64> {
    core::str::from_utf8(text).ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;
    use std::string::String;

    use super::*;

    fn written(value: f64) -> String {
        let mut out = Vec::new();
        write_f64(&mut out, value);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn doubles_are_formatted_as_in_redis() {
        for (value, expected) in [
            (0.0, "0"),
            (-0.0, "-0"),
            (1.0, "1"),
            (-17.0, "-17"),
            (1e15, "1000000000000000"),
            (1e17, "100000000000000000"),
            (4_611_686_018_427_387_904.0, "4611686018427387904"),
            (4_611_686_018_427_388_928.0, "4611686018427389000"),
            (1e19, "1e+19"),
            (1e20, "1e+20"),
            (1.5e300, "1.5e+300"),
            (0.1, "0.1"),
            (123.456, "123.456"),
            (1e-4, "0.0001"),
            (1e-9, "1e-9"),
            (1.5e-7, "1.5e-7"),
            (0.000123456789, "1.23456789e-4"),
            (0.00123456789, "0.00123456789"),
            (3.0e-5, "0.00003"),
            (f64::MAX, "1.7976931348623157e+308"),
            (5e-324, "5e-324"),
            (f64::INFINITY, "inf"),
            (f64::NEG_INFINITY, "-inf"),
            (f64::NAN, "nan"),
        ] {
            assert_eq!(written(value), expected);
        }
    }

    #[test]
    fn floats_are_parsed_as_by_strtod() {
        for (text, expected) in [
            ("3", 3.0),
            ("+3.5", 3.5),
            (".5", 0.5),
            ("5.", 5.0),
            ("-1e-3", -0.001),
            ("1E5", 1e5),
            ("INF", f64::INFINITY),
            ("-infinity", f64::NEG_INFINITY),
            ("0x10", 16.0),
            ("-0X1.8p3", -12.0),
            ("0x.8", 0.5),
            ("0x1p-1074", 5e-324),
            ("0x1.8p-1074", 1e-323),
            ("0x1.fffffffffffffp1023", f64::MAX),
            ("0x123456789abcdef01", 20_988_295_479_420_645_000.0),
            ("0x10000000000000800", 18_446_744_073_709_552_000.0),
            ("0x10000000000001801", 18_446_744_073_709_560_000.0),
            ("0e999", 0.0),
        ] {
            assert_eq!(parse_f64(text.as_bytes()), Some(expected), "{text}");
        }
        for text in [
            "",
            "-",
            "+",
            ".",
            "e5",
            "1e",
            "1e+",
            " 1",
            "1 ",
            "1_0",
            "nan",
            "-nan",
            "nan(1)",
            "0x",
            "0x.",
            "0x1p",
            "0x1p+",
            "0xg",
            "--1",
            "+-1",
            "1e400",
            "-1e400",
            "1e-400",
            "0x1p1024",
            "0x1p-1076",
            "infi",
            "1.2.3",
        ] {
            assert_eq!(parse_f64(text.as_bytes()), None, "{text}");
        }
    }

    #[test]
    fn only_canonical_integers_are_parsed() {
        for value in [0, 1, -1, 9, 10, 99, 100, i64::MAX, i64::MIN] {
            let mut room = [0; I64_BYTES_MAX];
            assert_eq!(parse_i64(format_i64(value, &mut room)), Some(value));
        }
        for text in [
            "",
            "-",
            "+1",
            "01",
            "-0",
            "-01",
            " 1",
            "1 ",
            "9223372036854775808",
            "-9223372036854775809",
            "1x",
        ] {
            assert_eq!(parse_i64(text.as_bytes()), None, "{text}");
        }
    }
}
