//! Values by ID, in chunks that snapshots share.

use std::collections::{BinaryHeap, VecDeque};

use super::StreamId;
use super::runs::{Counted, Runs};
use crate::types::allocated;
use crate::visits::visited;

/// Values by ID, ascending. An entry takes as many bytes as an ID and a value, and little more if entries are added
/// in order.
#[derive(Debug, Clone)]
pub(super) struct IdMap<V> {
    /// A chunk is empty only if it is the only one.
    chunks: Runs<Chunk<V>>,
    len: usize,
}

/// A value with a time, which may change.
pub(super) trait Timed: Copy {
    fn time_ms(&self) -> u64;
}

impl Timed for () {
    fn time_ms(&self) -> u64 {
        0
    }
}

/// Values that follow one another.
#[derive(Debug, Clone)]
struct Chunk<V> {
    /// Most entries are added at the end and removed at the start.
    entries: VecDeque<(StreamId, V)>,
    /// No value has an earlier time.
    since_ms: u64,
}

impl<V: Timed> Chunk<V> {
    fn of(entries: VecDeque<(StreamId, V)>) -> Self {
        let times = entries.iter().map(|(_, value)| value.time_ms());
        Chunk {
            since_ms: times.min().unwrap_or(u64::MAX),
            entries,
        }
    }

    /// Notes the time of a value.
    fn note(&mut self, value: V) {
        self.since_ms = self.since_ms.min(value.time_ms());
    }
}

/// The largest number of entries of a chunk.
const CHUNK_LEN_MAX: usize = 128;

/// A chunk of fewer entries is joined with its neighbour if that has few too.
const CHUNK_LEN_MIN: usize = 32;

impl<V: Clone> Counted for Chunk<V> {
    fn heap_bytes(&self) -> usize {
        allocated(self.entries.capacity() * size_of::<(StreamId, V)>())
    }
}

impl<V> Default for IdMap<V> {
    fn default() -> Self {
        IdMap {
            chunks: Runs::new(),
            len: 0,
        }
    }
}

impl<V: Timed> IdMap<V> {
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// Bytes allocated. O(1).
    pub(super) fn heap_bytes(&self) -> usize {
        self.chunks.heap_bytes()
    }

    /// The chunk and the place in it where `id` is, or would be.
    fn place(&self, id: StreamId) -> (usize, Result<usize, usize>) {
        let at = self.chunks.find(id);
        let chunk = self.chunks.get(at);
        let place = chunk.map_or(Err(0), |(_, chunk)| {
            let entries = &chunk.entries;
            match (entries.front(), entries.back()) {
                (Some((first, _)), _) if *first == id => Ok(0),
                (_, Some((last, _))) if *last < id => Err(entries.len()),
                _ => entries.binary_search_by_key(&id, |(id, _)| *id),
            }
        });
        (at, place)
    }

    /// O(log n).
    pub(super) fn get(&self, id: StreamId) -> Option<V> {
        let (at, place) = self.place(id);
        let (_, chunk) = self.chunks.get(at)?;
        Some(chunk.entries[place.ok()?].1)
    }

    /// Adds a value or replaces it. Returns the value that was there. O(log n).
    pub(super) fn insert(&mut self, id: StreamId, value: V) -> Option<V> {
        visited(1);
        let (at, place) = self.place(id);
        let place = match place {
            Ok(place) => {
                return self.chunks.edit(at, |chunk| {
                    chunk.note(value);
                    core::mem::replace(&mut chunk.entries[place], (id, value)).1
                });
            }
            Err(place) => place,
        };
        self.len += 1;
        let Some((first, chunk)) = self.chunks.get(at) else {
            self.chunks
                .push(id, Chunk::of(VecDeque::from([(id, value)])));
            return None;
        };
        let (first, len) = (*first, chunk.entries.len());
        if len < CHUNK_LEN_MAX {
            self.chunks.edit(at, |chunk| {
                chunk.note(value);
                chunk.entries.insert(place, (id, value));
            });
            if place == 0 && id != first {
                self.chunks.set_first(at, id);
            }
        } else if place == len {
            self.chunks
                .insert(at + 1, id, Chunk::of(VecDeque::from([(id, value)])));
        } else {
            self.split(at);
            self.len -= 1;
            return self.insert(id, value);
        }
        None
    }

    /// Splits a chunk into halves.
    fn split(&mut self, at: usize) {
        let tail = self.chunks.edit(at, |chunk| {
            let tail = chunk.entries.split_off(chunk.entries.len() / 2);
            chunk.entries.shrink_to_fit();
            tail
        });
        if let Some(tail) = tail
            && let Some((first, _)) = tail.front()
        {
            self.chunks.insert(at + 1, *first, Chunk::of(tail));
        }
    }

