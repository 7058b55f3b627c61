//! Writes headers, blobs and requests as bytes: the building blocks of the encoders.

use crate::number::{I64_BYTES_MAX, format_u64};
use crate::sink::Sink;

/// The most bytes of a blob besides its payload: tag, 20 digits, two line ends.
const BLOB_FRAMING: usize = 1 + I64_BYTES_MAX + 4;

/// `tag n CRLF`. Most numbers have up to three digits, so these lines are built as one literal.
#[inline]
pub(crate) fn header(out: &mut impl Sink, tag: u8, n: u64) {
    match n {
        0..=9 => out.put(&[tag, b'0' + n as u8, b'\r', b'\n']),
        10..=99 => {
            let (tens, units) = (b'0' + (n / 10) as u8, b'0' + (n % 10) as u8);
            out.put(&[tag, tens, units, b'\r', b'\n']);
        }
        100..=999 => {
            let n = n as u16;
            let digits = [n / 100, n / 10 % 10, n % 10].map(|digit| b'0' + digit as u8);
            out.put(&[tag, digits[0], digits[1], digits[2], b'\r', b'\n']);
        }
        _ => number_line(out, tag, false, n),
    }
}

/// `tag [-] n CRLF`, written backwards.
#[inline(never)]
pub(crate) fn number_line(out: &mut impl Sink, tag: u8, negative: bool, n: u64) {
    const END: usize = I64_BYTES_MAX + 2;
    let mut line = [0; END + 2];
    line[END..].copy_from_slice(b"\r\n");
    let mut start = END
        - decimal(
            n,
            line[..END]
                .last_chunk_mut()
                .expect("invariant: 22 is above 20"),
        );
    if negative {
        start -= 1;
        line[start] = b'-';
    }
    start -= 1;
    line[start] = tag;
    out.put(&line[start..]);
}

/// Writes `n` into the end of `room`, and returns the number of digits.
fn decimal(n: u64, room: &mut [u8; I64_BYTES_MAX]) -> usize {
    I64_BYTES_MAX - format_u64(n, room)
}

#[inline]
pub(crate) fn blob(out: &mut impl Sink, tag: u8, payload: &[u8]) {
    if let Some((bytes, len)) = short_blob(tag, payload) {
        return out.put_short(bytes, len);
    }
    out.reserve(payload.len() + BLOB_FRAMING);
    header(out, tag, payload.len() as u64);
    out.put(payload);
    out.put(b"\r\n");
}

/// `tag n CRLF payload CRLF` for a payload of up to nine bytes, and its length. Built in registers:
/// three appends of unknown length cost more than the rest of a short reply. In two words instead
/// of one of 128 bits, since targets without such shifts call a function for them.
#[inline]
fn short_blob(tag: u8, payload: &[u8]) -> Option<([u8; 16], usize)> {
    const CRLF: u64 = u16::from_le_bytes(*b"\r\n") as u64;
    let len = payload.len();
    let (text, ninth) = match payload {
        [head @ .., last] if len == 9 => (word(head), u64::from(*last)),
        _ if len < 9 => (word(payload), 0),
        _ => return None,
    };
    let head = u64::from(u32::from_le_bytes([tag, b'0' + len as u8, b'\r', b'\n']));
    let (mut low, mut high) = (head | text << 32, text >> 32 | ninth << 32);
    if len < 4 {
        low |= CRLF << (32 + 8 * len);
        high |= CRLF >> (32 - 8 * len);
    } else {
        high |= CRLF << (8 * len - 32);
    }
    let mut bytes = [0; 16];
    bytes[..8].copy_from_slice(&low.to_le_bytes());
    bytes[8..].copy_from_slice(&high.to_le_bytes());
    Some((bytes, len + 6))
}

/// Up to eight bytes as a number, the first lowest; further bytes are ignored.
#[inline]
fn word(bytes: &[u8]) -> u64 {
    if let Some(bytes) = bytes.first_chunk() {
        return u64::from_le_bytes(*bytes);
    }
    if let (Some(head), Some(tail)) = (bytes.first_chunk(), bytes.last_chunk()) {
        let (head, tail) = (u32::from_le_bytes(*head), u32::from_le_bytes(*tail));
        return u64::from(head) | u64::from(tail) << (8 * (bytes.len() - 4));
    }
    match *bytes {
        [a, b, c] => u64::from(a) | u64::from(b) << 8 | u64::from(c) << 16,
        [a, b] => u64::from(a) | u64::from(b) << 8,
        [a] => u64::from(a),
        _ => 0,
    }
}

/// The number of bytes that [`command`] appends for `args`.
///
/// ```
/// assert_eq!(resp_codec::command_len(&["GET", "key"]), 22);
/// ```
pub fn command_len(args: &[impl AsRef<[u8]>]) -> usize {
    let digits = |n: usize| n.checked_ilog10().map_or(1, |log| log as usize + 1);
    let arg = |arg: &[u8]| arg.len() + digits(arg.len()) + 5;
    digits(args.len()) + 3 + args.iter().map(|bytes| arg(bytes.as_ref())).sum::<usize>()
}

/// Appends a request: an array of bulk strings, the command's name first.
///
/// ```
/// let mut out = Vec::new();
/// resp_codec::command(&mut out, &["GET", "key"]);
/// assert_eq!(out, b"*2\r\n$3\r\nGET\r\n$3\r\nkey\r\n");
/// ```
#[inline]
pub fn command(out: &mut impl Sink, args: &[impl AsRef<[u8]>]) {
    header(out, b'*', args.len() as u64);
    for arg in args {
        blob(out, b'$', arg.as_ref());
    }
}
