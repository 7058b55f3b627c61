//! The fast path of the reply decoder: complete short values and headers, in the form that servers
//! send.
//!
//! Most of a reply consists of such values. This path never builds a [`Token`] for them, which
//! costs a detour through memory on targets with few registers. Long, incomplete, unusual or wrong
//! values are left to [`token`], which decides.
//!
//! [`Token`]: crate::token::Token
//! [`token`]: crate::token::token

use crate::grammar::{examined, find_line_break, load8};
use crate::kind::Kind;
use crate::limits::Limits;
use crate::token::{NODES_MAX, Rules, short_length};

/// A complete value: its type, the position of its payload or text, and where it ends. The text of
/// a null is the whole null.
pub(super) struct Short {
    pub(super) kind: Kind,
    pub(super) at: usize,
    pub(super) len: usize,
    pub(super) end: usize,
}

/// The limits for short values, read once per call.
#[derive(Clone, Copy)]
pub(super) struct Bounds {
    /// The most bytes of text or payload, for any value.
    text: usize,
    pub(super) frame_bytes: u64,
}

impl Bounds {
    #[inline(always)]
    pub(super) fn new(limits: &Limits) -> Self {
        let text = limits.max_bulk.min(u64::from(limits.max_inline));
        Self {
            text: text as usize,
            frame_bytes: limits.frame_bytes(),
        }
    }
}

/// The complete value at `at`, if it is a bulk string of at most 99 bytes, a simple string of at
/// most seven, a plain number, a boolean or RESP3's null.
#[inline(always)]
pub(super) fn short_value(buf: &[u8], at: usize, bounds: Bounds) -> Option<Short> {
    let text = at + 1;
    let (kind, at, len, end) = match buf.get(at)? {
        b'$' => {
            let (len, start) = short_length(buf, at)?;
            (Kind::Bulk, start, len as usize, start + len as usize)
        }
        b':' => {
            let len = plain_digits(buf, text)?;
            (Kind::Int, text, len, text + len)
        }
        b'+' => {
            let len = find_line_break(load8(buf, text)?)?;
            (Kind::Simple, text, len, text + len)
        }
        b',' => {
            let len = plain_double(buf, text)?;
            (Kind::Double, text, len, text + len)
        }
        b'#' if matches!(buf.get(text), Some(b't' | b'f')) => (Kind::Bool, text, 1, text + 1),
        b'_' => (Kind::Null, at, 3, text),
        _ => return None,
    };
    examined(2);
    let whole = buf.get(end..)?.first_chunk() == Some(b"\r\n");
    let end = end + 2;
    let fits = len <= bounds.text && end as u64 <= bounds.frame_bytes;
    (whole && fits).then_some(Short { kind, at, len, end })
}

/// The header at `at` of an array of at most 99 elements or a map of at most 99 pairs: its type,
/// its elements (keys and values counted separately), and where it ends.
#[inline(always)]
pub(super) fn short_open(buf: &[u8], at: usize, rules: &Rules) -> Option<(Kind, u32, usize)> {
    let (kind, each) = match buf.get(at)? {
        b'*' => (Kind::Array, 1),
        b'%' => (Kind::Map, 2),
        _ => return None,
    };
    let (count, end) = short_length(buf, at)?;
    let elements = count * each;
    (elements <= rules.limits.max_nodes.min(NODES_MAX)).then_some((kind, elements, end))
}

/// The number of digits of a plain integer at `at`: up to 18 digits, which are in range, and no
/// leading zero.
#[inline(always)]
fn plain_digits(buf: &[u8], at: usize) -> Option<usize> {
    let digits = digits(buf, at, 18);
    let plain = digits == 1 || buf.get(at) != Some(&b'0');
    (plain && matches!(digits, 1..=18)).then_some(digits)
}

/// The number of bytes of a double without sign and exponent at `at`.
#[inline(always)]
fn plain_double(buf: &[u8], at: usize) -> Option<usize> {
    let whole = plain_digits(buf, at)?;
    if buf.get(at + whole) != Some(&b'.') {
        return Some(whole);
    }
    let rest = 18 - whole;
    let fraction = digits(buf, at + whole + 1, rest);
    (fraction <= rest).then_some(whole + 1 + fraction)
}

/// The number of digits at `at`; more than `max` count as `max + 1`.
#[inline(always)]
fn digits(buf: &[u8], at: usize, max: usize) -> usize {
    let bytes = buf.get(at..).unwrap_or_default().iter();
    let digits = bytes
        .take(max + 1)
        .take_while(|byte| byte.is_ascii_digit())
        .count();
    examined(digits + 1);
    digits
}