    /// Changes a value in place. O(log n).
    pub(super) fn edit<R>(&mut self, id: StreamId, f: impl FnOnce(&mut V) -> R) -> Option<R> {
        let (at, place) = self.place(id);
        let place = place.ok()?;
        self.chunks.edit(at, |chunk| {
            let result = f(&mut chunk.entries[place].1);
            chunk.note(chunk.entries[place].1);
            result
        })
    }

    /// Removes a value. O(log n).
    pub(super) fn remove(&mut self, id: StreamId) -> Option<V> {
        visited(1);
        let (at, place) = self.place(id);
        let place = place.ok()?;
        let (value, left, capacity) = self.chunks.edit(at, |chunk| {
            let value = chunk.entries.remove(place).map(|(_, value)| value);
            (value, chunk.entries.len(), chunk.entries.capacity())
        })?;
        let value = value?;
        self.len -= 1;
        if left == 0 && self.chunks.len() > 1 {
            self.chunks.remove(at);
        } else if left < CHUNK_LEN_MIN && left * 4 <= capacity {
            self.shrink(at);
        }
        Some(value)
    }

    /// Joins a small chunk with the one after it, or gives its room back.
    fn shrink(&mut self, at: usize) {
        let len = |at: usize| self.chunks.get(at).map(|(_, chunk)| chunk.entries.len());
        match len(at + 1) {
            Some(next) if next <= CHUNK_LEN_MAX / 2 => {
                let next = self.chunks.remove(at + 1);
                self.chunks.edit(at, |chunk| {
                    if let Some(next) = &next {
                        chunk.entries.extend(&next.entries);
                        chunk.since_ms = chunk.since_ms.min(next.since_ms);
                    }
                    chunk.entries.shrink_to_fit();
                });
            }
            _ => {
                let shrink = |entries: &mut VecDeque<_>| entries.shrink_to(entries.len() * 2);
                self.chunks.edit(at, |chunk| shrink(&mut chunk.entries));
            }
        }
    }

    /// The values from `id` on. O(log n) for the first.
    pub(super) fn from(&self, id: StreamId) -> impl Iterator<Item = (StreamId, V)> {
        let (at, place) = self.place(id);
        let (Ok(skipped) | Err(skipped)) = place;
        self.chunks
            .from(at)
            .flat_map(|(_, chunk)| chunk.entries.iter().copied())
            .skip(skipped)
            .inspect(|_| visited(1))
    }

    pub(super) fn first(&self) -> Option<StreamId> {
        let (_, chunk) = self.chunks.get(0)?;
        chunk.entries.front().map(|(id, _)| *id)
    }

    pub(super) fn last(&self) -> Option<StreamId> {
        let (_, chunk) = self.chunks.get(self.chunks.len().checked_sub(1)?)?;
        chunk.entries.back().map(|(id, _)| *id)
    }

    /// The values with the earliest times, up to `until_ms`: as many as `count`, in the order of times and then of IDs.
    /// O(chunks), and O(entries) of those chunks that may have one.
    pub(super) fn earliest(&self, until_ms: u64, count: usize) -> Vec<(u64, StreamId)> {
        if count >= self.len {
            return self.all_until(until_ms);
        }
        let mut found: BinaryHeap<(u64, StreamId)> = BinaryHeap::new();
        for (first, chunk) in self.chunks.iter() {
            let is_full = found.len() >= count;
            let is_late = |last: &(u64, StreamId)| (chunk.since_ms, *first) > *last;
            if chunk.since_ms > until_ms || is_full && found.peek().is_none_or(is_late) {
                continue;
            }
            visited(chunk.entries.len());
            for (id, value) in &chunk.entries {
                let key = (value.time_ms(), *id);
                if key.0 > until_ms {
                    continue;
                }
                found.push(key);
                if found.len() > count {
                    found.pop();
                }
            }
        }
        found.into_sorted_vec()
    }

    /// All values with times up to `until_ms`, in the order of times and then of IDs.
    fn all_until(&self, until_ms: u64) -> Vec<(u64, StreamId)> {
        let mut found = Vec::new();
        for (_, chunk) in self.chunks.iter() {
            if chunk.since_ms > until_ms {
                continue;
            }
            visited(chunk.entries.len());
            let times = chunk.entries.iter().map(|(id, it)| (it.time_ms(), *id));
            found.extend(times.filter(|(time_ms, _)| *time_ms <= until_ms));
        }
        // They usually are in this order.
        found.sort_unstable();
        found
    }

    /// [`Runs::free_some`].
    pub(super) fn free_some(&mut self, budget: &mut usize) -> bool {
        self.chunks.free_some(budget)
    }
}
