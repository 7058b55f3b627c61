//! What comes up when: a hierarchical timing wheel of which only the slots in use exist.
//!
//! An item is four bytes, the [part of a hash](HashPart) that finds an entry again. When that is due the
//! entry itself knows, so the wheel need not: it keeps items in *batches*, one for each slot that is in
//! use. The slots of a level are 256 times as wide as those of the level below, the finest a millisecond,
//! and an item is put into the finest level in which its time is less than 256 slots away:
//!
//! ```text
//! level      0       1      2      3        4         5 …
//! slot    1 ms  256 ms   66 s  4.7 h  50 days  35 years
//! ```
//!
//! A batch comes up when its slot *begins*, which is no later than any of its items is due. Whoever takes
//! an item out looks its entry up, and puts it back if it came too early: now it is nearer, so it goes to a
//! finer level. A key is looked up once for each level its time to live reaches to: twice for up to a
//! minute, three times for an hour, four times for a day.
//!
//! The batches of all levels stand in one queue, in the order in which they come up, so what is next is
//! at its front, and a wheel with few items is small. Each level has at most 256 slots that are yet to begin.

use std::collections::VecDeque;

use smallvec::SmallVec;

use crate::hash::HashPart;
use crate::types::allocated;

/// The logarithm of the slots of a level.
///
/// More would make more and smaller batches, whose own memory counts; fewer, more look-ups before the time.
const LEVEL_BITS: u32 = 8;

/// Items that a batch keeps without an allocation.
const INLINE: usize = 4;

/// A batch of no more items is searched before another is put there, so that keys whose expiry changes
/// often do not have more and more of them.
const SEARCHED_MAX: usize = 16;

/// Wheels of up to this many batches are checked after each change, in debug builds.
const COUNTED_MAX: usize = 32;

/// Items in batches; see the module.
#[derive(Default)]
pub(crate) struct Wheel {
    /// Soonest first, no two of the same time, none empty.
    batches: VecDeque<Batch>,
    items: usize,
    /// [`Batch::bytes`] of all of them.
    batch_bytes: usize,
}

struct Batch {
    /// When it comes up, in unix milliseconds.
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

/// Places to be added where `len` are full. Doubling would leave a quarter of all memory unused.
fn growth(len: usize) -> usize {
    (len / 4).next_multiple_of(4).max(4)
}

/// When the slot begins that an item due at `due_ms` is put into: after `now_ms`, if that is.
fn slot(due_ms: u64, now_ms: u64) -> u64 {
    let wait_ms = due_ms.saturating_sub(now_ms);
    let level = wait_ms.checked_ilog2().unwrap_or(0) / LEVEL_BITS;
    // The slot is no wider than the wait, so it begins in between.
    due_ms & (u64::MAX << (level * LEVEL_BITS))
}

impl Wheel {
    /// Puts an item where it comes up no later than at `due_ms`, and after `now_ms` unless that is due
    /// now. Any `now_ms` is a right one; the nearer to the truth, the less often items come up.
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

    /// When the next item comes up, if there is one.
    pub(crate) fn next_ms(&self) -> Option<u64> {
        self.batches.front().map(|batch| batch.at_ms)
    }

    /// Takes an item out that has come up at `now_ms`.
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

    /// The item that a random number chooses. O([`batches`](Self::batches)).
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

    /// Number of items.
    pub(crate) fn len(&self) -> usize {
        self.items
    }

    /// Number of batches, each of which may have an allocation of its own.
    pub(crate) fn batches(&self) -> usize {
        self.batches.len()
    }

    /// Gives back the room that is not used.
    pub(crate) fn shrink(&mut self) {
        self.batches.shrink_to_fit();
        for batch in &mut self.batches {
            batch.items.shrink_to_fit();
        }
        self.batch_bytes = self.batches.iter().map(Batch::bytes).sum();
    }

    /// Bytes allocated.
    pub(crate) fn bytes(&self) -> usize {
        allocated(self.batches.capacity() * size_of::<Batch>()) + self.batch_bytes
    }

    /// Whether the batches are in order and what is counted about them is right, as far as there are few.
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

    /// Whether there is such an item that comes up no later than at `due_ms`. O(items).
    pub(crate) fn has(&self, item: HashPart, due_ms: u64) -> bool {
        let mut early = self.batches.iter().take_while(|it| it.at_ms <= due_ms);
        early.any(|batch| batch.items.contains(&item))
    }
}

#[cfg(test)]
mod tests;
