//! Ziplists: what Redis had before listpacks, in payloads of versions before 7.0. They are only read.
//!
//! The format is that of [`ziplist.c`](https://github.com/redis/redis/blob/7.0.15/src/ziplist.c): 4 bytes with the
//! length of it all, 4 with the offset of the last element, 2 with the number of elements (`0xffff`: count them), the
//! elements, and `0xff`. An element begins with the length of the one before it.

use super::listpack::{Damaged, Element};

const HEAD_BYTES: usize = 10;
const END: u8 = 0xff;

/// The first byte of a previous length of 4 more bytes.
const LONG_LEN: u8 = 0xfe;

/// Returns the elements of a ziplist from outside. All lengths, the place of the last element and the number of
/// elements are checked. O(elements).
///
/// ```
/// use respire_store::packed::listpack::Element;
/// use respire_store::packed::ziplist;
///
/// let bytes = b"\x10\0\0\0\x0c\0\0\0\x02\0\0\xf3\x02\x01a\xff";
/// let elements = ziplist::elements(bytes).unwrap();
/// assert_eq!(elements, [Element::Int(2), Element::Bytes(b"a")]);
/// assert!(ziplist::elements(&bytes[..15]).is_err());
/// ```
///
/// # Errors
/// [`Damaged`].
pub fn elements(bytes: &[u8]) -> Result<Vec<Element<'_>>, Damaged> {
    read(bytes).ok_or(Damaged)
}

fn read(bytes: &[u8]) -> Option<Vec<Element<'_>>> {
    let (head, mut rest) = bytes.split_at_checked(HEAD_BYTES)?;
    let word = |at| u32::from_le_bytes([head[at], head[at + 1], head[at + 2], head[at + 3]]);
    let count = usize::from(u16::from_le_bytes([head[8], head[9]]));
    let (mut elements, mut before, mut last) = (Vec::new(), 0, None);
    while *rest.first()? != END {
        let start = rest;
        last = Some(bytes.len() - start.len());
        if previous_len(&mut rest)? != before {
            return None;
        }
        elements.push(element(&mut rest)?);
        before = start.len() - rest.len();
    }
    let is_right = rest.len() == 1
        && usize::try_from(word(0)) == Ok(bytes.len())
        && last.is_none_or(|last| usize::try_from(word(4)) == Ok(last))
        && (count == 0xffff || count == elements.len());
    is_right.then_some(elements)
}

/// Takes so many bytes.
fn take<'a>(bytes: &mut &'a [u8], len: usize) -> Option<&'a [u8]> {
    let (taken, rest) = bytes.split_at_checked(len)?;
    *bytes = rest;
    Some(taken)
}

fn previous_len(bytes: &mut &[u8]) -> Option<usize> {
    match take(bytes, 1)?[0] {
        LONG_LEN => {
            let len = take(bytes, 4)?.try_into().ok()?;
            usize::try_from(u32::from_le_bytes(len)).ok()
        }
        len => Some(usize::from(len)),
    }
}

fn element<'a>(bytes: &mut &'a [u8]) -> Option<Element<'a>> {
    let first = take(bytes, 1)?[0];
    let len = match first {
        0x00..=0x3f => usize::from(first),
        0x40..=0x7f => usize::from(first & 0x3f) << 8 | usize::from(take(bytes, 1)?[0]),
        0x80 => {
            let len = take(bytes, 4)?.try_into().ok()?;
            usize::try_from(u32::from_be_bytes(len)).ok()?
        }
        0xf1..=0xfd => return Some(Element::Int(i64::from(first & 0x0f) - 1)),
        0xc0 => return int(bytes, 2),
        0xd0 => return int(bytes, 4),
        0xe0 => return int(bytes, 8),
        0xf0 => return int(bytes, 3),
        0xfe => return int(bytes, 1),
        _ => return None,
    };
    Some(Element::Bytes(take(bytes, len)?))
}

/// Takes an integer of so many bytes.
fn int(bytes: &mut &[u8], width: usize) -> Option<Element<'static>> {
    let mut wide = [0; 8];
    wide[8 - width..].copy_from_slice(take(bytes, width)?);
    Some(Element::Int(i64::from_le_bytes(wide) >> (64 - 8 * width)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A ziplist of every form of element, as Redis 6.2 writes it.
    fn every_form() -> (Vec<u8>, Vec<Element<'static>>) {
        const LONG: &[u8] = &[b'x'; 300];
        let entries: [(&[u8], Element<'static>); 9] = [
            (b"\xf1", Element::Int(0)),
            (b"\xfd", Element::Int(12)),
            (b"\xfe\x80", Element::Int(-128)),
            (b"\xc0\x00\x01", Element::Int(256)),
            (b"\xf0\xff\xff\xff", Element::Int(-1)),
            (b"\xd0\x00\x00\x00\x80", Element::Int(i64::from(i32::MIN))),
            (
                b"\xe0\xff\xff\xff\xff\xff\xff\xff\x7f",
                Element::Int(i64::MAX),
            ),
            (&[b"\x41\x2c", LONG].concat(), Element::Bytes(LONG)),
            (b"\x03abc", Element::Bytes(b"abc")),
        ];
        let (mut bytes, mut before, mut last) = (vec![0; HEAD_BYTES], 0, 0);
        for (entry, _) in &entries {
            last = bytes.len();
            if before < 254 {
                bytes.push(before as u8);
            } else {
                bytes.push(LONG_LEN);
                bytes.extend_from_slice(&(before as u32).to_le_bytes());
            }
            bytes.extend_from_slice(entry);
            before = bytes.len() - last;
        }
        bytes.push(END);
        let total = bytes.len() as u32;
        bytes[..4].copy_from_slice(&total.to_le_bytes());
        bytes[4..8].copy_from_slice(&(last as u32).to_le_bytes());
        bytes[8] = entries.len() as u8;
        (bytes, entries.map(|(_, element)| element).to_vec())
    }

    #[test]
    fn every_form_of_element_is_read() {
        let (bytes, expected) = every_form();
        assert_eq!(elements(&bytes), Ok(expected.clone()));
        let mut uncounted = bytes;
        uncounted[8..10].copy_from_slice(&[0xff, 0xff]);
        assert_eq!(elements(&uncounted), Ok(expected));
        assert_eq!(elements(b"\x0b\0\0\0\x0a\0\0\0\0\0\xff"), Ok(Vec::new()));
    }

    #[test]
    fn damaged_bytes_are_refused_or_read_without_a_panic() {
        let (bytes, _) = every_form();
        let mut refused = 0;
        for at in 0..bytes.len() {
            assert_eq!(elements(&bytes[..at]), Err(Damaged));
            for bit in 0..8 {
                let mut other = bytes.clone();
                other[at] ^= 1 << bit;
                refused += usize::from(elements(&other).is_err());
            }
        }
        // Bits of texts and integers may have any value.
        assert!(refused > 200, "{refused}");
    }
}
