//! Listpacks: lists of strings and integers in one run of bytes, read from both ends.
//!
//! The format is that of
//! [`listpack.c`](https://github.com/redis/redis/blob/7.0.15/src/listpack.c): 4 bytes with the length of it all,
//! 2 bytes with the number of elements (`0xffff`: count them), the elements, and `0xff`. An element is its
//! encoding and its data, followed by the length of both in steps of 7 bits, which is read from the end.

mod append;
mod element;
mod verify;

use core::fmt;
use core::iter::FusedIterator;
use core::ops::Range;

pub(crate) use append::Appender;
pub use element::Element;
pub(crate) use element::{Encoded, back_len};
use smallvec::SmallVec;
pub use verify::Damaged;

/// The bytes before the first element.
const HEAD_BYTES: usize = 6;

/// The number of elements from which on the header does not tell it.
const COUNT_MAX: usize = 0xffff;

/// The byte after the last element.
const END: u8 = 0xff;

/// A listpack that is read.
///
/// ```
/// use respire_store::packed::listpack::{Element, Listpack, ListpackBuf};
///
/// let mut numbers = ListpackBuf::new();
/// numbers.push(b"12");
/// numbers.push(b"twelve");
/// let numbers = Listpack::verify(numbers.as_bytes()).unwrap();
/// let elements: Vec<Element<'_>> = numbers.iter().collect();
/// assert_eq!(elements, [Element::Int(12), Element::Bytes(b"twelve")]);
/// ```
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Listpack<'a> {
    bytes: &'a [u8],
}

/// A listpack that is changed.
#[derive(Clone, PartialEq, Eq)]
pub struct ListpackBuf {
    bytes: Vec<u8>,
}

/// A place in a listpack: that of an element, or of the end. A change makes those after it invalid.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place(usize);

impl<'a> Listpack<'a> {
    /// Returns the listpack with these bytes, which were checked or written here. No bytes are no elements.
    pub(crate) fn from_valid(bytes: &'a [u8]) -> Self {
        const EMPTY: &[u8] = &[HEAD_BYTES as u8 + 1, 0, 0, 0, 0, 0, END];
        let bytes = if bytes.is_empty() { EMPTY } else { bytes };
        Self { bytes }
    }

    /// Returns the bytes of it all.
    #[must_use]
    pub fn as_bytes(self) -> &'a [u8] {
        self.bytes
    }

    /// Returns the number of elements. O(1), or O(elements) from 65,535 on.
    #[must_use]
    pub fn len(self) -> usize {
        match self.told_len() {
            COUNT_MAX => self.iter().count(),
            len => len,
        }
    }

    /// Returns whether there are no elements. O(1).
    #[must_use]
    pub fn is_empty(self) -> bool {
        self.bytes[HEAD_BYTES] == END
    }

    /// The number of elements in the header.
    fn told_len(self) -> usize {
        usize::from(u16::from_le_bytes([self.bytes[4], self.bytes[5]]))
    }

    /// Returns the place of the first element; that of the end if there is none.
    #[must_use]
    pub fn first(self) -> Place {
        Place(HEAD_BYTES)
    }

    /// Returns the place after the last element.
    #[must_use]
    pub fn end(self) -> Place {
        Place(self.bytes.len() - 1)
    }

    /// Returns the element at a place, and the place after it; `None` at the end.
    #[must_use]
    #[inline]
    pub fn at(self, place: Place) -> Option<(Element<'a>, Place)> {
        let rest = &self.bytes[place.0..];
        // The next place waits for this one, so the usual elements, short texts, take the shortest way to it.
        if let Some((text, len)) = Element::read_short(rest) {
            return Some((text, Place(place.0 + len + 1)));
        }
        self.at_any(place)
    }

    fn at_any(self, place: Place) -> Option<(Element<'a>, Place)> {
        let rest = &self.bytes[place.0..];
        if rest[0] == END {
            return None;
        }
        let (element, len) = Element::read(rest);
        Some((element, Place(place.0 + len + back_len(len))))
    }

    /// Returns the place of the element before this place; `None` for the first one.
    #[must_use]
    pub fn before(self, place: Place) -> Option<Place> {
        if place.0 == HEAD_BYTES {
            return None;
        }
        let len = read_back(&self.bytes[..place.0]);
        Some(Place(place.0 - len - back_len(len)))
    }

    /// Returns the place of the element with this index, from the end if it is negative. `None` if there is no
    /// such element. O(elements passed).
    #[must_use]
    pub fn seek(self, index: i64) -> Option<Place> {
        if index < 0 {
            let mut place = self.end();
            for _ in 0..index.unsigned_abs() {
                place = self.before(place)?;
            }
            return Some(place);
        }
        let mut place = self.first();
        for _ in 0..index {
            place = self.at(place)?.1;
        }
        self.at(place).map(|_| place)
    }

    /// Returns the elements from the first to the last.
    #[must_use]
    pub fn iter(self) -> Iter<'a> {
        Iter {
            listpack: self,
            place: self.first(),
        }
    }
}

impl fmt::Debug for Listpack<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

/// The elements of a listpack.
#[derive(Debug, Clone)]
pub struct Iter<'a> {
    listpack: Listpack<'a>,
    place: Place,
}

impl<'a> Iterator for Iter<'a> {
    type Item = Element<'a>;

    fn next(&mut self) -> Option<Element<'a>> {
        let (element, next) = self.listpack.at(self.place)?;
        self.place = next;
        Some(element)
    }
}

impl FusedIterator for Iter<'_> {}

