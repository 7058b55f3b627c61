//! A leaf: elements in their order, packed in one allocation.
//!
//! ```text
//! length of the entries (4 bytes) | entry | entry | ... | unused
//! entry: encoded score (8 bytes) | length of the member (7 bits a byte) | member
//! ```

use core::cmp::Ordering;
use core::ops::Range;
use std::sync::Arc;

use super::order;
use crate::hash::is_same_key;
use crate::raw;
use crate::types::allocated;

/// The most bytes of entries of a leaf that has more than one entry, but for the moment after a large entry came.
/// With the head and two reference counters it makes an allocation of 1,024 bytes.
pub(super) const LEAF_BYTES_MAX: usize = 1_024 - COUNTERS_BYTES - HEAD_BYTES;

/// A leaf with fewer bytes of entries is merged with a neighbour if both fit.
pub(super) const LEAF_BYTES_MIN: usize = LEAF_BYTES_MAX / 4;

/// The length of the entries.
const HEAD_BYTES: usize = 4;

/// The two reference counters of an `Arc`.
const COUNTERS_BYTES: usize = 16;

/// A cache line.
const LINE_BYTES: usize = 64;

/// The most bytes of a leaf that are loaded ahead: all, but of a leaf with a large entry.
const PREFETCHED_BYTES_MAX: usize = 1_024;

/// An allocation of more bytes has no room to grow, because the room could be as large as many leaves.
const ROOMY_BYTES_MAX: usize = 4_096;

/// A place in the order of elements: by score, then by member.
#[derive(Debug, Clone, Copy)]
pub(super) struct Key<'k> {
    /// [`order::sort_key`] of the score.
    pub(super) score: u64,
    pub(super) member: &'k [u8],
}

impl Key<'_> {
    /// Compares the place with an entry.
    #[inline]
    fn compare(&self, entry: &Entry<'_>) -> Ordering {
        let by_score = self.score.cmp(&order::sort_key(entry.encoded));
        by_score.then_with(|| self.member.cmp(entry.member))
    }
}

/// An entry of a leaf.
#[derive(Debug, Clone, Copy)]
pub(super) struct Entry<'e> {
    /// [`order::encode`] of the score.
    pub(super) encoded: u64,
    pub(super) member: &'e [u8],
}

impl<'e> Entry<'e> {
    pub(super) fn new(score: f64, member: &'e [u8]) -> Self {
        Entry {
            encoded: order::encode(score),
            member,
        }
    }

    pub(super) fn score(&self) -> f64 {
        order::decode(self.encoded)
    }

    pub(super) fn key(&self) -> Key<'e> {
        Key {
            score: order::sort_key(self.encoded),
            member: self.member,
        }
    }

    /// Reads the first of these entries, and returns the others.
    #[inline]
    pub(super) fn read(entries: &'e [u8]) -> Option<(Self, &'e [u8])> {
        let (encoded, rest) = entries.split_first_chunk::<8>()?;
        let (&first, mut rest) = rest.split_first()?;
        let mut len = usize::from(first);
        if first >= 0x80 {
            len &= 0x7f;
            for shift in (7..).step_by(7) {
                let (&byte, after) = rest.split_first()?;
                rest = after;
                len |= usize::from(byte & 0x7f) << shift;
                if byte < 0x80 {
                    break;
                }
            }
        }
        let (member, rest) = rest.split_at_checked(len)?;
        let encoded = u64::from_le_bytes(*encoded);
        Some((Entry { encoded, member }, rest))
    }

    /// Returns the length of the entry.
    pub(super) fn packed_len(&self) -> usize {
        let bits = usize::BITS - (self.member.len() | 1).leading_zeros();
        8 + bits.div_ceil(7) as usize + self.member.len()
    }

    pub(super) fn write(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.encoded.to_le_bytes());
        let mut len = self.member.len();
        while len >= 0x80 {
            out.push(len as u8 | 0x80);
            len >>= 7;
        }
        out.push(len as u8);
        out.extend_from_slice(self.member);
    }
}

/// The place of an entry in a leaf.
#[derive(Debug, Clone, Copy)]
pub(super) struct Found {
    /// The offset of the first entry that is not before the key.
    pub(super) at: usize,
    /// The number of entries before it.
    pub(super) index: usize,
    /// The length of the entry if it has this key, else 0.
    pub(super) len: usize,
}

/// A leaf. A clone shares it.
#[derive(Debug, Clone)]
pub(super) struct Leaf(Arc<[u8]>);

impl Leaf {
    pub(super) fn new(entries: &[u8]) -> Self {
        Self::build([entries, &[], &[]])
    }

