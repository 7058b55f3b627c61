//! The store: its databases, its configuration, and counters over all databases.

mod batch;
mod cut;
mod evict;
mod observe;
mod prefetch;
mod rouse;
mod section;
mod serve;
mod sweep;
mod wait;
mod widen;

use core::fmt;
use core::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::OnceLock;

use ahash::RandomState;

use crate::database::{Database, Garbage, Shared, Side};
use crate::entry::Clock;
use crate::hash::{hash_key, mix};
use crate::images::Images;
use crate::observe::Observers;
use crate::types::{Growth, Kind, Limits};

pub use batch::{Batch, Present};
pub use cut::{Cut, CutDatabase, CutRunning};
use evict::Eviction;
pub use prefetch::Foreseen;
use rouse::Rouse;
pub(crate) use section::Place;
pub use section::{Held, Scope, Section};
pub(crate) use serve::{Serve, Serving};
#[cfg(test)]
pub(crate) use sweep::FREED_PER_DEADLINE;
pub use sweep::Swept;
pub use wait::Relief;
use wait::Waiting;
pub use widen::{Widener, WideningSection};

/// The layout of a store. It cannot be changed later.
#[derive(Debug, Clone)]
pub struct Config {
    /// Number of databases, at least 1; 16 by default. An unused database takes no memory.
    pub databases: u32,
    /// Shards per database: a power of two, at least 2; 64 by default. With four per thread, threads
    /// rarely wait for each other. A shard takes about 300 bytes. A shard with more than 100,000 keys
    /// takes some milliseconds to double its table, so use more shards for tens of millions of keys.
    pub shards: usize,
    /// Number of keys for which database 0 has room from the start; 0 by default.
    pub capacity: usize,
    /// Seed of the hash function; all 0 by default, which suits tests. A server uses a random seed, so
    /// that clients cannot choose keys that collide.
    pub seed: [u64; 4],
    /// Bytes of memory use below which the store is assumed to fit the machine's caches, where looking
    /// ahead ([`Store::prefetch`]) costs more than it gains; 1 MiB by default.
    pub cached_bytes: usize,
}

impl Default for Config {
    fn default() -> Self {
        Config {
            databases: 16,
            shards: 64,
            capacity: 0,
            seed: [0; 4],
            cached_bytes: 1 << 20,
        }
    }
}

/// The keyspace: numbered databases of keys, shared by any number of threads. The
/// [crate documentation](crate) has an example and the invariants.
pub struct Store {
    databases: Box<[OnceLock<Database>]>,
    shards: usize,
    hash_id: u64,
    shared: Shared,
    cached_bytes: usize,
    active_expiry: AtomicBool,
    /// Where the next sweep starts.
    pub(crate) sweep_from: AtomicUsize,
    eviction: Eviction,
    waiting: Waiting,
    pub(crate) rouse: Rouse,
}

/// The memory use of a store. Bytes are counted as an allocator with steps of 16 bytes gives them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct MemoryUse {
    /// Bytes allocated for the entries: keys, values and expiries.
    pub dataset: usize,
    /// Bytes of the tables and the index of expiries.
    pub overhead: usize,
    /// Number of keys in all databases.
    pub keys: usize,
    /// Number of removed keys that the [sweep](Store::sweep) has yet to free. Their bytes no longer count.
    pub pending_keys: usize,
}

impl MemoryUse {
    /// The sum of [`dataset`](MemoryUse::dataset) and [`overhead`](MemoryUse::overhead), in bytes.
    #[must_use]
    pub fn total(self) -> usize {
        self.dataset + self.overhead
    }
}

/// Counters of removed keys since the store was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Stats {
    /// Keys removed because they had expired.
    pub expired_keys: u64,
    /// Keys removed because memory ran out.
    pub evicted_keys: u64,
    /// Removed keys that the [sweep](Store::sweep) has freed.
    pub freed_later_keys: u64,
}

