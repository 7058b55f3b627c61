//! Atomic sections: several shards held at once. The crate's locking rule lives here.

use core::fmt;

use dashmap::RwLockWriteGuard;

use crate::database::Table;
use crate::store::Store;

/// What an atomic section covers.
#[derive(Debug, Clone, Copy)]
pub enum Scope<'a> {
    /// These keys, each with its database.
    Keys(&'a [(u32, &'a [u8])]),
    /// One whole database.
    Database(u32),
    /// Two whole databases.
    Databases(u32, u32),
    /// Every database.
    Everything,
}

/// A shard's place in the one order in which shards are locked.
pub(crate) type Place = (u32, usize);

/// The tables of the shards a [`Section`] holds, moved out of the locks' guards so that they can
/// travel without a lifetime. A [`View`](crate::View) made with it works on them.
#[derive(Default)]
pub struct Held {
    /// In ascending order of place.
    tables: Vec<(Place, Table)>,
    /// Tables that were flushed, kept until the shards have been released.
    garbage: Vec<Table>,
}

impl Held {
    pub(crate) fn table(&self, place: Place) -> &Table {
        &self.tables[self.at(place)].1
    }

    pub(crate) fn table_mut(&mut self, place: Place) -> &mut Table {
        let at = self.at(place);
        &mut self.tables[at].1
    }

    pub(crate) fn swap_tables(&mut self, a: Place, b: Place) {
        let (a, b) = (self.at(a.min(b)), self.at(a.max(b)));
        let (front, back) = self.tables.split_at_mut(b);
        core::mem::swap(&mut front[a].1, &mut back[0].1);
    }

    pub(crate) fn discard(&mut self, table: Table) {
        self.garbage.push(table);
    }

    /// Taking a further lock here could close a circle of waiting threads, and going on without
    /// one would break the section's promise, so a place that was not declared is a bug.
    fn at(&self, place: Place) -> usize {
        match self.tables.binary_search_by_key(&place, |(at, _)| *at) {
            Ok(at) => at,
            Err(_) => panic!(
                "shard {} of database {} is not covered by the section",
                place.1, place.0
            ),
        }
    }
}

impl fmt::Debug for Held {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Held")
            .field("shards", &self.tables.len())
            .finish_non_exhaustive()
    }
}

/// Shards held in write mode. Dropping the section, also while panicking, puts every table back
/// before any shard is released.
///
/// ```
/// use respire_store::{Config, Expiry, Scope, Store, View};
///
/// let store = Store::new(Config::default());
/// let mut section = store.lock(&Scope::Keys(&[(0, b"a"), (0, b"b")]));
/// let mut view = View::within(&store, 0, 0, Some(section.held()));
/// view.update(b"a", |slot| slot.set(b"1", Expiry::Clear));
/// view.update(b"b", |slot| slot.set(b"2", Expiry::Clear)); // nobody sees "a" without "b"
/// drop(section);
/// assert_eq!(store.len(0), 2);
/// ```
#[must_use = "the shards are released when the section is dropped"]
pub struct Section<'s> {
    guards: Vec<RwLockWriteGuard<'s, Table>>,
    held: Held,
}

impl<'s> Section<'s> {
    fn new(store: &'s Store, mut places: Vec<Place>) -> Section<'s> {
        // The rule of deadlock freedom: ascending, each once.
        places.sort_unstable();
        places.dedup();
        let mut guards: Vec<RwLockWriteGuard<'s, Table>> = Vec::with_capacity(places.len());
        for &(db, shard) in &places {
            guards.push(store.database(db).lock(shard).write());
        }
        let tables = places.into_iter().zip(&mut guards);
        let tables = tables
            .map(|(place, guard)| (place, core::mem::take(&mut **guard)))
            .collect();
        Section {
            guards,
            held: Held {
                tables,
                garbage: Vec::new(),
            },
        }
    }

    /// What commands inside the section run on ([`View::within`](crate::View::within)).
    pub fn held(&mut self) -> &mut Held {
        &mut self.held
    }
}

impl Drop for Section<'_> {
    fn drop(&mut self) {
        for (guard, (_, table)) in self.guards.iter_mut().zip(&mut self.held.tables) {
            **guard = core::mem::take(table);
        }
        // Releases; the garbage in `held` is dropped after it.
        self.guards.clear();
    }
}

impl fmt::Debug for Section<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Section")
            .field("held", &self.held)
            .finish_non_exhaustive()
    }
}

impl Store {
    /// Locks what `scope` names, in write mode, until the section is dropped. O(shards named).
    ///
    /// While a thread has a section, it must reach the store through [`Section::held`] only: a call
    /// that takes a lock of its own would wait for itself.
    ///
    /// # Panics
    ///
    /// If `scope` names a database that does not exist.
    pub fn lock(&self, scope: &Scope<'_>) -> Section<'_> {
        let all = |db: u32| (0..self.shards()).map(move |shard| (db, shard));
        let places = match *scope {
            Scope::Keys(keys) => keys.iter().map(|(db, key)| self.place(*db, key)).collect(),
            Scope::Database(db) => all(db).collect(),
            Scope::Databases(a, b) => all(a).chain(all(b)).collect(),
            Scope::Everything => (0..self.databases()).flat_map(all).collect(),
        };
        Section::new(self, places)
    }

    fn place(&self, db: u32, key: &[u8]) -> Place {
        (db, self.database(db).shard_of(self.hash(key)))
    }
}
