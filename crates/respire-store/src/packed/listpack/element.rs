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

    /// Reads the element at the start of the bytes, which were checked, if it is a text of up to 63 bytes. Returns it
    /// and its length, which takes one byte at its end.
    #[inline]
    pub(crate) fn read_short(bytes: &'a [u8]) -> Option<(Self, usize)> {
        let len = bytes[0].wrapping_sub(SHORT_TEXT);
        let is_short = len <= SHORT_TEXT_LEN_MAX;
        is_short.then(|| {
            (
                Element::Bytes(&bytes[1..=usize::from(len)]),
                1 + usize::from(len),
            )
        })
    }

    /// Reads the element at the start of the bytes, which were checked. Returns it and its length.
    #[inline]
    pub(crate) fn read(bytes: &'a [u8]) -> (Self, usize) {
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

/// The first byte of an empty text. That of a text of up to [`SHORT_TEXT_LEN_MAX`] bytes is higher by its length.
const SHORT_TEXT: u8 = 0x80;

const SHORT_TEXT_LEN_MAX: u8 = 0x3f;

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
    #[inline]
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

/// An element as its bytes in a listpack: what its first bytes tell, its text, and the length of both, which is read
/// from the end. All bytes of an integer are in its head.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Encoded<'a> {
    head: [u8; HEAD_BYTES_MAX],
    head_len: u8,
    back_len: u8,
    back: [u8; BACK_BYTES_MAX],
    text: &'a [u8],
}

/// The longest head is that of an integer of 8 bytes.
const HEAD_BYTES_MAX: usize = 9;

const BACK_BYTES_MAX: usize = 5;

impl<'a> Encoded<'a> {
    /// Encodes an element.
    ///
    /// # Panics
    /// If it has 4 GiB or more.
    #[inline]
    pub(crate) fn new(element: Element<'a>) -> Self {
        let (mut head, mut back) = ([0; HEAD_BYTES_MAX], [0; BACK_BYTES_MAX]);
        let (head_len, text) = match element {
            Element::Int(number) => (int_head(number, &mut head), &[][..]),
            Element::Bytes(text) => (text_head(text.len(), &mut head), text),
        };
        let len = head_len + text.len();
        let back_len = back_len(len);
        for (at, byte) in back[..back_len].iter_mut().rev().enumerate() {
            let more = if at + 1 == back_len { 0 } else { 0x80 };
            *byte = (len >> (7 * at)) as u8 & 0x7f | more;
        }
        Self {
            head,
            head_len: head_len as u8,
            back_len: back_len as u8,
            back,
            text,
        }
    }

    /// Returns the number of bytes.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        usize::from(self.head_len) + self.text.len() + usize::from(self.back_len)
    }

    /// Writes the bytes to `out`, which has as many.
    #[inline]
    pub(crate) fn write(&self, out: &mut [u8]) {
        let (head, rest) = out.split_at_mut(usize::from(self.head_len));
        let (text, back) = rest.split_at_mut(self.text.len());
        match (head, back) {
            // One byte each is the usual case, which needs no call.
            ([head], [back]) => (*head, *back) = (self.head[0], self.back[0]),
            (head, back) => {
                head.copy_from_slice(&self.head[..head.len()]);
                back.copy_from_slice(&self.back[..back.len()]);
            }
        }
        text.copy_from_slice(self.text);
    }

    /// Appends the bytes to `out`.
    #[inline]
    pub(crate) fn append_to(&self, out: &mut Vec<u8>) {
        out.reserve(self.len());
        out.extend_from_slice(&self.head[..usize::from(self.head_len)]);
        out.extend_from_slice(self.text);
        out.extend_from_slice(&self.back[..usize::from(self.back_len)]);
    }
}

/// Writes the bytes of an integer, and returns their number.
fn int_head(number: i64, head: &mut [u8; HEAD_BYTES_MAX]) -> usize {
    let bytes = number.to_le_bytes();
    let (first, width) = match number {
        0..=0x7f => {
            head[0] = bytes[0];
            return 1;
        }
        -0x1000..=0xfff => {
            [head[0], head[1]] = [0xc0 | bytes[1] & 0x1f, bytes[0]];
            return 2;
        }
        -0x8000..=0x7fff => (0xf1, 2),
        -0x80_0000..=0x7f_ffff => (0xf2, 3),
        -0x8000_0000..=0x7fff_ffff => (0xf3, 4),
        _ => (0xf4, 8),
    };
    head[0] = first;
    head[1..].copy_from_slice(&bytes);
    1 + width
}

/// Writes the bytes before a text of this length, and returns their number.
fn text_head(len: usize, head: &mut [u8; HEAD_BYTES_MAX]) -> usize {
    match len {
        0..=0x3f => {
            head[0] = 0x80 | len as u8;
            1
        }
        0x40..=0xfff => {
            [head[0], head[1]] = [0xe0 | (len >> 8) as u8, len as u8];
            2
        }
        _ => {
            let len = u32::try_from(len).expect("an element has less than 4 GiB");
            head[0] = 0xf0;
            head[1..5].copy_from_slice(&len.to_le_bytes());
            5
        }
    }
}

/// The number of bytes that tell the length of an element from behind. The limits are
/// [`lpEncodeBacklen`](https://github.com/redis/redis/blob/7.0.15/src/listpack.c)'s, each one less than fits.
#[inline]
pub(crate) fn back_len(len: usize) -> usize {
    match len {
        0..=127 => 1,
        128..=16_382 => 2,
        16_383..=2_097_150 => 3,
        2_097_151..=268_435_454 => 4,
        _ => 5,
    }
}
