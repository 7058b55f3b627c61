//! The view of a database that commands read and write, alone or inside an atomic section.

mod iterate;
mod many;
mod report;
mod wait;
mod whole;

use core::fmt;

use dashmap::RwLockReadGuard;

use crate::database::{Database, Side, Watch};
use crate::entry::{Clock, Entry, EntryRef};
use crate::observe::{Unit, WAITED};
use crate::shard::{Reading, ShardMut, Writing};
use crate::slot::Slot;
use crate::store::{Foreseen, Held, Place, Scope, Store};
use crate::table::{Bucket, Table, find};

pub use wait::Waiter;

/// A database at a given time. A free view takes the locks that each call needs. A view inside a
/// section works on the section's tables and takes no lock. The same code runs on both.
///
/// A view calls closures under a shard's lock: they must use the store only through their arguments,
/// or they may deadlock.
///
/// ```
/// use respire_store::{Config, Expiry, Store};
///
/// let store = Store::new(Config::default());
/// let mut view = store.view(0, 1_000);
/// view.update(b"greeting", |slot| slot.set(b"hello", Expiry::At(5_000)));
///
/// let expires_at = view.read(b"greeting", |entry| entry.and_then(|entry| entry.expires_at()));
/// assert_eq!(expires_at, Some(5_000));
/// assert!(store.view(0, 5_000).read(b"greeting", |entry| entry.is_none()));
/// ```
pub struct View<'v> {
    pub(crate) store: &'v Store,
    pub(crate) db: u32,
    pub(crate) now_ms: u64,
    /// The time of accesses, which is another one in a replay.
    pub(crate) clock_ms: u64,
    pub(crate) touch: bool,
    /// A key whose hash, and perhaps bucket, is already known.
    pub(crate) foreseen: Option<&'v Foreseen<'v>>,
    pub(crate) held: Option<&'v mut Held>,
}

impl Store {
    /// Returns a view of database `db` at the time `now_ms` (unix milliseconds) that takes the locks
    /// of each call. Making a view takes no lock and allocates nothing.
    ///
    /// # Panics
    ///
    /// If there is no database `db`.
    #[must_use]
    pub fn view(&self, db: u32, now_ms: u64) -> View<'_> {
        View::within(self, db, now_ms, None)
    }
}

