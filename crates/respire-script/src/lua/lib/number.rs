//! Numbers as C reads and writes them: `strtod` and `printf("%.14g")`.

/// Appends a number as `printf` writes it with `%.{digits}g`. `digits` is at least 1.
pub(crate) fn write_general(out: &mut Vec<u8>, number: f64, digits: usize) {
    // Most numbers of scripts are small integers, for which `%g` writes what an integer prints.
    if digits == 14 && number.abs() < 1e14 && number == number.trunc() && number != 0.0 {
        out.extend_from_slice((number as i64).to_string().as_bytes());
        return;
    }
    if number.is_sign_negative() {
        out.push(b'-');
    }
    let number = number.abs();
    if number.is_nan() {
        out.extend_from_slice(b"nan");
    } else if number.is_infinite() {
        out.extend_from_slice(b"inf");
    } else if number == 0.0 {
        out.push(b'0');
    } else {
        write_finite(out, number, digits);
    }
}

fn write_finite(out: &mut Vec<u8>, number: f64, digits: usize) {
    let scientific = format!("{number:.*e}", digits - 1);
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or_default();
    if exponent < -4 || exponent >= digits as i32 {
        out.extend_from_slice(without_zeros(mantissa).as_bytes());
        let sign = if exponent < 0 { '-' } else { '+' };
        let text = format!("e{sign}{:02}", exponent.unsigned_abs());
        out.extend_from_slice(text.as_bytes());
    } else {
        let decimals = (digits as i32 - 1 - exponent).max(0) as usize;
        let fixed = format!("{number:.decimals$}");
        out.extend_from_slice(without_zeros(&fixed).as_bytes());
    }
}

/// Without the zeros at the end of a fraction, and without the point if nothing is left of it.
fn without_zeros(text: &str) -> &str {
    if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.')
    } else {
        text
    }
}

/// The number at the start of a text, and its length in bytes, as C's `strtod` reads it: decimal or
/// hexadecimal, `inf`, `infinity`, `nan`. No blanks are skipped.
pub(crate) fn read(text: &[u8]) -> Option<(f64, usize)> {
    let sign = usize::from(matches!(text.first(), Some(b'+' | b'-')));
    let negative = text.first() == Some(&b'-');
    let rest = text.get(sign..)?;
    let (number, len) = word(rest)
        .or_else(|| hexadecimal(rest))
        .or_else(|| decimal(rest))?;
    Some((if negative { -number } else { number }, sign + len))
}

fn starts(text: &[u8], word: &[u8]) -> bool {
    text.get(..word.len())
        .is_some_and(|start| start.eq_ignore_ascii_case(word))
}

fn word(text: &[u8]) -> Option<(f64, usize)> {
    if starts(text, b"infinity") {
        return Some((f64::INFINITY, 8));
    }
    if starts(text, b"inf") {
        return Some((f64::INFINITY, 3));
    }
    if !starts(text, b"nan") {
        return None;
    }
    // `nan(…)` with letters, digits and underscores is one word.
    let payload = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
    let inner = text.get(4..).unwrap_or_default();
    let len = inner.iter().take_while(|byte| payload(byte)).count();
    let closed = text.get(3) == Some(&b'(') && inner.get(len) == Some(&b')');
    Some((f64::NAN, if closed { len + 5 } else { 3 }))
}

fn digits(text: &[u8]) -> usize {
    text.iter().take_while(|byte| byte.is_ascii_digit()).count()
}

/// The length of an exponent with its letter, 0 if there is none.
fn exponent(text: &[u8], letter: u8) -> usize {
    if !text
        .first()
        .is_some_and(|byte| byte.eq_ignore_ascii_case(&letter))
    {
        return 0;
    }
    let sign = usize::from(matches!(text.get(1), Some(b'+' | b'-')));
    match digits(text.get(1 + sign..).unwrap_or_default()) {
        0 => 0,
        count => 1 + sign + count,
    }
}

fn decimal(text: &[u8]) -> Option<(f64, usize)> {
    let whole = digits(text);
    let mut len = whole;
    if text.get(len) == Some(&b'.') {
        let fraction = digits(text.get(len + 1..).unwrap_or_default());
        if whole == 0 && fraction == 0 {
            return None;
        }
        len += 1 + fraction;
    }
    if len == 0 {
        return None;
    }
    len += exponent(text.get(len..).unwrap_or_default(), b'e');
    let number = std::str::from_utf8(text.get(..len)?).ok()?.parse().ok()?;
    Some((number, len))
}

/// The digits before and behind the point of a hexadecimal number.
#[derive(Default)]
struct Mantissa {
    bits: u64,
    /// The power of two of the lowest of `bits`.
    scale: i64,
    digits: usize,
}

