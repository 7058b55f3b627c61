//! One database: DashMap's shards, and beside each shard what is counted about it.

use core::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::Arc;

use ahash::RandomState;
use dashmap::{DashMap, RwLock, SharedValue};
use hashbrown::raw::RawTable;

use crate::entry::{Entry, SLOT_BYTES, Tag, hash_key};
use crate::expiry::Deadlines;
use crate::watch::Watches;

/// The entries of one shard.
pub(crate) type Table = RawTable<(Entry, SharedValue<()>)>;

/// One database. Its shards are DashMap's; none of DashMap's own methods is used to reach an
/// entry, as the hash is computed once per request and carried along.
pub(crate) struct Database {
    map: DashMap<Entry, (), RandomState>,
    sides: Box<[Side]>,
    pub(crate) watches: Arc<Watches>,
    /// Bytes used by all databases, kept roughly ([`GAUGE_STEP`]).
    gauge: Arc<AtomicUsize>,
}

/// What is known about a shard beside its table. Everything is written under the shard's write
/// lock only, so plain loads and stores suffice; anyone may read.
#[repr(align(128))]
pub(crate) struct Side {
    /// Entries in the table.
    pub(crate) keys: AtomicUsize,
    /// Entries with an expiry.
    pub(crate) expires: AtomicUsize,
    /// Sum of those expiries, modulo 2^64.
    pub(crate) expires_sum: AtomicU64,
    /// [`Entry::heap_bytes`] of all entries.
    pub(crate) dataset: AtomicUsize,
    /// Bytes of the table.
    table_bytes: AtomicUsize,
    /// Bytes of the deadlines.
    index_bytes: AtomicUsize,
    /// What the gauge has been told of these bytes.
    told: AtomicUsize,
    pub(crate) changes: AtomicU64,
    pub(crate) expired: AtomicU64,
    pub(crate) evicted: AtomicU64,
    /// No key is due before this.
    pub(crate) next_deadline: AtomicU64,
    /// State of a generator of random numbers; readers share it without care.
    pub(crate) random: AtomicU64,
    /// Locked only by who holds the shard's write lock, so never waited for.
    pub(crate) deadlines: RwLock<Deadlines>,
}

/// A shard tells the gauge when its bytes have changed by this much: a shared counter written by
/// every request would cost more than the map itself.
pub(crate) const GAUGE_STEP: usize = 4096;

impl Side {
    fn new(seed: u64) -> Side {
        Side {
            keys: AtomicUsize::new(0),
            expires: AtomicUsize::new(0),
            expires_sum: AtomicU64::new(0),
            dataset: AtomicUsize::new(0),
            table_bytes: AtomicUsize::new(0),
            index_bytes: AtomicUsize::new(0),
            told: AtomicUsize::new(0),
            changes: AtomicU64::new(0),
            expired: AtomicU64::new(0),
            evicted: AtomicU64::new(0),
            next_deadline: AtomicU64::new(u64::MAX),
            random: AtomicU64::new(seed),
            deadlines: RwLock::new(Deadlines::default()),
        }
    }

    /// A random number, good enough to sample with.
    pub(crate) fn random(&self) -> u64 {
        let state = self
            .random
            .load(Ordering::Relaxed)
            .wrapping_add(0x9e37_79b9_7f4a_7c15);
        self.random.store(state, Ordering::Relaxed);
        mix(state)
    }

    /// Bytes of table and deadlines.
    pub(crate) fn overhead(&self) -> usize {
        self.table_bytes.load(Ordering::Relaxed) + self.index_bytes.load(Ordering::Relaxed)
    }

    /// Bytes of the deadlines.
    pub(crate) fn index_bytes(&self) -> usize {
        self.index_bytes.load(Ordering::Relaxed)
    }

    /// Buckets of the table.
    pub(crate) fn buckets(&self) -> usize {
        self.table_bytes.load(Ordering::Relaxed) / SLOT_BYTES
    }

    /// The counters that describe the table's contents and go where it goes.
    fn contents(&self) -> [&AtomicUsize; 6] {
        [
            &self.keys,
            &self.expires,
            &self.dataset,
            &self.table_bytes,
            &self.index_bytes,
            &self.told,
        ]
    }
}

