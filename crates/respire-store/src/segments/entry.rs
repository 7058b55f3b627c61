//! The bytes of one element in the arena of its segment.
//!
//! ```text
//! head, [value head], [expiry u64], [element], [value]
//! ```
//!
//! The head is a number in steps of 7 bits: the element's length, or its place among the segment's long texts,
//! then a bit that says which of the two, then a bit that says whether there is an expiry. The value head has
//! no such last bit. A text among the long texts takes no further bytes here. Numbers are little-endian.

use bytes::Bytes;

/// Texts up to this length are copied into the arena. Longer ones are kept as [`Bytes`] of their own, so that
/// the arena stays small, and that they are read and replied without a copy.
pub const NEAR_BYTES_MAX: usize = 1024;

const HAS_EXPIRY: usize = 1;
const IS_FAR: usize = 1;
const EXPIRY_BYTES: usize = 8;

/// A text as it is read.
#[derive(Debug, Clone, Copy)]
pub enum Text<'a> {
    /// Plain bytes.
    Near(&'a [u8]),
    /// Bytes that can be shared instead of copied.
    Far(&'a Bytes),
}

impl<'a> Text<'a> {
    /// Returns the bytes.
    #[must_use]
    #[inline]
    pub fn as_bytes(self) -> &'a [u8] {
        match self {
            Text::Near(bytes) => bytes,
            Text::Far(bytes) => bytes,
        }
    }

    /// Returns the bytes as shared ones, which copies those that are not.
    #[must_use]
    pub fn to_shared(self) -> Bytes {
        match self {
            Text::Near(bytes) => Bytes::copy_from_slice(bytes),
            Text::Far(bytes) => bytes.clone(),
        }
    }
}

/// A text as it is written.
#[derive(Debug, Clone)]
pub enum NewText<'a> {
    /// Bytes to copy.
    Bytes(&'a [u8]),
    /// Bytes to share, which are copied nevertheless if there are at most [`NEAR_BYTES_MAX`].
    Shared(Bytes),
}

impl<'a> From<&'a [u8]> for NewText<'a> {
    fn from(bytes: &'a [u8]) -> Self {
        NewText::Bytes(bytes)
    }
}

impl<'a, const N: usize> From<&'a [u8; N]> for NewText<'a> {
    fn from(bytes: &'a [u8; N]) -> Self {
        NewText::Bytes(bytes)
    }
}

impl From<Bytes> for NewText<'_> {
    fn from(bytes: Bytes) -> Self {
        NewText::Shared(bytes)
    }
}

impl<'a> From<Text<'a>> for NewText<'a> {
    fn from(text: Text<'a>) -> Self {
        match text {
            Text::Near(bytes) => NewText::Bytes(bytes),
            Text::Far(bytes) => NewText::Shared(bytes.clone()),
        }
    }
}

impl NewText<'_> {
    /// Returns the bytes.
    #[must_use]
    #[inline]
    pub fn as_bytes(&self) -> &[u8] {
        match self {
            NewText::Bytes(bytes) => bytes,
            NewText::Shared(bytes) => bytes,
        }
    }

    pub(super) fn into_shared(self) -> Bytes {
        match self {
            NewText::Bytes(bytes) => Bytes::copy_from_slice(bytes),
            NewText::Shared(bytes) => bytes,
        }
    }
}

/// A text in an arena: its bytes, or its place among the long texts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part<'a> {
    Near(&'a [u8]),
    Far(usize),
}

impl Part<'_> {
    fn number(self) -> usize {
        match self {
            Part::Near(bytes) => bytes.len() << 1,
            Part::Far(place) => place << 1 | IS_FAR,
        }
    }

    fn near_len(self) -> usize {
        match self {
            Part::Near(bytes) => bytes.len(),
            Part::Far(_) => 0,
        }
    }

    pub(super) fn far(self) -> Option<usize> {
        match self {
            Part::Near(_) => None,
            Part::Far(place) => Some(place),
        }
    }
}

/// An entry. Without `VALUES`, there are no values and no bytes for them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Entry<'a, const VALUES: bool> {
    pub(super) element: Part<'a>,
    pub(super) value: Part<'a>,
    pub(super) expires_at: Option<u64>,
}

impl<'a, const VALUES: bool> Entry<'a, VALUES> {
    /// Reads the entry at the start of the bytes. Returns it and its length.
    #[inline]
    pub(super) fn read(bytes: &'a [u8]) -> (Self, usize) {
        let (head, mut at) = read_number(bytes);
        let (has_expiry, element) = (head & HAS_EXPIRY != 0, head >> 1);
        let mut value = 0;
        if VALUES {
            let (number, len) = read_number(&bytes[at..]);
            (value, at) = (number, at + len);
        }
        let expires_at = has_expiry.then(|| {
            let mut wide = [0; EXPIRY_BYTES];
            wide.copy_from_slice(&bytes[at..at + EXPIRY_BYTES]);
            at += EXPIRY_BYTES;
            u64::from_le_bytes(wide)
        });
        let mut part = |number: usize| {
            if number & IS_FAR != 0 {
                return Part::Far(number >> 1);
            }
            let text = &bytes[at..at + (number >> 1)];
            at += text.len();
            Part::Near(text)
        };
        let (element, value) = (part(element), part(value));
        let entry = Entry {
            element,
            value,
            expires_at,
        };
        (entry, at)
    }

