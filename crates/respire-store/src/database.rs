//! One database: DashMap's shards, and beside each shard what is counted about it.

use core::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::Arc;

use ahash::RandomState;
use dashmap::{DashMap, RwLock, SharedValue};
use hashbrown::raw::RawTable;

use crate::entry::Entry;
use crate::expiry::Deadlines;
use crate::value::NewValue;
use crate::watch::Watches;

/// The entries of one shard.
pub(crate) type Table = RawTable<(Entry, SharedValue<()>)>;

pub(crate) struct Database {
    map: DashMap<Entry, (), RandomState>,
    sides: Box<[Side]>,
    pub(crate) watches: Arc<Watches>,
}

/// What is known about a shard beside its table. Everything is written under the shard's write
/// lock only, so plain loads and stores suffice; anyone may read.
#[derive(Default)]
pub(crate) struct Side {
    pub(crate) keys: AtomicUsize,
    pub(crate) expires: AtomicUsize,
    pub(crate) bytes: AtomicUsize,
    pub(crate) buckets: AtomicUsize,
    pub(crate) changes: AtomicU64,
    pub(crate) expired: AtomicU64,
    pub(crate) evicted: AtomicU64,
    pub(crate) next_deadline: AtomicU64,
    pub(crate) deadlines: RwLock<Deadlines>,
}

impl Database {
    pub(crate) fn new(shards: usize, capacity: usize, hasher: RandomState) -> Database {
        let map = DashMap::with_capacity_and_hasher_and_shard_amount(capacity, hasher, shards);
        let sides: Box<[Side]> = (0..shards)
            .map(|_| Side {
                next_deadline: AtomicU64::new(u64::MAX),
                ..Side::default()
            })
            .collect();
        Database {
            map,
            sides,
            watches: Arc::new(Watches::new(shards)),
        }
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
}

/// A shard under its write lock: every change of an entry goes through here, so that counters,
/// deadlines and watches cannot be forgotten.
pub(crate) struct ShardMut<'a> {
    db: &'a Database,
    index: usize,
    pub(crate) table: &'a mut Table,
}

pub(crate) fn find<'t>(table: &'t Table, hash: u64, key: &[u8]) -> Option<&'t Entry> {
    table
        .get(hash, |(entry, _)| entry.key() == key)
        .map(|(entry, _)| entry)
}

pub(crate) fn hash_key(hasher: &RandomState, key: &[u8]) -> u64 {
    use core::hash::{BuildHasher, Hasher};
    let mut state = hasher.build_hasher();
    state.write(key);
    state.finish()
}

impl ShardMut<'_> {
    pub(crate) fn side(&self) -> &Side {
        self.db.side(self.index)
    }

    pub(crate) fn find(&self, hash: u64, key: &[u8]) -> Option<&Entry> {
        find(self.table, hash, key)
    }

    pub(crate) fn insert(
        &mut self,
        hash: u64,
        key: &[u8],
        value: NewValue<'_>,
        expires_at: Option<u64>,
        clock: u32,
    ) {
        let entry = Entry::new(key, hash, value, expires_at, clock);
        self.count(0, entry.memory(), None, expires_at, hash);
        let hasher = self.db.hasher();
        self.table
            .insert(hash, (entry, SharedValue::new(())), |(entry, _)| {
                hash_key(hasher, entry.key())
            });
        self.resized();
        self.changed(key);
    }

    pub(crate) fn modify<R>(
        &mut self,
        hash: u64,
        key: &[u8],
        f: impl FnOnce(&mut Entry) -> R,
    ) -> Option<R> {
        let (entry, _) = self.table.get_mut(hash, |(entry, _)| entry.key() == key)?;
        let (before, expiry_before) = (entry.memory(), entry.expires_at());
        let answer = f(entry);
        let (after, expiry_after) = (entry.memory(), entry.expires_at());
        self.count(before, after, expiry_before, expiry_after, hash);
        self.changed(key);
        Some(answer)
    }

    /// Takes the entry out without saying that it changed (see [`ShardMut::changed`]).
    pub(crate) fn take(&mut self, hash: u64, wanted: impl Fn(&Entry) -> bool) -> Option<Entry> {
        let (entry, _) = self.table.remove_entry(hash, |(entry, _)| wanted(entry))?;
        self.count(entry.memory(), 0, entry.expires_at(), None, hash);
        self.resized();
        Some(entry)
    }

    pub(crate) fn remove(&mut self, hash: u64, key: &[u8]) -> Option<Entry> {
        let entry = self.take(hash, |entry| entry.key() == key)?;
        self.changed(key);
        Some(entry)
    }

    pub(crate) fn changed(&self, key: &[u8]) {
        bump(&self.side().changes, 1);
        self.db.watches.touch(self.index, key);
    }

    /// Removes the entry if its time has come.
    pub(crate) fn expire(&mut self, hash: u64, key: &[u8], now_ms: u64) -> bool {
        if self.side().expires.load(Ordering::Relaxed) == 0 {
            return false;
        }
        let Some(entry) = self.take(hash, |entry| entry.key() == key && entry.is_expired(now_ms))
        else {
            return false;
        };
        bump(&self.side().expired, 1);
        self.db.watches.touch_expired(self.index, entry.key());
        true
    }

    fn count(
        &mut self,
        before: usize,
        after: usize,
        old: Option<u64>,
        new: Option<u64>,
        hash: u64,
    ) {
        let side = self.db.side(self.index);
        let bytes = side.bytes.load(Ordering::Relaxed) + after - before;
        side.bytes.store(bytes, Ordering::Relaxed);
        if old == new {
            return;
        }
        let expires = side.expires.load(Ordering::Relaxed) + usize::from(new.is_some())
            - usize::from(old.is_some());
        side.expires.store(expires, Ordering::Release);
        if let Some(at) = new {
            side.deadlines.write().push(at, hash);
            if at < side.next_deadline.load(Ordering::Relaxed) {
                side.next_deadline.store(at, Ordering::Release);
            }
        }
    }

    fn resized(&self) {
        self.side().keys.store(self.table.len(), Ordering::Release);
        self.side()
            .buckets
            .store(self.table.buckets(), Ordering::Relaxed);
    }
}

pub(crate) fn bump(counter: &AtomicU64, by: u64) {
    counter.store(counter.load(Ordering::Relaxed) + by, Ordering::Relaxed);
}
