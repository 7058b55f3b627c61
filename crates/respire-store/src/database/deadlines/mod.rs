//! The deadlines of a shard: an index of expiries, by which the sweep finds expired keys.
//!
//! A deadline is an item in a [`Wheel`] by which an entry is found; the entry has the exact expiry. For every
//! entry with an expiry, an item that finds it comes up no later than the expiry. Hence:
//!
//! - only an expiry that is new or earlier than before needs a new item. If an expiry is put off, its item
//!   comes up early, and is then put where it belongs;
//! - the item of a key that was removed, or no longer has an expiry, stays. It finds nothing when it comes up,
//!   and is dropped;
//! - several entries may share one item's part of the hash. When it comes up, at most one of them is removed,
//!   and the item is put back at the *earliest* expiry of the others. This is early enough for each of them,
//!   so it does not matter for which of them the item was made, nor how many items they have.

mod wheel;

use ahash::RandomState;

use crate::hash::{HashPart, hash_key};
use crate::table::Table;
use crate::types::allocated;
use wheel::Wheel;

/// The deadlines of a shard. A shard without any has no wheel.
#[derive(Default)]
pub(crate) struct Deadlines {
    wheel: Option<Box<Wheel>>,
}

/// Stale items are ignored up to this many items, as a rebuild would gain little memory.
const STALE_MIN: usize = 64;

impl Deadlines {
    pub(crate) fn push(&mut self, part: HashPart, at: u64, now_ms: u64) {
        self.wheel.get_or_insert_default().push(part, at, now_ms);
    }

    /// Returns when the next item comes up, or `u64::MAX` if there is none.
    pub(crate) fn next(&self) -> u64 {
        let next = self.wheel.as_ref().and_then(|wheel| wheel.next_ms());
        next.unwrap_or(u64::MAX)
    }

    /// Removes and returns an item that has come up at `now_ms`.
    pub(crate) fn pop(&mut self, now_ms: u64) -> Option<HashPart> {
        self.wheel.as_mut()?.pop(now_ms)
    }

    /// Returns the item that a random number selects.
    pub(crate) fn sample(&self, random: u64) -> Option<HashPart> {
        self.wheel.as_ref()?.sample(random)
    }

    /// Returns whether more than two thirds of the items are stale, if `live` keys have an expiry.
    pub(crate) fn is_mostly_stale(&self, live: usize) -> bool {
        let items = self.wheel.as_ref().map_or(0, |wheel| wheel.len());
        items > STALE_MIN + 3 * live
    }

    /// Rebuilds the deadlines from the table. O(entries), which as many stale items make worthwhile.
    pub(crate) fn rebuild(&mut self, table: &Table, hasher: &RandomState, now_ms: u64) {
        *self = Deadlines::default();
        for entry in table.entries() {
            if let Some(at) = entry.due_at() {
                let part = HashPart::new(hash_key(hasher, entry.key()));
                self.push(part, at, now_ms);
            }
        }
    }

    /// Gives back unused memory.
    pub(crate) fn shrink(&mut self) {
        self.wheel = self.wheel.take().filter(|wheel| wheel.len() > 0);
        if let Some(wheel) = &mut self.wheel {
            wheel.shrink();
        }
    }

    /// Returns the bytes allocated.
    pub(crate) fn bytes(&self) -> usize {
        let wheel = self.wheel.as_ref();
        wheel.map_or(0, |wheel| allocated(size_of::<Wheel>()) + wheel.bytes())
    }

    /// Returns the largest possible number of allocations.
    pub(crate) fn allocations(&self) -> usize {
        self.wheel.as_ref().map_or(0, |wheel| 2 + wheel.batches())
    }

    /// Returns whether an item with this part comes up no later than `at`. O(items).
    pub(crate) fn has(&self, part: HashPart, at: u64) -> bool {
        self.wheel.as_ref().is_some_and(|wheel| wheel.has(part, at))
    }
}
