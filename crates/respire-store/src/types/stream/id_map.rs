//! Values by ID, in chunks that snapshots share.

use super::StreamId;
use super::runs::{Counted, Runs};
use crate::types::allocated;

/// Values by ID, ascending. An entry takes as many bytes as an ID and a value, and little more if entries are added
/// in order.
#[derive(Debug, Clone)]
pub(super) struct IdMap<V> {
    /// A chunk is empty only if it is the only one.
    chunks: Runs<Vec<(StreamId, V)>>,
    len: usize,
}

/// The largest number of entries of a chunk.
const CHUNK_LEN_MAX: usize = 128;

/// A chunk of fewer entries is joined with its neighbour if that has few too.
const CHUNK_LEN_MIN: usize = 32;

impl<V: Clone> Counted for Vec<(StreamId, V)> {
    fn heap_bytes(&self) -> usize {
        allocated(self.capacity() * size_of::<(StreamId, V)>())
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

impl<V: Copy> IdMap<V> {
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
        let chunk = self.chunks.get(at).map_or(&[][..], |(_, chunk)| chunk);
        (at, chunk.binary_search_by_key(&id, |(id, _)| *id))
    }

    /// O(log n).
    pub(super) fn get(&self, id: StreamId) -> Option<V> {
        let (at, place) = self.place(id);
        let (_, chunk) = self.chunks.get(at)?;
        Some(chunk[place.ok()?].1)
    }

    /// Adds a value or replaces it. Returns the value that was there. O(log n).
    pub(super) fn insert(&mut self, id: StreamId, value: V) -> Option<V> {
        let (at, place) = self.place(id);
        let place = match place {
            Ok(place) => {
                let replace =
                    |chunk: &mut Vec<_>| core::mem::replace(&mut chunk[place], (id, value)).1;
                return self.chunks.edit(at, replace);
            }
            Err(place) => place,
        };
        self.len += 1;
        let Some((first, chunk)) = self.chunks.get(at) else {
            self.chunks.push(id, vec![(id, value)]);
            return None;
        };
        let (first, len) = (*first, chunk.len());
        if len < CHUNK_LEN_MAX {
            self.chunks
                .edit(at, |chunk| chunk.insert(place, (id, value)));
            if place == 0 && id != first {
                self.chunks.set_first(at, id);
            }
        } else if place == len {
            self.chunks.insert(at + 1, id, vec![(id, value)]);
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
            let tail = chunk.split_off(chunk.len() / 2);
            chunk.shrink_to_fit();
            tail
        });
        if let Some(tail) = tail
            && let Some((first, _)) = tail.first()
        {
            self.chunks.insert(at + 1, *first, tail);
        }
    }

    /// Changes a value in place. O(log n).
    pub(super) fn edit<R>(&mut self, id: StreamId, f: impl FnOnce(&mut V) -> R) -> Option<R> {
        let (at, place) = self.place(id);
        let place = place.ok()?;
        self.chunks.edit(at, |chunk| f(&mut chunk[place].1))
    }

    /// Removes a value. O(log n).
    pub(super) fn remove(&mut self, id: StreamId) -> Option<V> {
        let (at, place) = self.place(id);
        let place = place.ok()?;
        let (value, left, capacity) = self.chunks.edit(at, |chunk| {
            let (_, value) = chunk.remove(place);
            (value, chunk.len(), chunk.capacity())
        })?;
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
        let len = |at: usize| self.chunks.get(at).map(|(_, chunk)| chunk.len());
        match len(at + 1) {
            Some(next) if next <= CHUNK_LEN_MAX / 2 => {
                let next = self.chunks.remove(at + 1);
                self.chunks.edit(at, |chunk| {
                    next.iter().for_each(|next| chunk.extend_from_slice(next));
                    chunk.shrink_to_fit();
                });
            }
            _ => {
                self.chunks
                    .edit(at, |chunk| chunk.shrink_to(chunk.len() * 2));
            }
        }
    }

    /// The values from `id` on. O(log n) for the first.
    pub(super) fn from(&self, id: StreamId) -> impl Iterator<Item = (StreamId, V)> {
        let (at, place) = self.place(id);
        let (Ok(skipped) | Err(skipped)) = place;
        self.chunks
            .from(at)
            .flat_map(|(_, chunk)| chunk.iter().copied())
            .skip(skipped)
    }

    pub(super) fn first(&self) -> Option<StreamId> {
        let (_, chunk) = self.chunks.get(0)?;
        chunk.first().map(|(id, _)| *id)
    }

    pub(super) fn last(&self) -> Option<StreamId> {
        let (_, chunk) = self.chunks.get(self.chunks.len().checked_sub(1)?)?;
        chunk.last().map(|(id, _)| *id)
    }

    /// [`Runs::free_some`].
    pub(super) fn free_some(&mut self, budget: &mut usize) -> bool {
        self.chunks.free_some(budget)
    }
}
