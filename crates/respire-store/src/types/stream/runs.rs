//! Values in the order of their first IDs, each in an allocation that snapshots share.

use std::collections::VecDeque;
use std::sync::Arc;

use super::StreamId;
use crate::types::allocated;
use crate::visits::visited;

/// A value whose allocations are counted.
pub(super) trait Counted: Clone {
    /// Bytes allocated beside the value itself.
    fn heap_bytes(&self) -> usize;
}

/// So few values are split off one by one.
const FEW: usize = 64;

/// Values with their first IDs, ascending. Most are added at the end and removed at the start.
#[derive(Debug, Clone)]
pub(super) struct Runs<T> {
    runs: VecDeque<(StreamId, Arc<T>)>,
    /// Bytes allocated for the values.
    value_bytes: usize,
}

impl<T> Default for Runs<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T> Runs<T> {
    pub(super) const fn new() -> Self {
        Runs {
            runs: VecDeque::new(),
            value_bytes: 0,
        }
    }

    pub(super) fn len(&self) -> usize {
        self.runs.len()
    }

    pub(super) fn get(&self, at: usize) -> Option<&(StreamId, Arc<T>)> {
        self.runs.get(at)
    }

    /// Returns the index of the last value whose first ID is at most `id`; 0 if there is none.
    pub(super) fn find(&self, id: StreamId) -> usize {
        // The ends are looked for most.
        match (self.runs.back(), self.runs.get(1)) {
            (Some((last, _)), _) if *last <= id => return self.runs.len() - 1,
            (_, Some((second, _))) if *second > id => return 0,
            _ => {}
        }
        let after = self.runs.partition_point(|(first, _)| *first <= id);
        after.saturating_sub(1)
    }

    pub(super) fn iter(
        &self,
    ) -> impl DoubleEndedIterator<Item = &(StreamId, Arc<T>)> + ExactSizeIterator {
        self.runs.iter()
    }

    pub(super) fn from(&self, at: usize) -> impl DoubleEndedIterator<Item = &(StreamId, Arc<T>)> {
        self.runs.range(at.min(self.runs.len())..)
    }
}

impl<T: Counted> Runs<T> {
    /// Bytes allocated. O(1).
    pub(super) fn heap_bytes(&self) -> usize {
        allocated(self.runs.capacity() * size_of::<(StreamId, Arc<T>)>()) + self.value_bytes
    }

    pub(super) fn insert(&mut self, at: usize, first: StreamId, value: T) {
        self.value_bytes += bytes_of(&value);
        self.runs.insert(at, (first, Arc::new(value)));
    }

    pub(super) fn push(&mut self, first: StreamId, value: T) {
        self.insert(self.runs.len(), first, value);
    }

    /// Removes a value. O(values behind it), or before it if they are fewer.
    pub(super) fn remove(&mut self, at: usize) -> Option<Arc<T>> {
        let (_, value) = self.runs.remove(at)?;
        self.value_bytes -= bytes_of(&*value);
        self.shrink_places();
        Some(value)
    }

    /// Frees places of a stream that was trimmed to a part.
    fn shrink_places(&mut self) {
        if self.runs.len() * 4 < self.runs.capacity() && self.runs.capacity() > 16 {
            self.runs.shrink_to(self.runs.len() * 2);
        }
    }

    /// Splits the first `count` values off. O(values), without looking at more than half of them.
    pub(super) fn split_first(&mut self, count: usize) -> Runs<T> {
        let mut first = Runs::new();
        if count == 0 {
            return first;
        }
        if count <= FEW {
            let removed = (0..count).filter_map(|_| self.runs.pop_front());
            first.runs.extend(removed);
        } else {
            let rest = self.runs.split_off(count.min(self.runs.len()));
            first.runs = std::mem::replace(&mut self.runs, rest);
        }
        let bytes_of_all =
            |runs: &Self| -> usize { runs.iter().map(|(_, value)| bytes_of(&**value)).sum() };
        if first.len() <= self.len() {
            first.value_bytes = bytes_of_all(&first);
            self.value_bytes -= first.value_bytes;
        } else {
            let rest_bytes = bytes_of_all(self);
            first.value_bytes = self.value_bytes - rest_bytes;
            self.value_bytes = rest_bytes;
        }
        self.shrink_places();
        first
    }

    /// Changes a value; one that a snapshot shares is copied first. O(value) then.
    pub(super) fn edit<R>(&mut self, at: usize, f: impl FnOnce(&mut T) -> R) -> Option<R> {
        let (_, value) = self.runs.get_mut(at)?;
        self.value_bytes -= bytes_of(&**value);
        let value = Arc::make_mut(value);
        let result = f(value);
        self.value_bytes += bytes_of(value);
        Some(result)
    }

    /// Changes the first ID of a value, which must stay in order.
    pub(super) fn set_first(&mut self, at: usize, id: StreamId) {
        if let Some((first, _)) = self.runs.get_mut(at) {
            *first = id;
        }
    }

    /// Removes values until `budget` is used up, and at least one. Returns whether none is left.
    pub(super) fn free_some(&mut self, budget: &mut usize) -> bool {
        while let Some((_, value)) = self.runs.pop_back() {
            visited(1);
            let bytes = bytes_of(&*value);
            self.value_bytes -= bytes;
            *budget = budget.saturating_sub(2 + bytes / BYTES_PER_ALLOCATION);
            if *budget == 0 {
                break;
            }
        }
        self.runs.is_empty()
    }
}

/// Bytes whose freeing is as much work as the freeing of an allocation.
const BYTES_PER_ALLOCATION: usize = 16 << 10;

fn bytes_of<T: Counted>(value: &T) -> usize {
    // An `Arc` has two counters.
    allocated(size_of::<T>() + 2 * size_of::<usize>()) + value.heap_bytes()
}
