//! A hierarchical timing wheel that stores only the slots in use.
//!
//! An item is four bytes: the [part of a hash](HashPart) by which an entry is found again. The entry has the
//! exact expiry, so the wheel does not store it. The wheel keeps items in *batches*, one per slot in use.
//! The slots of a level are 256 times as wide as those of the level below; the finest are a millisecond. An
//! item is put into the finest level in which its time is less than 256 slots away:
//!
//! ```text
//! level      0       1      2      3        4         5 …
//! slot    1 ms  256 ms   66 s  4.7 h  50 days  35 years
//! ```
//!
//! A batch comes up when its slot *begins*, which is no later than any of its items is due. The caller takes
//! an item out, looks its entry up, and puts the item back if it came up too early. Its time is nearer by
//! then, so it goes to a finer level. A key is looked up once per level that its time to live reaches: twice
//! for up to a minute, three times for an hour, four times for a day.
//!
//! One queue has the batches of all levels, in the order in which they come up. So the next one is at the
//! front, and a wheel with few items is small. Each level has at most 256 slots that have yet to begin.

use std::collections::VecDeque;

use smallvec::SmallVec;

use crate::hash::HashPart;
use crate::types::allocated;

/// The logarithm of the slots of a level.
///
/// More slots would make more and smaller batches, each with its own memory. Fewer slots would make more
/// look-ups before a key is due.
const LEVEL_BITS: u32 = 8;

/// Number of items that a batch stores without an allocation.
const INLINE: usize = 4;

/// A batch of at most this many items is searched before an item is added, so that a key whose expiry
/// changes often does not accumulate items.
const SEARCHED_MAX: usize = 16;

/// In debug builds, wheels of up to this many batches are checked after each change.
const COUNTED_MAX: usize = 32;

/// A timing wheel; the module's docs describe it.
#[derive(Default)]
pub(crate) struct Wheel {
    /// The batches, soonest first. No two have the same time, and none is empty.
    batches: VecDeque<Batch>,
    items: usize,
    /// The sum of [`Batch::bytes`] of all batches.
    batch_bytes: usize,
}

struct Batch {
    /// When the batch comes up, in unix milliseconds.
    at_ms: u64,
    items: SmallVec<[HashPart; INLINE]>,
}

impl Batch {
    fn push(&mut self, item: HashPart) {
        if self.items.len() == self.items.capacity() {
            self.items.reserve_exact(growth(self.items.len()));
        }
        self.items.push(item);
    }

    /// Bytes allocated for the items.
    fn bytes(&self) -> usize {
        if self.items.spilled() {
            allocated(self.items.capacity() * size_of::<HashPart>())
        } else {
            0
        }
    }
}

/// Returns how many places to add to a full buffer of `len`. Doubling would leave a quarter of the memory unused.
fn growth(len: usize) -> usize {
    (len / 4).next_multiple_of(4).max(4)
}

/// Returns when the slot of an item that is due at `due_ms` begins. It begins after `now_ms` if `due_ms` is
/// after `now_ms`.
fn slot(due_ms: u64, now_ms: u64) -> u64 {
    let wait_ms = due_ms.saturating_sub(now_ms);
    let level = wait_ms.checked_ilog2().unwrap_or(0) / LEVEL_BITS;
    // The slot is no wider than the wait, so it begins between `now_ms` and `due_ms`.
    due_ms & (u64::MAX << (level * LEVEL_BITS))
}

impl Wheel {
    /// Adds an item, which comes up no later than `due_ms`, and after `now_ms` unless it is due already. Any
    /// `now_ms` is correct, but the nearer it is to the real time, the less often items come up.
    pub(crate) fn push(&mut self, item: HashPart, due_ms: u64, now_ms: u64) {
        let at_ms = slot(due_ms, now_ms);
        let found = self
            .batches
            .binary_search_by_key(&at_ms, |batch| batch.at_ms);
        let at = found.unwrap_or_else(|at| {
            self.insert_batch(at, at_ms);
            at
        });
        let batch = &mut self.batches[at];
        if batch.items.len() <= SEARCHED_MAX && batch.items.contains(&item) {
            return;
        }
        self.batch_bytes -= batch.bytes();
        batch.push(item);
        self.batch_bytes += batch.bytes();
        self.items += 1;
        debug_assert!(self.is_counted());
    }

    #[inline(never)]
    fn insert_batch(&mut self, at: usize, at_ms: u64) {
        if self.batches.len() == self.batches.capacity() {
            self.batches.reserve_exact(growth(self.batches.len()));
        }
        let items = SmallVec::new();
        self.batches.insert(at, Batch { at_ms, items });
    }

    /// Returns when the next item comes up, if there is one.
    pub(crate) fn next_ms(&self) -> Option<u64> {
        self.batches.front().map(|batch| batch.at_ms)
    }

    /// Removes and returns an item that has come up at `now_ms`.
    pub(crate) fn pop(&mut self, now_ms: u64) -> Option<HashPart> {
        let batch = self.batches.front_mut()?;
        if batch.at_ms > now_ms {
            return None;
        }
        let item = batch.items.pop();
        self.items -= usize::from(item.is_some());
        if batch.items.is_empty() {
            self.batch_bytes -= batch.bytes();
            self.batches.pop_front();
            if self.batches.len() < self.batches.capacity() / 4 {
                self.batches.shrink_to(self.batches.len() * 2);
            }
        }
        debug_assert!(item.is_some(), "no batch is empty");
        debug_assert!(self.is_counted());
        item
    }

    /// Returns the item that a random number selects. O([`batches`](Self::batches)).
    pub(crate) fn sample(&self, random: u64) -> Option<HashPart> {
        let mut nth = random.checked_rem(self.items as u64)? as usize;
        for batch in &self.batches {
            match batch.items.get(nth) {
                Some(item) => return Some(*item),
                None => nth -= batch.items.len(),
            }
        }
        None
    }

    /// Returns the number of items.
    pub(crate) fn len(&self) -> usize {
        self.items
    }

    /// Returns the number of batches, each of which may have its own allocation.
    pub(crate) fn batches(&self) -> usize {
        self.batches.len()
    }

    /// Gives back unused memory. O(batches), plus moving the items.
    pub(crate) fn shrink(&mut self) {
        self.batches.shrink_to_fit();
        for batch in &mut self.batches {
            batch.items.shrink_to_fit();
        }
        self.batch_bytes = self.batches.iter().map(Batch::bytes).sum();
    }

    /// Returns the bytes allocated.
    pub(crate) fn bytes(&self) -> usize {
        allocated(self.batches.capacity() * size_of::<Batch>()) + self.batch_bytes
    }

    /// Returns whether the batches are in order and their counters are right; it checks only small wheels.
    fn is_counted(&self) -> bool {
        self.batches.len() > COUNTED_MAX
            || self
                .batches
                .iter()
                .map(|batch| batch.items.len())
                .sum::<usize>()
                == self.items
                && self.batches.iter().map(Batch::bytes).sum::<usize>() == self.batch_bytes
                && self.batches.iter().is_sorted_by(|a, b| a.at_ms < b.at_ms)
    }

    /// Returns whether the wheel has this item in a batch that comes up no later than `due_ms`. O(items).
    pub(crate) fn has(&self, item: HashPart, due_ms: u64) -> bool {
        let mut early = self.batches.iter().take_while(|it| it.at_ms <= due_ms);
        early.any(|batch| batch.items.contains(&item))
    }
}

#[cfg(test)]
mod tests;
