//! Integers as decimal text.

/// Returns the integer whose canonical decimal text `bytes` is: no sign but `-`, no leading zero, no blank.
pub(crate) fn canonical_int(bytes: &[u8]) -> Option<i64> {
    let (negative, digits) = match bytes {
        [b'-', digits @ ..] => (true, digits),
        digits => (false, digits),
    };
    match digits {
        [] => return None,
        [b'0'] => return (!negative).then_some(0),
        [b'0', ..] => return None,
        _ if digits.len() > 19 => return None,
        _ => {}
    }
    // Counting downwards reaches `i64::MIN`, which has no positive counterpart.
    let mut number = 0_i64;
    for &digit in digits {
        if !digit.is_ascii_digit() {
            return None;
        }
        number = number
            .checked_mul(10)?
            .checked_sub(i64::from(digit - b'0'))?;
    }
    if negative {
        Some(number)
    } else {
        number.checked_neg()
    }
}

/// Writes the decimal text of `number` to the front of `digits`.
pub(crate) fn write_decimal(number: i64, digits: &mut [u8; 20]) -> &[u8] {
    let mut buffer = itoa::Buffer::new();
    let text = buffer.format(number).as_bytes();
    let out = &mut digits[..text.len()];
    out.copy_from_slice(text);
    out
}

/// Returns the length of the decimal text of `number`.
pub(crate) fn decimal_len(number: i64) -> usize {
    let digits = number.unsigned_abs().checked_ilog10().unwrap_or(0) as usize + 1;
    digits + usize::from(number < 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn canonical_int_accepts_only_text_that_prints_back() {
        for number in [0, 1, -1, 10, 99, i64::MAX, i64::MIN, i64::MIN + 1] {
            assert_eq!(canonical_int(number.to_string().as_bytes()), Some(number));
        }
        let refused = [
            "",
            "-",
            "+1",
            "-0",
            "00",
            "01",
            "-01",
            " 1",
            "1 ",
            "1a",
            "9223372036854775808",
            "-9223372036854775809",
        ];
        for text in refused {
            assert_eq!(canonical_int(text.as_bytes()), None, "{text:?}");
        }
        assert_eq!(canonical_int(b"100000000000000000000"), None);
    }
}