/// The output function of SplitMix64.
pub(crate) fn mix(state: u64) -> u64 {
    let state = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let state = (state ^ (state >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    state ^ (state >> 31)
}

impl Database {
    pub(crate) fn new(
        shards: usize,
        capacity: usize,
        hasher: RandomState,
        gauge: Arc<AtomicUsize>,
    ) -> Database {
        let map = DashMap::with_capacity_and_hasher_and_shard_amount(capacity, hasher, shards);
        let sides = (0..shards as u64)
            .map(|shard| Side::new(mix(shard)))
            .collect();
        let mut db = Database {
            map,
            sides,
            watches: Arc::new(Watches::new(shards)),
            gauge,
        };
        for index in 0..shards {
            let mut table = core::mem::take(db.map.shards_mut()[index].get_mut());
            db.shard(index, &mut table).resized();
            *db.map.shards_mut()[index].get_mut() = table;
        }
        db
    }

    pub(crate) fn lock(&self, shard: usize) -> &RwLock<Table> {
        &self.map.shards()[shard]
    }

    pub(crate) fn side(&self, shard: usize) -> &Side {
        &self.sides[shard]
    }

    pub(crate) fn sides(&self) -> &[Side] {
        &self.sides
    }

    pub(crate) fn shard_of(&self, hash: u64) -> usize {
        self.map.determine_shard(hash as usize)
    }

    pub(crate) fn hasher(&self) -> &RandomState {
        self.map.hasher()
    }

    pub(crate) fn keys(&self) -> usize {
        self.sides
            .iter()
            .map(|side| side.keys.load(Ordering::Acquire))
            .sum()
    }

    /// The shard, ready to be changed through `table`, which must be its own.
    pub(crate) fn shard<'a>(&'a self, index: usize, table: &'a mut Table) -> ShardMut<'a> {
        ShardMut {
            db: self,
            index,
            table,
        }
    }

    /// Exchanges what is counted about a shard with another database's, as their tables are.
    pub(crate) fn swap_side(&self, other: &Database, shard: usize) {
        let (ours, theirs) = (self.side(shard), other.side(shard));
        for (a, b) in ours.contents().into_iter().zip(theirs.contents()) {
            b.store(
                a.swap(b.load(Ordering::Relaxed), Ordering::Release),
                Ordering::Release,
            );
        }
        for (a, b) in [
            (&ours.expires_sum, &theirs.expires_sum),
            (&ours.next_deadline, &theirs.next_deadline),
        ] {
            b.store(
                a.swap(b.load(Ordering::Relaxed), Ordering::Release),
                Ordering::Release,
            );
        }
        core::mem::swap(&mut *ours.deadlines.write(), &mut *theirs.deadlines.write());
    }
}

/// A shard under its write lock: every change of an entry goes through here, so that counters,
/// deadlines and watches cannot be forgotten.
pub(crate) struct ShardMut<'a> {
    db: &'a Database,
    index: usize,
    table: &'a mut Table,
}

pub(crate) fn find<'t>(table: &'t Table, hash: u64, key: &[u8]) -> Option<&'t Entry> {
    let tag = Tag::new(hash);
    table
        .get(hash, |(entry, _)| entry.is(tag, key))
        .map(|(entry, _)| entry)
}

