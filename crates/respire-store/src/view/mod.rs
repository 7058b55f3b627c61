//! What a command works on: a database at a moment, free or inside an atomic section.

mod iterate;
mod many;
mod report;
mod whole;

use core::fmt;

use dashmap::RwLockReadGuard;

use crate::database::{Database, Side, Watch};
use crate::entry::{Clock, Entry, EntryRef};
use crate::observe::Unit;
use crate::shard::ShardMut;
use crate::slot::Slot;
use crate::store::{Foreseen, Held, Place, Scope, Store};
use crate::table::{Bucket, Table, find};

/// A database at a moment. A free view takes the locks of each call; one inside a section works on
/// the tables that are held and takes none. What is written against a view runs in both.
///
/// Closures given to a view run under a shard's lock: they must not use the store in any other way
/// than through what they are given.
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
    pub(crate) touch: bool,
    /// A key whose hash is known already, and perhaps its bucket.
    pub(crate) foreseen: Option<&'v Foreseen<'v>>,
    pub(crate) held: Option<&'v mut Held>,
}

impl Store {
    /// A view of database `db` at the time `now_ms` that takes its locks call by call. Making one
    /// takes no lock and allocates nothing.
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
    /// A view of database `db` at the time `now_ms` (unix milliseconds), inside a section of this
    /// very store if `held` is given.
    ///
    /// Inside a section, every method panics when it comes to a shard that the section does not
    /// cover: taking a further lock there could wait forever.
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

    /// Whether [`View::read`] notes the use (`CLIENT NO-TOUCH`); it does unless told otherwise.
    pub fn set_touch(&mut self, touch: bool) {
        self.touch = touch;
    }

    /// Tells what [`Store::prefetch`] found out about a key that is about to be used, so that it is not
    /// hashed again, and is looked for first where [`Store::prefetch_entry`] found it. It counts for that
    /// very slice, not for one of equal bytes, and only if that store hashes keys as this one does.
    #[inline]
    pub fn foresee(&mut self, foreseen: &'v Foreseen<'v>) {
        self.foreseen = foreseen.is_of(self.store).then_some(foreseen);
    }

    /// Reads a key under its shard's read lock, and notes that it was used. An expired key is
    /// absent. That a key is absent is reported to observers, and shown to `f` without the lock.
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

    /// Reads a key like [`View::read`], without noting that it was used, or reporting that it is absent.
    #[inline]
    pub fn peek<R>(&mut self, key: &[u8], f: impl FnOnce(Option<EntryRef<'_>>) -> R) -> R {
        let clock = self.store.clock();
        let hide = |_: &mut Self, _: &[u8]| ();
        self.find(key, hide, |found| {
            f(found.map(|(entry, _)| EntryRef::new(entry, clock)))
        })
    }

    /// Holds a key under its shard's write lock. An expired key is removed first.
    #[inline]
    pub fn update<R>(&mut self, key: &[u8], f: impl FnOnce(&mut Slot<'_>) -> R) -> R {
        let note = self.note();
        let (hash, bucket) = self.seek(key);
        let db = self.store.database(self.db);
        let index = db.shard_of(hash);
        let (own, mut guard) = (Unit::default(), None);
        let (table, unit) = match &mut self.held {
            Some(held) => held.lend((self.db, index)),
            None => (&mut **guard.insert(db.lock(index).write()), &own),
        };
        let _ending = own.ending();
        note.with_slot(db.shard(index, table, unit), key, (hash, bucket), f)
    }

    /// Runs `f` with everything that `scope` names held for writing: what it does to several keys
    /// is seen at once or not at all. Inside a section, `f` simply runs.
    ///
    /// # Panics
    ///
    /// If `scope` names a database that does not exist, and when `f` comes to a key that is not
    /// covered (see [`View::within`]).
    pub fn locked<R>(&mut self, scope: &Scope<'_>, f: impl FnOnce(&mut View<'_>) -> R) -> R {
        if self.held.is_some() {
            return f(self);
        }
        let mut section = self.store.lock(scope);
        let mut view = View::within(self.store, self.db, self.now_ms, Some(section.held()));
        view.touch = self.touch;
        f(&mut view)
    }

    /// The same view on another database.
    ///
    /// # Panics
    ///
    /// If there is no database `db`.
    pub fn in_db(&mut self, db: u32) -> View<'_> {
        let touch = self.touch;
        let mut view = View::within(self.store, db, self.now_ms, self.held.as_deref_mut());
        view.touch = touch;
        view
    }

