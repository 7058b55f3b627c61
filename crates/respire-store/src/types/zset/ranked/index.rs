//! The index from a member's hash to the leaf that has the member.
//!
//! It is one run of places, sorted by hash and cut into segments: a place is 32 bits of hash and the number of a
//! leaf. The first bits of a hash, read backwards, are the number of its segment. So segments can be added one at
//! a time, as in linear hashing: a new one takes the upper half of another one's hashes.

use std::sync::Arc;

use crate::raw;
use crate::types::allocated;

/// The number of places for each segment at which another segment is added.
const SEGMENT_PLACES: usize = 128;

/// Segments grow and shrink by steps of so many places.
const STEP_PLACES: usize = 16;

/// Segments of one part.
const PART_SEGMENTS: usize = 64;

/// The index. A clone costs O(elements / 8,192).
#[derive(Debug, Clone)]
pub(super) struct Index {
    /// All parts but the last are full.
    parts: Vec<Arc<Part>>,
    segments: usize,
    len: usize,
    /// Bytes allocated for parts and segments.
    bytes: usize,
}

#[derive(Debug, Default)]
struct Part(Vec<Segment>);

impl Clone for Part {
    /// Returns a copy with the same capacity, because the accounting assumes it.
    fn clone(&self) -> Self {
        let mut segments = Vec::with_capacity(self.0.capacity());
        segments.extend_from_slice(&self.0);
        Part(segments)
    }
}

impl Part {
    /// Bytes allocated for the part, without its segments.
    fn heap_bytes(&self) -> usize {
        allocated(16 + size_of::<Part>()) + allocated(self.0.capacity() * size_of::<Segment>())
    }
}

/// Sorted places, with room behind them.
#[derive(Debug, Clone)]
struct Segment {
    places: Arc<[u64]>,
    len: usize,
}

/// Returns the place of an element.
fn place(hash: u32, leaf: u32) -> u64 {
    u64::from(hash) << 32 | u64::from(leaf)
}

/// Returns the leaf of a place.
#[inline]
pub(super) fn leaf_of(place: u64) -> u32 {
    place as u32
}

/// Returns the hash of a place.
#[inline]
fn hash_of(place: u64) -> u32 {
    (place >> 32) as u32
}

impl Segment {
    fn new(places: &[u64]) -> Self {
        Self::build([places, &[], &[]])
    }

    fn build(pieces: [&[u64]; 3]) -> Self {
        let len: usize = pieces.iter().map(|piece| piece.len()).sum();
        let room = len.max(1).next_multiple_of(STEP_PLACES);
        let mut places = Vec::with_capacity(room);
        pieces
            .iter()
            .for_each(|piece| places.extend_from_slice(piece));
        places.resize(room, 0);
        Segment {
            places: Arc::from(places),
            len,
        }
    }

    fn used(&self) -> &[u64] {
        &self.places[..self.len]
    }

    fn heap_bytes(&self) -> usize {
        allocated(16 + self.places.len() * size_of::<u64>())
    }

    fn insert(&mut self, at: usize, place: u64) {
        let len = self.len;
        match Arc::get_mut(&mut self.places) {
            Some(places) if len < places.len() => {
                places.copy_within(at..len, at + 1);
                places[at] = place;
                self.len += 1;
            }
            _ => *self = Self::build([&self.used()[..at], &[place], &self.used()[at..]]),
        }
    }

    fn remove(&mut self, at: usize) {
        let len = self.len;
        match Arc::get_mut(&mut self.places) {
            Some(places) if places.len() - len < 2 * STEP_PLACES => {
                places.copy_within(at + 1..len, at);
                self.len -= 1;
            }
            _ => *self = Self::build([&self.used()[..at], &[], &self.used()[at + 1..]]),
        }
    }
}

impl Default for Index {
    fn default() -> Self {
        let segment = Segment::new(&[]);
        let mut index = Index {
            parts: Vec::new(),
            segments: 0,
            len: 0,
            bytes: 0,
        };
        index.add_segment(segment);
        index
    }
}

impl Index {
    /// Returns the bytes allocated for all of it. O(1).
    pub(super) fn heap_bytes(&self) -> usize {
        self.bytes + allocated(self.parts.capacity() * size_of::<Arc<Part>>())
    }

