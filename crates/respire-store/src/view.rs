//! What a command works on: a database at a moment, free or inside an atomic section.

use core::fmt;
use core::sync::atomic::Ordering;

use dashmap::RwLockReadGuard;

use crate::database::{Database, Side, Table, find};
use crate::entry::Entry;
use crate::evict::Clock;
use crate::raw;
use crate::scan::{self, Allowance, Cursor};
use crate::section::{Held, Place, Scope};
use crate::slot::{EntryRef, Slot};
use crate::store::Store;
use crate::watch::Watch;

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
    store: &'v Store,
    db: u32,
    now_ms: u64,
    touch: bool,
    held: Option<&'v mut Held>,
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

    /// Reads a key under its shard's read lock, and notes that it was used. An expired key is
    /// absent.
    pub fn read<R>(&mut self, key: &[u8], f: impl FnOnce(Option<EntryRef<'_>>) -> R) -> R {
        let noted = self.touch.then(|| self.note());
        let clock = self.store.clock();
        self.find(key, |found| {
            f(found.map(|(entry, side)| {
                if let Some(note) = noted {
                    note.touch(entry, side);
                }
                EntryRef::new(entry, clock)
            }))
        })
    }

    /// Reads a key like [`View::read`], without noting that it was used.
    pub fn peek<R>(&mut self, key: &[u8], f: impl FnOnce(Option<EntryRef<'_>>) -> R) -> R {
        let clock = self.store.clock();
        self.find(key, |found| {
            f(found.map(|(entry, _)| EntryRef::new(entry, clock)))
        })
    }

    /// Holds a key under its shard's write lock. An expired key is removed first.
    pub fn update<R>(&mut self, key: &[u8], f: impl FnOnce(&mut Slot<'_>) -> R) -> R {
        let (store, now_ms, clock) = (self.store, self.now_ms, self.store.clock());
        let hash = store.hash(key);
        let db = store.database(self.db);
        let index = db.shard_of(hash);
        let mut guard;
        let table = match &mut self.held {
            Some(held) => held.table_mut((self.db, index)),
            None => {
                guard = db.lock(index).write();
                &mut *guard
            }
        };
        let mut shard = db.shard(index, table);
        shard.expire(hash, key, now_ms);
        f(&mut Slot {
            shard,
            key,
            hash,
            now_ms,
            clock,
        })
    }

    /// Reads several keys at one moment: all their shards are read-locked before the first is
    /// read. `f` is given each key's position and entry, in order. Uses are noted.
    pub fn read_many<'k>(
        &mut self,
        keys: impl Iterator<Item = &'k [u8]> + Clone,
        mut f: impl FnMut(usize, Option<EntryRef<'_>>),
    ) {
        let store = self.store;
        let (None, Some(db)) = (&self.held, store.existing_database(self.db)) else {
            for (at, key) in keys.enumerate() {
                self.read(key, |entry| f(at, entry));
            }
            return;
        };
        let hashes: Vec<u64> = keys.clone().map(|key| store.hash(key)).collect();
        let mut shards: Vec<usize> = hashes.iter().map(|hash| db.shard_of(*hash)).collect();
        shards.sort_unstable();
        shards.dedup();
        let guards: Vec<RwLockReadGuard<'_, Table>> =
            shards.iter().map(|shard| db.lock(*shard).read()).collect();
        let (note, clock) = (self.note(), store.clock());
        for (at, (key, hash)) in keys.zip(hashes).enumerate() {
            let index = db.shard_of(hash);
            let table = shards
                .binary_search(&index)
                .ok()
                .and_then(|at| guards.get(at));
            let entry = table.and_then(|table| live(table, hash, key, note.now_ms));
            if let (Some(entry), true) = (entry, self.touch) {
                note.touch(entry, db.side(index));
            }
            f(at, entry.map(|entry| EntryRef::new(entry, clock)));
        }
    }

    /// Runs `f` with everything that `scope` names held for writing: what it does to several keys
    /// is seen at once or not at all. Inside a section, `f` simply runs.
    pub fn locked<R>(&mut self, scope: &Scope<'_>, f: impl FnOnce(&mut View<'_>) -> R) -> R {
        if self.held.is_some() {
            return f(self);
        }
        let mut section = self.store.lock(scope);
        let mut view = View {
            store: self.store,
            db: self.db,
            now_ms: self.now_ms,
            touch: self.touch,
            held: None,
        };
        view.held = Some(section.held());
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

    /// A step of an iteration over all keys: calls `f` with some of them, about `count`, and
    /// returns the cursor to go on with. 0 starts, and when 0 is returned the iteration is over.
    ///
    /// Every key that is there from start to end is given at least once, however the database
    /// grows and shrinks between the steps; a key may be given more than once. Cursors are less
    /// than 2^63; any number is a valid one. O(`count`), with only one shard locked at a time.
    ///
    /// ```
    /// use respire_store::{Config, Expiry, Store};
    ///
    /// let store = Store::new(Config::default());
    /// for number in 0..1000_i64 {
    ///     let key = format!("key:{number}");
    ///     store.view(0, 0).update(key.as_bytes(), |slot| slot.set(number, Expiry::Clear));
    /// }
    /// let mut keys = std::collections::HashSet::new();
    /// let mut cursor = 0;
    /// loop {
    ///     cursor = store.view(0, 0).scan(cursor, 10, |key, _| drop(keys.insert(key.to_vec())));
    ///     if cursor == 0 {
    ///         break;
    ///     }
    /// }
    /// assert_eq!(keys.len(), 1000);
    /// ```
    pub fn scan(
        &mut self,
        cursor: u64,
        count: usize,
        mut f: impl FnMut(&[u8], EntryRef<'_>),
    ) -> u64 {
        let Some(db) = self.store.existing_database(self.db) else {
            return 0;
        };
        let (shards, now_ms, clock) = (self.store.shards(), self.now_ms, self.store.clock());
        let mut allowance = Allowance::new(count);
        let mut at = Cursor::from_number(cursor, shards);
        let mut give = |entry: &Entry| {
            if !entry.is_expired(now_ms) {
                f(entry.key(), EntryRef::new(entry, clock));
            }
        };
        while !allowance.is_used_up() {
            let next = if db.side(at.shard).keys.load(Ordering::Acquire) == 0 {
                None
            } else {
                self.with_table(db, at.shard, |table| {
                    scan::visit(
                        table,
                        self.store.hasher(),
                        at.home,
                        &mut allowance,
                        &mut give,
                    )
                })
            };
            at = match next {
                Some(home) => Cursor { home, ..at },
                None => match at.next_shard(shards) {
                    Some(next) => next,
                    None => return 0,
                },
            };
        }
        at.to_number(shards)
    }

    /// Calls `f` with every key, one shard after the other. O(keys), each shard being locked for
    /// its share of the time.
    pub fn for_each(&mut self, mut f: impl FnMut(&[u8], EntryRef<'_>)) {
        let Some(db) = self.store.existing_database(self.db) else {
            return;
        };
        let (now_ms, clock) = (self.now_ms, self.store.clock());
        for (index, side) in db.sides().iter().enumerate() {
            if side.keys.load(Ordering::Acquire) == 0 {
                continue;
            }
            self.with_table(db, index, |table| {
                for entry in raw::entries(table).filter(|entry| !entry.is_expired(now_ms)) {
                    f(entry.key(), EntryRef::new(entry, clock));
                }
            });
        }
    }

    /// The key that a random number chooses, or `None` if there is none. Nearly fair: a key whose
    /// neighbours in the table are free is chosen more often. O(shards), unless most keys have
    /// expired and not been swept.
    pub fn random_key(&mut self, random: u64) -> Option<Box<[u8]>> {
        let db = self.store.existing_database(self.db)?;
        let mut nth = random.checked_rem(db.keys() as u64)? as usize;
        let mut start = 0;
        for (index, side) in db.sides().iter().enumerate() {
            let keys = side.keys.load(Ordering::Acquire);
            if nth < keys {
                start = index;
                break;
            }
            nth -= keys;
        }
        let now_ms = self.now_ms;
        let order = (start..db.sides().len()).chain(0..start);
        order.into_iter().find_map(|index| {
            self.with_table(db, index, |table| {
                let mut live = raw::entries_from(table, crate::database::mix(random));
                live.find(|entry| !entry.is_expired(now_ms))
                    .map(|entry| entry.key().into())
            })
        })
    }

    /// Keys in the database; expired ones count until they have been removed. O(shards).
    #[must_use]
    pub fn len(&self) -> usize {
        self.store.len(self.db)
    }

    /// Whether the database has no keys. O(shards).
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Removes every key of the database, all at once; how many there were. Their memory is freed
    /// when the shards have been released.
    pub fn flush(&mut self) -> usize {
        let Some(db) = self.store.existing_database(self.db) else {
            return 0;
        };
        let number = self.db;
        self.locked(&Scope::Database(number), |view| {
            view.held
                .as_deref_mut()
                .map_or(0, |held| clear(db, number, held))
        })
    }

    /// Removes every key of every database, all at once; how many there were.
    pub fn flush_all(&mut self) -> usize {
        match self.held.as_deref_mut() {
            Some(held) => clear_all(self.store, held),
            None => clear_all(self.store, self.store.lock_existing().held()),
        }
    }

    /// Exchanges the contents of two databases, all at once. O(shards).
    ///
    /// # Panics
    ///
    /// If there is no such database.
    pub fn swap(&mut self, a: u32, b: u32) {
        if a == b {
            return;
        }
        let (first, second) = (self.store.database(a), self.store.database(b));
        self.locked(&Scope::Databases(a, b), |view| {
            let Some(held) = view.held.as_deref_mut() else {
                return;
            };
            for (watched, others) in [(first, b), (second, a)] {
                let own = if others == b { a } else { b };
                touch_existing(watched, held, &[own, others]);
            }
            for index in 0..view.store.shards() {
                held.swap_tables((a, index), (b, index));
                first.swap_side(second, index);
            }
            crate::database::bump(&first.side(0).changes, 1);
        });
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

    fn find<R>(&self, key: &[u8], f: impl FnOnce(Option<(&Entry, &Side)>) -> R) -> R {
        let Some(db) = self.store.existing_database(self.db) else {
            return f(None);
        };
        let hash = self.store.hash(key);
        let index = db.shard_of(hash);
        self.with_table(db, index, |table| {
            f(live(table, hash, key, self.now_ms).map(|entry| (entry, db.side(index))))
        })
    }

    fn with_table<R>(&self, db: &Database, index: usize, f: impl FnOnce(&Table) -> R) -> R {
        match &self.held {
            Some(held) => f(held.table(self.place(index))),
            None => f(&db.lock(index).read()),
        }
    }

    fn place(&self, index: usize) -> Place {
        (self.db, index)
    }

    fn note(&self) -> Note {
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

/// How the use of an entry is noted.
#[derive(Clone, Copy)]
struct Note {
    clock: Clock,
    now_ms: u64,
}

impl Note {
    fn touch(self, entry: &Entry, side: &Side) {
        let before = entry.clock();
        let after = self.clock.touched(before, self.now_ms, || side.random());
        // Most reads find the clock as it should be, and leave the entry's memory unwritten.
        if after != before {
            entry.set_clock(after);
        }
    }
}

fn live<'t>(table: &'t Table, hash: u64, key: &[u8], now_ms: u64) -> Option<&'t Entry> {
    find(table, hash, key).filter(|entry| !entry.is_expired(now_ms))
}

/// Empties a database that is wholly held.
fn clear(db: &Database, number: u32, held: &mut Held) -> usize {
    touch_existing(db, held, &[number]);
    let mut keys = 0;
    for index in 0..db.sides().len() {
        let table = db.shard(index, held.table_mut((number, index))).clear();
        keys += table.len();
        held.discard(table);
    }
    keys
}

/// Empties every database that shards are held of.
fn clear_all(store: &Store, held: &mut Held) -> usize {
    let databases = held.databases();
    databases
        .into_iter()
        .map(|db| clear(store.database(db), db, held))
        .sum()
}

/// Tells the watches of `db` about each of their keys that exists in one of `numbers`.
fn touch_existing(db: &Database, held: &Held, numbers: &[u32]) {
    for key in db.watches.keys() {
        let hash = crate::entry::hash_key(db.hasher(), &key);
        let index = db.shard_of(hash);
        if numbers
            .iter()
            .any(|number| find(held.table((*number, index)), hash, &key).is_some())
        {
            db.watches.touch_removed(index, &key);
        }
    }
}
