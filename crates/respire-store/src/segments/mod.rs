//! Segments: the large form of collections whose elements are found by their bytes.
//!
//! The elements are spread over segments of about a hundred by linear hashing: the low bits of an element's hash
//! are the number of its segment. Growth splits one segment into two, and shrinking merges two into one, so
//! no change ever moves more than a few hundred elements. A segment keeps the bytes of its elements in one
//! allocation (`segment.rs`), and 16 bits of each element's hash beside its place there (`index.rs`).
//!
//! A clone is a snapshot, which shares the segments until one of both changes them. The segments are on pages,
//! so that it costs no more than a few hundred reference counts for a million elements.

mod entry;
mod expiry;
mod growth;
mod index;
mod scan;
mod segment;

use core::fmt;
use std::sync::Arc;

use ahash::RandomState;

pub use entry::{NEAR_BYTES_MAX, NewText, Text};
use expiry::Expiries;
use index::Tag;
use segment::{ARC_BYTES, Segment};

use crate::hash::hash_key;
use crate::raw;
use crate::types::allocated;
use crate::visits::visited;

/// Elements with values, such as the fields of a hash.
///
/// ```
/// use respire_store::segments::{Fields, NewElement};
///
/// let mut fields = Fields::new([1, 2, 3, 4]);
/// assert!(fields.insert(&NewElement::new(b"name", b"Ada")));
/// assert!(!fields.insert(&NewElement::new(b"name", b"Grace")));
/// let snapshot = fields.clone();
/// assert!(fields.remove(b"name"));
/// assert_eq!(fields.len(), 0);
/// assert_eq!(snapshot.get(b"name").unwrap().value.as_bytes(), b"Grace");
/// ```
pub type Fields = Segments<true>;

/// Elements without values, such as the members of a set.
///
/// ```
/// use respire_store::segments::{Members, NewElement};
///
/// let mut members = Members::new([1, 2, 3, 4]);
/// members.insert(&NewElement::new(b"Ada", b""));
/// assert!(members.contains(b"Ada"));
/// ```
pub type Members = Segments<false>;

/// Elements with different bytes, with values or without. Without, their values are always empty.
#[derive(Clone)]
pub struct Segments<const VALUES: bool> {
    hasher: RandomState,
    /// Pages of [`PAGE`] segments; the last one may have fewer.
    pages: Vec<Arc<[Segment]>>,
    /// Segments in use. Those on the last page behind them are empty.
    count: usize,
    len: usize,
    /// Bytes of the elements' entries.
    entry_bytes: usize,
    /// Bytes allocated for the segments.
    segment_bytes: usize,
    /// No segment has more elements.
    len_max: usize,
    /// The expiries of elements; `None` if none expires.
    expiries: Option<Box<Expiries>>,
}

/// An element, as it is read.
#[derive(Debug, Clone, Copy)]
pub struct Element<'a> {
    /// The bytes by which it is found.
    pub element: Text<'a>,
    /// The value.
    pub value: Text<'a>,
    /// The expiry in unix milliseconds; `None` is never.
    pub expires_at: Option<u64>,
}

/// An element, as it is written.
#[derive(Debug, Clone)]
pub struct NewElement<'a> {
    /// The bytes by which it is found.
    pub element: NewText<'a>,
    /// The value.
    pub value: NewText<'a>,
    /// The expiry in unix milliseconds; `None` is never. It takes 8 bytes.
    pub expires_at: Option<u64>,
}

impl<'a> NewElement<'a> {
    /// Returns an element that does not expire.
    #[must_use]
    #[inline]
    pub fn new(element: &'a [u8], value: impl Into<NewText<'a>>) -> Self {
        NewElement {
            element: element.into(),
            value: value.into(),
            expires_at: None,
        }
    }
}

impl<'a> From<Element<'a>> for NewElement<'a> {
    fn from(element: Element<'a>) -> Self {
        NewElement {
            element: element.element.into(),
            value: element.value.into(),
            expires_at: element.expires_at,
        }
    }
}

/// Segments of a page.
const PAGE: usize = 64;

/// Bytes whose freeing is as much work as the freeing of an allocation.
const BYTES_PER_ALLOCATION: usize = 16 << 10;

impl<const VALUES: bool> Segments<VALUES> {
    /// Returns no elements. The seed of the hash function must be secret where elements come from people who
    /// might choose them to have the same hash.
    #[must_use]
    pub fn new(seed: [u64; 4]) -> Self {
        let [a, b, c, d] = seed;
        Segments {
            hasher: RandomState::with_seeds(a, b, c, d),
            pages: Vec::new(),
            count: 0,
            len: 0,
            entry_bytes: 0,
            segment_bytes: 0,
            len_max: 0,
            expiries: None,
        }
    }