    /// Returns the number of bytes that [`Entry::write`] writes.
    #[inline]
    pub(super) fn bytes(&self) -> usize {
        let heads = number_bytes(self.head())
            + if VALUES {
                number_bytes(self.value.number())
            } else {
                0
            };
        let expiry = if self.expires_at.is_some() {
            EXPIRY_BYTES
        } else {
            0
        };
        heads + expiry + self.element.near_len() + self.value.near_len()
    }

    /// Writes the entry to the start of `out`.
    #[inline]
    pub(super) fn write(&self, out: &mut [u8]) {
        let mut at = write_number(self.head(), out);
        if VALUES {
            at += write_number(self.value.number(), &mut out[at..]);
        }
        if let Some(expires_at) = self.expires_at {
            out[at..at + EXPIRY_BYTES].copy_from_slice(&expires_at.to_le_bytes());
            at += EXPIRY_BYTES;
        }
        for part in [self.element, self.value] {
            if let Part::Near(text) = part {
                out[at..at + text.len()].copy_from_slice(text);
                at += text.len();
            }
        }
        debug_assert_eq!(at, self.bytes());
    }

    /// Writes a value of no more bytes and another expiry over those of the entry at the start of `bytes`. Returns
    /// the number of bytes that the entry is shorter now, or `None` if it has to be written elsewhere.
    #[inline]
    pub(super) fn rewrite(
        bytes: &mut [u8],
        value: &[u8],
        expires_at: Option<u64>,
    ) -> Option<usize> {
        let (old, old_bytes) = Entry::<VALUES>::read(bytes);
        let Part::Near(old_value) = old.value else {
            return None;
        };
        let new = Part::Near(value).number();
        let is_same_form = number_bytes(old.value.number()) == number_bytes(new)
            && old.expires_at.is_some() == expires_at.is_some();
        if !VALUES || !is_same_form || value.len() > old_value.len() {
            return None;
        }
        let (start, saved) = (old_bytes - old_value.len(), old_value.len() - value.len());
        let head_end = number_bytes(old.head());
        let at = head_end + write_number(new, &mut bytes[head_end..]);
        if let Some(expires_at) = expires_at {
            bytes[at..at + EXPIRY_BYTES].copy_from_slice(&expires_at.to_le_bytes());
        }
        bytes[start..start + value.len()].copy_from_slice(value);
        Some(saved)
    }

    fn head(&self) -> usize {
        self.element.number() << 1 | usize::from(self.expires_at.is_some())
    }
}

fn number_bytes(number: usize) -> usize {
    match number {
        0..=0x7f => 1,
        0x80..=0x3fff => 2,
        _ => (usize::BITS - number.leading_zeros()).div_ceil(7) as usize,
    }
}

#[inline]
fn write_number(mut number: usize, out: &mut [u8]) -> usize {
    let mut at = 0;
    while number > 0x7f {
        out[at] = number as u8 | 0x80;
        number >>= 7;
        at += 1;
    }
    out[at] = number as u8;
    at + 1
}

#[inline]
fn read_number(bytes: &[u8]) -> (usize, usize) {
    let first = usize::from(bytes[0]);
    if first <= 0x7f {
        return (first, 1);
    }
    let mut number = first & 0x7f;
    let mut at = 1;
    loop {
        let byte = usize::from(bytes[at]);
        number |= (byte & 0x7f) << (7 * at);
        at += 1;
        if byte <= 0x7f {
            return (number, at);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entry_reads_back() {
        let text = [7; NEAR_BYTES_MAX];
        let near = [0, 1, 31, 32, 63, 64, 500, NEAR_BYTES_MAX].map(|len| Part::Near(&text[..len]));
        let far = [0, 31, 32, 5_000, 1 << 20].map(Part::Far);
        let parts = || near.into_iter().chain(far);
        for element in parts() {
            for value in parts() {
                for expires_at in [None, Some(0), Some(u64::MAX)] {
                    let entry = Entry::<true> {
                        element,
                        value,
                        expires_at,
                    };
                    let mut out = vec![0xaa; entry.bytes() + 1];
                    entry.write(&mut out);
                    assert_eq!(Entry::read(&out), (entry, entry.bytes()));
                    let bare = Entry::<false> {
                        value: Part::Near(b""),
                        ..Entry {
                            element,
                            value,
                            expires_at,
                        }
                    };
                    bare.write(&mut out);
                    assert_eq!(Entry::read(&out), (bare, bare.bytes()));
                }
            }
        }
    }

    #[test]
    fn short_element_has_one_byte_of_overhead() {
        let entry = Entry::<false> {
            element: Part::Near(b"0123456789"),
            value: Part::Near(b""),
            expires_at: None,
        };
        assert_eq!(entry.bytes(), 11);
    }
}
