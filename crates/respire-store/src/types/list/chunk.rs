//! A chunk of a list: a run of small elements, or one large element.

use bytes::Bytes;
use smallvec::SmallVec;

use super::End;
use super::rest::{Needle, Rest};
use super::run::Run;
use crate::packed::listpack::{Element, Encoded};
use crate::types::{Limits, StringRef, allocated};

/// The header and the end of a listpack, which count for the limit although a run has none.
const LISTPACK_BYTES: usize = 7;

/// What Redis estimates that a listpack needs for an element besides its text.
const ELEMENT_BYTES: usize = 8;

/// A part of a list's elements.
#[derive(Debug, Clone)]
pub(super) enum Chunk {
    /// Any number of elements.
    Run(Run),
    /// An element too large for a run. Replies share it.
    Single(Bytes),
}

/// An element to be added.
#[derive(Debug, Clone, Copy)]
pub(super) struct NewElement<'a> {
    text: StringRef<'a>,
    text_len: usize,
    encoded: Encoded<'a>,
}

impl<'a> NewElement<'a> {
    #[inline]
    pub(super) fn new(text: StringRef<'a>) -> Self {
        let element = match text {
            StringRef::Int(number) => Element::Int(number),
            StringRef::Bytes(bytes) => Element::of(bytes),
            StringRef::Shared(bytes) => Element::of(bytes),
        };
        NewElement {
            text,
            text_len: text.len(),
            encoded: Encoded::new(element),
        }
    }

    /// Returns whether a run with so many bytes and elements may take the element. The rule is that of
    /// [`_quicklistNodeAllowInsert`](https://github.com/redis/redis/blob/7.0.15/src/quicklist.c), so that the payload
    /// of `DUMP` has the nodes that Redis would have.
    #[inline]
    pub(super) fn fits(&self, used: usize, count: usize, limits: Limits) -> bool {
        used + LISTPACK_BYTES + self.text_len + ELEMENT_BYTES <= limits.bytes as usize
            && count < limits.elements as usize
    }
}

impl Default for Chunk {
    fn default() -> Self {
        Chunk::Run(Run::default())
    }
}

impl Chunk {
    /// Returns a chunk of one element.
    pub(super) fn of(element: &NewElement<'_>, end: End, limits: Limits) -> Chunk {
        let any_count = Limits {
            elements: u32::MAX,
            ..limits
        };
        if element.fits(0, 0, any_count) {
            let mut run = Run::default();
            run.push(end, &element.encoded);
            return Chunk::Run(run);
        }
        Chunk::Single(match element.text {
            StringRef::Shared(bytes) => bytes.clone(),
            text => Bytes::copy_from_slice(text.as_bytes(&mut [0; 20])),
        })
    }

    #[inline]
    pub(super) fn count(&self) -> usize {
        match self {
            Chunk::Run(run) => run.count(),
            Chunk::Single(_) => 1,
        }
    }

    pub(super) fn heap_bytes(&self) -> usize {
        match self {
            Chunk::Run(run) => run.heap_bytes(),
            Chunk::Single(bytes) => allocated(bytes.len()),
        }
    }

    /// Adds an element at an end; returns false if it does not fit.
    #[inline]
    pub(super) fn push(&mut self, end: End, element: &NewElement<'_>, limits: Limits) -> bool {
        match self {
            Chunk::Run(run) if element.fits(run.used(), run.count(), limits) => {
                run.push(end, &element.encoded);
                true
            }
            Chunk::Run(_) | Chunk::Single(_) => false,
        }
    }

    /// Puts an element before that of this index, or instead of it. Returns false if it does not fit.
    pub(super) fn put(
        &mut self,
        index: usize,
        spot: Put,
        element: &NewElement<'_>,
        limits: Limits,
    ) -> bool {
        let Chunk::Run(run) = self else { return false };
        let at = run.seek(index);
        let (len, removed) = match spot {
            Put::Before => (0, 0),
            Put::Instead => (run.len_at(at), 1),
        };
        if !element.fits(run.used() - len, run.count() - removed, limits) {
            return false;
        }
        run.splice(at, len, Some(&element.encoded));
        run.recount(removed, 1);
        true
    }

