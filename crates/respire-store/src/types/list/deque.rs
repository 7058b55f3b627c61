//! A list that is not packed: a deque of chunks.
//!
//! The chunks at both ends belong to the deque alone, so pushing and popping change nothing shared. All chunks
//! between them are shared by snapshots.

use super::End;
use super::blocks::{Blocks, Place};
use super::chunk::{Chunk, NewElement, Put};
use super::rest::{Needle, Rest, encoded};
use super::run::Run;
use crate::types::{Limits, StringRef};
use crate::visits::visited;

/// A deque of chunks.
#[derive(Debug, Clone, Default)]
pub(super) struct Deque {
    /// Empty only if there are no elements.
    head: Chunk,
    /// Empty unless both ends have elements.
    middle: Blocks,
    /// Empty if all elements are in the head.
    tail: Chunk,
    len: usize,
}

/// The place of a chunk.
#[derive(Debug, Clone, Copy)]
pub(super) enum Spot {
    Head,
    Middle(Place),
    Tail,
}

/// The work of freeing a chunk: two allocations.
const FREEING_WORK: usize = 2;

impl Deque {
    /// Returns a deque of the elements of a run.
    pub(super) fn new(run: Run) -> Deque {
        let len = run.count();
        Deque {
            head: Chunk::Run(run),
            len,
            ..Deque::default()
        }
    }

    /// Returns the run if it has all elements.
    pub(super) fn run(&self) -> Option<&Run> {
        match &self.head {
            Chunk::Run(run) if run.count() == self.len => Some(run),
            Chunk::Run(_) | Chunk::Single(_) => None,
        }
    }

    /// Takes the run of the head.
    pub(super) fn into_run(self) -> Run {
        match self.head {
            Chunk::Run(run) => run,
            Chunk::Single(_) => Run::default(),
        }
    }

    #[inline]
    pub(super) fn len(&self) -> usize {
        self.len
    }

    pub(super) fn heap_bytes(&self) -> usize {
        self.head.heap_bytes() + self.middle.heap_bytes() + self.tail.heap_bytes()
    }

    /// Adds an element at an end. Amortised O(its bytes).
    #[inline]
    pub(super) fn push(&mut self, end: End, element: StringRef<'_>, limits: Limits) {
        visited(1);
        let element = NewElement::new(element);
        if !self.end_mut(end).push(end, &element, limits) {
            self.add_chunk(end, Chunk::of(&element, end, limits));
        }
        self.len += 1;
    }

