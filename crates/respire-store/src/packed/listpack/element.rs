//! One element of a listpack.

use std::borrow::Cow;

/// An element: bytes, or a decimal integer that was one when it was added.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Element<'a> {
    /// Bytes that are no canonical integer.
    Bytes(&'a [u8]),
    /// An integer.
    Int(i64),
}

impl<'a> Element<'a> {
    /// Returns the form in which these bytes are kept.
    #[must_use]
    pub fn of(text: &'a [u8]) -> Self {
        match crate::decimal::canonical_int(text) {
            Some(number) => Element::Int(number),
            None => Element::Bytes(text),
        }
    }

    /// Returns the bytes. Those of an integer are made anew.
    #[must_use]
    pub fn to_bytes(self) -> Cow<'a, [u8]> {
        match self {
            Element::Bytes(bytes) => Cow::Borrowed(bytes),
            Element::Int(number) => Cow::Owned(number.to_string().into_bytes()),
        }
    }

    /// Reads the element at the start of the bytes, which were checked. Returns it and its length.
    pub(super) fn read(bytes: &'a [u8]) -> (Self, usize) {
        match Head::of(bytes[0]) {
            Head::Small => (Element::Int(i64::from(bytes[0])), 1),
            Head::Thirteen => {
                let number = i64::from(bytes[0] & 0x1f) << 8 | i64::from(bytes[1]);
                (Element::Int(number << 51 >> 51), 2)
            }
            Head::Int(width) => {
                let mut wide = [0; 8];
                wide[8 - width..].copy_from_slice(&bytes[1..=width]);
                let number = i64::from_le_bytes(wide) >> (64 - 8 * width);
                (Element::Int(number), 1 + width)
            }
            Head::Bytes(head) => {
                let len = text_len(bytes, head);
                (Element::Bytes(&bytes[head..head + len]), head + len)
            }
            Head::Unknown => unreachable!("invariant: the bytes were checked"),
        }
    }

    /// Reads the length of the element at the start of bytes that were not checked.
    pub(super) fn read_len(bytes: &[u8]) -> Option<usize> {
        match Head::of(*bytes.first()?) {
            Head::Small => Some(1),
            Head::Thirteen => Some(2),
            Head::Int(width) => Some(1 + width),
            Head::Bytes(head) if bytes.len() < head => None,
            Head::Bytes(head) => head.checked_add(text_len(bytes, head)),
            Head::Unknown => None,
        }
    }
}

/// What the first byte of an element tells.
enum Head {
    /// It is an integer from 0 to 127.
    Small,
    /// An integer of 13 bits.
    Thirteen,
    /// An integer of so many bytes.
    Int(usize),
    /// Bytes, behind so many bytes that tell their length.
    Bytes(usize),
    Unknown,
}

impl Head {
    fn of(byte: u8) -> Self {
        match byte {
            0x00..=0x7f => Head::Small,
            0x80..=0xbf => Head::Bytes(1),
            0xc0..=0xdf => Head::Thirteen,
            0xe0..=0xef => Head::Bytes(2),
            0xf0 => Head::Bytes(5),
            0xf1 => Head::Int(2),
            0xf2 => Head::Int(3),
            0xf3 => Head::Int(4),
            0xf4 => Head::Int(8),
            0xf5..=0xff => Head::Unknown,
        }
    }
}

/// The length of the bytes of an element whose head has `head` bytes.
fn text_len(bytes: &[u8], head: usize) -> usize {
    match head {
        1 => usize::from(bytes[0] & 0x3f),
        2 => usize::from(bytes[0] & 0x0f) << 8 | usize::from(bytes[1]),
        _ => u32::from_le_bytes([bytes[1], bytes[2], bytes[3], bytes[4]]) as usize,
    }
}

/// Appends an element with its length behind it.
pub(super) fn encode(text: &[u8], out: &mut Vec<u8>) {
    let start = out.len();
    match Element::of(text) {
        Element::Int(number) => encode_int(number, out),
        Element::Bytes(bytes) => {
            match bytes.len() {
                len @ 0..=0x3f => out.push(0x80 | len as u8),
                len @ 0x40..=0xfff => out.extend_from_slice(&[0xe0 | (len >> 8) as u8, len as u8]),
                len => {
                    let len = u32::try_from(len).expect("an element has less than 4 GiB");
                    out.push(0xf0);
                    out.extend_from_slice(&len.to_le_bytes());
                }
            }
            out.extend_from_slice(bytes);
        }
    }
    let len = out.len() - start;
    encode_back(len, out);
}

fn encode_int(number: i64, out: &mut Vec<u8>) {
    let bytes = number.to_le_bytes();
    match number {
        0..=0x7f => out.push(number as u8),
        -0x1000..=0xfff => out.extend_from_slice(&[0xc0 | bytes[1] & 0x1f, bytes[0]]),
        -0x8000..=0x7fff => out.extend_from_slice(&[0xf1, bytes[0], bytes[1]]),
        -0x80_0000..=0x7f_ffff => out.extend_from_slice(&[0xf2, bytes[0], bytes[1], bytes[2]]),
        -0x8000_0000..=0x7fff_ffff => {
            out.push(0xf3);
            out.extend_from_slice(&bytes[..4]);
        }
        _ => {
            out.push(0xf4);
            out.extend_from_slice(&bytes);
        }
    }
}

/// The number of bytes that tell the length of an element from behind. The limits are
/// [`lpEncodeBacklen`](https://github.com/redis/redis/blob/7.0.15/src/listpack.c)'s, each one less than fits.
pub(super) fn back_len(len: usize) -> usize {
    match len {
        0..=127 => 1,
        128..=16_382 => 2,
        16_383..=2_097_150 => 3,
        2_097_151..=268_435_454 => 4,
        _ => 5,
    }
}

fn encode_back(len: usize, out: &mut Vec<u8>) {
    let steps = back_len(len);
    for step in (0..steps).rev() {
        let more = if step + 1 == steps { 0 } else { 0x80 };
        out.push((len >> (7 * step)) as u8 & 0x7f | more);
    }
}