    /// Returns the places of elements with this hash. O(1).
    #[inline]
    pub(super) fn get(&self, hash: u32) -> &[u64] {
        let number = self.segment_of(hash);
        let segment = self.segment(number).used();
        let start = self.lower_bound(number, place(hash, 0));
        let same = segment[start..]
            .iter()
            .take_while(|place| hash_of(**place) == hash);
        &segment[start..start + same.count()]
    }

    /// Adds an element's place. O(1).
    pub(super) fn insert(&mut self, hash: u32, leaf: u32) {
        let number = self.segment_of(hash);
        let place = place(hash, leaf);
        let at = self.lower_bound(number, place);
        self.edit(number, |segment| segment.insert(at, place));
        self.len += 1;
        if self.len > self.segments * SEGMENT_PLACES {
            self.split_one();
        }
    }

    /// Removes an element's place, which is there. O(1).
    pub(super) fn remove(&mut self, hash: u32, leaf: u32) {
        let number = self.segment_of(hash);
        let place = place(hash, leaf);
        let at = self.lower_bound(number, place);
        debug_assert_eq!(self.segment(number).used().get(at), Some(&place));
        self.edit(number, |segment| segment.remove(at));
        self.len -= 1;
        if self.segments > 1 && self.len < self.segments * SEGMENT_PLACES / 4 {
            self.merge_one();
        }
    }

    /// Moves an element to another leaf. O(1).
    pub(super) fn replace(&mut self, hash: u32, from: u32, to: u32) {
        let number = self.segment_of(hash);
        let at = self.lower_bound(number, place(hash, from));
        debug_assert_eq!(
            self.segment(number).used().get(at),
            Some(&place(hash, from))
        );
        let same = self.get(hash);
        if same.len() == 1 {
            self.edit(number, |segment| {
                // With one place of the hash, the order is the same.
                match Arc::get_mut(&mut segment.places) {
                    Some(places) => places[at] = place(hash, to),
                    None => {
                        let used = segment.used();
                        *segment =
                            Segment::build([&used[..at], &[place(hash, to)], &used[at + 1..]]);
                    }
                }
            });
            return;
        }
        self.edit(number, |segment| segment.remove(at));
        let at = self.lower_bound(number, place(hash, to));
        self.edit(number, |segment| segment.insert(at, place(hash, to)));
    }

    /// Calls `f` with places from this hash on, in their order, until at least `count` were visited; places of the
    /// same hash are visited together. Returns the hash to go on with, `None` at the end. O(`count`).
    pub(super) fn visit(
        &self,
        from: u32,
        count: usize,
        f: &mut dyn FnMut(u32, &[u64]),
    ) -> Option<u32> {
        let (mut from, mut visited) = (from, 0);
        loop {
            let number = self.segment_of(from);
            let mut rest = &self.segment(number).used()[self.lower_bound(number, place(from, 0))..];
            while let Some(first) = rest.first() {
                let hash = hash_of(*first);
                let same = rest
                    .iter()
                    .take_while(|place| hash_of(**place) == hash)
                    .count();
                f(hash, &rest[..same]);
                rest = &rest[same..];
                visited += same;
                if visited >= count {
                    return hash.checked_add(1);
                }
            }
            let width = 1_u64 << (32 - self.bits_of(number));
            from = u32::try_from((u64::from(from) / width + 1) * width).ok()?;
        }
    }

    /// Begins to load the place of a hash.
    pub(super) fn warm(&self, hash: u32) {
        let number = self.segment_of(hash);
        let places = self.segment(number).used();
        if let Some(place) = places.get(self.guess(number, hash)) {
            raw::prefetch(core::ptr::from_ref(place).addr());
        }
    }

    /// Frees parts, the last ones first, until the budget is used up
    /// ([`Kind::free_some`](crate::Kind::free_some)). Returns whether none is left.
    pub(super) fn free_some(&mut self, budget: &mut usize) -> bool {
        while let Some(part) = self.parts.pop() {
            let segments: usize = part.0.iter().map(Segment::heap_bytes).sum();
            self.bytes -= segments + part.heap_bytes();
            *budget = budget.saturating_sub(1 + part.0.len());
            if *budget == 0 {
                break;
            }
        }
        self.parts.is_empty()
    }

