//! Integer sets: sorted integers of one width in one run of bytes.
//!
//! The format is that of [`intset.c`](https://github.com/redis/redis/blob/7.0.15/src/intset.c): 4 bytes with the
//! width of an integer (2, 4 or 8), 4 with their number, and the integers in ascending order, all with the lowest
//! byte first.

use core::fmt;

use super::listpack::Damaged;

const HEAD_BYTES: usize = 8;

/// A set of integers. Adding and removing one costs O(integers), finding one O(log integers).
///
/// ```
/// use respire_store::packed::intset::IntSet;
///
/// let mut set = IntSet::new();
/// assert!(set.insert(7) && set.insert(-1) && !set.insert(7));
/// assert!(set.iter().eq([-1, 7]));
/// assert_eq!(set.as_bytes(), b"\x02\0\0\0\x02\0\0\0\xff\xff\x07\0");
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct IntSet {
    bytes: Vec<u8>,
}

/// A set of integers that is read.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct IntSetRef<'a> {
    bytes: &'a [u8],
}

/// A set without integers.
const EMPTY: &[u8; HEAD_BYTES] = &[2, 0, 0, 0, 0, 0, 0, 0];

impl<'a> IntSetRef<'a> {
    /// Returns the set with these bytes, which were checked or written here. No bytes are no integers.
    pub(crate) fn from_valid(bytes: &'a [u8]) -> Self {
        let bytes = if bytes.is_empty() { EMPTY } else { bytes };
        Self { bytes }
    }

    /// Returns the bytes of it all.
    #[must_use]
    pub fn as_bytes(self) -> &'a [u8] {
        self.bytes
    }

    /// Returns the number of integers. O(1).
    #[must_use]
    #[inline]
    pub fn len(self) -> usize {
        (self.bytes.len() - HEAD_BYTES) / self.width()
    }

    /// Returns whether there are none. O(1).
    #[must_use]
    pub fn is_empty(self) -> bool {
        self.bytes.len() == HEAD_BYTES
    }

    #[inline]
    fn width(self) -> usize {
        usize::from(self.bytes[0])
    }

    /// Returns the integer at this index in ascending order; `None` if there are fewer. O(1).
    #[must_use]
    #[inline]
    pub fn get(self, index: usize) -> Option<i64> {
        let width = self.width();
        let at = index.checked_mul(width)?.checked_add(HEAD_BYTES)?;
        self.bytes.get(at..at.checked_add(width)?).map(read)
    }

    /// Returns whether the integer is in the set. O(log integers).
    #[must_use]
    pub fn contains(self, number: i64) -> bool {
        self.find(number).is_ok()
    }

    /// Returns the integers in ascending order.
    pub fn iter(self) -> impl DoubleEndedIterator<Item = i64> + ExactSizeIterator + use<'a> {
        self.bytes[HEAD_BYTES..]
            .chunks_exact(self.width())
            .map(read)
    }

    /// The index of an integer, or else the one where it belongs.
    fn find(self, number: i64) -> Result<usize, usize> {
        let (mut low, mut high) = (0, self.len());
        while low < high {
            let middle = low.midpoint(high);
            match self.get(middle) {
                Some(found) if found == number => return Ok(middle),
                Some(found) if found < number => low = middle + 1,
                _ => high = middle,
            }
        }
        Err(low)
    }
}

impl IntSet {
    /// Returns an empty set.
    #[must_use]
    pub fn new() -> Self {
        Self::from_valid(Vec::new())
    }

    /// Returns the set with these bytes, which were checked or written here. No bytes are no integers.
    pub(crate) fn from_valid(mut bytes: Vec<u8>) -> Self {
        if bytes.is_empty() {
            bytes.extend_from_slice(EMPTY);
        }
        Self { bytes }
    }

    /// Returns the bytes of it all.
    pub(crate) fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }

    /// Returns it for reading.
    #[must_use]
    #[inline]
    pub fn read(&self) -> IntSetRef<'_> {
        IntSetRef { bytes: &self.bytes }
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

    /// Returns the number of integers. O(1).
    #[must_use]
    pub fn len(&self) -> usize {
        self.read().len()
    }

    /// Returns whether there are none. O(1).
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.read().is_empty()
    }

    fn width(&self) -> usize {
        self.read().width()
    }

    /// Returns the integer at this index in ascending order; `None` if there are fewer. O(1).
    #[must_use]
    pub fn get(&self, index: usize) -> Option<i64> {
        self.read().get(index)
    }

    /// Returns whether the integer is in the set. O(log integers).
    #[must_use]
    pub fn contains(&self, number: i64) -> bool {
        self.read().contains(number)
    }

    /// Returns the integers in ascending order.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = i64> + ExactSizeIterator {
        self.read().iter()
    }

    /// Adds an integer. Returns false if it is there already.
    pub fn insert(&mut self, number: i64) -> bool {
        let Err(index) = self.read().find(number) else {
            return false;
        };
        self.widen(width_of(number));
        let width = self.width();
        let at = HEAD_BYTES + index * width;
        self.bytes
            .splice(at..at, number.to_le_bytes()[..width].iter().copied());
        self.tell_len();
        true
    }

    /// Removes an integer. Returns false if it is not there.
    pub fn remove(&mut self, number: i64) -> bool {
        let Ok(index) = self.read().find(number) else {
            return false;
        };
        let (width, at) = (self.width(), HEAD_BYTES + index * self.width());
        self.bytes.drain(at..at + width);
        self.tell_len();
        true
    }

    /// Makes room for integers of this width. The width never shrinks, as in Redis.
    fn widen(&mut self, width: usize) {
        if width <= self.width() {
            return;
        }
        let mut bytes = Vec::with_capacity(HEAD_BYTES + (self.len() + 1) * width);
        bytes.extend_from_slice(&self.bytes[..HEAD_BYTES]);
        bytes[0] = width as u8;
        for number in self.read().iter() {
            bytes.extend_from_slice(&number.to_le_bytes()[..width]);
        }
        self.bytes = bytes;
    }

    fn tell_len(&mut self) {
        let len = u32::try_from(self.len()).expect("a set has fewer than 2^32 integers");
        self.bytes[4..HEAD_BYTES].copy_from_slice(&len.to_le_bytes());
    }
}

