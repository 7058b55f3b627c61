//! A shard under its write lock: every change of an entry goes through here.

mod report;

use core::sync::atomic::Ordering;

use crate::database::{Cleared, Database, Deadlines, Garbage, Side, bump};
use crate::entry::Entry;
use crate::hash::{HashPart, Tag, hash_key};
use crate::observe::{Cause, Unit, Unreported};
use crate::table::{Bucket, Table};

/// A shard under its write lock. It changes entries in the few ways there are, so that counters and
/// deadlines cannot be forgotten; each gives a proof of the change, which only a report consumes
/// (`observe/unreported.rs`), so that watchers and observers cannot be forgotten either.
pub(crate) struct ShardMut<'a> {
    pub(crate) db: &'a Database,
    index: usize,
    side: &'a Side,
    table: &'a mut Table,
    now_ms: u64,
    /// What the changes are part of.
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

    /// The same at this time, for those who write expiries: a deadline is kept the more roughly, the
    /// further off it is.
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

    /// Adds an entry whose key is not in the table.
    pub(crate) fn insert(&mut self, hash: u64, entry: Entry) -> Unreported {
        debug_assert_eq!(hash, self.hash_of(&entry));
        debug_assert_eq!(
            (entry.tag(), self.db.shard_of(hash)),
            (Tag::new(hash), self.index)
        );
        debug_assert!(self.find(Bucket::UNKNOWN, hash, entry.key()).is_none());
        self.report_added(entry.key());
        self.count(0, entry.heap_bytes(), None, entry.expires_at(), hash);
        // A table does not say how large it will be; it doubles at most.
        let (hasher, grown) = (self.db.hasher(), self.table.buckets() * 2);
        self.table
            .insert(hash, entry, |entry| entry.table_hash(hasher, grown));
        self.db.resized(self.index, self.table);
        self.recount();
        Unreported::new()
    }

    /// Changes an entry; `None` if there is none.
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

    /// The same, unless `settle` does all there is to do, without a change of what is counted: the
    /// bytes allocated and the expiry. `None` if there is no entry.
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
        if settle(entry) {
            self.recount();
            return Some(Unreported::new());
        }
        let (bytes, expiry) = (entry.heap_bytes(), entry.expires_at());
        f(entry);
        let (bytes_now, expiry_now) = (entry.heap_bytes(), entry.expires_at());
        self.count(bytes, bytes_now, expiry, expiry_now, hash);
        self.recount();
        Some(Unreported::new())
    }

    /// Removes a key, and gives its entry out.
    pub(crate) fn remove(&mut self, hash: u64, key: &[u8]) -> Option<Entry> {
        let tag = Tag::new(hash);
        let (entry, change) = self.take(hash, |entry| entry.is(tag, key))?;
        self.report_removed(key, change);
        Some(entry)
    }

    /// Removes a key; whether there was one.
    pub(crate) fn delete(&mut self, hash: u64, key: &[u8]) -> bool {
        let entry = self.remove(hash, key);
        let is_removed = entry.is_some();
        entry
            .into_iter()
            .for_each(|entry| self.garbage().discard(entry));
        is_removed
    }

    /// Removes the key as if it were written and expired at once: that counts as a change also if there
    /// is no such key.
    pub(crate) fn remove_surely(&mut self, hash: u64, key: &[u8]) {
        if !self.delete(hash, key) {
            self.report_added(key);
            self.report_removed(key, Unreported::new());
        }
    }

    /// Removes the key if its time has come.
    #[inline(always)]
    pub(crate) fn expire(&mut self, hash: u64, key: &[u8], now_ms: u64) {
        if self.side().expires.load(Ordering::Relaxed) > 0 {
            self.expire_key(hash, key, now_ms);
        }
    }

    #[inline(never)]
    fn expire_key(&mut self, hash: u64, key: &[u8], now_ms: u64) {
        let tag = Tag::new(hash);
        self.expire_where(hash, |entry| entry.is(tag, key) && entry.is_expired(now_ms));
    }

    /// Removes a key that a deadline leads to if its time has come; whether it did, and when the next key
    /// expires that the deadline leads to, if there is one.
    pub(crate) fn expire_part(&mut self, part: HashPart, now_ms: u64) -> (bool, Option<u64>) {
        let [first, second] = self.first_expiries(part);
        let Some(due) = first.filter(|at| *at <= now_ms) else {
            return (false, first);
        };
        let tag = part.tag();
        let is_due = |entry: &Entry| entry.tag() == tag && entry.expires_at() == Some(due);
        let mut hashes = part.table_hashes(self.table.buckets());
        let is_expired = hashes.any(|hash| self.expire_where(hash, is_due));
        (is_expired, second)
    }

    /// The two earliest expiries among the entries that a deadline leads to.
    fn first_expiries(&self, part: HashPart) -> [Option<u64>; 2] {
        let (tag, mut first, mut second) = (part.tag(), u64::MAX, u64::MAX);
        for hash in part.table_hashes(self.table.buckets()) {
            for entry in self.table.met_by(hash) {
                if entry.tag() == tag
                    && let Some(at) = entry.expires_at()
                {
                    (first, second) = (first.min(at), second.min(at.max(first)));
                }
            }
        }
        [first, second].map(|at| (at != u64::MAX).then_some(at))
    }

    fn expire_where(&mut self, hash: u64, wanted: impl Fn(&Entry) -> bool) -> bool {
        let Some((entry, change)) = self.take(hash, wanted) else {
            return false;
        };
        bump(&self.side().expired, 1);
        self.report_lost(entry.key(), Cause::Expiry, change);
        self.garbage().discard(entry);
        true
    }

    /// Removes an entry to make room: the bytes that freed.
    pub(crate) fn evict(&mut self, hash: u64, wanted: impl Fn(&Entry) -> bool) -> Option<usize> {
        let (entry, change) = self.take(hash, wanted)?;
        bump(&self.side().evicted, 1);
        self.report_lost(entry.key(), Cause::Eviction, change);
        let bytes = entry.heap_bytes();
        self.garbage().discard(entry);
        Some(bytes)
    }

    /// An entry with an expiry that a random number chooses; `None` if that hits upon a stale deadline.
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

    /// Takes the whole contents out.
    pub(crate) fn clear(&mut self) -> (Cleared, Unreported) {
        let side = self.side();
        let table = core::mem::take(self.table);
        let deadlines = core::mem::take(&mut *side.deadlines.write());
        side.next_deadline.store(u64::MAX, Ordering::Release);
        for counter in [&side.expires, &side.dataset, &side.index_bytes] {
            counter.store(0, Ordering::Release);
        }
        side.expires_sum.store(0, Ordering::Relaxed);
        bump(&side.changes, table.len() as u64);
        self.db.resized(self.index, self.table);
        side.tell(&self.db.gauge);
        self.recount();
        (Cleared { table, deadlines }, Unreported::new())
    }

    /// Gives back what table and deadlines have beyond their needs.
    pub(crate) fn shrink(&mut self) {
        let (side, hasher) = (self.side(), self.db.hasher());
        let mut deadlines = side.deadlines.write();
        if deadlines.is_mostly_stale(side.expires.load(Ordering::Relaxed)) {
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

    /// Takes an entry out.
    fn take(&mut self, hash: u64, wanted: impl Fn(&Entry) -> bool) -> Option<(Entry, Unreported)> {
        let entry = self.table.remove(hash, wanted)?;
        self.count(entry.heap_bytes(), 0, entry.expires_at(), None, hash);
        self.side().keys.store(self.table.len(), Ordering::Release);
        self.recount();
        Some((entry, Unreported::new()))
    }

    /// In a debug build, holds what is counted against the table.
    #[inline(always)]
    fn recount(&self) {
        self.db.recount(self.index, self.table);
    }

    /// In a debug build, holds the deadlines, which are locked, against the table.
    #[inline(always)]
    pub(crate) fn recount_deadlines(&self, deadlines: &Deadlines) {
        self.db.recount_deadlines(self.index, self.table, deadlines);
    }

    /// Accounts for an entry whose heap bytes and expiry went from the old to the new.
    #[inline]
    fn count(
        &mut self,
        bytes: usize,
        bytes_now: usize,
        expiry: Option<u64>,
        expiry_now: Option<u64>,
        hash: u64,
    ) {
        let side = self.side();
        if bytes != bytes_now {
            let dataset = side.dataset.load(Ordering::Relaxed) + bytes_now - bytes;
            side.dataset.store(dataset, Ordering::Relaxed);
            side.tell(&self.db.gauge);
        }
        if expiry == expiry_now {
            return;
        }
        let count = side.expires.load(Ordering::Relaxed) + usize::from(expiry_now.is_some());
        side.expires
            .store(count - usize::from(expiry.is_some()), Ordering::Release);
        let sum = side
            .expires_sum
            .load(Ordering::Relaxed)
            .wrapping_add(expiry_now.unwrap_or(0));
        side.expires_sum
            .store(sum.wrapping_sub(expiry.unwrap_or(0)), Ordering::Relaxed);
        // The item of an expiry that is put off comes up in time.
        if let Some(at) = expiry_now
            && expiry.is_none_or(|before| at < before)
        {
            self.schedule(at, hash);
        }
    }

    #[inline(never)]
    fn schedule(&mut self, at: u64, hash: u64) {
        let side = self.side();
        let mut deadlines = side.deadlines.write();
        if deadlines.is_mostly_stale(side.expires.load(Ordering::Relaxed)) {
            deadlines.rebuild(self.table, self.db.hasher(), self.now_ms);
        }
        deadlines.push(HashPart::new(hash), at, self.now_ms);
        side.note_deadlines(&deadlines, &self.db.gauge);
        self.recount_deadlines(&deadlines);
    }
}

impl Database {
    /// The shard, ready to be changed through `table`, which must be its own, in this unit.
    #[inline]
    pub(crate) fn shard<'a>(
        &'a self,
        index: usize,
        table: &'a mut Table,
        unit: &'a Unit,
    ) -> ShardMut<'a> {
        ShardMut::new(self, index, table, unit)
    }

    /// Locks a shard for writing, as a unit of its own, and lends it to `f`.
    pub(crate) fn with_shard<R>(&self, index: usize, f: impl FnOnce(ShardMut<'_>) -> R) -> R {
        let unit = Unit::default();
        let mut table = self.lock(index).write();
        let _ending = unit.ending();
        f(self.shard(index, &mut table, &unit))
    }
}