    /// Keys in the database at one moment; expired ones count until they have been removed.
    /// O(shards), all of which are locked for reading. [`Store::len`] takes no lock, and may see
    /// some changes of a section and not yet others.
    #[must_use]
    pub fn len(&self) -> usize {
        let Some(db) = self.store.existing_database(self.db) else {
            return 0;
        };
        // A counter of the whole database, changed when a section ends, would be right without a
        // lock; but each key that comes or goes, in whatever thread, would pay for writing to the
        // one cache line, where 64 uncontended read locks take a microsecond and only now and then.
        let _guards = self.read_all(db);
        db.keys()
    }

    /// Whether the database has no keys at one moment. O(shards), like [`View::len`].
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Watches a key, whether or not it exists, until the watch is dropped. What was done to the
    /// key before does not count; whatever is done to it later does.
    pub fn watch(&mut self, key: &[u8]) -> Watch {
        let db = self.store.database(self.db);
        let hash = self.store.hash(key);
        let index = db.shard_of(hash);
        self.with_table(db, index, |table| {
            let expires_at = find(table, hash, key).and_then(Entry::expires_at);
            db.watches.watch(index, key, expires_at, self.now_ms)
        })
    }

    /// Looks a key up; one that is found expired is removed, and absent. Before `f` hears that a key is
    /// absent, `missed` does, without a lock.
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
        // One place in the code for both kinds of view: it is worth being expanded where it is used.
        let mut guard = None;
        let table = match &self.held {
            Some(held) => held.table(self.place(index)),
            None => &**guard.insert(db.lock(index).read()),
        };
        let entry = bucket.find(table, hash, key);
        let is_due = entry.is_some_and(|entry| entry.is_expired(self.now_ms));
        if let Some(entry) = entry.filter(|_| !is_due) {
            return f(Some((entry, db.side(index))));
        }
        drop(guard);
        if is_due {
            self.remove_expired(key);
        }
        missed(self, key);
        f(None)
    }

    /// Frees a key that a read found expired, under a lock of its own: the one for reading is not
    /// enough, and is released.
    #[cold]
    pub(crate) fn remove_expired(&mut self, key: &[u8]) {
        // Holding a key for writing removes it if it is expired, and it still may be another.
        self.update(key, |_| ());
    }

    /// Locks every shard of the database for reading, in order; none inside a section, which holds
    /// what it needs. Those who only read do not keep each other waiting.
    pub(crate) fn read_all<'d>(&self, db: &'d Database) -> Vec<RwLockReadGuard<'d, Table>> {
        let shards = match self.held {
            Some(_) => 0,
            None => db.sides().len(),
        };
        (0..shards).map(|index| db.lock(index).read()).collect()
    }

    /// The hash of a key, and the bucket where it is looked for first.
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
            None => f(&db.lock(index).read()),
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

/// The moment, and how the use of an entry is noted at it.
#[derive(Clone, Copy)]
pub(crate) struct Note {
    clock: Clock,
    now_ms: u64,
}

impl Note {
    /// An entry to be read.
    #[inline]
    pub(crate) fn entry(self, entry: &Entry) -> EntryRef<'_> {
        EntryRef::new(entry, self.clock)
    }

    /// Holds a key to be written, which is removed first if its time has come.
    #[inline(always)]
    pub(crate) fn with_slot<'e, R>(
        self,
        shard: ShardMut<'e>,
        key: &'e [u8],
        (hash, bucket): (u64, Bucket),
        f: impl FnOnce(&mut Slot<'e>) -> R,
    ) -> R {
        let mut slot = Slot {
            shard: shard.at(self.now_ms),
            key,
            hash,
            bucket,
            now_ms: self.now_ms,
            clock: self.clock,
        };
        // The slot stays where it is from here: moved in larger pieces than it is written in, it would be
        // waited for.
        slot.shard.expire(hash, key, self.now_ms);
        debug_assert!(slot.is_right());
        f(&mut slot)
    }

    #[inline]
    pub(crate) fn touch(self, entry: &Entry, side: &Side) {
        let before = entry.clock();
        let after = self.clock.touched(before, self.now_ms, || side.random());
        // Most reads find the clock as it should be, and leave the entry's memory unwritten.
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
    fn reading_an_expired_key_removes_it() {
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
    fn read_notes_the_use_and_peek_does_not() {
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
    fn idle_time_and_frequency_belong_to_their_policies() {
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
    fn database_never_written_is_read_without_being_made() {
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
    fn random_key_reaches_every_key_and_no_expired_one() {
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
    fn random_key_chooses_every_key_about_as_often() {
        let store = store();
        for key in 0..2_000_u16 {
            let mut view = store.view(0, 0);
            view.update(&key.to_le_bytes(), |slot| slot.set(1, Expiry::Clear));
        }
        // Tables with gaps, as they are after keys were removed.
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
    fn stores_of_one_seed_choose_the_same_random_keys() {
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