/// The bytes that an integer needs.
fn width_of(number: i64) -> usize {
    if i16::try_from(number).is_ok() {
        2
    } else if i32::try_from(number).is_ok() {
        4
    } else {
        8
    }
}

fn read(bytes: &[u8]) -> i64 {
    let mut wide = [0; 8];
    wide[8 - bytes.len()..].copy_from_slice(bytes);
    i64::from_le_bytes(wide) >> (64 - 8 * bytes.len())
}

impl Default for IntSet {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for IntSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.read().fmt(f)
    }
}

impl fmt::Debug for IntSetRef<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter()).finish()
    }
}

impl TryFrom<Vec<u8>> for IntSet {
    type Error = Damaged;

    /// Takes bytes from outside. The width, the number and the order are checked. O(integers).
    fn try_from(bytes: Vec<u8>) -> Result<Self, Damaged> {
        let (head, rest) = bytes.split_at_checked(HEAD_BYTES).ok_or(Damaged)?;
        let [width @ (2 | 4 | 8), 0, 0, 0, a, b, c, d] = *head else {
            return Err(Damaged);
        };
        let count = u32::from_le_bytes([a, b, c, d]);
        let numbers = rest.chunks_exact(usize::from(width));
        let is_whole = numbers.remainder().is_empty() && numbers.len() == count as usize;
        if !is_whole || !numbers.map(read).is_sorted_by(|a, b| a < b) {
            return Err(Damaged);
        }
        Ok(Self { bytes })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::mix;
    use std::collections::BTreeSet;

    #[test]
    fn set_is_as_its_model_at_all_widths() {
        let (mut set, mut model) = (IntSet::new(), BTreeSet::new());
        for step in 0..6_000_u64 {
            let random = mix(step);
            // Later integers are wider; small ranges meet what is there.
            let bits = [8, 20, 40][step as usize / 2_000];
            let number = (mix(random) >> (64 - bits)) as i64 - (1 << (bits - 1));
            if random.is_multiple_of(3) {
                assert_eq!(set.remove(number), model.remove(&number));
            } else {
                assert_eq!(set.insert(number), model.insert(number));
            }
            assert_eq!((set.len(), set.is_empty()), (model.len(), model.is_empty()));
            assert_eq!(set.contains(number), model.contains(&number));
        }
        assert!(set.iter().eq(model.iter().copied()));
        assert_eq!(set.get(3), model.iter().nth(3).copied());
        assert_eq!(set.get(model.len()), None);
        assert_eq!(IntSet::try_from(set.as_bytes().to_vec()), Ok(set));
    }

    #[test]
    fn limits_of_the_widths_are_kept() {
        let numbers = [
            i64::MIN,
            i64::from(i32::MIN) - 1,
            -32_769,
            -32_768,
            32_767,
            32_768,
            i64::MAX,
        ];
        let mut set = IntSet::new();
        let widths = [3, 4, 5, 2, 1, 6, 0].map(|at: usize| {
            set.insert(numbers[at]);
            set.width()
        });
        assert_eq!(widths, [2, 2, 4, 4, 8, 8, 8]);
        assert!(set.iter().eq(numbers));
    }

    #[test]
    fn damaged_bytes_are_refused() {
        let whole = b"\x02\0\0\0\x02\0\0\0\xff\xff\x07\0";
        assert!(IntSet::try_from(whole.to_vec()).is_ok());
        for (at, byte) in [(0, 3), (0, 4), (1, 1), (4, 1), (7, 1), (9, 0), (10, 0xff)] {
            let mut other = whole.to_vec();
            other[at] = byte;
            if at == 9 {
                other[8] = 7;
            }
            if at == 10 {
                other[11] = 0xff;
            }
            assert_eq!(IntSet::try_from(other), Err(Damaged), "byte {at}");
        }
        assert_eq!(IntSet::try_from(whole[..11].to_vec()), Err(Damaged));
        assert_eq!(IntSet::try_from(Vec::new()), Err(Damaged));
    }
}
