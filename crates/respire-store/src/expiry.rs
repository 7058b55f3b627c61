//! Keys whose time has come: the deadlines of a shard in order, and the sweep that follows them.
//!
//! Whether a key has expired is decided when it is read; the sweep only frees memory.

use core::cmp::Reverse;
use core::sync::atomic::Ordering;
use std::collections::BinaryHeap;

use ahash::RandomState;

use crate::database::{Database, Table};
use crate::hash::hash_key;
use crate::raw;
use crate::store::Store;

/// The deadlines of a shard, soonest first, each with the hash of its key. Items whose key has
/// changed since are left in place and recognised when they come up.
#[derive(Default)]
pub(crate) struct Deadlines {
    heap: BinaryHeap<Reverse<(u64, u64)>>,
}

/// Below this many items, stale ones are not worth the trouble.
const STALE_MIN: usize = 64;

impl Deadlines {
    pub(crate) fn push(&mut self, at: u64, hash: u64) {
        self.heap.push(Reverse((at, hash)));
    }

    /// The next deadline, or `u64::MAX`.
    pub(crate) fn next(&self) -> u64 {
        self.heap.peek().map_or(u64::MAX, |Reverse((at, _))| *at)
    }

    /// Takes an item that was due at `now_ms`; its hash.
    pub(crate) fn pop_due(&mut self, now_ms: u64) -> Option<u64> {
        if self.next() > now_ms {
            return None;
        }
        self.heap.pop().map(|Reverse((_, hash))| hash)
    }

    /// The hash of the item that a random number chooses.
    pub(crate) fn sample(&self, random: u64) -> Option<u64> {
        let items = self.heap.as_slice();
        let at = random.checked_rem(items.len() as u64)?;
        items.get(at as usize).map(|Reverse((_, hash))| *hash)
    }

    /// Whether more than two thirds of the items are stale, `live` keys having an expiry.
    pub(crate) fn is_mostly_stale(&self, live: usize) -> bool {
        self.heap.len() > STALE_MIN + 3 * live
    }

    /// Starts again from the table. O(its entries), paid for by as many stale items.
    pub(crate) fn rebuild(&mut self, table: &Table, hasher: &RandomState) {
        let due = raw::entries(table).filter_map(|entry| Some((entry.expires_at()?, entry.key())));
        self.heap = due
            .map(|(at, key)| Reverse((at, hash_key(hasher, key))))
            .collect();
    }

    /// Gives back most of the room that is not used.
    pub(crate) fn shrink(&mut self) {
        self.heap.shrink_to(self.heap.len() * 2);
    }

    pub(crate) fn bytes(&self) -> usize {
        self.heap.capacity() * size_of::<Reverse<(u64, u64)>>()
    }
}

/// What [`Store::sweep`] did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Swept {
    /// Keys removed because their time had come.
    pub expired: usize,
    /// Whether every due key has been removed and what was removed before has been freed;
    /// otherwise the budget was used up and the sweep should be called again soon.
    pub finished: bool,
    /// When the next key is due, in unix milliseconds, if any has an expiry. It may be too early,
    /// where a key's expiry has been put off, but never too late.
    pub next_ms: Option<u64>,
}

/// Keys freed for each deadline that might be looked at: it is so much less work.
pub(crate) const FREED_PER_DEADLINE: usize = 4;

/// Deadlines looked at before a shard's lock is let go.
const HOLD_MAX: usize = 64;

/// A shard is shrunk when its table has more than this many buckets for each key, or its index
/// this many bytes for each key with an expiry, not counting the first few.
const SHRINK_BUCKETS_PER_KEY: usize = 16;
const SHRINK_INDEX_BYTES_PER_KEY: usize = 256;
const SHRINK_BUCKETS_MIN: usize = 64;
const SHRINK_INDEX_BYTES_MIN: usize = 4096;

impl Store {
    /// Removes keys whose time has come, looking at no more than `budget` deadlines; frees some of
    /// what [`Freeing::InSteps`](crate::Freeing) left to it, which takes no longer; and gives back
    /// the memory of at most one table that has become much too large. Keys that are not due
    /// cost nothing; no more than one shard is locked at a time, and never for long.
    ///
    /// Call it from time to time: when [`Swept::next_ms`] has come, or again at once if it was not
    /// [finished](Swept::finished). The work goes round the shards, so none is starved.
    pub fn sweep(&self, now_ms: u64, budget: usize) -> Swept {
        let mut swept = Swept::default();
        let is_clean = self
            .garbage()
            .free(budget.saturating_mul(FREED_PER_DEADLINE));
        if !self.active_expiry() {
            return Swept {
                finished: is_clean,
                ..swept
            };
        }
        let shards = self.shards();
        let places = self.databases() as usize * shards;
        let start = self.sweep_from.load(Ordering::Relaxed);
        let (mut left, mut may_shrink) = (budget, true);
        for place in (start..places).chain(0..start.min(places)) {
            let Some(db) = self.existing_database((place / shards) as u32) else {
                continue;
            };
            let index = place % shards;
            while left > 0 && db.side(index).next_deadline.load(Ordering::Acquire) <= now_ms {
                let (looked_at, expired) = sweep_shard(db, index, now_ms, left.min(HOLD_MAX));
                left -= looked_at.clamp(1, left);
                swept.expired += expired;
            }
            if may_shrink && is_too_large(db, index) {
                db.shard(index, &mut db.lock(index).write()).shrink();
                may_shrink = false;
            }
            if left == 0 {
                self.sweep_from.store(place + 1, Ordering::Relaxed);
                break;
            }
        }
        let deadlines = self
            .existing()
            .flat_map(Database::sides)
            .map(|side| side.next_deadline.load(Ordering::Acquire));
        let next = deadlines.min().unwrap_or(u64::MAX);
        swept.finished = is_clean && next > now_ms;
        swept.next_ms = (next != u64::MAX).then_some(next);
        swept
    }
}

/// Looks at up to `count` deadlines of a shard: how many were due, and how many keys that removed.
fn sweep_shard(db: &Database, index: usize, now_ms: u64, count: usize) -> (usize, usize) {
    let mut table = db.lock(index).write();
    let mut shard = db.shard(index, &mut table);
    let mut deadlines = db.side(index).deadlines.write();
    let (mut looked_at, mut expired) = (0, 0);
    while looked_at < count
        && let Some(hash) = deadlines.pop_due(now_ms)
    {
        looked_at += 1;
        expired += usize::from(shard.expire_any(hash, now_ms));
    }
    db.side(index)
        .next_deadline
        .store(deadlines.next(), Ordering::Release);
    (looked_at, expired)
}

/// Whether a shard's table or index has far more room than it needs. Looks at counters only.
fn is_too_large(db: &Database, index: usize) -> bool {
    let side = db.side(index);
    let (keys, expires) = (
        side.keys.load(Ordering::Relaxed),
        side.expires.load(Ordering::Relaxed),
    );
    side.buckets() > SHRINK_BUCKETS_MIN + keys * SHRINK_BUCKETS_PER_KEY
        || side.index_bytes.load(Ordering::Relaxed)
            > SHRINK_INDEX_BYTES_MIN + expires * SHRINK_INDEX_BYTES_PER_KEY
}

#[cfg(test)]
mod tests;