    /// Returns the number of the segment that a hash is in.
    #[inline]
    fn segment_of(&self, hash: u32) -> usize {
        let mask = self.segments.next_power_of_two() - 1;
        let number = hash.reverse_bits() as usize & mask;
        if number < self.segments {
            number
        } else {
            number & mask >> 1
        }
    }

    /// Returns the number of bits that the hashes of a segment have in common.
    fn bits_of(&self, number: usize) -> u32 {
        let bits = self.segments.ilog2();
        let is_split = number >= 1 << bits || number < self.segments - (1 << bits);
        bits + u32::from(is_split)
    }

    fn segment(&self, number: usize) -> &Segment {
        &self.parts[number / PART_SEGMENTS].0[number % PART_SEGMENTS]
    }

    /// Returns where a hash stands in its segment if hashes are evenly distributed.
    #[inline]
    fn guess(&self, number: usize, hash: u32) -> usize {
        let within = u64::from(hash) << self.bits_of(number) & u64::from(u32::MAX);
        ((within * self.segment(number).len as u64) >> 32) as usize
    }

    /// Returns the number of places of a segment that are before this one.
    #[inline]
    fn lower_bound(&self, number: usize, place: u64) -> usize {
        let places = self.segment(number).used();
        let mut at = self.guess(number, hash_of(place));
        while at > 0 && places[at - 1] >= place {
            at -= 1;
        }
        while at < places.len() && places[at] < place {
            at += 1;
        }
        at
    }

    fn edit(&mut self, number: usize, f: impl FnOnce(&mut Segment)) {
        let part = Arc::make_mut(&mut self.parts[number / PART_SEGMENTS]);
        let segment = &mut part.0[number % PART_SEGMENTS];
        let before = segment.heap_bytes();
        f(segment);
        self.bytes = self.bytes - before + segment.heap_bytes();
    }

    fn add_segment(&mut self, segment: Segment) {
        let is_full = |part: &Arc<Part>| part.0.len() == PART_SEGMENTS;
        if self.parts.last().is_none_or(is_full) {
            let part = Arc::new(Part::default());
            self.bytes += part.heap_bytes();
            self.parts.push(part);
        }
        let last = self.parts.len() - 1;
        let part = Arc::make_mut(&mut self.parts[last]);
        let before = part.heap_bytes();
        self.bytes += segment.heap_bytes();
        part.0.push(segment);
        self.bytes = self.bytes - before + part.heap_bytes();
        self.segments += 1;
    }

    /// Adds a segment, with the places that it takes from another one. O(places of a segment).
    fn split_one(&mut self) {
        let number = self.segments;
        let bit = number.ilog2();
        let from = number - (1 << bit);
        let mut taken = Segment::new(&[]);
        self.edit(from, |segment| {
            let is_kept = |place: &u64| hash_of(*place) & 1 << (31 - bit) == 0;
            let (kept, others) = segment
                .used()
                .split_at(segment.used().partition_point(is_kept));
            taken = Segment::new(others);
            *segment = Segment::new(kept);
        });
        self.add_segment(taken);
    }

    /// Removes the last segment, and adds its places to the one that it took them from.
    fn merge_one(&mut self) {
        let number = self.segments - 1;
        let part = Arc::make_mut(&mut self.parts[number / PART_SEGMENTS]);
        let Some(last) = part.0.pop() else { return };
        let part_bytes = part.0.is_empty().then(|| part.heap_bytes());
        self.bytes -= last.heap_bytes();
        if let Some(bytes) = part_bytes {
            self.bytes -= bytes;
            self.parts.pop();
        }
        self.segments = number;
        let to = number - (1 << number.ilog2());
        self.edit(to, |segment| {
            *segment = Segment::build([segment.used(), last.used(), &[]])
        });
    }

    /// Counts the bytes again, and checks the order.
    #[cfg(test)]
    pub(super) fn recount(&self) -> usize {
        let parts = self.parts.iter().map(|part| part.heap_bytes());
        let mut bytes =
            parts.sum::<usize>() + allocated(self.parts.capacity() * size_of::<Arc<Part>>());
        let mut len = 0;
        for number in 0..self.segments {
            let segment = self.segment(number);
            assert!(segment.used().is_sorted());
            assert!(
                segment
                    .used()
                    .iter()
                    .all(|place| self.segment_of(hash_of(*place)) == number)
            );
            bytes += segment.heap_bytes();
            len += segment.len;
        }
        assert_eq!(len, self.len);
        bytes
    }
}
