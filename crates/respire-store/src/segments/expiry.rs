//! Elements that expire. Elements without an expiry take no byte for it.
//!
//! A collection with expiries keeps, for each segment, a time before which none of its elements expires. An element
//! that is due is removed by [`Segments::expire`], which looks at segments that may have some, a bounded number
//! at a time. It ends by noting the time; from then on due elements that it has left behind are absent for
//! all others, and only count in [`Segments::len`].

use super::segment::Segment;
use super::{Element, NewElement, Segments, Tag};
use crate::types::allocated;

/// The expiries of a collection.
#[derive(Clone)]
pub(super) struct Expiries {
    /// For each segment, a time that is not after any expiry in it, in unix milliseconds.
    bounds: Vec<u64>,
    /// The least of the bounds.
    first: u64,
    /// Elements that expire before this are absent.
    gone_before: u64,
}

/// Due elements that [`Segments::is_live`] looks at. It takes less than a tenth of a millisecond.
const LOOKED_AT_MAX: usize = 1 << 13;

/// The bound of a segment without expiries.
const NEVER: u64 = u64::MAX;

impl Expiries {
    pub(super) fn heap_bytes(&self) -> usize {
        allocated(size_of::<Expiries>()) + allocated(self.bounds.capacity() * size_of::<u64>())
    }

    /// Follows the split of a segment, whose new half is the last segment.
    pub(super) fn split(&mut self, from: usize) {
        self.bounds.push(self.bounds[from]);
    }

    /// Follows the merge of the last segment into another one.
    pub(super) fn merge(&mut self, into: usize) {
        if let Some(bound) = self.bounds.pop() {
            self.bounds[into] = self.bounds[into].min(bound);
        }
    }

    fn is_gone(&self, element: &Element<'_>) -> bool {
        element.expires_at.is_some_and(|at| at < self.gone_before)
    }

    fn has_gone(&self) -> bool {
        self.first < self.gone_before
    }
}

impl<const VALUES: bool> Segments<VALUES> {
    /// Returns whether there may be elements with an expiry. O(1).
    #[must_use]
    #[inline]
    pub fn has_expiries(&self) -> bool {
        self.expiries.is_some()
    }

    /// Returns a time, in unix milliseconds, that is not after the expiry of any element; `None` if none
    /// expires. O(1).
    #[must_use]
    pub fn due_at(&self) -> Option<u64> {
        self.expiries.as_ref().map(|expiries| expiries.first)
    }

    /// Returns whether elements may be due that are not absent yet. [`Segments::expire`] makes them so. O(1).
    #[must_use]
    pub fn is_due(&self, now_ms: u64) -> bool {
        let expiries = self.expiries.as_ref();
        expiries.is_some_and(|it| it.first <= now_ms && it.gone_before <= now_ms)
    }

    /// Returns the number of elements that are not absent because they are due. O(1), or O(elements) if some are
    /// due and have not been removed yet.
    #[must_use]
    pub fn live_len(&self) -> usize {
        match &self.expiries {
            Some(expiries) if expiries.has_gone() => {
                (0..self.count).map(|at| self.part(at).count()).sum()
            }
            _ => self.len,
        }
    }

    /// Returns whether there is an element that is not absent because it is due. It looks at a bounded number of
    /// elements; if more are due and none of those is left, it says so as well. O(1) in the number of elements.
    #[must_use]
    pub fn is_live(&self) -> bool {
        let mut left = LOOKED_AT_MAX;
        for at in 0..self.count {
            if left == 0 || self.part(at).next().is_some() {
                return true;
            }
            left = left.saturating_sub(self.segment(at).len().max(1));
        }
        false
    }

    /// Sets the expiry of an element, in unix milliseconds; `None` is never. Returns whether there is such an
    /// element. Costs as much as [`Segments::insert`].
    ///
    /// ```
    /// use respire_store::segments::{Fields, NewElement};
    ///
    /// let mut fields = Fields::new([1, 2, 3, 4]);
    /// fields.insert(&NewElement::new(b"token", b"secret"));
    /// assert!(fields.set_expiry(b"token", Some(500)));
    /// assert_eq!(fields.expire(499, 100), 0);
    /// assert_eq!(fields.expire(500, 100), 1);
    /// assert!(fields.is_empty());
    /// ```
    pub fn set_expiry(&mut self, element: &[u8], expires_at: Option<u64>) -> bool {
        let Some(found) = self.get(element) else {
            return false;
        };
        if found.expires_at != expires_at {
            let value = found.value.to_shared();
            self.insert_with(
                &NewElement {
                    expires_at,
                    ..NewElement::new(element, value)
                },
                true,
            );
        }
        true
    }