/// Reads the length of the element that ends where the bytes end.
#[inline]
pub(crate) fn read_back(bytes: &[u8]) -> usize {
    let mut len = 0;
    for (at, byte) in bytes.iter().rev().take(5).enumerate() {
        len |= usize::from(byte & 0x7f) << (7 * at);
        if byte & 0x80 == 0 {
            break;
        }
    }
    len
}

/// Replaces `out` by a listpack of these elements, which are those of a listpack without header and end.
///
/// # Panics
/// If it would have 4 GiB or more.
pub(crate) fn wrap(elements: &[u8], count: usize, out: &mut Vec<u8>) {
    let total = HEAD_BYTES + elements.len() + 1;
    let total = u32::try_from(total).expect("a listpack has less than 4 GiB");
    out.clear();
    out.extend_from_slice(&total.to_le_bytes());
    out.extend_from_slice(&(COUNT_MAX.min(count) as u16).to_le_bytes());
    out.extend_from_slice(elements);
    out.push(END);
}

impl ListpackBuf {
    /// Returns an empty listpack.
    #[must_use]
    pub fn new() -> Self {
        Self::with_capacity(0)
    }

    /// Returns an empty listpack with room for so many bytes of elements.
    #[must_use]
    pub fn with_capacity(bytes: usize) -> Self {
        let mut new = Vec::with_capacity(HEAD_BYTES + bytes + 1);
        new.extend_from_slice(&[HEAD_BYTES as u8 + 1, 0, 0, 0, 0, 0, END]);
        Self { bytes: new }
    }

    /// Returns the listpack with these bytes, which were checked or written here. No bytes are no elements.
    pub(crate) fn from_valid(mut bytes: Vec<u8>) -> Self {
        if bytes.is_empty() {
            bytes.extend_from_slice(Listpack::from_valid(&[]).bytes);
        }
        Self { bytes }
    }

    /// Returns the bytes of it all.
    pub(crate) fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }

    /// Returns it for reading.
    #[must_use]
    pub fn read(&self) -> Listpack<'_> {
        Listpack { bytes: &self.bytes }
    }

    /// Returns the bytes of it all.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Returns the bytes that are allocated for it.
    #[must_use]
    pub fn capacity(&self) -> usize {
        self.bytes.capacity()
    }

    /// Adds an element after the last one. Amortised O(bytes of the element).
    ///
    /// # Panics
    /// If it all would have 4 GiB or more.
    pub fn push(&mut self, element: &[u8]) {
        let end = self.read().end();
        self.splice(end..end, &[element]);
    }

    /// Replaces the elements in a range of places by others. Returns the place after the new ones.
    /// O(bytes after the range).
    ///
    /// ```
    /// use respire_store::packed::listpack::{Element, ListpackBuf};
    ///
    /// let mut list = ListpackBuf::new();
    /// list.push(b"b");
    /// let first = list.read().first();
    /// list.splice(first..first, &[b"a"]);
    /// let second = list.read().seek(1).unwrap();
    /// list.splice(second..list.read().end(), &[]);
    /// assert!(list.read().iter().eq([Element::Bytes(b"a")]));
    /// ```
    ///
    /// # Panics
    /// If it all would have 4 GiB or more, or the range is none of this listpack.
    pub fn splice(&mut self, range: Range<Place>, new: &[&[u8]]) -> Place {
        let (from, to) = (range.start.0, range.end.0);
        let removed = self.count(range);
        // Two are a field with its value.
        let encoded: SmallVec<[Encoded<'_>; 2]> = new
            .iter()
            .map(|text| Encoded::new(Element::of(text)))
            .collect();
        let after = from + encoded.iter().map(Encoded::len).sum::<usize>();
        let told = self.read().told_len();
        self.move_tail(to, after);
        let mut room = &mut self.bytes[from..after];
        for element in &encoded {
            let (place, rest) = room.split_at_mut(element.len());
            element.write(place);
            room = rest;
        }
        let total = u32::try_from(self.bytes.len()).expect("a listpack has less than 4 GiB");
        self.bytes[..4].copy_from_slice(&total.to_le_bytes());
        let len = match told {
            COUNT_MAX => COUNT_MAX.min(self.read().iter().count()),
            told => COUNT_MAX.min(told - removed + new.len()),
        };
        self.bytes[4..HEAD_BYTES].copy_from_slice(&(len as u16).to_le_bytes());
        Place(after)
    }

    /// Moves the bytes from `from` on to `to`.
    fn move_tail(&mut self, from: usize, to: usize) {
        let len = self.bytes.len();
        if to > from {
            self.bytes.resize(len + to - from, 0);
        }
        self.bytes.copy_within(from..len, to);
        self.bytes.truncate(len - from + to);
    }

    /// Removes `count` elements from a place on, or as many as there are.
    ///
    /// # Panics
    /// If the place is none of this listpack.
    pub fn remove(&mut self, from: Place, count: usize) {
        let mut to = from;
        for _ in 0..count {
            match self.read().at(to) {
                Some((_, next)) => to = next,
                None => break,
            }
        }
        self.splice(from..to, &[]);
    }

    /// The number of elements in a range of places.
    fn count(&self, range: Range<Place>) -> usize {
        let (mut place, mut count) = (range.start, 0);
        while place < range.end {
            match self.read().at(place) {
                Some((_, next)) => place = next,
                None => break,
            }
            count += 1;
        }
        assert_eq!(place, range.end, "the range is one of this listpack");
        count
    }
}

impl Default for ListpackBuf {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for ListpackBuf {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.read().fmt(f)
    }
}

#[cfg(test)]
mod tests;
