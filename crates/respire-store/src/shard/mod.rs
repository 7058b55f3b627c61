//! A shard under its write lock. Every change of an entry goes through this module.

mod cut;
mod expire;
mod load;
mod lock;
mod report;

use core::sync::atomic::Ordering;

use crate::database::{Cleared, Database, Deadlines, Garbage, Side, bump};
use crate::entry::Entry;
use crate::hash::{HashPart, Tag, hash_key};
use crate::observe::{CUT, Cause, Unit, Unreported};
use crate::table::{Bucket, Table};

pub(crate) use load::Loaded;
pub(crate) use lock::{Mode, Reading, Writing, try_soon};

/// When an entry expires, and when it has to be looked at next.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Times {
    expires_at: Option<u64>,
    due_at: Option<u64>,
}

impl Times {
    const NONE: Times = Times {
        expires_at: None,
        due_at: None,
    };

    #[inline(always)]
    fn of(entry: &Entry) -> Times {
        Times {
            expires_at: entry.expires_at(),
            due_at: entry.due_at(),
        }
    }
}

/// A shard under its write lock. It is the only way to change entries, so that every change updates the
/// counters and deadlines. Each change returns a proof that only a report consumes
/// (`observe/unreported.rs`), so that every change is reported to watches and observers.
pub(crate) struct ShardMut<'a> {
    pub(crate) db: &'a Database,
    index: usize,
    side: &'a Side,
    table: &'a mut Table,
    now_ms: u64,
    /// The unit of the changes.
    pub(crate) unit: &'a Unit,
}