    /// Removes an element from an end after `f` has read it; `None` if there is none.
    #[inline]
    pub(super) fn pop<R>(&mut self, end: End, f: impl FnOnce(StringRef<'_>) -> R) -> Option<R> {
        let answer = f(self.end_mut(end).rest().take(end)?);
        self.cut(end, 1);
        Some(answer)
    }

    /// Removes `count` elements from an end, or as many as there are. O(chunks).
    pub(super) fn cut(&mut self, end: End, count: usize) {
        let count = count.min(self.len);
        self.len -= count;
        let chunk = self.end_mut(end);
        let Some(mut left) = count.checked_sub(chunk.count()) else {
            return chunk.cut(end, count);
        };
        *chunk = Chunk::default();
        // These are not moved to the end first, as they would be copied if a snapshot shares them.
        while let Some(place) = self.middle.end(end)
            && let Some(rest) = left.checked_sub(self.middle.get(place).map_or(0, Chunk::count))
        {
            self.middle.remove(place);
            left = rest;
        }
        self.refill(end);
        let chunk = self.end_mut(end);
        if left >= chunk.count() {
            *chunk = Chunk::default();
            self.refill(end);
        } else if left > 0 {
            chunk.cut(end, left);
        }
    }

    /// Returns the chunk in which the element of this index is, and its index there.
    pub(super) fn find(&self, index: usize) -> Option<(Spot, usize)> {
        let before_tail = self.len - self.tail.count();
        if index < self.head.count() {
            Some((Spot::Head, index))
        } else if index >= before_tail {
            (index < self.len).then(|| (Spot::Tail, index - before_tail))
        } else {
            let (place, at) = self.middle.find(index - self.head.count())?;
            Some((Spot::Middle(place), at))
        }
    }

    /// Returns the place of the chunk at an end.
    pub(super) fn first(&self, end: End) -> Spot {
        match end {
            End::Right if self.tail.count() > 0 => Spot::Tail,
            End::Left | End::Right => Spot::Head,
        }
    }

    /// Returns the place of the next chunk in the direction away from `end`.
    pub(super) fn next(&self, spot: Spot, end: End) -> Option<Spot> {
        let middle = match (spot, end) {
            (Spot::Head, End::Right) | (Spot::Tail, End::Left) => return None,
            (Spot::Head, End::Left) | (Spot::Tail, End::Right) => self.middle.end(end),
            (Spot::Middle(place), _) => self.middle.next(place, end),
        };
        middle.map(Spot::Middle).or_else(|| match end {
            End::Left => (self.tail.count() > 0).then_some(Spot::Tail),
            End::Right => Some(Spot::Head),
        })
    }

    pub(super) fn chunk(&self, spot: Spot) -> &Chunk {
        match spot {
            Spot::Head => &self.head,
            Spot::Tail => &self.tail,
            Spot::Middle(place) => match self.middle.get(place) {
                Some(chunk) => chunk,
                None => unreachable!("invariant: a place is not used after a change"),
            },
        }
    }

    /// Returns the number of chunks. O(chunks / 128).
    pub(super) fn chunks(&self) -> usize {
        1 + self.middle.chunks() + usize::from(self.tail.count() > 0)
    }

    /// Calls `f` with the elements of each chunk, as those of a listpack, and their number.
    pub(super) fn for_each_run(&self, f: &mut dyn FnMut(&[u8], usize)) {
        let mut spot = Some(self.first(End::Left));
        while let Some(it) = spot {
            match self.chunk(it) {
                Chunk::Run(run) => {
                    visited(run.count());
                    f(run.as_bytes(), run.count());
                }
                Chunk::Single(bytes) => f(&encoded(bytes), 1),
            }
            spot = self.next(it, End::Left);
        }
    }

    /// Replaces the element of this index, which exists.
    pub(super) fn set(&mut self, index: usize, element: StringRef<'_>, limits: Limits) {
        let new = NewElement::new(element);
        if let Some((spot, at)) = self.find(index)
            && !self.edit(spot, |chunk| chunk.put(at, Put::Instead, &new, limits))
        {
            self.remove(spot, at);
            self.insert(index, element, limits);
        }
    }

    /// Inserts an element before that of this index, or as the last one.
    pub(super) fn insert(&mut self, index: usize, element: StringRef<'_>, limits: Limits) {
        if index == 0 {
            return self.push(End::Left, element, limits);
        }
        let Some((spot, at)) = self.find(index) else {
            return self.push(End::Right, element, limits);
        };
        let new = NewElement::new(element);
        if self.edit(spot, |chunk| chunk.put(at, Put::Before, &new, limits)) {
            self.len += 1;
            return;
        }
        if at > 0 {
            let rest = self.edit(spot, |chunk| chunk.split_off(at));
            self.insert_chunk_after(spot, rest);
        }
        // From here on the index is where a chunk begins.
        let is_added = self.find(index - 1).is_some_and(|(before, _)| {
            self.edit(before, |chunk| chunk.push(End::Right, &new, limits))
        }) || self.find(index).is_some_and(|(after, _)| {
            self.edit(after, |chunk| chunk.push(End::Left, &new, limits))
        });
        if !is_added && let Some((before, _)) = self.find(index - 1) {
            self.insert_chunk_after(before, Chunk::of(&new, End::Right, limits));
        }
        self.len += 1;
        self.merge(index, End::Left, limits);
        self.merge(index, End::Right, limits);
    }

    /// Removes up to `max` elements that are equal to `text`, from an end. Returns how many. O(elements).
    pub(super) fn remove_equal(
        &mut self,
        end: End,
        text: &[u8],
        max: usize,
        limits: Limits,
    ) -> usize {
        let needle = Needle::new(text);
        let (mut removed, mut unvisited) = (0, self.len);
        let mut next = Some(self.first(end));
        while removed < max
            && unvisited > 0
            && let Some(spot) = next
        {
            let count = self.chunk(spot).count();
            unvisited -= count;
            if !self.chunk(spot).rest().find(end, &needle, count).1 {
                next = self.next(spot, end);
                continue;
            }
            let found = self.edit(spot, |chunk| {
                chunk.remove_equal(end, &needle, max - removed)
            });
            if found == count {
                self.remove_chunk(spot);
            }
            removed += found;
            self.len -= found;
            // Only chunks that were visited are joined.
            if found < count {
                match end {
                    End::Left => self.merge(self.len - unvisited - 1, End::Right, limits),
                    End::Right => self.merge(unvisited, End::Left, limits),
                }
            }
            // A change moves chunks.
            let index = match end {
                End::Left => self.len - unvisited,
                End::Right => unvisited.wrapping_sub(1),
            };
            next = self.find(index).map(|(spot, _)| spot);
        }
        removed
    }

    /// Frees chunks until `budget` is used up, and at least one. Returns whether the rest is a few allocations.
    pub(super) fn free_some(&mut self, budget: &mut usize) -> bool {
        while let Some(place) = self.middle.end(End::Right) {
            if let Some(chunk) = self.middle.get(place) {
                let work = FREEING_WORK + chunk.heap_bytes() / super::BYTES_PER_ALLOCATION;
                self.len -= chunk.count();
                *budget = budget.saturating_sub(work);
            }
            self.middle.remove(place);
            if *budget == 0 {
                break;
            }
        }
        self.middle.is_empty()
    }

    /// Removes one element.
    fn remove(&mut self, spot: Spot, at: usize) {
        if self.chunk(spot).count() == 1 {
            self.remove_chunk(spot);
        } else {
            self.edit(spot, |chunk| chunk.remove(at));
        }
        self.len -= 1;
    }

    #[inline]
    fn end_mut(&mut self, end: End) -> &mut Chunk {
        match end {
            End::Right if self.tail.count() > 0 => &mut self.tail,
            End::Left | End::Right => &mut self.head,
        }
    }

    fn edit<R>(&mut self, spot: Spot, f: impl FnOnce(&mut Chunk) -> R) -> R {
        match spot {
            Spot::Head => f(&mut self.head),
            Spot::Middle(place) => self.middle.edit(place, f),
            Spot::Tail => f(&mut self.tail),
        }
    }

    /// Adds a chunk at an end.
    #[cold]
    fn add_chunk(&mut self, end: End, chunk: Chunk) {
        if self.len == 0 {
            self.head = chunk;
            return;
        }
        let is_alone = self.tail.count() == 0;
        match end {
            End::Left => {
                let old = core::mem::replace(&mut self.head, chunk);
                if is_alone {
                    self.tail = old;
                } else {
                    self.middle.push(End::Left, old);
                }
            }
            End::Right => {
                let old = core::mem::replace(&mut self.tail, chunk);
                if !is_alone {
                    self.middle.push(End::Right, old);
                }
            }
        }
    }

    fn insert_chunk_after(&mut self, spot: Spot, chunk: Chunk) {
        match spot {
            Spot::Head if self.tail.count() == 0 => self.tail = chunk,
            Spot::Head => self.middle.push(End::Left, chunk),
            Spot::Middle(place) => self.middle.insert_after(place, chunk),
            Spot::Tail => {
                let old = core::mem::replace(&mut self.tail, chunk);
                self.middle.push(End::Right, old);
            }
        }
    }

    fn remove_chunk(&mut self, spot: Spot) {
        match spot {
            Spot::Head => {
                self.head = Chunk::default();
                self.refill(End::Left);
            }
            Spot::Middle(place) => self.middle.remove(place),
            Spot::Tail => {
                self.tail = Chunk::default();
                self.refill(End::Right);
            }
        }
    }

    /// Takes the next chunk for an end that has become empty.
    #[cold]
    fn refill(&mut self, end: End) {
        if self.head.count() > 0 && self.tail.count() > 0 {
            return;
        }
        let next = self.middle.pop(end);
        match end {
            End::Left if self.head.count() == 0 => {
                self.head = next.unwrap_or_else(|| core::mem::take(&mut self.tail));
            }
            End::Left | End::Right => self.tail = next.unwrap_or_default(),
        }
    }

    /// Joins the chunk with this element to the next one in the direction away from `end` if both are small.
    fn merge(&mut self, index: usize, end: End, limits: Limits) {
        let Some((spot, _)) = self.find(index) else {
            return;
        };
        let Some(other) = self.next(spot, end) else {
            return;
        };
        let (left, right) = match end {
            End::Left => (spot, other),
            End::Right => (other, spot),
        };
        if self.chunk(left).absorbs(self.chunk(right), limits) {
            let moved = self.chunk(right).clone();
            self.edit(left, |chunk| chunk.append(&moved));
            self.remove_chunk(right);
        }
    }
}

/// A walk through the elements of a list, from one end to the other.
#[derive(Debug, Clone)]
pub struct ListIter<'e> {
    /// The chunks that have yet to be visited begin after this one.
    deque: Option<(&'e Deque, Spot)>,
    rest: Rest<'e>,
    end: End,
}

impl<'e> ListIter<'e> {
    pub(super) fn of_run(bytes: &'e [u8], end: End, skipped: usize) -> Self {
        let mut rest = Rest::Run(bytes);
        rest.skip(end, skipped);
        ListIter {
            deque: None,
            rest,
            end,
        }
    }