impl Mantissa {
    /// Returns how many bytes were digits.
    fn push_all(&mut self, text: &[u8], fraction: bool) -> usize {
        let mut len = 0;
        for digit in text.iter().map_while(|byte| char::from(*byte).to_digit(16)) {
            if self.bits >> 59 == 0 {
                self.bits = self.bits << 4 | u64::from(digit);
                self.scale -= if fraction { 4 } else { 0 };
            } else {
                // Past 59 bits only whether anything is there decides the rounding.
                self.bits |= u64::from(digit != 0);
                self.scale += if fraction { 0 } else { 4 };
            }
            len += 1;
        }
        self.digits += len;
        len
    }
}

fn hexadecimal(text: &[u8]) -> Option<(f64, usize)> {
    if !starts(text, b"0x") {
        return None;
    }
    let mut mantissa = Mantissa::default();
    let mut len = 2 + mantissa.push_all(&text[2..], false);
    if text.get(len) == Some(&b'.') {
        let fraction = mantissa.push_all(&text[len + 1..], true);
        if mantissa.digits > 0 {
            len += 1 + fraction;
        }
    }
    if mantissa.digits == 0 {
        // Only the zero of "0x" is a number.
        return Some((0.0, 1));
    }
    let power = exponent(&text[len..], b'p');
    if power > 0 {
        let written = std::str::from_utf8(&text[len + 1..len + power]).ok()?;
        let value = written
            .parse::<i64>()
            .unwrap_or(if written.starts_with('-') {
                -100_000_000
            } else {
                100_000_000
            });
        mantissa.scale = mantissa.scale.saturating_add(value);
    }
    Some((scaled(mantissa.bits as f64, mantissa.scale), len + power))
}

/// `number` times two to the power of `scale`.
fn scaled(mut number: f64, scale: i64) -> f64 {
    let mut left = scale.clamp(-3_000, 3_000);
    while left != 0 && number != 0.0 && number.is_finite() {
        let step = left.clamp(-1_000, 1_000);
        number *= 2f64.powi(step as i32);
        left -= step;
    }
    number
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(number: f64, digits: usize) -> String {
        let mut out = Vec::new();
        write_general(&mut out, number, digits);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn numbers_are_written_as_printf_writes_them() {
        for (number, expected) in [
            (0.0, "0"),
            (-0.0, "-0"),
            (1.0, "1"),
            (-42.0, "-42"),
            (0.1, "0.1"),
            (1.0 / 3.0, "0.33333333333333"),
            (99_999_999_999_999.0, "99999999999999"),
            (1e14, "1e+14"),
            (123_456_789_012_345.0, "1.2345678901234e+14"),
            (123_456_789_012_355.0, "1.2345678901236e+14"),
            (1e-4, "0.0001"),
            (1e-5, "1e-05"),
            (1.797_693_134_862_315_7e308, "1.7976931348623e+308"),
            (5e-324, "4.9406564584125e-324"),
            (f64::INFINITY, "inf"),
            (f64::NEG_INFINITY, "-inf"),
            (f64::NAN, "nan"),
            (9.999_999_999_999_99, "10"),
        ] {
            assert_eq!(written(number, 14), expected);
        }
        assert_eq!(written(123.456, 3), "123");
        assert_eq!(written(1234.0, 3), "1.23e+03");
        assert_eq!(written(0.5, 1), "0.5");
    }

    #[test]
    fn numbers_are_read_as_strtod_reads_them() {
        for (text, expected, len) in [
            ("12", 12.0, 2),
            ("-1.5e3,", -1500.0, 6),
            ("+.5", 0.5, 3),
            ("5.", 5.0, 2),
            ("1e", 1.0, 1),
            ("1e+", 1.0, 1),
            ("0x10", 16.0, 4),
            ("0x", 0.0, 1),
            ("0x.8", 0.5, 4),
            ("0x1p-1", 0.5, 6),
            ("0x1p", 1.0, 3),
            ("0xfffffffffffffffff", 295_147_905_179_352_830_000.0, 19),
            ("infx", f64::INFINITY, 3),
            ("-Infinity", f64::NEG_INFINITY, 9),
            ("1e999", f64::INFINITY, 5),
            ("012", 12.0, 3),
        ] {
            assert_eq!(read(text.as_bytes()), Some((expected, len)), "{text}");
        }
        for text in ["", "-", ".", "-.", "e5", "abc", "+x"] {
            assert_eq!(read(text.as_bytes()), None, "{text}");
        }
        assert!(read(b"nan(12_a)x").is_some_and(|(nan, len)| nan.is_nan() && len == 9));
        assert!(read(b"NaN(").is_some_and(|(nan, len)| nan.is_nan() && len == 3));
    }
}
