//! The deadlines of a shard: they lead the sweep to the keys whose time has come.
//!
//! A deadline is an item in a [`Wheel`] that leads to an entry, which knows exactly when it expires. For
//! every entry with an expiry, some item that leads to it comes up no later than that. Hence:
//!
//! - only an expiry that is new, or earlier than it was, needs a new item. One that is put off does not: its
//!   item comes up early, and is put where it belongs then;
//! - nothing is done about the item of a key that is removed, or no longer expires: it leads to nothing when
//!   it comes up, and is dropped;
//! - several entries may share one item's part of the hash. When it comes up, at most one of them is removed,
//!   and the item is put back at the *earliest* expiry among the others. That is early enough for each of
//!   them, so it does not matter which of them an item was made for, nor how many items they have.

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

/// Below this many items, stale ones are not worth the trouble.
const STALE_MIN: usize = 64;

impl Deadlines {
    pub(crate) fn push(&mut self, part: HashPart, at: u64, now_ms: u64) {
        self.wheel.get_or_insert_default().push(part, at, now_ms);
    }

    /// When the next item comes up, or `u64::MAX`.
    pub(crate) fn next(&self) -> u64 {
        let next = self.wheel.as_ref().and_then(|wheel| wheel.next_ms());
        next.unwrap_or(u64::MAX)
    }

    /// Takes an item that has come up at `now_ms`.
    pub(crate) fn pop(&mut self, now_ms: u64) -> Option<HashPart> {
        self.wheel.as_mut()?.pop(now_ms)
    }

    /// The item that a random number chooses.
    pub(crate) fn sample(&self, random: u64) -> Option<HashPart> {
        self.wheel.as_ref()?.sample(random)
    }

    /// Whether more than two thirds of the items are stale, `live` keys having an expiry.
    pub(crate) fn is_mostly_stale(&self, live: usize) -> bool {
        let items = self.wheel.as_ref().map_or(0, |wheel| wheel.len());
        items > STALE_MIN + 3 * live
    }

    /// Starts again from the table. O(its entries), paid for by as many stale items.
    pub(crate) fn rebuild(&mut self, table: &Table, hasher: &RandomState, now_ms: u64) {
        *self = Deadlines::default();
        for entry in table.entries() {
            if let Some(at) = entry.expires_at() {
                let part = HashPart::new(hash_key(hasher, entry.key()));
                self.push(part, at, now_ms);
            }
        }
    }

    /// Gives back the room that is not used.
    pub(crate) fn shrink(&mut self) {
        self.wheel = self.wheel.take().filter(|wheel| wheel.len() > 0);
        if let Some(wheel) = &mut self.wheel {
            wheel.shrink();
        }
    }

    /// Bytes allocated.
    pub(crate) fn bytes(&self) -> usize {
        let wheel = self.wheel.as_ref();
        wheel.map_or(0, |wheel| allocated(size_of::<Wheel>()) + wheel.bytes())
    }

    /// Allocations they consist of, at most.
    pub(crate) fn allocations(&self) -> usize {
        self.wheel.as_ref().map_or(0, |wheel| 2 + wheel.batches())
    }

    /// Whether an item leads to such an entry no later than at `at`. O(items).
    pub(crate) fn has(&self, part: HashPart, at: u64) -> bool {
        self.wheel.as_ref().is_some_and(|wheel| wheel.has(part, at))
    }
}
