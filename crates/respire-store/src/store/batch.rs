//! Fills a database with the keys of a file: many keys of a shard under one lock.

use core::fmt;

use super::Store;
use crate::entry::{Access, Clock, Entry, NEVER};
use crate::hash::Tag;
use crate::observe::Unit;
use crate::shard::{Loaded, Writing};
use crate::types::NewValue;

/// Keys on their way into a database. They are sorted by shard as they are added, and their entries are made without
/// a lock. Several threads can fill a store, each with batches of its own.
///
/// Loading is not a change: neither observers and watches nor those who wait for keys hear of it, so it is for a store
/// that nobody uses yet.
///
/// ```
/// use respire_store::{Config, Store};
///
/// let store = Store::new(Config::default());
/// let mut batch = store.batch(0, 1_000);
/// batch.add(b"a", b"1".into(), None, None);
/// batch.add(b"b", b"2".into(), Some(5_000), None);
/// assert_eq!(store.len(0), 0);
/// assert!(batch.insert().is_ok());
/// assert_eq!(store.len(0), 2);
///
/// batch.add(b"c", b"3".into(), None, None);
/// batch.add(b"a", b"4".into(), None, None);
/// let present = batch.insert().unwrap_err();
/// assert_eq!((present.nth, &*present.key), (1, &b"a"[..]));
/// ```
pub struct Batch<'s> {
    store: &'s Store,
    db: u32,
    now_ms: u64,
    clock: Clock,
    shards: Vec<Vec<Loaded>>,
    /// Number of calls of `add` since the last insertion.
    added: u32,
    /// The shard of the first key, which is locked first: batches of several threads then rarely meet.
    first: usize,
}

/// A key that could not be inserted, because the database has it already.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Present {
    /// The number of the [`Batch::add`] with this key since the last insertion, from 0.
    pub nth: usize,
    /// The key.
    pub key: Vec<u8>,
}

impl Store {
    /// Begins a batch of keys for database `db`, at the time `now_ms` (unix milliseconds). O(shards).
    ///
    /// # Panics
    ///
    /// If there is no database `db`.
    #[must_use]
    pub fn batch(&self, db: u32, now_ms: u64) -> Batch<'_> {
        let shards = self.database(db).sides().len();
        Batch {
            store: self,
            db,
            now_ms,
            clock: self.clock(),
            shards: (0..shards).map(|_| Vec::new()).collect(),
            added: 0,
            first: 0,
        }
    }

    /// Makes room in database `db` for `keys` keys beyond those that it has, so that its tables need not grow while
    /// they are inserted. O(room), and O(shards).
    ///
    /// # Panics
    ///
    /// If there is no database `db`.
    pub fn reserve(&self, db: u32, keys: usize) {
        let db = self.database(db);
        for (index, share) in db.shares(keys).into_iter().enumerate() {
            let unit = Unit::default();
            let mut table = self.wait_for::<Writing, _>(db.lock(index));
            db.shard(index, &mut table, &unit).reserve(share);
        }
    }
}

impl Batch<'_> {
    /// Adds a key. `expires_at` is in unix milliseconds; `None` and `u64::MAX` are never. A key that has expired is
    /// added as well, and is absent. A value of a type with elements that has none is left out. `access` counts if
    /// the [policy](crate::Policy) uses that measure.
    pub fn add(
        &mut self,
        key: &[u8],
        value: NewValue<'_>,
        expires_at: Option<u64>,
        access: Option<Access>,
    ) {
        let nth = self.added;
        self.added += 1;
        if value.has_no_elements() {
            return;
        }
        let hash = self.store.hash(key);
        let said = access.and_then(|access| self.clock.said(access, self.now_ms));
        let clock = said.unwrap_or_else(|| self.clock.fresh(self.now_ms));
        let expires_at = expires_at.filter(|at| *at != NEVER);
        let entry = Entry::new(key, Tag::new(hash), value, expires_at, clock);
        let shard = self.store.database(self.db).shard_of(hash);
        if nth == 0 {
            self.first = shard;
        }
        self.shards[shard].push(Loaded::new(hash, nth, entry));
    }

    /// Returns the number of keys that were added since the last insertion.
    #[must_use]
    pub fn len(&self) -> usize {
        self.added as usize
    }

    /// Returns whether no keys were added since the last insertion.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.added == 0
    }

    /// Inserts the keys that were added. It takes the lock of each shard once. The batch is then empty, and can be
    /// used again. O(keys), and O(shards).
    ///
    /// # Errors
    ///
    /// If the database has one of the keys already, or the key was added twice. Any of the others may have been
    /// inserted.
    pub fn insert(&mut self) -> Result<(), Present> {
        let db = self.store.database(self.db);
        let shards = self.shards.len();
        self.added = 0;
        let mut result = Ok(());
        for step in 0..shards {
            let index = (self.first + step) % shards;
            let loaded = &mut self.shards[index];
            if loaded.is_empty() {
                continue;
            }
            if result.is_err() {
                loaded.clear();
                continue;
            }
            let unit = Unit::default();
            let mut table = self.store.wait_for::<Writing, _>(db.lock(index));
            let _ending = unit.ending();
            let shard = db.shard(index, &mut table, &unit).at(self.now_ms);
            result = shard.load(loaded.drain(..));
        }
        result.map_err(|(nth, key)| Present {
            nth: nth as usize,
            key,
        })
    }
}

