//! Ziplists: the packed form of small collections before Redis 7.

use crate::Text;

/// Bytes before the first entry: the length of it all, the offset of the last entry, the number of entries.
const HEAD_BYTES: usize = 10;
/// The byte after the last entry.
const END: u8 = 0xff;
/// The first byte of a length of four bytes.
const LONG: u8 = 0xfe;
/// The number from which on the header does not tell the number of entries.
const COUNT_MAX: usize = 0xffff;

/// The entries of a ziplist, from the first to the last. They borrow its bytes.
///
/// ```
/// use respire_rdb::{Text, Ziplist};
///
/// let bytes = b"\x10\0\0\0\x0d\0\0\0\x02\0\0\x01a\x03\xf8\xff";
/// let entries = Ziplist::verify(bytes).unwrap();
/// assert!(entries.eq([Text::Bytes(b"a"), Text::Int(7)]));
/// assert!(Ziplist::verify(&bytes[1..]).is_none());
/// ```
#[derive(Clone, Debug)]
pub struct Ziplist<'a> {
    /// The entries that are left, and the end.
    rest: &'a [u8],
}

/// An entry, and what tells where the others are.
struct Entry<'a> {
    text: Text<'a>,
    /// The length of the entry before this one, as this one tells it.
    before: usize,
    len: usize,
}

impl<'a> Ziplist<'a> {
    /// Reads the entries of a ziplist; `None` if anything is wrong with it. O(bytes).
    #[must_use]
    pub fn verify(bytes: &'a [u8]) -> Option<Self> {
        let (head, rest) = bytes.split_at_checked(HEAD_BYTES)?;
        let number = |at: usize| {
            let bytes = head[at..].first_chunk()?;
            usize::try_from(u32::from_le_bytes(*bytes)).ok()
        };
        let count = usize::from(u16::from_le_bytes([head[8], head[9]]));
        if number(0)? != bytes.len() {
            return None;
        }
        let (mut at, mut before, mut entries) = (0, 0, 0);
        while *rest.get(at)? != END {
            let entry = read(&rest[at..])?;
            if entry.before != before {
                return None;
            }
            before = entry.len;
            at += entry.len;
            entries += 1;
        }
        let is_whole = at + 1 == rest.len();
        let has_tail = number(4)? == HEAD_BYTES + at - before;
        let has_count = count == COUNT_MAX || count == entries;
        (is_whole && has_tail && has_count).then_some(Self { rest })
    }
}

impl<'a> Iterator for Ziplist<'a> {
    type Item = Text<'a>;

    fn next(&mut self) -> Option<Text<'a>> {
        if *self.rest.first()? == END {
            return None;
        }
        let entry = read(self.rest)?;
        self.rest = &self.rest[entry.len..];
        Some(entry.text)
    }
}

/// Reads the entry at the start of the bytes.
fn read(bytes: &[u8]) -> Option<Entry<'_>> {
    let (before, head) = match *bytes.first()? {
        LONG => (number(bytes.get(1..5)?.first_chunk()?), 5),
        short => (usize::from(short), 1),
    };
    let rest = &bytes[head..];
    let (text, len) = read_text(rest)?;
    Some(Entry {
        text,
        before,
        len: head + len,
    })
}

fn number(bytes: &[u8; 4]) -> usize {
    u32::from_le_bytes(*bytes) as usize
}

/// Reads the encoding and the data of an entry. Returns the text and their length.
fn read_text(bytes: &[u8]) -> Option<(Text<'_>, usize)> {
    let first = *bytes.first()?;
    let (len, head): (usize, usize) = match first {
        0x00..=0x3f => (usize::from(first), 1),
        0x40..=0x7f => {
            let low = *bytes.get(1)?;
            (usize::from(u16::from_be_bytes([first & 0x3f, low])), 2)
        }
        0x80 => {
            let len = bytes.get(1..5)?.first_chunk()?;
            (usize::try_from(u32::from_be_bytes(*len)).ok()?, 5)
        }
        _ => return read_int(first, &bytes[1..]),
    };
    let text = bytes.get(head..head.checked_add(len)?)?;
    Some((Text::Bytes(text), head + len))
}