    /// Concatenates the pieces, with room for more.
    fn build(pieces: [&[u8]; 3]) -> Self {
        let used: usize = pieces.iter().map(|piece| piece.len()).sum();
        let room = room_for(used);
        let mut bytes = Vec::with_capacity(room);
        let head = u32::try_from(used).expect("a member has less than 4 GiB");
        bytes.extend_from_slice(&head.to_le_bytes());
        pieces
            .iter()
            .for_each(|piece| bytes.extend_from_slice(piece));
        bytes.resize(room, 0);
        Leaf(Arc::from(bytes))
    }

    fn used(&self) -> usize {
        self.0
            .first_chunk()
            .map_or(0, |head| u32::from_le_bytes(*head) as usize)
    }

    #[inline]
    pub(super) fn entries(&self) -> &[u8] {
        &self.0[HEAD_BYTES..HEAD_BYTES + self.used()]
    }

    /// Returns the bytes of the allocation.
    pub(super) fn heap_bytes(&self) -> usize {
        allocated(COUNTERS_BYTES + self.0.len())
    }

    /// Begins to load the leaf.
    pub(super) fn prefetch(&self) {
        let address = self.0.as_ptr().addr();
        let end = address + self.0.len().min(PREFETCHED_BYTES_MAX);
        (address..end).step_by(LINE_BYTES).for_each(raw::prefetch);
    }

    /// Replaces the entries in a range of offsets. O(bytes of the leaf).
    pub(super) fn splice(&mut self, range: Range<usize>, new: &[u8]) {
        let used = self.used();
        let after = used - range.len() + new.len();
        let fits = room_for(after) == self.0.len();
        match Arc::get_mut(&mut self.0) {
            Some(bytes) if fits => {
                let rest = HEAD_BYTES + range.end..HEAD_BYTES + used;
                let at = HEAD_BYTES + range.start;
                bytes.copy_within(rest, at + new.len());
                bytes[at..at + new.len()].copy_from_slice(new);
                bytes[..HEAD_BYTES].copy_from_slice(&(after as u32).to_le_bytes());
            }
            _ => {
                let entries = self.entries();
                *self = Self::build([&entries[..range.start], new, &entries[range.end..]]);
            }
        }
    }

    /// Finds the place of a key. O(entries).
    pub(super) fn find(&self, key: Key<'_>) -> Found {
        let entries = self.entries();
        let (mut rest, mut index, mut len) = (entries, 0, 0);
        while let Some((entry, after)) = Entry::read(rest) {
            match key.compare(&entry) {
                Ordering::Greater => (rest, index) = (after, index + 1),
                Ordering::Equal => {
                    len = rest.len() - after.len();
                    break;
                }
                Ordering::Less => break,
            }
        }
        Found {
            at: entries.len() - rest.len(),
            index,
            len,
        }
    }

    /// Returns the entry of a member. O(entries).
    pub(super) fn of_member(&self, member: &[u8]) -> Option<Entry<'_>> {
        self.iter().find(|entry| is_same_key(entry.member, member))
    }

    pub(super) fn iter(&self) -> Entries<'_> {
        Entries(self.entries())
    }
}

/// Entries, from the first to the last.
#[derive(Debug, Clone)]
pub(super) struct Entries<'e>(pub(super) &'e [u8]);

impl Entries<'_> {
    /// Skips this many entries, or all if there are fewer.
    pub(super) fn skip_some(&mut self, count: usize) {
        let mut rest = self.0;
        for _ in 0..count {
            let after = match rest.get(8) {
                // The length of nearly every member is one byte, so that its entry need not be read.
                Some(&len) if len < 0x80 => rest.get(9 + usize::from(len)..),
                _ => Entry::read(rest).map(|(_, after)| after),
            };
            rest = after.unwrap_or_default();
        }
        self.0 = rest;
    }
}

impl<'e> Iterator for Entries<'e> {
    type Item = Entry<'e>;

    #[inline]
    fn next(&mut self) -> Option<Entry<'e>> {
        let (entry, rest) = Entry::read(self.0)?;
        self.0 = rest;
        Some(entry)
    }
}

/// Returns the length of the slice for these bytes of entries. The allocation then has one of the sizes that
/// mimalloc rounds up to, of which there are four from a power of two to the next.
fn room_for(used: usize) -> usize {
    let bytes = COUNTERS_BYTES + HEAD_BYTES + used;
    let step = if bytes > ROOMY_BYTES_MAX {
        16
    } else {
        ((bytes - 1).next_power_of_two() / 8).max(16)
    };
    bytes.next_multiple_of(step) - COUNTERS_BYTES
}

/// Returns the shortest text that is after `before` and not after `after`, as a start of `after`.
pub(super) fn shortest_between<'k>(before: &[u8], after: &'k [u8]) -> &'k [u8] {
    let same = before.iter().zip(after).take_while(|(a, b)| a == b).count();
    &after[..after.len().min(same + 1)]
}
