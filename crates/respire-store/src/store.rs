//! The store: its databases, and what is asked of it as a whole.

use core::sync::atomic::{AtomicBool, Ordering};
use std::sync::OnceLock;

use ahash::RandomState;
use dashmap::RwLock;

use crate::database::{Database, bump, hash_key};
use crate::evict::{Clock, Policy};
use crate::expiry::Swept;
use crate::section::{Scope, Section};
use crate::view::View;

/// How a store is laid out; fixed for its life.
#[derive(Debug, Clone)]
pub struct Config {
    /// Number of databases, at least 1.
    pub databases: u32,
    /// Shards per database: a power of two, at least 2.
    pub shards: usize,
    /// Keys database 0 has room for from the start.
    pub capacity: usize,
    /// Keys of the hash function. Take them from a source of randomness, so that clients cannot
    /// choose keys that collide.
    pub seed: [u64; 4],
}

impl Default for Config {
    fn default() -> Self {
        Config {
            databases: 16,
            shards: 64,
            capacity: 0,
            seed: [0; 4],
        }
    }
}

/// The keyspace.
pub struct Store {
    databases: Box<[OnceLock<Database>]>,
    shards: usize,
    hasher: RandomState,
    active_expiry: AtomicBool,
    limit: RwLock<MemoryLimit>,
}

#[derive(Clone, Copy, Default)]
struct MemoryLimit {
    bytes: u64,
    policy: Policy,
    samples: u32,
}

/// What the store's memory goes to, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct MemoryUse {
    /// Keys, values and what belongs to each.
    pub dataset: usize,
    /// Tables and indexes.
    pub overhead: usize,
    /// Keys in all databases.
    pub keys: usize,
}

impl MemoryUse {
    /// All of it.
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
}

impl Store {
    /// An empty store.
    ///
    /// # Panics
    ///
    /// If `databases` is 0, or `shards` is not a power of two of at least 2.
    #[must_use]
    pub fn new(config: Config) -> Store {
        assert!(config.databases > 0, "a store has at least one database");
        assert!(
            config.shards > 1 && config.shards.is_power_of_two(),
            "shards: a power of two, at least 2"
        );
        let [a, b, c, d] = config.seed;
        let hasher = RandomState::with_seeds(a, b, c, d);
        let databases: Box<[OnceLock<Database>]> =
            (0..config.databases).map(|_| OnceLock::new()).collect();
        databases[0].get_or_init(|| Database::new(config.shards, config.capacity, hasher.clone()));
        Store {
            databases,
            shards: config.shards,
            hasher,
            active_expiry: AtomicBool::new(true),
            limit: RwLock::new(MemoryLimit {
                samples: 5,
                ..MemoryLimit::default()
            }),
        }
    }

    /// Number of databases.
    #[must_use]
    pub fn databases(&self) -> u32 {
        self.databases.len() as u32
    }

