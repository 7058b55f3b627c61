//! The lines and words every consumer reads in the same way.

/// Eight bytes at `at`, the first one lowest.
#[inline(always)]
pub(crate) fn load8(buf: &[u8], at: usize) -> Option<u64> {
    buf.get(at..)?
        .first_chunk()
        .map(|bytes| u64::from_le_bytes(*bytes))
}

/// What stands where CRLF ought to be.
pub(crate) enum Crlf {
    Whole,
    Short,
    Bad { at: usize },
}

/// Looks for CRLF at `at`.
#[inline]
pub(crate) fn crlf(buf: &[u8], at: usize) -> Crlf {
    match (buf.get(at), buf.get(at + 1)) {
        (Some(b'\r'), Some(b'\n')) => Crlf::Whole,
        (None, _) | (Some(b'\r'), None) => Crlf::Short,
        (Some(b'\r'), Some(_)) => Crlf::Bad { at: at + 1 },
        (Some(_), _) => Crlf::Bad { at },
    }
}

/// What stands where a length ought to be.
pub(crate) enum Length {
    /// The number, and the offset behind its CRLF.
    Whole { value: i64, end: usize },
    /// The buffer ends before the line does, and all is well so far.
    Short,
    /// The byte at `at` cannot stand there.
    Bad { at: usize },
}

/// Digits in `i64::MAX`. A length of more is refused without waiting for the line's end.
const DIGITS: usize = 19;

/// Reads `length CRLF` at `at`: canonical decimal (`0`, `-1`, no `+`, no leading zero, no blank) within `i64`.
#[inline]
pub(crate) fn length(buf: &[u8], at: usize) -> Length {
    let negative = buf.get(at) == Some(&b'-');
    let first = at + usize::from(negative);
    let mut value = 0u64;
    let mut end = first;
    while let Some(&byte) = buf.get(end) {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            break;
        }
        let leading_zero = end == first + 1 && value == 0;
        if leading_zero || end - first == DIGITS {
            return Length::Bad {
                at: if leading_zero { end } else { first },
            };
        }
        value = value * 10 + u64::from(digit);
        end += 1;
    }
    let known = end > first && buf.len() > end;
    if (known && buf[end] != b'\r')
        || (end == first && buf.len() > end)
        || (negative && known && value == 0)
    {
        return Length::Bad { at: end };
    }
    let value = if negative {
        0i64.checked_sub_unsigned(value)
    } else {
        i64::try_from(value).ok()
    };
    let Some(value) = value else {
        return Length::Bad { at: first };
    };
    match crlf(buf, end) {
        Crlf::Whole => Length::Whole {
            value,
            end: end + 2,
        },
        Crlf::Short => Length::Short,
        Crlf::Bad { at } => Length::Bad { at },
    }
}

const ONES: u64 = 0x0101_0101_0101_0101;
const TOPS: u64 = 0x8080_8080_8080_8080;

/// Where `needle` first stands in `hay`, eight bytes at a time.
pub(crate) fn find(hay: &[u8], needle: u8) -> Option<usize> {
    let (words, tail) = hay.as_chunks::<8>();
    let pattern = ONES * u64::from(needle);
    for (index, word) in words.iter().enumerate() {
        let zeroed = u64::from_le_bytes(*word) ^ pattern;
        let hits = zeroed.wrapping_sub(ONES) & !zeroed & TOPS;
        if hits != 0 {
            return Some(index * 8 + hits.trailing_zeros() as usize / 8);
        }
    }
    let start = hay.len() - tail.len();
    tail.iter()
        .position(|&byte| byte == needle)
        .map(|at| start + at)
}

/// The ASCII letters among eight bytes, upper-cased.
#[inline]
pub(crate) const fn upper8(word: u64) -> u64 {
    let low = word & !TOPS;
    let above_z = low + ONES * (0x7f - b'z' as u64);
    let from_a = low + ONES * (0x80 - b'a' as u64);
    let letters = (from_a ^ above_z) & !word & TOPS;
    word ^ (letters >> 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn find_every_position_is_found() {
        for len in 0..40 {
            for at in 0..len {
                let mut hay = [1u8; 40];
                hay[at] = b'\n';
                hay[39] = b'\n';
                assert_eq!(find(&hay[..len], b'\n'), Some(at));
            }
            assert_eq!(find(&[0xff; 40][..len], b'\n'), None);
        }
    }

    #[test]
    fn upper8_every_byte_matches_the_library() {
        for byte in 0..=255u8 {
            let word = u64::from_le_bytes([byte, b'a', byte, b'z', b'{', b'`', byte, 0x80]);
            let expected = word.to_le_bytes().map(|b| b.to_ascii_uppercase());
            assert_eq!(upper8(word).to_le_bytes(), expected);
        }
    }
}