/// Reads the integer whose encoding begins with this byte. Returns it and the length of both.
fn read_int(first: u8, rest: &[u8]) -> Option<(Text<'static>, usize)> {
    let width = match first {
        0xc0 => 2,
        0xd0 => 4,
        0xe0 => 8,
        0xf0 => 3,
        0xfe => 1,
        0xf1..=0xfd => 0,
        _ => return None,
    };
    let bytes = rest.get(..width)?;
    let number = if width == 0 {
        i64::from(first & 0x0f) - 1
    } else {
        let mut wide = [0; 8];
        wide[8 - width..].copy_from_slice(bytes);
        i64::from_le_bytes(wide) >> (64 - 8 * width)
    };
    Some((Text::Int(number), 1 + width))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A ziplist of entries that are given without the length of the one before.
    fn ziplist(entries: &[&[u8]]) -> Vec<u8> {
        let mut body = Vec::new();
        let (mut before, mut tail) = (0, 0);
        for entry in entries {
            tail = body.len();
            if before < usize::from(LONG) {
                body.push(before as u8);
            } else {
                body.push(LONG);
                body.extend_from_slice(&(before as u32).to_le_bytes());
            }
            body.extend_from_slice(entry);
            before = body.len() - tail;
        }
        body.push(END);
        let mut bytes = ((HEAD_BYTES + body.len()) as u32).to_le_bytes().to_vec();
        bytes.extend_from_slice(&((HEAD_BYTES + tail) as u32).to_le_bytes());
        bytes.extend_from_slice(&(entries.len() as u16).to_le_bytes());
        bytes.extend_from_slice(&body);
        bytes
    }

    fn texts(bytes: &[u8]) -> Option<Vec<Vec<u8>>> {
        let entries = Ziplist::verify(bytes)?;
        Some(entries.map(Text::into_bytes).collect())
    }

    #[test]
    fn entries_of_every_encoding_are_read() {
        let long = [&[0x41, 0x2c][..], &[b'x'; 300]].concat();
        let longer = [&[0x80, 0, 1, 0, 0][..], &[b'y'; 65_536]].concat();
        let bytes = ziplist(&[
            b"\x00",
            b"\x03abc",
            &long,
            &longer,
            b"\xc0\xfe\xff",
            b"\xd0\x00\x00\x00\x80",
            b"\xe0\xff\xff\xff\xff\xff\xff\xff\x7f",
            b"\xf0\xff\xff\x7f",
            b"\xfe\x80",
            b"\xf1",
            b"\xfd",
        ]);
        let expected: [&[u8]; 11] = [
            b"",
            b"abc",
            &[b'x'; 300],
            &[b'y'; 65_536],
            b"-2",
            b"-2147483648",
            b"9223372036854775807",
            b"8388607",
            b"-128",
            b"0",
            b"12",
        ];
        assert_eq!(texts(&bytes), Some(expected.map(<[u8]>::to_vec).to_vec()));
        assert_eq!(texts(&ziplist(&[])), Some(Vec::new()));
    }

    #[test]
    fn ziplist_that_is_cut_or_changed_is_refused_or_has_other_texts() {
        let bytes = ziplist(&[b"\x03abc", b"\xc0\x01\x02", b"\x02de"]);
        let whole = texts(&bytes);
        assert!(whole.is_some());
        for len in 0..bytes.len() {
            assert_eq!(texts(&bytes[..len]), None);
        }
        for at in 0..bytes.len() {
            for bit in 0..8 {
                let mut changed = bytes.clone();
                changed[at] ^= 1 << bit;
                assert_ne!(texts(&changed), whole);
            }
        }
    }
}