impl<'v> View<'v> {
    /// Returns a view of database `db` at the time `now_ms` (unix milliseconds). With `held`, which must
    /// be of this store, the view is inside that section.
    ///
    /// Inside a section, every method panics if it needs a shard that the section does not cover: locking
    /// another shard there could deadlock.
    ///
    /// # Panics
    ///
    /// If there is no database `db`.
    #[must_use]
    #[inline]
    pub fn within(store: &'v Store, db: u32, now_ms: u64, held: Option<&'v mut Held>) -> View<'v> {
        assert!(
            db < store.databases(),
            "database {db} of {}",
            store.databases()
        );
        View {
            store,
            db,
            now_ms,
            clock_ms: now_ms,
            touch: true,
            foreseen: None,
            held,
        }
    }

    /// The database's number.
    #[must_use]
    pub fn db(&self) -> u32 {
        self.db
    }

    /// The time the view was made for, in unix milliseconds.
    #[must_use]
    pub fn now_ms(&self) -> u64 {
        self.now_ms
    }

    /// The store.
    #[must_use]
    pub fn store(&self) -> &'v Store {
        self.store
    }

    /// The time at which keys are used, in unix milliseconds: the time that the view was made for, also
    /// in a [replay](View::replay).
    #[must_use]
    pub fn clock_ms(&self) -> u64 {
        self.clock_ms
    }

    /// From now on no key and no element has expired, whatever its expiry: the view's time is 0. Accesses
    /// are still recorded at the time that the view was made for. For changes that were made earlier, and
    /// are made again: each expiry among them is a change of its own.
    ///
    /// ```
    /// use respire_store::{Config, Expiry, Store};
    ///
    /// let store = Store::new(Config::default());
    /// let mut view = store.view(0, 9_000);
    /// view.replay();
    /// view.update(b"key", |slot| slot.set(b"old", Expiry::At(5_000)));
    /// assert!(view.read(b"key", |entry| entry.is_some()));
    /// assert!(store.view(0, 9_000).read(b"key", |entry| entry.is_none()));
    /// ```
    pub fn replay(&mut self) {
        self.now_ms = 0;
    }

    /// Sets whether [`View::read`] records the access (`CLIENT NO-TOUCH` turns it off); on by default.
    pub fn set_touch(&mut self, touch: bool) {
        self.touch = touch;
    }

    /// Uses what [`Store::prefetch`] found out about a key: the view does not hash it again, and looks first
    /// where [`Store::prefetch_entry`] found its entry. This applies to the same slice only, not to another
    /// one of equal bytes, and only if the store that made `foreseen` hashes keys as this one does.
    #[inline]
    pub fn foresee(&mut self, foreseen: &'v Foreseen<'v>) {
        self.foreseen = foreseen.is_of(self.store).then_some(foreseen);
    }

    /// Reads a key under its shard's read lock, and records the access. An expired key is absent, and is
    /// removed. An absent key is reported to observers, and `f` is then called without the lock.
    ///
    /// # Panics
    ///
    /// If the view is inside a section that does not cover the key.
    #[inline]
    pub fn read<R>(&mut self, key: &[u8], f: impl FnOnce(Option<EntryRef<'_>>) -> R) -> R {
        let (note, touch) = (self.note(), self.touch);
        self.find(key, Self::missed, |found| {
            f(found.map(|(entry, side)| {
                if touch {
                    note.touch(entry, side);
                }
                note.entry(entry)
            }))
        })
    }

    /// Reads a key like [`View::read`], but neither records the access nor reports an absent key.
    ///
    /// # Panics
    ///
    /// If the view is inside a section that does not cover the key.
    #[inline]
    pub fn peek<R>(&mut self, key: &[u8], f: impl FnOnce(Option<EntryRef<'_>>) -> R) -> R {
        let clock = self.store.clock();
        let hide = |_: &mut Self, _: &[u8]| ();
        self.find(key, hide, |found| {
            f(found.map(|(entry, _)| EntryRef::new(entry, clock)))
        })
    }

    /// Calls `f` with a key's slot, under its shard's write lock. An expired key is removed first.
    ///
    /// # Panics
    ///
    /// If the view is inside a section that does not cover the key.
    #[inline]
    pub fn update<R>(&mut self, key: &[u8], f: impl FnOnce(&mut Slot<'_>) -> R) -> R {
        let note = self.note();
        let (hash, bucket) = self.seek(key);
        let db = self.store.database(self.db);
        let index = db.shard_of(hash);
        let (own, mut guard, mut section) = (Unit::default(), None, None);
        let (table, unit) = match &mut self.held {
            Some(held) => held.lend((self.db, index)),
            None => {
                let locked = self.store.wait_for::<Writing, _>(db.lock(index));
                if db.side(index).hooks.has(WAITED) {
                    // The end of a section calls those who wait for the key.
                    drop(locked);
                    let locked = self.store.lock(&Scope::Keys(&[(self.db, key)]));
                    section.insert(locked).held().lend((self.db, index))
                } else {
                    (&mut **guard.insert(locked), &own)
                }
            }
        };
        let _ending = own.ending();
        note.with_slot(db.shard(index, table, unit), key, (hash, bucket), f)
    }

    /// Calls `f` while everything in `scope` is locked for writing: other threads see all of its changes
    /// or none. Inside a section, it calls `f` without locking anything. O(shards in `scope`).
    ///
    /// # Panics
    ///
    /// If `scope` names a database that does not exist, or `f` uses a key that the section does not
    /// cover (see [`View::within`]).
    pub fn locked<R>(&mut self, scope: &Scope<'_>, f: impl FnOnce(&mut View<'_>) -> R) -> R {
        if self.held.is_some() {
            return f(self);
        }
        let mut section = self.store.lock(scope);
        let mut view = View::within(self.store, self.db, self.now_ms, Some(section.held()));
        (view.touch, view.clock_ms) = (self.touch, self.clock_ms);
        f(&mut view)
    }

    /// Returns whether the view is inside a section.
    #[must_use]
    #[inline]
    pub fn is_in_section(&self) -> bool {
        self.held.is_some()
    }

    /// Returns whether the view is inside a section that covers all of `scope`. O(shards in `scope`).
    #[must_use]
    pub fn covers(&self, scope: &Scope<'_>) -> bool {
        let held = self.held.as_deref();
        held.is_some_and(|held| held.covers(self.store, scope))
    }

    /// Returns the same view of another database.
    ///
    /// # Panics
    ///
    /// If there is no database `db`.
    pub fn in_db(&mut self, db: u32) -> View<'_> {
        let (touch, clock_ms) = (self.touch, self.clock_ms);
        let mut view = View::within(self.store, db, self.now_ms, self.held.as_deref_mut());
        (view.touch, view.clock_ms) = (touch, clock_ms);
        view
    }

    /// Returns the number of keys in the database at one moment. Expired keys count until they are
    /// removed. O(shards), which it locks for reading. [`Store::len`] takes no lock, but may see only
    /// some of a section's changes.
    #[must_use]
    pub fn len(&self) -> usize {
        let Some(db) = self.store.existing_database(self.db) else {
            return 0;
        };
        // A counter for the whole database, changed when a section ends, would be right without a
        // lock. But then every thread that adds or removes a key would write to one cache line, while
        // 64 uncontended read locks take a microsecond in a call that is rare.
        let _guards = self.read_all(db);
        db.keys()
    }

    /// Returns whether the database has no keys at one moment. O(shards), like [`View::len`].
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Watches a key, existing or not, until the watch is dropped. Only changes made after this call
    /// make the watch dirty.
    ///
    /// # Panics
    ///
    /// If the view is inside a section that does not cover the key.
    pub fn watch(&mut self, key: &[u8]) -> Watch {
        let db = self.store.database(self.db);
        let hash = self.store.hash(key);
        let index = db.shard_of(hash);
        self.with_table(db, index, |table| {
            let expires_at = find(table, hash, key).and_then(Entry::expires_at);
            db.watches.watch(index, key, expires_at, self.now_ms)
        })
    }

    /// Looks a key up and calls `f` with its entry. An expired key is removed, and is absent, as are elements that
    /// are due. For an absent key it calls `missed` and then `f`, both without a lock.
    #[inline]
    fn find<R>(
        &mut self,
        key: &[u8],
        missed: impl FnOnce(&mut Self, &[u8]),
        f: impl FnOnce(Option<(&Entry, &Side)>) -> R,
    ) -> R {
        let Some(db) = self.store.existing_database(self.db) else {
            missed(self, key);
            return f(None);
        };
        let (hash, bucket) = self.seek(key);
        let index = db.shard_of(hash);
        // Both kinds of view share one call of `f`, so that the function is small enough to inline.
        let mut guard = None;
        let table = match &self.held {
            Some(held) => held.table(self.place(index)),
            None => &**guard.insert(self.store.wait_for::<Reading, _>(db.lock(index))),
        };
        let mut found = bucket.find(table, hash, key);
        if found.is_some_and(|entry| entry.is_due(self.now_ms)) {
            guard = None;
            found = self.find_rest(db, (hash, index), key, &mut guard);
        }
        if let Some(entry) = found {
            return f(Some((entry, db.side(index))));
        }
        drop(guard);
        missed(self, key);
        f(None)
    }

    /// Removes a key that has expired, or its elements that are due, and looks it up again. The read lock is put
    /// into `guard`.
    #[cold]
    fn find_rest<'t>(
        &'t mut self,
        db: &'v Database,
        (hash, index): (u64, usize),
        key: &[u8],
        guard: &'t mut Option<RwLockReadGuard<'v, Table>>,
    ) -> Option<&'t Entry> {
        self.remove_due(key);
        let table = match &self.held {
            Some(held) => held.table(self.place(index)),
            None => &**guard.insert(self.store.wait_for::<Reading, _>(db.lock(index))),
        };
        find(table, hash, key)
    }

    /// Removes a key that a read found expired, or its elements that are due. The caller must have released its read
    /// lock, as this takes the write lock.
    #[cold]
    pub(crate) fn remove_due(&mut self, key: &[u8]) {
        // `update` checks the times again, as another thread may have replaced the entry meanwhile.
        self.update(key, |_| ());
    }

    /// Locks every shard of the database for reading. Inside a section it locks none, as the section holds
    /// them. Readers do not block each other.
    pub(crate) fn read_all<'d>(&self, db: &'d Database) -> Vec<RwLockReadGuard<'d, Table>> {
        let shards = match self.held {
            Some(_) => 0,
            None => db.sides().len(),
        };
        self.store
            .lock_all::<Reading>(shards, |index| db.lock(index))
    }

    /// Returns the hash of a key, and the bucket to look at first.
    #[inline(always)]
    pub(crate) fn seek(&self, key: &[u8]) -> (u64, Bucket) {
        let foreseen = self.foreseen.and_then(|foreseen| foreseen.of_slice(key));
        foreseen.unwrap_or_else(|| (self.store.hash(key), Bucket::UNKNOWN))
    }

    #[inline]
    pub(crate) fn with_table<R>(
        &self,
        db: &Database,
        index: usize,
        f: impl FnOnce(&Table) -> R,
    ) -> R {
        match &self.held {
            Some(held) => f(held.table(self.place(index))),
            None => f(&self.store.wait_for::<Reading, _>(db.lock(index))),
        }
    }

    fn place(&self, index: usize) -> Place {
        (self.db, index)
    }

    #[inline]
    pub(crate) fn note(&self) -> Note {
        Note {
            clock: self.store.clock(),
            now_ms: self.now_ms,
            clock_ms: self.clock_ms,
        }
    }
}

