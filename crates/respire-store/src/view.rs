//! What a command works on: a database at a moment, free or inside an atomic section.

use core::sync::atomic::Ordering;

use crate::database::{Table, find};
use crate::raw;
use crate::section::{Held, Scope};
use crate::slot::{EntryRef, Slot};
use crate::store::Store;
use crate::watch::Watch;

/// A database at a moment. Free, it takes the locks of each call; inside a section it works on
/// the held tables and takes none.
pub struct View<'v> {
    store: &'v Store,
    db: u32,
    now_ms: u64,
    held: Option<&'v mut Held>,
}

impl<'v> View<'v> {
    /// A view of database `db`; inside a section if `held` is given.
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

    /// Reads a key and notes that it was used.
    pub fn read<R>(&mut self, key: &[u8], f: impl FnOnce(Option<EntryRef<'_>>) -> R) -> R {
        let (clock, now_ms) = (self.store.clock(), self.now_ms);
        self.peek(key, |entry| {
            f(entry.inspect(|entry| entry.touch(clock, now_ms)))
        })
    }

    /// Reads a key without noting that it was used.
    pub fn peek<R>(&mut self, key: &[u8], f: impl FnOnce(Option<EntryRef<'_>>) -> R) -> R {
        let (store, now_ms) = (self.store, self.now_ms);
        let hash = store.hash(key);
        self.table(hash, |table| {
            let entry = table.and_then(|table| find(table, hash, key));
            let entry = entry.filter(|entry| !entry.is_expired(now_ms));
            f(entry.map(|entry| EntryRef::new(entry, store.clock())))
        })
    }

    /// Holds a key for writing.
    pub fn update<R>(&mut self, key: &[u8], f: impl FnOnce(&mut Slot<'_>) -> R) -> R {
        let (store, now_ms) = (self.store, self.now_ms);
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
            clock: store.clock(),
        })
    }

    /// Reads several keys at one moment: their shards are all locked before the first is read.
    /// `f` is given each key's position and entry, in order.
    pub fn read_many<'k>(
        &mut self,
        keys: impl Iterator<Item = &'k [u8]> + Clone,
        mut f: impl FnMut(usize, Option<EntryRef<'_>>),
    ) {
        if self.held.is_some() {
            for (at, key) in keys.enumerate() {
                self.read(key, |entry| f(at, entry));
            }
            return;
        }
        let wanted: Vec<(u32, &[u8])> = keys.map(|key| (self.db, key)).collect();
        self.locked(&Scope::Keys(&wanted), |view| {
            for (at, (_, key)) in wanted.iter().enumerate() {
                view.read(key, |entry| f(at, entry));
            }
        });
    }

    /// Runs `f` with everything `scope` names held for writing. Inside a section that covers it,
    /// `f` simply runs.
    ///
    /// # Panics
    ///
    /// Inside a section that does not cover what `f` touches.
    pub fn locked<R>(&mut self, scope: &Scope<'_>, f: impl FnOnce(&mut View<'_>) -> R) -> R {
        if self.held.is_some() {
            return f(self);
        }
        let mut section = self.store.lock(scope, self.now_ms);
        f(&mut View::within(
            self.store,
            self.db,
            self.now_ms,
            Some(section.held()),
        ))
    }

    /// The same view on another database.
    ///
    /// # Panics
    ///
    /// If there is no database `db`.
    pub fn in_db(&mut self, db: u32) -> View<'_> {
        View::within(self.store, db, self.now_ms, self.held.as_deref_mut())
    }

    /// A step of an iteration over all keys: calls `f` with some, about `count` of them, and
    /// returns the cursor to go on with; 0 starts, and 0 is the end. Every key that is there
    /// from start to end is given at least once.
    pub fn scan(
        &mut self,
        cursor: u64,
        count: usize,
        mut f: impl FnMut(&[u8], EntryRef<'_>),
    ) -> u64 {
        let _ = count;
        let shard = cursor as usize;
        if shard >= self.store.shards() {
            return 0;
        }
        self.each_in(shard, &mut f);
        if shard + 1 == self.store.shards() {
            0
        } else {
            cursor + 1
        }
    }

    /// Calls `f` with every key, shard by shard.
    pub fn for_each(&mut self, mut f: impl FnMut(&[u8], EntryRef<'_>)) {
        for shard in 0..self.store.shards() {
            self.each_in(shard, &mut f);
        }
    }

    /// A key chosen by the random number `r`, or `None` if there is none.
    pub fn random_key(&mut self, r: u64) -> Option<Box<[u8]>> {
        let mut keys = Vec::new();
        self.for_each(|key, _| keys.push(Box::from(key)));
        if keys.is_empty() {
            None
        } else {
            Some(keys.swap_remove((r % keys.len() as u64) as usize))
        }
    }

    /// Keys in the database; expired ones count until they have been removed.
    #[must_use]
    pub fn len(&self) -> usize {
        self.store.len(self.db)
    }

    /// Whether the database has no keys.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Removes every key of the database; how many there were.
    pub fn flush(&mut self) -> usize {
        let mut keys: Vec<Box<[u8]>> = Vec::new();
        self.for_each(|key, _| keys.push(key.into()));
        for key in &keys {
            self.update(key, |slot| slot.remove());
        }
        keys.len()
    }

    /// Removes every key of every database; how many there were.
    pub fn flush_all(&mut self) -> usize {
        (0..self.store.databases())
            .map(|db| self.in_db(db).flush())
            .sum()
    }

    /// Exchanges the contents of two databases.
    pub fn swap(&mut self, a: u32, b: u32) {
        let _ = (a, b);
    }

    /// Watches a key, whether or not it exists.
    pub fn watch(&mut self, key: &[u8]) -> Watch {
        let (store, now_ms) = (self.store, self.now_ms);
        let db = store.database(self.db);
        let hash = store.hash(key);
        self.table(hash, |table| {
            let expires_at = table
                .and_then(|table| find(table, hash, key))
                .and_then(|entry| entry.expires_at());
            db.watches.watch(db.shard_of(hash), key, expires_at, now_ms)
        })
    }

    fn table<R>(&mut self, hash: u64, f: impl FnOnce(Option<&Table>) -> R) -> R {
        let Some(db) = self.store.existing_database(self.db) else {
            return f(None);
        };
        let index = db.shard_of(hash);
        match &self.held {
            Some(held) => f(Some(held.table((self.db, index)))),
            None => f(Some(&db.lock(index).read())),
        }
    }

    fn each_in(&mut self, index: usize, f: &mut impl FnMut(&[u8], EntryRef<'_>)) {
        let Some(db) = self.store.existing_database(self.db) else {
            return;
        };
        if db.side(index).keys.load(Ordering::Acquire) == 0 {
            return;
        }
        let guard;
        let table = match &self.held {
            Some(held) => held.table((self.db, index)),
            None => {
                guard = db.lock(index).read();
                &*guard
            }
        };
        for entry in raw::entries(table).filter(|entry| !entry.is_expired(self.now_ms)) {
            f(entry.key(), EntryRef::new(entry, self.store.clock()));
        }
    }
}