    /// Returns the number of elements. O(1).
    #[must_use]
    #[inline]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Returns whether there are no elements. O(1).
    #[must_use]
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Returns the bytes that are allocated, in an allocator's steps of 16, without those of this struct. What
    /// snapshots share counts as much as the rest. O(1).
    #[must_use]
    pub fn heap_bytes(&self) -> usize {
        let last = self.pages.last().map_or(0, |page| page_bytes(page.len()));
        let full = self.pages.len().saturating_sub(1) * page_bytes(PAGE);
        let places = allocated(self.pages.capacity() * size_of::<Arc<[Segment]>>());
        let expiries = self.expiries.as_ref().map_or(0, |it| it.heap_bytes());
        self.segment_bytes + full + last + places + expiries
    }

    /// Returns the element with these bytes. O(their number).
    #[must_use]
    #[inline]
    pub fn get(&self, element: &[u8]) -> Option<Element<'_>> {
        let hash = self.hash(element);
        let segment = self.segment_of(hash)?;
        let place = segment.find::<VALUES>(Tag::of(hash), element)?;
        Some(segment.at::<VALUES>(place)).filter(|found| !self.is_gone(found))
    }

    /// Returns whether there is an element with these bytes. O(their number).
    #[must_use]
    #[inline]
    pub fn contains(&self, element: &[u8]) -> bool {
        if self.has_expiries() {
            return self.get(element).is_some();
        }
        let hash = self.hash(element);
        let segment = self.segment_of(hash);
        segment.is_some_and(|segment| segment.find::<VALUES>(Tag::of(hash), element).is_some())
    }

    /// Adds an element, or replaces the value and the expiry of the one with the same bytes; without values, that
    /// one stays as it is. Returns whether the element is new. O(its bytes), and now and then the work of a few
    /// hundred elements.
    pub fn insert(&mut self, new: &NewElement<'_>) -> bool {
        self.insert_with(new, VALUES)
    }

    /// Adds an element unless there is one with the same bytes. Returns whether it is new. Costs as much as
    /// [`Segments::insert`].
    pub fn insert_absent(&mut self, new: &NewElement<'_>) -> bool {
        self.insert_with(new, false)
    }

    fn insert_with(&mut self, new: &NewElement<'_>, may_replace: bool) -> bool {
        debug_assert!(VALUES || new.value.as_bytes().is_empty());
        let element = new.element.as_bytes();
        let hash = self.hash(element);
        visited(1);
        if self.has_expiries() {
            self.bury(hash, element);
        }
        let tag = Tag::of(hash);
        let found = self
            .segment_of(hash)
            .and_then(|segment| segment.find::<VALUES>(tag, element));
        if found.is_some() && !may_replace {
            return false;
        }
        if self.count == 0 {
            self.push_segment();
        }
        self.change(self.address(hash), |segment| match found {
            Some(place) => segment.replace::<VALUES>(tag, place, new),
            None => segment.insert::<VALUES>(tag, new),
        });
        if found.is_none() {
            self.len += 1;
            self.grow();
        }
        if let Some(at) = new.expires_at {
            self.note_expiry(hash, at);
        }
        found.is_none()
    }

    /// Removes the element with these bytes. Returns whether there was one. Costs as much as
    /// [`Segments::insert`].
    pub fn remove(&mut self, element: &[u8]) -> bool {
        let hash = self.hash(element);
        visited(1);
        if self.has_expiries() {
            self.bury(hash, element);
        }
        let found = self
            .segment_of(hash)
            .and_then(|segment| segment.find::<VALUES>(Tag::of(hash), element));
        let Some(place) = found else { return false };
        self.change(self.address(hash), |segment| {
            segment.remove::<VALUES>(place)
        });
        self.len -= 1;
        self.shrink();
        true
    }

    /// Calls `f` with every element, in an order that depends only on the elements and their history.
    pub fn for_each<'a>(&'a self, mut f: impl FnMut(Element<'a>)) {
        (0..self.count).for_each(|at| self.part(at).for_each(&mut f));
    }

    /// Returns the number of parts that [`Segments::part`] knows. O(1).
    #[must_use]
    pub fn parts(&self) -> usize {
        self.count
    }

    /// Returns the elements of one part: some hundred of them, or none. All parts together have every element
    /// once.
    ///
    /// # Panics
    /// If there is no such part.
    pub fn part(&self, at: usize) -> impl Iterator<Item = Element<'_>> {
        let segment = self.segment(at);
        visited(segment.len());
        let elements = segment.elements::<VALUES>();
        elements.filter(|element| !self.is_gone(element))
    }

    /// Begins to load the memory where a search for an element starts, the first of the two that it waits for. It
    /// is a hint without a visible effect.
    pub fn warm(&self, element: &[u8]) {
        let hash = self.hash(element);
        if let Some(segment) = self.segment_of(hash) {
            raw::prefetch(segment.home_address(Tag::of(hash)));
        }
    }

    /// Begins to load the element itself, or the place where it would be added, some time after
    /// [`Segments::warm`]. It is a hint without a visible effect.
    pub fn warm_found(&self, element: &[u8]) {
        let hash = self.hash(element);
        if let Some(segment) = self.segment_of(hash) {
            let address = segment.entry_address(Tag::of(hash));
            raw::prefetch(address);
            // The entry may go on in the next line.
            raw::prefetch(address + element.len());
        }
    }

    /// Frees elements until `budget` is used up, and at least one part. Returns whether nothing is left. An
    /// allocation takes 1 from the budget, plus 1 per 16 KiB. Afterwards this may only be freed or dropped.
    pub fn free_some(&mut self, budget: &mut usize) -> bool {
        self.expiries = None;
        while let Some(page) = self.pages.last_mut() {
            let first = (self.count - 1) / PAGE * PAGE;
            let freed = match Arc::get_mut(page) {
                // Others have it as well.
                None => page[..self.count - first]
                    .iter()
                    .map(Freed::of)
                    .sum::<Freed>()
                    .shared(),
                Some(page) => Freed::of(&core::mem::take(&mut page[self.count - 1 - first])),
            };
            visited(freed.work);
            self.len -= freed.elements;
            self.entry_bytes -= freed.entry_bytes;
            self.segment_bytes -= freed.bytes;
            self.count -= freed.segments;
            if self.count == first {
                self.pages.pop();
            }
            *budget = budget.saturating_sub(freed.work);
            if *budget == 0 {
                break;
            }
        }
        self.pages.is_empty()
    }

    #[inline]
    fn hash(&self, element: &[u8]) -> u64 {
        hash_key(&self.hasher, element)
    }

    #[inline]
    fn segment_of(&self, hash: u64) -> Option<&Segment> {
        if self.count == 0 {
            return None;
        }
        Some(self.segment(self.address(hash)))
    }

    #[inline]
    fn segment(&self, at: usize) -> &Segment {
        &self.pages[at / PAGE][at % PAGE]
    }

    /// Changes a segment, and keeps the counts.
    #[inline]
    fn change(&mut self, at: usize, f: impl FnOnce(&mut Segment)) {
        let segment = &mut Arc::make_mut(&mut self.pages[at / PAGE])[at % PAGE];
        self.entry_bytes -= segment.entry_bytes();
        self.segment_bytes -= segment.heap_bytes();
        f(segment);
        self.entry_bytes += segment.entry_bytes();
        self.segment_bytes += segment.heap_bytes();
        self.len_max = self.len_max.max(segment.len());
    }
}