impl Store {
    /// Makes an empty store.
    ///
    /// # Panics
    ///
    /// If `databases` is 0, or `shards` is not a power of two of at least 2.
    #[must_use]
    pub fn new(config: Config) -> Store {
        let Config {
            databases,
            shards,
            capacity,
            seed,
            cached_bytes,
        } = config;
        assert!(databases > 0, "a store has at least one database");
        assert!(
            shards > 1 && shards.is_power_of_two(),
            "shards: a power of two, at least 2"
        );
        let hasher = RandomState::with_seeds(seed[0], seed[1], seed[2], seed[3]);
        let store = Store {
            databases: (0..databases).map(|_| OnceLock::new()).collect(),
            shards,
            hash_id: hash_key(&hasher, b"which hash function this is"),
            shared: Shared::new(hasher.clone(), seed, databases),
            cached_bytes,
            active_expiry: AtomicBool::new(true),
            sweep_from: AtomicUsize::new(0),
            eviction: Eviction::new(seed.into_iter().fold(0, |state, part| mix(state ^ part))),
            waiting: Waiting::default(),
            rouse: Rouse::new(hasher),
        };
        store.make_database(0, capacity);
        store
    }

    /// Returns the number of databases.
    #[must_use]
    pub fn databases(&self) -> u32 {
        self.databases.len() as u32
    }

    /// Returns the number of keys in database `db`. Expired keys count until they are removed. O(shards).
    ///
    /// # Panics
    ///
    /// If there is no database `db`.
    #[must_use]
    pub fn len(&self, db: u32) -> usize {
        self.sum(db, |side| side.keys.load(Ordering::Acquire))
    }

    /// Returns whether database `db` has no keys. O(shards).
    ///
    /// # Panics
    ///
    /// If there is no database `db`.
    #[must_use]
    pub fn is_empty(&self, db: u32) -> bool {
        self.len(db) == 0
    }

    /// Returns the number of keys with an expiry in database `db`. O(shards).
    ///
    /// # Panics
    ///
    /// If there is no database `db`.
    #[must_use]
    pub fn expires_len(&self, db: u32) -> usize {
        self.sum(db, |side| side.expires.load(Ordering::Acquire))
    }

    /// Returns the average time to live of the keys with an expiry in database `db`, in milliseconds; 0
    /// if no key has an expiry. It is exact if no thread writes meanwhile and the times to live add up
    /// to less than 2^63. O(shards).
    ///
    /// # Panics
    ///
    /// If there is no database `db`.
    #[must_use]
    pub fn avg_ttl_ms(&self, db: u32, now_ms: u64) -> u64 {
        let count = self.expires_len(db) as u64;
        let sides = self.existing_database(db).map_or(&[][..], Database::sides);
        let sum = sides.iter().fold(0, |sum: u64, side| {
            sum.wrapping_add(side.expires_sum.load(Ordering::Relaxed))
        });
        // Both sums are modulo 2^64, and so is their difference, which is small.
        let left = sum.wrapping_sub(count.wrapping_mul(now_ms)) as i64;
        (left.max(0) as u64).checked_div(count).unwrap_or(0)
    }

    /// Returns the memory use. O(shards).
    #[must_use]
    pub fn memory(&self) -> MemoryUse {
        let mut memory = MemoryUse {
            pending_keys: self.shared.garbage.pending(),
            ..MemoryUse::default()
        };
        for side in self.existing().flat_map(Database::sides) {
            memory.dataset += side.dataset.load(Ordering::Relaxed);
            memory.overhead += side.overhead();
            memory.keys += side.keys.load(Ordering::Relaxed);
        }
        memory
    }

    /// Returns the counters of removed keys since the store was made. O(shards).
    #[must_use]
    pub fn stats(&self) -> Stats {
        let mut stats = Stats {
            freed_later_keys: self.shared.garbage.freed(),
            ..Stats::default()
        };
        for side in self.existing().flat_map(Database::sides) {
            stats.expired_keys += side.expired.load(Ordering::Relaxed);
            stats.evicted_keys += side.evicted.load(Ordering::Relaxed);
        }
        stats
    }