impl fmt::Debug for View<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("View")
            .field("db", &self.db)
            .field("now_ms", &self.now_ms)
            .field("held", &self.held)
            .finish_non_exhaustive()
    }
}

/// The view's time, and the rules by which accesses of entries are recorded.
#[derive(Clone, Copy)]
pub(crate) struct Note {
    clock: Clock,
    now_ms: u64,
    clock_ms: u64,
}

impl Note {
    /// Wraps an entry for reading.
    #[inline]
    pub(crate) fn entry(self, entry: &Entry) -> EntryRef<'_> {
        EntryRef::new(entry, self.clock)
    }

    /// Calls `f` with the key's slot, after removing the key if it has expired.
    #[inline(always)]
    pub(crate) fn with_slot<'e, R>(
        self,
        shard: ShardMut<'e>,
        key: &'e [u8],
        (hash, bucket): (u64, Bucket),
        f: impl FnOnce(&mut Slot<'e>) -> R,
    ) -> R {
        let mut slot = Slot {
            shard: shard.at(self.clock_ms),
            key,
            hash,
            bucket,
            now_ms: self.now_ms,
            clock_ms: self.clock_ms,
            clock: self.clock,
        };
        // The slot must not be moved from here on: a move would read it in larger pieces than it was
        // written in, which stalls store forwarding.
        slot.shard.expire(hash, key, self.now_ms);
        debug_assert!(slot.is_right());
        f(&mut slot)
    }

    #[inline]
    pub(crate) fn touch(self, entry: &Entry, side: &Side) {
        let before = entry.clock();
        let after = self.clock.touched(before, self.clock_ms, || side.random());
        // Most accesses do not change the clock; skipping the write keeps the entry's cache line clean.
        if after != before {
            entry.set_clock(after);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Config, Expiry, Freeing, Policy};

    fn store() -> Store {
        Store::new(Config {
            databases: 2,
            shards: 4,
            ..Config::default()
        })
    }

    fn idle_ms(store: &Store, now_ms: u64) -> u64 {
        store
            .view(0, now_ms)
            .peek(b"k", |entry| entry.map_or(0, |entry| entry.idle_ms(now_ms)))
    }

    #[test]
    fn expired_key_is_removed_by_a_read() {
        let store = store();
        for key in [b"a", b"b", b"c", b"d"] {
            store
                .view(0, 0)
                .update(key, |slot| slot.set(key, Expiry::At(10)));
        }
        let mut view = store.view(0, 10);
        assert!(view.read(b"a", |entry| entry.is_none()));
        assert_eq!(view.len(), 3);
        assert!(view.peek(b"b", |entry| entry.is_none()));
        assert_eq!(view.len(), 2);
        let keys = [b"c".as_slice(), b"d"];
        view.read_many(keys.into_iter(), |_, entry| assert!(entry.is_none()));
        assert_eq!(view.len(), 0);
        assert_eq!(store.stats().expired_keys, 4);
    }

    #[test]
    fn read_records_the_access_and_peek_does_not() {
        let store = store();
        store
            .view(0, 10_000)
            .update(b"k", |slot| slot.set(1, Expiry::Clear));
        assert_eq!(idle_ms(&store, 25_999), 15_000);
        store
            .view(0, 20_000)
            .read(b"k", |entry| assert!(entry.is_some()));
        assert_eq!(idle_ms(&store, 25_999), 5_000);
        store
            .view(0, 22_000)
            .read_many([b"k".as_slice()].into_iter(), |_, entry| {
                assert!(entry.is_some())
            });
        assert_eq!(idle_ms(&store, 25_999), 3_000);
        let mut view = store.view(0, 25_000);
        view.set_touch(false);
        view.read(b"k", |entry| assert!(entry.is_some()));
        view.read_many([b"k".as_slice()].into_iter(), |_, entry| {
            assert!(entry.is_some())
        });
        view.locked(&Scope::Database(0), |view| {
            view.read(b"k", |entry| assert!(entry.is_some()))
        });
        assert_eq!(idle_ms(&store, 25_999), 3_000);
        store
            .view(0, 25_000)
            .update(b"k", |slot| slot.edit_string(Vec::clear));
        assert_eq!(idle_ms(&store, 25_999), 0);
    }

    #[test]
    fn idle_time_and_frequency_are_zero_under_the_other_policy() {
        let store = store();
        store.set_max_memory(0, Policy::AllKeysLfu, 5);
        store
            .view(0, 0)
            .update(b"k", |slot| slot.set(1, Expiry::Clear));
        let seen = |now_ms| {
            store.view(0, 0).peek(b"k", |entry| {
                entry.map(|entry| (entry.idle_ms(now_ms), entry.freq(now_ms)))
            })
        };
        assert_eq!(seen(60_000), Some((0, 4)));
        store.set_lfu(10, 0);
        assert_eq!(seen(60_000), Some((0, 5)));
        store.set_max_memory(0, Policy::AllKeysLru, 5);
        assert_eq!(seen(60_000).map(|(_, freq)| freq), Some(0));
    }

    #[test]
    fn reading_an_unused_database_does_not_create_it() {
        let store = store();
        let mut view = store.view(1, 0);
        assert!(view.read(b"k", |entry| entry.is_none()));
        view.read_many([b"k".as_slice(), b"l"].into_iter(), |_, entry| {
            assert!(entry.is_none())
        });
        view.for_each(|_, _| panic!("there is no key"));
        assert_eq!(
            (view.scan(0, 10, |_, _| {}), view.random_key(), view.len()),
            (0, None, 0)
        );
        assert_eq!(view.flush(Freeing::AtOnce), 0);
        assert_eq!(view.flush_all(Freeing::InSteps), 0);
        assert!(store.existing_database(1).is_none());
    }

    #[test]
    fn random_key_returns_every_live_key_and_no_expired_one() {
        let store = store();
        for key in 0..40_u8 {
            let expiry = if key % 2 == 0 {
                Expiry::Clear
            } else {
                Expiry::At(10)
            };
            store.view(0, 0).update(&[key], |slot| slot.set(1, expiry));
        }
        let mut seen = [0; 40];
        for _ in 0..4_000 {
            let key = store.view(0, 10).random_key();
            seen[usize::from(key.map_or(0, |key| key[0]))] += 1;
        }
        for (key, count) in seen.into_iter().enumerate() {
            assert_eq!(count > 0, key % 2 == 0, "{key}: {seen:?}");
        }
    }

    #[test]
    fn random_key_returns_all_keys_about_equally_often() {
        let store = store();
        for key in 0..2_000_u16 {
            let mut view = store.view(0, 0);
            view.update(&key.to_le_bytes(), |slot| slot.set(1, Expiry::Clear));
        }
        // Removed keys leave gaps in the tables.
        let kept = 0..500_u16;
        for key in kept.end..2_000 {
            store
                .view(0, 0)
                .update(&key.to_le_bytes(), |slot| slot.remove());
        }
        let (draws, mut seen) = (1_000, [0; 500]);
        for _ in 0..draws * seen.len() {
            let key = store.view(0, 0).random_key().expect("there are keys");
            seen[usize::from(u16::from_le_bytes([key[0], key[1]]))] += 1;
        }
        let rare = seen.iter().min().expect("there are keys");
        let often = seen.iter().max().expect("there are keys");
        assert!(
            *rare > draws * 4 / 5 && *often < draws * 6 / 5,
            "{rare} to {often}"
        );
    }

    #[test]
    fn stores_with_the_same_seed_return_the_same_random_keys() {
        let choose = |seed| {
            let store = Store::new(Config {
                seed: [seed; 4],
                ..Config::default()
            });
            for key in 0..100_u8 {
                store
                    .view(0, 0)
                    .update(&[key], |slot| slot.set(1, Expiry::Clear));
            }
            let mut view = store.view(0, 0);
            (0..20).map(|_| view.random_key()).collect::<Vec<_>>()
        };
        assert_eq!(choose(7), choose(7));
        assert_ne!(choose(7), choose(8));
    }
}