    pub(super) fn of_deque(deque: &'e Deque, end: End, skipped: usize) -> Self {
        let index = match end {
            End::Left => Some(skipped),
            End::Right => deque.len.checked_sub(skipped + 1),
        };
        let found = index.and_then(|index| deque.find(index));
        let rest = |(spot, at)| deque.chunk(spot).rest_from(at, end);
        ListIter {
            deque: found.map(|(spot, _)| (deque, spot)),
            rest: found.map_or(Rest::Run(&[]), rest),
            end,
        }
    }

    /// Passes up to `max` elements, until one is equal to the needle. Returns how many it passed, and whether the last
    /// of them is equal.
    pub(super) fn find(&mut self, needle: &Needle<'_>, max: usize) -> (usize, bool) {
        let mut passed = 0;
        loop {
            let (more, is_equal) = self.rest.find(self.end, needle, max - passed);
            passed += more;
            visited(more);
            if is_equal || passed == max || !self.next_chunk() {
                return (passed, is_equal);
            }
        }
    }

    /// Goes on to the next chunk; returns false if there is none.
    fn next_chunk(&mut self) -> bool {
        let next = self.deque.and_then(|(deque, spot)| {
            let spot = deque.next(spot, self.end)?;
            Some((deque, spot))
        });
        if let Some((deque, spot)) = next {
            (self.deque, self.rest) = (next, deque.chunk(spot).rest());
        }
        next.is_some()
    }
}

impl<'e> Iterator for ListIter<'e> {
    type Item = StringRef<'e>;

    #[inline]
    fn next(&mut self) -> Option<StringRef<'e>> {
        loop {
            if let Some(element) = self.rest.take(self.end) {
                visited(1);
                return Some(element);
            }
            if !self.next_chunk() {
                return None;
            }
        }
    }
}

#[cfg(test)]
impl Deque {
    /// Checks what the fields promise, and that the counted bytes are those of the chunks.
    pub(super) fn check(&self) {
        assert_eq!(self.head.count() == 0, self.len == 0);
        assert!(self.middle.is_empty() || self.tail.count() > 0);
        let chunks = self.head.count() + self.middle.check() + self.tail.count();
        assert_eq!(chunks, self.len);
    }
}