    /// Returns the number of changes since the store was made: each write, each removal by a caller, and
    /// each key of a flush. Expiry and eviction do not count. O(shards).
    #[must_use]
    pub fn changes(&self) -> u64 {
        self.existing()
            .flat_map(Database::sides)
            .map(|side| side.changes.load(Ordering::Relaxed))
            .sum()
    }

    /// Returns the limits up to which values of type `K` are kept packed.
    #[must_use]
    pub fn limits<K: Kind>(&self) -> Limits {
        self.shared.limits.get(K::ID)
    }

    /// Returns what a value of type `K` needs to know to grow.
    #[must_use]
    pub fn growth<K: Kind>(&self) -> Growth {
        self.shared.limits.growth(K::ID)
    }

    /// Sets the limits up to which values of type `K` are kept packed.
    pub fn set_limits<K: Kind>(&self, limits: Limits) {
        self.shared.limits.set(K::ID, limits);
    }

    /// Sets whether [`Store::sweep`] removes expired keys; it does by default. It frees removed
    /// values in either case.
    pub fn set_active_expiry(&self, active: bool) {
        self.active_expiry.store(active, Ordering::Relaxed);
    }

    pub(crate) fn active_expiry(&self) -> bool {
        self.active_expiry.load(Ordering::Relaxed)
    }

    #[inline]
    pub(crate) fn hash(&self, key: &[u8]) -> u64 {
        hash_key(self.hasher(), key)
    }

    /// Identifies the function that hashes keys: stores with the same seed have the same id.
    #[inline]
    pub(crate) fn hash_id(&self) -> u64 {
        self.hash_id
    }

    pub(crate) fn hasher(&self) -> &RandomState {
        &self.shared.hasher
    }

    pub(crate) fn cached_bytes(&self) -> usize {
        self.cached_bytes
    }

    pub(crate) fn shards(&self) -> usize {
        self.shards
    }

    pub(crate) fn garbage(&self) -> &Garbage {
        &self.shared.garbage
    }

    pub(crate) fn images(&self) -> &Images {
        &self.shared.images
    }

    pub(crate) fn observers(&self) -> &Observers {
        &self.shared.observers
    }

    pub(crate) fn eviction(&self) -> &Eviction {
        &self.eviction
    }

    fn waiting(&self) -> &Waiting {
        &self.waiting
    }

    pub(crate) fn clock(&self) -> Clock {
        self.eviction.clock()
    }

    /// Returns the bytes used, within [`GAUGE_STEP`](crate::database::GAUGE_STEP) per shard.
    pub(crate) fn gauge(&self) -> usize {
        self.shared.gauge.load(Ordering::Relaxed)
    }

    /// Returns the database, and makes it if it was never used.
    #[inline]
    pub(crate) fn database(&self, db: u32) -> &Database {
        match self.databases[db as usize].get() {
            Some(database) => database,
            None => self.make_database(db, 0),
        }
    }

    /// Returns the database if it was ever used.
    #[inline]
    pub(crate) fn existing_database(&self, db: u32) -> Option<&Database> {
        self.databases[db as usize].get()
    }

    pub(crate) fn existing(&self) -> impl Iterator<Item = &Database> {
        self.databases.iter().filter_map(OnceLock::get)
    }

    #[cold]
    fn make_database(&self, number: u32, capacity: usize) -> &Database {
        let (shards, shared) = (self.shards, || self.shared.clone());
        // The list of observers stays locked until the database is in place, so it cannot miss a change of it.
        self.observers().with_hooks(|hooks| {
            self.databases[number as usize]
                .get_or_init(|| Database::new(number, shards, capacity, hooks, shared()))
        })
    }

    fn sum(&self, db: u32, counter: impl Fn(&Side) -> usize) -> usize {
        self.existing_database(db)
            .map_or(0, |db| db.sides().iter().map(counter).sum())
    }
}

impl fmt::Debug for Store {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (databases, shards) = (self.databases.len(), self.shards);
        f.debug_struct("Store")
            .field("databases", &databases)
            .field("shards", &shards)
            .finish_non_exhaustive()
    }
}