impl<const VALUES: bool> fmt::Debug for Segments<VALUES> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Segments")
            .field("len", &self.len)
            .field("segments", &self.count)
            .field("heap_bytes", &self.heap_bytes())
            .finish_non_exhaustive()
    }
}

/// What was freed.
#[derive(Default)]
struct Freed {
    segments: usize,
    elements: usize,
    entry_bytes: usize,
    bytes: usize,
    work: usize,
}

impl Freed {
    fn of(segment: &Segment) -> Freed {
        Freed {
            segments: 1,
            elements: segment.len(),
            entry_bytes: segment.entry_bytes(),
            bytes: segment.heap_bytes(),
            work: 1 + segment.allocations() + segment.heap_bytes() / BYTES_PER_ALLOCATION,
        }
    }

    /// Memory that others share is not freed, and takes no work.
    fn shared(self) -> Freed {
        Freed { work: 1, ..self }
    }
}

impl core::iter::Sum for Freed {
    fn sum<I: Iterator<Item = Freed>>(all: I) -> Freed {
        all.fold(Freed::default(), |sum, one| Freed {
            segments: sum.segments + one.segments,
            elements: sum.elements + one.elements,
            entry_bytes: sum.entry_bytes + one.entry_bytes,
            bytes: sum.bytes + one.bytes,
            work: sum.work + one.work,
        })
    }
}

fn page_bytes(segments: usize) -> usize {
    allocated(ARC_BYTES + segments * size_of::<Segment>())
}

#[cfg(test)]
mod tests;
