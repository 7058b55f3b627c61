//! The fast path of the request decoder: one masked load reads a payload's end and the next header.

use super::progress::Cursor;
use crate::args::Span;
use crate::grammar::load8;

const fn word(bytes: &[u8; 8]) -> u64 {
    u64::from_le_bytes(*bytes)
}

/// `*d CRLF $d CRLF` with zeros for the digits, and the mask of the bits that must match.
const HEAD: u64 = word(b"*0\r\n$0\r\n");
const HEAD_MASK: u64 = word(b"\xff\xf0\xff\xff\xff\xf0\xff\xff");
/// The end of a payload with the next header, of one and of two digits.
const NEXT1: u64 = word(b"\r\n$0\r\n\0\0");
const NEXT1_MASK: u64 = word(b"\xff\xff\xff\xf0\xff\xff\0\0");
const NEXT2: u64 = word(b"\r\n$00\r\n\0");
const NEXT2_MASK: u64 = word(b"\xff\xff\xff\xf0\xf0\xff\xff\0");

/// The low nibble of byte `index`: the digit, if the high nibble has been compared.
#[inline(always)]
const fn nibble(word: u64, index: u32) -> usize {
    (word >> (index * 8) & 0xf) as usize
}

/// The one-digit argument count and first length at the start of `buf`.
#[inline(always)]
pub(super) fn head(buf: &[u8]) -> Option<(usize, usize)> {
    let head = load8(buf, 0)?;
    match (nibble(head, 1), nibble(head, 5)) {
        (args @ 1..=9, bulk @ 0..=9) if head & HEAD_MASK == HEAD => Some((args, bulk)),
        _ => None,
    }
}

/// Reads arguments with one load each, as long as a header of one or two digits follows.
///
/// The caller reads the last argument, and everything else that needs more checks.
#[inline(always)]
pub(super) fn take(buf: &[u8], spans: &mut [Span], cursor: Cursor) -> Cursor {
    let Cursor {
        mut at,
        mut len,
        mut left,
        mut filled,
    } = cursor;
    while left > 1 {
        let end = at + len;
        let (Some(next), Some(slot)) = (load8(buf, end), spans.get_mut(filled)) else {
            break;
        };
        let (skip, next_len) = if next & NEXT1_MASK == NEXT1 && nibble(next, 3) <= 9 {
            (6, nibble(next, 3))
        } else if next & NEXT2_MASK == NEXT2
            && matches!(nibble(next, 3), 1..=9)
            && nibble(next, 4) <= 9
        {
            (7, nibble(next, 3) * 10 + nibble(next, 4))
        } else {
            break;
        };
        *slot = Span::new(at as u32, len as u32);
        filled += 1;
        left -= 1;
        at = end + skip;
        len = next_len;
    }
    Cursor {
        at,
        len,
        left,
        filled,
    }
}
