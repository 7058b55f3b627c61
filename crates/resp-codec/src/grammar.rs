//! Scanning of lines, lengths and line ends, shared by all decoders.

/// Counts examined bytes, for the tests of the work bound.
#[inline(always)]
pub(crate) fn examined(bytes: usize) {
    #[cfg(test)]
    crate::work::examined(bytes);
    #[cfg(not(test))]
    let _ = bytes;
}

/// The eight bytes at `at`, the first one lowest.
#[inline(always)]
pub(crate) fn load8(buf: &[u8], at: usize) -> Option<u64> {
    let word = buf
        .get(at..)?
        .first_chunk()
        .map(|bytes| u64::from_le_bytes(*bytes))?;
    examined(8);
    Some(word)
}

/// The bytes at a place where CRLF must be.
pub(crate) enum Crlf {
    Whole,
    Short,
    Bad { at: usize },
}

/// Checks for CRLF at `at`.
#[inline]
pub(crate) fn crlf(buf: &[u8], at: usize) -> Crlf {
    examined(buf.len().saturating_sub(at).min(2));
    match (buf.get(at), buf.get(at + 1)) {
        (Some(b'\r'), Some(b'\n')) => Crlf::Whole,
        (None, _) | (Some(b'\r'), None) => Crlf::Short,
        (Some(b'\r'), Some(_)) => Crlf::Bad { at: at + 1 },
        (Some(_), _) => Crlf::Bad { at },
    }
}

/// The bytes at a place where a length must be.
pub(crate) enum Length {
    /// The number, and the offset after its CRLF.
    Whole { value: i64, end: usize },
    /// The buffer ends before the line does, without an error so far.
    Short,
    /// The byte at `at` is wrong.
    Bad { at: usize },
}

/// The most digits of a length. More are refused before the line ends.
const DIGITS_MAX: usize = 20;

/// Reads `length CRLF` at `at`: canonical decimal (`0`, `-1`, no `+`, no leading zero, no blank)
/// within `i64`.
#[inline]
pub(crate) fn length(buf: &[u8], at: usize) -> Length {
    integer(buf, at, true)
}

/// Reads `integer CRLF` at `at`. Unless `canonical`, a `+` and leading zeros are accepted, up to
/// twenty digits.
#[inline]
pub(crate) fn integer(buf: &[u8], at: usize, canonical: bool) -> Length {
    let sign = buf.get(at).copied();
    let negative = sign == Some(b'-');
    let first = at + usize::from(negative || (sign == Some(b'+') && !canonical));
    let mut value = 0u64;
    let mut end = first;
    while let Some(&byte) = buf.get(end) {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            break;
        }
        if canonical && value == 0 && end > first {
            return Length::Bad { at: end };
        }
        // A comparison instead of a checked multiplication, which costs a function call on 32-bit
        // targets.
        if value > i64::MAX as u64 / 10 || end - first == DIGITS_MAX {
            return Length::Bad { at: first };
        }
        value = value * 10 + u64::from(digit);
        end += 1;
    }
    examined(end - at + 1);
    // Out of range is reported first, since no later byte can change it: a split must not change
    // the result.
    let signed = if negative {
        0i64.checked_sub_unsigned(value)
    } else {
        i64::try_from(value).ok()
    };
    let Some(signed) = signed else {
        return Length::Bad { at: first };
    };
    let zero = canonical && negative && value == 0;
    if buf
        .get(end)
        .is_some_and(|&byte| byte != b'\r' || end == first || zero)
    {
        return Length::Bad { at: end };
    }
    match crlf(buf, end) {
        Crlf::Whole => Length::Whole {
            value: signed,
            end: end + 2,
        },
        Crlf::Short => Length::Short,
        Crlf::Bad { at } => Length::Bad { at },
    }
}

/// Searches for CRLF from `from` on. A lone CR or LF is wrong anywhere.
#[inline]
pub(crate) fn line_end(buf: &[u8], from: usize) -> Line {
    let Some(at) = buf.get(from..).and_then(find_break) else {
        return Line::Short { from: buf.len() };
    };
    let at = from + at;
    if buf[at] == b'\n' {
        return Line::Bad { at };
    }
    match buf.get(at + 1) {
        Some(b'\n') => Line::Whole { end: at },
        Some(_) => Line::Bad { at: at + 1 },
        None => Line::Short { from: at },
    }
}

/// Where a line ends.
pub(crate) enum Line {
    /// At the CR at `end`.
    Whole { end: usize },
    /// Not in this buffer; the next search may start at `from`.
    Short { from: usize },
    /// The byte at `at` is wrong.
    Bad { at: usize },
}

const ONES: u64 = 0x0101_0101_0101_0101;
const TOPS: u64 = 0x8080_8080_8080_8080;

/// The offset of the first `needle` in `hay`, searched eight bytes at a time.
pub(crate) fn find(hay: &[u8], needle: u8) -> Option<usize> {
    let found = search(hay, needle);
    examined(found.map_or(hay.len(), |at| at + 1));
    found
}

fn search(hay: &[u8], needle: u8) -> Option<usize> {
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

/// The offset of the first CR or LF in `hay`, searched eight bytes at a time.
#[inline]
fn find_break(hay: &[u8]) -> Option<usize> {
    let found = search_break(hay);
    examined(found.map_or(hay.len(), |at| at + 2));
    found
}

#[inline]
fn search_break(hay: &[u8]) -> Option<usize> {
    let (words, tail) = hay.as_chunks::<8>();
    for (index, word) in words.iter().enumerate() {
        if let Some(at) = find_line_break(u64::from_le_bytes(*word)) {
            return Some(index * 8 + at);
        }
    }
    let start = hay.len() - tail.len();
    tail.iter()
        .position(|byte| matches!(byte, b'\r' | b'\n'))
        .map(|at| start + at)
}

/// The index of the first CR or LF in eight bytes.
#[inline(always)]
pub(crate) const fn find_line_break(word: u64) -> Option<usize> {
    let (cr, lf) = (word ^ (ONES * b'\r' as u64), word ^ (ONES * b'\n' as u64));
    // The lowest hit of each is exact, and so is the lowest of both.
    let hits = ((cr.wrapping_sub(ONES) & !cr) | (lf.wrapping_sub(ONES) & !lf)) & TOPS;
    if hits == 0 {
        return None;
    }
    Some(hits.trailing_zeros() as usize / 8)
}

/// Converts the ASCII letters of eight bytes to upper case.
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
    fn find_returns_every_position() {
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
    fn upper8_matches_the_standard_library_for_every_byte() {
        for byte in 0..=255u8 {
            let word = u64::from_le_bytes([byte, b'a', byte, b'z', b'{', b'`', byte, 0x80]);
            let expected = word.to_le_bytes().map(|b| b.to_ascii_uppercase());
            assert_eq!(upper8(word).to_le_bytes(), expected);
        }
    }
}