    /// Removes `count` elements from an end; there are more.
    pub(super) fn cut(&mut self, end: End, count: usize) {
        if let Chunk::Run(run) = self {
            let len = match end {
                End::Left => run.seek(count),
                End::Right => run.used() - run.seek(run.count() - count),
            };
            run.cut(end, count, len);
        }
    }

    /// Removes the element of this index; there are others.
    pub(super) fn remove(&mut self, index: usize) {
        if let Chunk::Run(run) = self {
            let at = run.seek(index);
            run.splice(at, run.len_at(at), None);
            run.recount(1, 0);
        }
    }

    /// Removes the elements from this index on and returns them. Both parts have elements.
    pub(super) fn split_off(&mut self, index: usize) -> Chunk {
        match self {
            Chunk::Run(run) => {
                let at = run.seek(index);
                Chunk::Run(run.split_off(at, index))
            }
            Chunk::Single(_) => unreachable!("invariant: a single element has no two parts"),
        }
    }

    /// Returns whether the elements of the next chunk should be added to this one: together they fill at most half a
    /// chunk.
    pub(super) fn absorbs(&self, next: &Chunk, limits: Limits) -> bool {
        match (self, next) {
            (Chunk::Run(run), Chunk::Run(next)) => {
                run.used() + next.used() <= limits.bytes as usize / 2
                    && run.count() + next.count() <= limits.elements as usize
            }
            _ => false,
        }
    }

    /// Adds the elements of another chunk behind those of this one.
    pub(super) fn append(&mut self, next: &Chunk) {
        if let (Chunk::Run(run), Chunk::Run(next)) = (self, next) {
            run.append(next);
        }
    }

    /// Gives unused memory back before the chunk is put between others.
    pub(super) fn settle(&mut self) {
        if let Chunk::Run(run) = self {
            run.settle();
        }
    }

    /// Returns the elements from the one of this index on, in the direction away from `end`.
    pub(super) fn rest_from(&self, index: usize, end: End) -> Rest<'_> {
        match (self, end) {
            (Chunk::Run(run), End::Left) => Rest::Run(&run.as_bytes()[run.seek(index)..]),
            (Chunk::Run(run), End::Right) => Rest::Run(&run.as_bytes()[..run.seek(index + 1)]),
            (Chunk::Single(bytes), _) => Rest::Single(bytes),
        }
    }

    /// Returns the elements.
    #[inline]
    pub(super) fn rest(&self) -> Rest<'_> {
        match self {
            Chunk::Run(run) => Rest::Run(run.as_bytes()),
            Chunk::Single(bytes) => Rest::Single(bytes),
        }
    }

    /// Removes up to `max` elements that are equal to the needle, from an end. Returns how many. If these are all
    /// elements, the caller must remove the chunk, which is left as it is.
    pub(super) fn remove_equal(&mut self, end: End, needle: &Needle<'_>, max: usize) -> usize {
        let run = match self {
            Chunk::Run(run) => run,
            Chunk::Single(bytes) => {
                return usize::from(Rest::Single(bytes).find(end, needle, max).1);
            }
        };
        let (mut rest, len) = (Rest::Run(run.as_bytes()), needle.encoded_len());
        let (run_len, mut found) = (rest.run_len(), SmallVec::<[usize; 16]>::new());
        while found.len() < max && rest.find(end, needle, usize::MAX).1 {
            found.push(match end {
                End::Left => run_len - rest.run_len() - len,
                End::Right => rest.run_len(),
            });
        }
        if end == End::Right {
            found.reverse();
        }
        if found.len() < run.count() {
            run.remove_all(&found, len);
        }
        found.len()
    }
}

/// Where an element is put.
#[derive(Debug, Clone, Copy)]
pub(super) enum Put {
    /// Before another one.
    Before,
    /// Instead of another one.
    Instead,
}