    /// Removes due elements, and returns how many. It looks at segments with about `budget` elements, and at least
    /// at one; afterwards the due elements of the others are absent as well, but still count in
    /// [`Segments::len`]. O(`budget`) and O(segments).
    pub fn expire(&mut self, now_ms: u64, budget: usize) -> usize {
        self.expire_with(now_ms, budget, &mut |_| ())
    }

    /// Does the same as [`Segments::expire`], and calls `f` with each element before it is removed.
    pub fn expire_with(&mut self, now_ms: u64, budget: usize, f: &mut dyn FnMut(&[u8])) -> usize {
        let (before, mut left, mut at) = (self.len, budget.max(1), 0);
        while let Some(expiries) = &self.expiries
            && left > 0
            && let Some(next) = expiries.bounds[at..].iter().position(|it| *it <= now_ms)
        {
            at += next;
            left = left.saturating_sub(self.segment(at).len().max(1));
            self.expire_segment(at, now_ms, f);
            at += 1;
        }
        let removed = before - self.len;
        (0..removed).for_each(|_| self.shrink());
        if let Some(expiries) = &mut self.expiries {
            expiries.first = expiries.bounds.iter().copied().min().unwrap_or(NEVER);
            expiries.gone_before = expiries.gone_before.max(now_ms.saturating_add(1));
            if expiries.first == NEVER {
                self.expiries = None;
            }
        }
        removed
    }

    fn expire_segment(&mut self, at: usize, now_ms: u64, f: &mut dyn FnMut(&[u8])) {
        let (mut removed, mut bound) = (0, NEVER);
        self.change(at, |segment| {
            (removed, bound) = expire::<VALUES>(segment, now_ms, f);
        });
        self.len -= removed;
        if let Some(expiries) = &mut self.expiries {
            expiries.bounds[at] = bound;
        }
    }

    /// Notes the expiry of the element with this hash.
    #[cold]
    pub(super) fn note_expiry(&mut self, hash: u64, expires_at: u64) {
        let address = self.address(hash);
        let count = self.count;
        let expiries = self.expiries.get_or_insert_with(|| {
            Box::new(Expiries {
                bounds: vec![NEVER; count],
                first: NEVER,
                gone_before: 0,
            })
        });
        let bound = &mut expiries.bounds[address];
        *bound = expires_at.min(*bound);
        expiries.first = expires_at.min(expiries.first);
    }

    /// Returns whether an element is absent because it is due.
    #[inline]
    pub(super) fn is_gone(&self, element: &Element<'_>) -> bool {
        match &self.expiries {
            Some(expiries) => expiries.is_gone(element),
            None => false,
        }
    }

    /// Removes an element if it is absent because it is due, so that another one can take its place.
    #[cold]
    pub(super) fn bury(&mut self, hash: u64, element: &[u8]) {
        let Some(segment) = self.segment_of(hash) else {
            return;
        };
        let Some(place) = segment.find::<VALUES>(Tag::of(hash), element) else {
            return;
        };
        if self.is_gone(&segment.at::<VALUES>(place)) {
            self.change(self.address(hash), |segment| {
                segment.remove::<VALUES>(place);
            });
            self.len -= 1;
            self.shrink();
        }
    }
}

/// Removes the due elements of a segment after calling `f` with each. Returns how many, and the least expiry of the
/// rest.
fn expire<const VALUES: bool>(
    segment: &mut Segment,
    now_ms: u64,
    f: &mut dyn FnMut(&[u8]),
) -> (usize, u64) {
    let (mut due, mut bound) = (Vec::new(), NEVER);
    for place in segment.places() {
        let element = segment.at::<VALUES>(place);
        match element.expires_at {
            Some(at) if at <= now_ms => {
                f(element.element.as_bytes());
                due.push(place);
            }
            Some(at) => bound = bound.min(at),
            None => {}
        }
    }
    due.iter().for_each(|place| segment.erase::<VALUES>(*place));
    segment.pack_if_sparse::<VALUES>();
    (due.len(), bound)
}