impl<'a> ShardMut<'a> {
    #[inline]
    pub(crate) fn new(
        db: &'a Database,
        index: usize,
        table: &'a mut Table,
        unit: &'a Unit,
    ) -> ShardMut<'a> {
        ShardMut {
            db,
            index,
            side: db.side(index),
            table,
            now_ms: 0,
            unit,
        }
    }

    /// Returns the same with the time set. It is needed before an expiry is written: the further away a
    /// deadline is, the more roughly it is kept.
    #[inline]
    pub(crate) fn at(self, now_ms: u64) -> ShardMut<'a> {
        ShardMut { now_ms, ..self }
    }

    #[inline]
    pub(crate) fn side(&self) -> &'a Side {
        self.side
    }

    pub(crate) fn garbage(&self) -> &'a Garbage {
        &self.db.garbage
    }

    pub(crate) fn table(&self) -> &Table {
        self.table
    }

    #[inline]
    pub(crate) fn find(&self, bucket: Bucket, hash: u64, key: &[u8]) -> Option<&Entry> {
        bucket.find(self.table, hash, key)
    }

    /// Adds an entry whose key must not be in the table.
    pub(crate) fn insert(&mut self, hash: u64, entry: Entry) -> Unreported {
        debug_assert_eq!(hash, self.hash_of(&entry));
        debug_assert_eq!(
            (entry.tag(), self.db.shard_of(hash)),
            (Tag::new(hash), self.index)
        );
        debug_assert!(self.find(Bucket::UNKNOWN, hash, entry.key()).is_none());
        self.report_added(entry.key());
        self.count(0, entry.heap_bytes(), Times::NONE, Times::of(&entry), hash);
        // The table's size after growing is unknown here; it at most doubles.
        let (hasher, grown) = (self.db.hasher(), self.table.buckets() * 2);
        self.table
            .insert(hash, entry, |entry| entry.table_hash(hasher, grown));
        self.db.resized(self.index, self.table);
        self.recount();
        Unreported::new()
    }

    /// Changes an entry; `None` if the key does not exist.
    #[inline]
    pub(crate) fn modify<R>(
        &mut self,
        bucket: Bucket,
        hash: u64,
        key: &[u8],
        f: impl FnOnce(&mut Entry) -> R,
    ) -> Option<(R, Unreported)> {
        let mut answer = None;
        let change = self.modify_unless(
            bucket,
            hash,
            key,
            |_| false,
            |entry| answer = Some(f(entry)),
        )?;
        answer.map(|answer| (answer, change))
    }

    /// Changes an entry by `settle` or, if it returns false, by `f`. `settle` must change neither the
    /// allocated bytes nor the expiry, as nothing is counted after it. `None` if the key does not exist.
    #[inline]
    pub(crate) fn modify_unless(
        &mut self,
        bucket: Bucket,
        hash: u64,
        key: &[u8],
        settle: impl FnOnce(&mut Entry) -> bool,
        f: impl FnOnce(&mut Entry),
    ) -> Option<Unreported> {
        let entry = bucket.find_mut(self.table, hash, key)?;
        if self.side.hooks.has(CUT) {
            cut::keep(self.db, self.unit, entry);
        }
        if settle(entry) {
            self.recount();
            return Some(Unreported::new());
        }
        let (bytes, times) = (entry.heap_bytes(), Times::of(entry));
        f(entry);
        let (bytes_now, times_now) = (entry.heap_bytes(), Times::of(entry));
        self.count(bytes, bytes_now, times, times_now, hash);
        self.recount();
        Some(Unreported::new())
    }

    /// Removes a key, and returns its entry.
    pub(crate) fn remove(&mut self, hash: u64, key: &[u8]) -> Option<Entry> {
        let tag = Tag::new(hash);
        let (entry, change) = self.take(hash, |entry| entry.is(tag, key))?;
        self.report_removed(key, change);
        Some(entry)
    }

    /// Removes a key, and returns whether it existed.
    pub(crate) fn delete(&mut self, hash: u64, key: &[u8]) -> bool {
        let entry = self.remove(hash, key);
        let is_removed = entry.is_some();
        entry
            .into_iter()
            .for_each(|entry| self.garbage().discard(entry));
        is_removed
    }

    /// Removes a key as if it had been written and had expired at once: this counts as a change even if the
    /// key does not exist.
    pub(crate) fn remove_surely(&mut self, hash: u64, key: &[u8]) {
        if !self.delete(hash, key) {
            self.report_added(key);
            self.report_removed(key, Unreported::new());
        }
    }

    /// Evicts an entry, and returns the bytes that this freed.
    pub(crate) fn evict(&mut self, hash: u64, wanted: impl Fn(&Entry) -> bool) -> Option<usize> {
        let (entry, change) = self.take(hash, wanted)?;
        bump(&self.side().evicted, 1);
        self.report_lost(entry.key(), Cause::Eviction, change);
        let bytes = entry.heap_bytes();
        self.garbage().discard(entry);
        Some(bytes)
    }

    /// Returns an entry with an expiry, chosen by a random number; `None` if the number selects a stale
    /// deadline.
    pub(crate) fn sample_expiring(&self, random: u64) -> Option<&Entry> {
        let part = self.side().deadlines.read().sample(random)?;
        let tag = part.tag();
        let mut hashes = part.table_hashes(self.table.buckets());
        hashes.find_map(|hash| {
            self.table.find(hash, |entry| {
                entry.tag() == tag && entry.expires_at().is_some()
            })
        })
    }

    pub(crate) fn hash_of(&self, entry: &Entry) -> u64 {
        hash_key(self.db.hasher(), entry.key())
    }

    /// Removes and returns all entries and deadlines.
    pub(crate) fn clear(&mut self) -> (Cleared, Unreported) {
        let side = self.side();
        let table = core::mem::take(self.table);
        let deadlines = core::mem::take(&mut *side.deadlines.write());
        side.next_deadline.store(u64::MAX, Ordering::Release);
        for counter in [&side.timed, &side.expires, &side.dataset, &side.index_bytes] {
            counter.store(0, Ordering::Release);
        }
        side.expires_sum.store(0, Ordering::Relaxed);
        bump(&side.changes, table.len() as u64);
        self.db.resized(self.index, self.table);
        side.tell(&self.db.gauge);
        self.recount();
        (Cleared { table, deadlines }, Unreported::new())
    }

    /// Gives back memory that the table and the deadlines do not need.
    pub(crate) fn shrink(&mut self) {
        let (side, hasher) = (self.side(), self.db.hasher());
        let mut deadlines = side.deadlines.write();
        if deadlines.is_mostly_stale(side.timed.load(Ordering::Relaxed)) {
            deadlines.rebuild(self.table, hasher, self.now_ms);
        }
        deadlines.shrink();
        side.note_deadlines(&deadlines, &self.db.gauge);
        let buckets = self.table.buckets();
        self.table.shrink_to(self.table.len() * 2, |entry| {
            entry.table_hash(hasher, buckets)
        });
        self.db.resized(self.index, self.table);
        self.recount();
        self.recount_deadlines(&deadlines);
    }

    /// Removes an entry from the table, without a report.
    fn take(&mut self, hash: u64, wanted: impl Fn(&Entry) -> bool) -> Option<(Entry, Unreported)> {
        let mut entry = self.table.remove(hash, wanted)?;
        self.count(entry.heap_bytes(), 0, Times::of(&entry), Times::NONE, hash);
        if self.side.hooks.has(CUT) {
            cut::keep(self.db, self.unit, &mut entry);
        }
        self.side().keys.store(self.table.len(), Ordering::Release);
        self.recount();
        Some((entry, Unreported::new()))
    }

    /// In a debug build, checks the counters against the table.
    #[inline(always)]
    fn recount(&self) {
        self.db.recount(self.index, self.table);
    }

    /// In a debug build, checks the deadlines, which are locked, against the table.
    #[inline(always)]
    pub(crate) fn recount_deadlines(&self, deadlines: &Deadlines) {
        self.db.recount_deadlines(self.index, self.table, deadlines);
    }

    /// Updates the counters for an entry whose heap bytes and expiry have changed, and adds a deadline if the
    /// expiry is new or earlier.
    #[inline]
    fn count(&mut self, bytes: usize, bytes_now: usize, times: Times, times_now: Times, hash: u64) {
        let side = self.side();
        if bytes != bytes_now {
            let dataset = side.dataset.load(Ordering::Relaxed) + bytes_now - bytes;
            side.dataset.store(dataset, Ordering::Relaxed);
            side.tell(&self.db.gauge);
        }
        if times == times_now {
            return;
        }
        let timed = side.timed.load(Ordering::Relaxed) + usize::from(times_now.due_at.is_some());
        side.timed.store(
            timed - usize::from(times.due_at.is_some()),
            Ordering::Release,
        );
        let (expiry, expiry_now) = (times.expires_at, times_now.expires_at);
        let count = side.expires.load(Ordering::Relaxed) + usize::from(expiry_now.is_some());
        side.expires
            .store(count - usize::from(expiry.is_some()), Ordering::Release);
        let sum = side
            .expires_sum
            .load(Ordering::Relaxed)
            .wrapping_add(expiry_now.unwrap_or(0));
        side.expires_sum
            .store(sum.wrapping_sub(expiry.unwrap_or(0)), Ordering::Relaxed);
        // If the entry is due later than before, the earlier deadline finds it in time.
        if let Some(at) = times_now.due_at
            && times.due_at.is_none_or(|before| at < before)
        {
            self.schedule(at, hash);
        }
    }

    #[inline(never)]
    fn schedule(&mut self, at: u64, hash: u64) {
        let side = self.side();
        let mut deadlines = side.deadlines.write();
        if deadlines.is_mostly_stale(side.timed.load(Ordering::Relaxed)) {
            deadlines.rebuild(self.table, self.db.hasher(), self.now_ms);
        }
        deadlines.push(HashPart::new(hash), at, self.now_ms);
        side.note_deadlines(&deadlines, &self.db.gauge);
        self.recount_deadlines(&deadlines);
    }
}

impl Database {
    /// Returns the shard for changing it in this unit; `table` must be the shard's own.
    #[inline]
    pub(crate) fn shard<'a>(
        &'a self,
        index: usize,
        table: &'a mut Table,
        unit: &'a Unit,
    ) -> ShardMut<'a> {
        ShardMut::new(self, index, table, unit)
    }

    /// Locks a shard for writing and calls `f` with it, as a unit of its own. Returns `None` if the shard is
    /// locked: this is for upkeep, which waits for no shard.
    pub(crate) fn try_with_shard<R>(
        &self,
        index: usize,
        f: impl FnOnce(ShardMut<'_>) -> R,
    ) -> Option<R> {
        let unit = Unit::default();
        let mut table = Writing::try_lock(self.lock(index))?;
        let _ending = unit.ending();
        Some(f(self.shard(index, &mut table, &unit)))
    }
}
