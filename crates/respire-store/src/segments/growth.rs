//! Growth and shrinking by linear hashing: a segment is added or removed at a time.
//!
//! With `n` segments, `2^l <= n < 2^(l+1)`, the low `l + 1` bits of a hash are the number of a segment, or, if there
//! is none, the low `l` bits are. The segments are split in the order of their numbers, so that the new one, `n`,
//! takes its elements from `n - 2^l`.

use core::iter;
use std::sync::Arc;

use super::segment::Segment;
use super::{PAGE, Segments};

/// Elements of a segment on average before another one is added.
const ELEMENTS: usize = 128;

/// Bytes of a segment's entries on average before another one is added.
const BYTES: usize = 16 << 10;

/// A segment is removed when the others have less than this part of what makes another one be added.
const SHRINK: usize = 3;

impl<const VALUES: bool> Segments<VALUES> {
    /// Returns the number of the segment of a hash. There must be a segment.
    #[inline]
    pub(super) fn address(&self, hash: u64) -> usize {
        let size = self.round();
        let address = hash as usize & (2 * size - 1);
        if address < self.count {
            address
        } else {
            address & (size - 1)
        }
    }

    /// Returns the number of low bits that the hashes of a segment's elements have in common.
    pub(super) fn depth(&self, address: usize) -> u32 {
        let size = self.round();
        let is_split = address & (size - 1) < self.count - size;
        size.ilog2() + u32::from(is_split)
    }

    /// The largest power of two that is not above the number of segments.
    #[inline]
    fn round(&self) -> usize {
        1 << self.count.ilog2()
    }

    /// Splits a segment if there are too many elements.
    #[inline]
    pub(super) fn grow(&mut self) {
        if self.len > self.count * ELEMENTS || self.entry_bytes > self.count * BYTES {
            self.split();
        }
    }

    /// Merges two segments if there are too few elements.
    pub(super) fn shrink(&mut self) {
        if self.len == 0 {
            self.pages = Vec::new();
            (self.count, self.len_max) = (0, 0);
            self.expiries = None;
            debug_assert_eq!((self.segment_bytes, self.entry_bytes), (0, 0));
        } else if self.count > 1
            && self.len < self.count * ELEMENTS / SHRINK
            && self.entry_bytes < self.count * BYTES / SHRINK
        {
            self.merge();
        }
    }

    fn split(&mut self) {
        let bit = self.round() as u64;
        let new = self.count;
        let from = new - self.round();
        let segment = self.segment(from);
        let (elements, bytes) = (segment.len() / 2, segment.entry_bytes() / 2);
        let mut halves =
            [(); 2].map(|()| Segment::with_room(elements + elements / 4, bytes + bytes / 8));
        for (tag, place) in segment.tags() {
            let hash = self.hash(segment.at::<VALUES>(place).element.as_bytes());
            let half = &mut halves[usize::from(hash & bit != 0)];
            half.insert_from::<VALUES>(segment, tag, place);
        }
        let [stays, goes] = halves;
        self.push_segment();
        self.change(from, |segment| *segment = stays);
        self.change(new, |segment| *segment = goes);
        if let Some(expiries) = &mut self.expiries {
            expiries.split(from);
        }
    }

    fn merge(&mut self) {
        let last = self.count - 1;
        let mut goes = Segment::default();
        self.change(last, |segment| goes = core::mem::take(segment));
        self.count = last;
        let into = last - self.round();
        if let Some(expiries) = &mut self.expiries {
            expiries.merge(into);
        }
        self.change(into, |segment| {
            let all = segment.len() + goes.len();
            let bytes = segment.entry_bytes() + goes.entry_bytes();
            let mut both = Segment::with_room(all + all / 8, bytes + bytes / 16);
            for from in [&*segment, &goes] {
                for (tag, place) in from.tags() {
                    both.insert_from::<VALUES>(from, tag, place);
                }
            }
            *segment = both;
        });
        if last.is_multiple_of(PAGE) {
            self.pages.pop();
            self.pages.shrink_to(self.pages.len() * 2);
        }
    }

    /// Adds an empty segment.
    pub(super) fn push_segment(&mut self) {
        let at = self.count;
        self.count += 1;
        if at.is_multiple_of(PAGE) {
            let len = if at == 0 { 1 } else { PAGE };
            self.pages
                .push(iter::repeat_n(Segment::default(), len).collect());
            return;
        }
        // Only the first page grows, as a small collection has no more than that.
        if let Some(page) = self.pages.last_mut()
            && page.len() == at % PAGE
        {
            let more = iter::repeat_n(Segment::default(), page.len());
            *page = page.iter().cloned().chain(more).collect::<Arc<[Segment]>>();
        }
    }
}