impl<'a> ShardMut<'a> {
    pub(crate) fn side(&self) -> &'a Side {
        self.db.side(self.index)
    }

    pub(crate) fn table(&self) -> &Table {
        self.table
    }

    pub(crate) fn find(&self, hash: u64, key: &[u8]) -> Option<&Entry> {
        find(self.table, hash, key)
    }

    /// Adds an entry whose key is not in the table.
    pub(crate) fn insert(&mut self, hash: u64, entry: Entry) {
        self.count(0, entry.heap_bytes(), None, entry.expires_at(), hash);
        self.changed(entry.key());
        // hashbrown does not say how large the table will be; it doubles at most.
        let (hasher, grown) = (self.db.hasher(), self.table.buckets() * 2);
        self.table
            .insert(hash, (entry, SharedValue::new(())), |(entry, _)| {
                entry.table_hash(hasher, grown)
            });
        self.resized();
    }

    /// Changes an entry; `None` if there is none.
    pub(crate) fn modify<R>(
        &mut self,
        hash: u64,
        key: &[u8],
        f: impl FnOnce(&mut Entry) -> R,
    ) -> Option<R> {
        let tag = Tag::new(hash);
        let (entry, _) = self.table.get_mut(hash, |(entry, _)| entry.is(tag, key))?;
        let (bytes, expiry) = (entry.heap_bytes(), entry.expires_at());
        let answer = f(entry);
        let (bytes_now, expiry_now) = (entry.heap_bytes(), entry.expires_at());
        self.count(bytes, bytes_now, expiry, expiry_now, hash);
        self.changed(key);
        Some(answer)
    }

    pub(crate) fn remove(&mut self, hash: u64, key: &[u8]) -> Option<Entry> {
        let tag = Tag::new(hash);
        let entry = self.take(hash, |entry| entry.is(tag, key))?;
        self.changed(key);
        Some(entry)
    }

    /// Removes the key if its time has come.
    pub(crate) fn expire(&mut self, hash: u64, key: &[u8], now_ms: u64) {
        if self.side().expires.load(Ordering::Relaxed) > 0 {
            let tag = Tag::new(hash);
            self.expire_where(hash, |entry| entry.is(tag, key) && entry.is_expired(now_ms));
        }
    }

    /// Removes a key of that hash whose time has come.
    pub(crate) fn expire_any(&mut self, hash: u64, now_ms: u64) -> bool {
        self.expire_where(hash, |entry| entry.is_expired(now_ms))
    }

    fn expire_where(&mut self, hash: u64, wanted: impl Fn(&Entry) -> bool) -> bool {
        let Some(entry) = self.take(hash, wanted) else {
            return false;
        };
        bump(&self.side().expired, 1);
        self.db.watches.touch_removed(self.index, entry.key());
        true
    }

    /// Removes an entry to make room: the bytes that freed.
    pub(crate) fn evict(&mut self, hash: u64, wanted: impl Fn(&Entry) -> bool) -> Option<usize> {
        let entry = self.take(hash, wanted)?;
        bump(&self.side().evicted, 1);
        self.db.watches.touch(self.index, entry.key());
        Some(entry.heap_bytes())
    }

    /// An entry with an expiry that a random number chooses; `None` if that hits upon a stale deadline.
    pub(crate) fn sample_expiring(&self, random: u64) -> Option<&Entry> {
        let hash = self.side().deadlines.read().sample(random)?;
        let tag = Tag::new(hash);
        let found = self.table.get(hash, |(entry, _)| {
            entry.tag() == tag && entry.expires_at().is_some()
        });
        found.map(|(entry, _)| entry)
    }

    pub(crate) fn hash_of(&self, entry: &Entry) -> u64 {
        hash_key(self.db.hasher(), entry.key())
    }

    /// Takes the whole table out. The caller tells the watches.
    pub(crate) fn clear(&mut self) -> Table {
        let side = self.side();
        let table = core::mem::take(self.table);
        *side.deadlines.write() = Deadlines::default();
        side.next_deadline.store(u64::MAX, Ordering::Release);
        for counter in [&side.expires, &side.dataset, &side.index_bytes] {
            counter.store(0, Ordering::Release);
        }
        side.expires_sum.store(0, Ordering::Relaxed);
        bump(&side.changes, table.len() as u64);
        self.resized();
        table
    }

    /// Gives back what table and deadlines have beyond their needs.
    pub(crate) fn shrink(&mut self) {
        let (side, hasher) = (self.side(), self.db.hasher());
        let mut deadlines = side.deadlines.write();
        if deadlines.is_mostly_stale(side.expires.load(Ordering::Relaxed)) {
            deadlines.rebuild(self.table, hasher);
            side.next_deadline
                .store(deadlines.next(), Ordering::Release);
        }
        deadlines.shrink();
        side.index_bytes.store(deadlines.bytes(), Ordering::Relaxed);
        let buckets = self.table.buckets();
        self.table.shrink_to(self.table.len() * 2, |(entry, _)| {
            entry.table_hash(hasher, buckets)
        });
        self.resized();
    }

    /// Brings the counters up to date with the table's size.
    fn resized(&self) {
        let side = self.side();
        side.keys.store(self.table.len(), Ordering::Release);
        let bytes = table_bytes(self.table);
        if bytes != side.table_bytes.load(Ordering::Relaxed) {
            side.table_bytes.store(bytes, Ordering::Relaxed);
            self.tell();
        }
    }

    /// Takes an entry out without a word to the watches.
    fn take(&mut self, hash: u64, wanted: impl Fn(&Entry) -> bool) -> Option<Entry> {
        let (entry, _) = self.table.remove_entry(hash, |(entry, _)| wanted(entry))?;
        self.count(entry.heap_bytes(), 0, entry.expires_at(), None, hash);
        self.side().keys.store(self.table.len(), Ordering::Release);
        Some(entry)
    }

    fn changed(&self, key: &[u8]) {
        bump(&self.side().changes, 1);
        self.db.watches.touch(self.index, key);
    }

    /// Accounts for an entry whose heap bytes and expiry went from the old to the new.
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
            self.tell();
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
        if let Some(at) = expiry_now {
            self.schedule(at, hash);
        }
    }

    fn schedule(&mut self, at: u64, hash: u64) {
        let side = self.side();
        let mut deadlines = side.deadlines.write();
        if deadlines.is_mostly_stale(side.expires.load(Ordering::Relaxed)) {
            deadlines.rebuild(self.table, self.db.hasher());
        }
        deadlines.push(at, hash);
        side.next_deadline
            .store(deadlines.next(), Ordering::Release);
        side.index_bytes.store(deadlines.bytes(), Ordering::Relaxed);
    }

    fn tell(&self) {
        let side = self.side();
        let bytes = side.dataset.load(Ordering::Relaxed) + side.overhead();
        let told = side.told.load(Ordering::Relaxed);
        if bytes.abs_diff(told) >= GAUGE_STEP {
            self.db
                .gauge
                .fetch_add(bytes.wrapping_sub(told), Ordering::Relaxed);
            side.told.store(bytes, Ordering::Relaxed);
        }
    }
}

/// Bytes of a table; an empty one has a bucket in name and none in memory.
pub(crate) fn table_bytes(table: &Table) -> usize {
    if table.capacity() == 0 {
        0
    } else {
        table.buckets() * SLOT_BYTES
    }
}

/// Adds to a counter that only the holder of the shard's write lock writes.
pub(crate) fn bump(counter: &AtomicU64, by: u64) {
    counter.store(
        counter.load(Ordering::Relaxed).wrapping_add(by),
        Ordering::Relaxed,
    );
}