impl fmt::Debug for Batch<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Batch")
            .field("db", &self.db)
            .field("added", &self.added)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Config, Expiry, Policy};

    fn store() -> Store {
        Store::new(Config {
            databases: 2,
            shards: 4,
            ..Config::default()
        })
    }

    fn name(number: usize) -> Vec<u8> {
        format!("key:{number}").into_bytes()
    }

    /// Adds keys to a batch; every third expires, some of them in the past.
    fn add_all(batch: &mut Batch<'_>, numbers: core::ops::Range<usize>) {
        for number in numbers {
            let expires_at = number.is_multiple_of(3).then_some(number as u64 * 10);
            batch.add(
                &name(number),
                NewValue::Int(number as i64),
                expires_at,
                None,
            );
        }
    }

    #[test]
    fn loaded_store_equals_one_that_was_written() {
        let (loaded, written) = (store(), store());
        loaded.reserve(1, 500);
        let mut batch = loaded.batch(1, 1_000);
        for from in [0, 10, 700] {
            add_all(&mut batch, from..if from == 0 { 10 } else { from + 690 });
            assert!(!batch.is_empty());
            batch.insert().unwrap();
            assert_eq!(batch.len(), 0);
        }
        // At time 0 no key has expired.
        for number in 0..1_390_usize {
            let at = number as u64 * 10;
            let expiry = if number.is_multiple_of(3) && at > 0 {
                Expiry::At(at)
            } else {
                Expiry::Clear
            };
            written
                .view(1, 0)
                .update(&name(number), |slot| slot.set(number as i64, expiry));
        }
        assert_eq!(loaded.len(1), 1_390);
        assert_eq!(loaded.changes(), 0);
        assert_eq!(loaded.memory().dataset, written.memory().dataset);
        // The key whose expiry is 0 has one in the loaded store only.
        assert_eq!(loaded.expires_len(1), written.expires_len(1) + 1);
        for number in 1..1_390 {
            let read = |store: &Store| {
                store.view(1, 1_000).read(&name(number), |entry| {
                    entry.map(|it| {
                        (
                            it.value().as_string().and_then(|it| it.to_int()),
                            it.expires_at(),
                        )
                    })
                })
            };
            assert_eq!(read(&loaded), read(&written), "{number}");
        }
    }

    #[test]
    fn sweep_finds_loaded_keys_that_have_expired() {
        let store = store();
        let mut batch = store.batch(0, 1_000);
        add_all(&mut batch, 0..300);
        batch.insert().unwrap();
        while store.sweep(1_000, 100).expired > 0 {}
        let kept = (0..300_usize).filter(|number| !number.is_multiple_of(3) || number * 10 > 1_000);
        assert_eq!(store.len(0), kept.count());
        assert_eq!(store.stats().expired_keys, 34);
    }

    #[test]
    fn key_that_is_there_is_named() {
        let store = store();
        let mut batch = store.batch(0, 0);
        add_all(&mut batch, 0..50);
        add_all(&mut batch, 20..21);
        let twice = Present {
            nth: 50,
            key: name(20),
        };
        assert_eq!(batch.insert(), Err(twice));
        assert!(batch.is_empty());
        // The others were inserted or dropped, and do not come again.
        let len = store.len(0);
        batch.insert().unwrap();
        assert_eq!(store.len(0), len);
    }

    #[test]
    fn access_is_loaded_as_the_policy_requires() {
        let store = store();
        let mut batch = store.batch(0, 100_000);
        let all = [
            Some(Access::IdleMs(30_000)),
            Some(Access::Frequency(99)),
            None,
        ];
        for (nth, access) in all.into_iter().enumerate() {
            batch.add(&name(nth), NewValue::Int(1), None, access);
        }
        batch.insert().unwrap();
        let idle = |nth| {
            store
                .view(0, 100_000)
                .peek(&name(nth), |entry| entry.map(|it| it.idle_ms(100_000)))
        };
        assert_eq!([0, 1, 2].map(idle), [Some(30_000), Some(0), Some(0)]);
        store.set_max_memory(0, Policy::AllKeysLfu, 5);
        let mut batch = store.batch(1, 100_000);
        batch.add(b"k", NewValue::Int(1), None, Some(Access::Frequency(99)));
        batch.insert().unwrap();
        let freq = store
            .view(1, 100_000)
            .peek(b"k", |entry| entry.map(|it| it.freq(100_000)));
        assert_eq!(freq, Some(99));
    }

    #[test]
    fn reserved_tables_do_not_grow() {
        let store = store();
        store.reserve(0, 10_000);
        let buckets = |store: &Store| -> Vec<usize> {
            let sides = store.database(0).sides();
            sides.iter().map(|side| side.buckets()).collect()
        };
        let before = buckets(&store);
        let mut batch = store.batch(0, 0);
        add_all(&mut batch, 0..10_000);
        batch.insert().unwrap();
        assert_eq!(buckets(&store), before);
    }
}