    /// A view of database `db` at the time `now_ms` that takes locks call by call.
    ///
    /// # Panics
    ///
    /// If there is no database `db`.
    #[must_use]
    pub fn view(&self, db: u32, now_ms: u64) -> View<'_> {
        View::within(self, db, now_ms, None)
    }

    /// Locks what `scope` names until the section is dropped.
    #[must_use]
    pub fn lock(&self, scope: &Scope<'_>, now_ms: u64) -> Section<'_> {
        let _ = now_ms;
        let whole = |dbs: core::ops::Range<u32>| {
            dbs.flat_map(|db| (0..self.shards).map(move |shard| (db, shard)))
        };
        let mut places: Vec<(u32, usize)> = match *scope {
            Scope::Keys(keys) => keys
                .iter()
                .map(|(db, key)| (*db, self.database(*db).shard_of(self.hash(key))))
                .collect(),
            Scope::Database(db) => whole(db..db + 1).collect(),
            Scope::Databases(a, b) => whole(a..a + 1).chain(whole(b..b + 1)).collect(),
            Scope::Everything => whole(0..self.databases()).collect(),
        };
        places.sort_unstable();
        places.dedup();
        Section::new(self, &places)
    }

    /// Removes keys whose time has come, at most about `budget` of them.
    pub fn sweep(&self, now_ms: u64, budget: usize) -> Swept {
        let mut swept = Swept {
            finished: true,
            ..Swept::default()
        };
        if !self.active_expiry.load(Ordering::Relaxed) {
            return swept;
        }
        for db in self.existing() {
            for (index, side) in db.sides().iter().enumerate() {
                while side.next_deadline.load(Ordering::Acquire) <= now_ms && swept.expired < budget
                {
                    let mut table = db.lock(index).write();
                    let due = side.deadlines.write().pop_due(now_ms);
                    side.next_deadline
                        .store(side.deadlines.read().next(), Ordering::Release);
                    let mut shard = db.shard(index, &mut table);
                    if let Some(hash) = due
                        && let Some(entry) = shard.take(hash, |entry| entry.is_expired(now_ms))
                    {
                        bump(&side.expired, 1);
                        db.watches.touch_expired(index, entry.key());
                        swept.expired += 1;
                    }
                }
                let next = side.next_deadline.load(Ordering::Acquire);
                swept.finished &= next > now_ms;
                if next != u64::MAX {
                    swept.next_ms = Some(swept.next_ms.map_or(next, |soonest| soonest.min(next)));
                }
            }
        }
        swept
    }

    /// Keys in database `db`; expired ones count until they have been removed.
    #[must_use]
    pub fn len(&self, db: u32) -> usize {
        self.existing_database(db).map_or(0, Database::keys)
    }

    /// Whether database `db` has no keys.
    #[must_use]
    pub fn is_empty(&self, db: u32) -> bool {
        self.len(db) == 0
    }

    /// Keys with an expiry in database `db`.
    #[must_use]
    pub fn expires_len(&self, db: u32) -> usize {
        let sides = self.existing_database(db).map_or(&[][..], Database::sides);
        sides
            .iter()
            .map(|side| side.expires.load(Ordering::Acquire))
            .sum()
    }

    /// About how long the keys with an expiry still have, in milliseconds, on average; 0 if none has one.
    #[must_use]
    pub fn avg_ttl_ms(&self, db: u32, now_ms: u64) -> u64 {
        let _ = (db, now_ms);
        0
    }

    /// What the memory goes to.
    #[must_use]
    pub fn memory(&self) -> MemoryUse {
        let mut memory = MemoryUse::default();
        for side in self.existing().flat_map(Database::sides) {
            memory.dataset += side.bytes.load(Ordering::Relaxed);
            memory.overhead +=
                side.buckets.load(Ordering::Relaxed) * (size_of::<crate::entry::Entry>() + 1);
            memory.keys += side.keys.load(Ordering::Relaxed);
        }
        memory
    }

    /// Counters since the start.
    #[must_use]
    pub fn stats(&self) -> Stats {
        let mut stats = Stats::default();
        for side in self.existing().flat_map(Database::sides) {
            stats.expired_keys += side.expired.load(Ordering::Relaxed);
            stats.evicted_keys += side.evicted.load(Ordering::Relaxed);
        }
        stats
    }

    /// Changes made to keys since the start.
    #[must_use]
    pub fn changes(&self) -> u64 {
        self.existing()
            .flat_map(Database::sides)
            .map(|side| side.changes.load(Ordering::Relaxed))
            .sum()
    }

    /// Whether [`Store::sweep`] removes anything; it does unless told otherwise.
    pub fn set_active_expiry(&self, active: bool) {
        self.active_expiry.store(active, Ordering::Relaxed);
    }

    /// Bounds the memory: `bytes` is the bound (0: none), `samples` how many keys are looked at
    /// for each that is evicted.
    pub fn set_max_memory(&self, bytes: u64, policy: Policy, samples: u32) {
        *self.limit.write() = MemoryLimit {
            bytes,
            policy,
            samples,
        };
    }

    /// The eviction policy.
    #[must_use]
    pub fn policy(&self) -> Policy {
        self.limit.read().policy
    }

    /// Evicts keys until the memory is within its bound. False if it is not and nothing can be
    /// evicted: the command that asks must then be refused.
    pub fn make_room(&self, now_ms: u64) -> bool {
        let limit = *self.limit.read();
        let _ = (now_ms, limit.samples);
        limit.bytes == 0 || self.memory().total() as u64 <= limit.bytes
    }

    /// Removes every key of every database; how many there were.
    pub fn flush_all(&self, now_ms: u64) -> usize {
        let mut section = self.lock(&Scope::Everything, now_ms);
        View::within(self, 0, now_ms, Some(section.held())).flush_all()
    }

    pub(crate) fn hash(&self, key: &[u8]) -> u64 {
        hash_key(&self.hasher, key)
    }

    pub(crate) fn shards(&self) -> usize {
        self.shards
    }

    pub(crate) fn clock(&self) -> Clock {
        Clock {
            lfu: self.policy().is_lfu(),
            decay_minutes: 1,
            log_factor: 10,
        }
    }

    pub(crate) fn database(&self, db: u32) -> &Database {
        self.databases[db as usize]
            .get_or_init(|| Database::new(self.shards, 0, self.hasher.clone()))
    }

    pub(crate) fn existing_database(&self, db: u32) -> Option<&Database> {
        self.databases[db as usize].get()
    }

    pub(crate) fn existing(&self) -> impl Iterator<Item = &Database> {
        self.databases.iter().filter_map(OnceLock::get)
    }
}

impl core::fmt::Debug for Store {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Store")
            .field("databases", &self.databases.len())
            .field("shards", &self.shards)
            .finish_non_exhaustive()
    }
}
