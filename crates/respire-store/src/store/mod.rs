//! The store: its databases, and what is counted over all of them.

mod evict;
mod observe;
mod prefetch;
mod section;
mod sweep;

use core::fmt;
use core::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::OnceLock;

use ahash::RandomState;

use crate::database::{Database, Garbage, Shared, Side};
use crate::entry::Clock;
use crate::hash::{hash_key, mix};
use crate::observe::Observers;

use evict::Eviction;
pub use prefetch::Foreseen;
pub use section::{Held, Scope, Section};
pub(crate) use section::{Place, write_soon};
#[cfg(test)]
pub(crate) use sweep::FREED_PER_DEADLINE;
pub use sweep::Swept;

/// How a store is laid out; fixed for its life.
#[derive(Debug, Clone)]
pub struct Config {
    /// Number of databases, at least 1; 16 by default. One that was never written to costs nothing.
    pub databases: u32,
    /// Shards per database: a power of two, at least 2; 64 by default. Four for each thread keep
    /// threads out of each other's way. A shard takes about 300 bytes; one with more than 100,000
    /// keys needs some milliseconds when its table doubles, so use more of them for tens of
    /// millions of keys.
    pub shards: usize,
    /// Keys that database 0 has room for from the start; 0 by default.
    pub capacity: usize,
    /// Keys of the hash function; all 0 by default, which suits tests. A server takes them from a
    /// source of randomness, so that clients cannot choose keys that collide.
    pub seed: [u64; 4],
    /// Bytes up to which the store is taken to lie in the machine's caches, where looking ahead
    /// ([`Store::prefetch`]) costs more than it gains; 1 MiB by default.
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

/// The keyspace: databases of keys, shared by any number of threads. See the [crate's page](crate).
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
}

/// What the store's memory goes to, in bytes, as an allocator with steps of 16 bytes would have it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct MemoryUse {
    /// Keys and values, with what is kept about each.
    pub dataset: usize,
    /// Tables and the index of expiries.
    pub overhead: usize,
    /// Keys in all databases.
    pub keys: usize,
    /// Keys that were removed and that the [sweep](Store::sweep) has yet to free. Their bytes
    /// count no more.
    pub pending_keys: usize,
}

impl MemoryUse {
    /// All of it, in bytes.
    #[must_use]
    pub fn total(self) -> usize {
        self.dataset + self.overhead
    }
}

/// Counters since the start.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Stats {
    /// Keys removed because their time had come.
    pub expired_keys: u64,
    /// Keys removed because memory ran out.
    pub evicted_keys: u64,
    /// Keys that the [sweep](Store::sweep) freed after they had been removed.
    pub freed_later_keys: u64,
}

impl Store {
    /// An empty store.
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
            shared: Shared::new(hasher),
            cached_bytes,
            active_expiry: AtomicBool::new(true),
            sweep_from: AtomicUsize::new(0),
            eviction: Eviction::new(seed.into_iter().fold(0, |state, part| mix(state ^ part))),
        };
        store.make_database(0, capacity);
        store
    }

    /// Number of databases.
    #[must_use]
    pub fn databases(&self) -> u32 {
        self.databases.len() as u32
    }

    /// Keys in database `db`; expired ones count until they have been removed. O(shards).
    ///
    /// # Panics
    ///
    /// If there is no database `db`.
    #[must_use]
    pub fn len(&self, db: u32) -> usize {
        self.sum(db, |side| side.keys.load(Ordering::Acquire))
    }

    /// Whether database `db` has no keys. O(shards).
    ///
    /// # Panics
    ///
    /// If there is no database `db`.
    #[must_use]
    pub fn is_empty(&self, db: u32) -> bool {
        self.len(db) == 0
    }

    /// Keys with an expiry in database `db`. O(shards).
    ///
    /// # Panics
    ///
    /// If there is no database `db`.
    #[must_use]
    pub fn expires_len(&self, db: u32) -> usize {
        self.sum(db, |side| side.expires.load(Ordering::Acquire))
    }

    /// How long the keys with an expiry in database `db` still have, in milliseconds, on average;
    /// 0 if none has one. Exact while nobody writes, as long as their times add up to less than
    /// 2^63. O(shards).
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

    /// What the memory goes to. O(shards).
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

    /// Counters since the start. O(shards).
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

    /// Changes made to keys since the start: each write, each removal that was asked for, and each
    /// key of a flush. O(shards).
    #[must_use]
    pub fn changes(&self) -> u64 {
        self.existing()
            .flat_map(Database::sides)
            .map(|side| side.changes.load(Ordering::Relaxed))
            .sum()
    }

    /// Whether [`Store::sweep`] does anything; it does unless told otherwise.
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

    /// Names the function that hashes keys here: stores of one seed share it.
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

    pub(crate) fn observers(&self) -> &Observers {
        &self.shared.observers
    }

    pub(crate) fn eviction(&self) -> &Eviction {
        &self.eviction
    }

    pub(crate) fn clock(&self) -> Clock {
        self.eviction.clock()
    }

    /// Bytes used, each shard's told to within [`GAUGE_STEP`](crate::database::GAUGE_STEP).
    pub(crate) fn gauge(&self) -> usize {
        self.shared.gauge.load(Ordering::Relaxed)
    }

    /// The database, made now if it was never used.
    #[inline]
    pub(crate) fn database(&self, db: u32) -> &Database {
        match self.databases[db as usize].get() {
            Some(database) => database,
            None => self.make_database(db, 0),
        }
    }

    /// The database, if it was ever used.
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
        // No observer comes or goes between reading the interests and making the database known.
        self.observers().with_interests(|interests| {
            self.databases[number as usize]
                .get_or_init(|| Database::new(number, shards, capacity, interests, shared()))
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
