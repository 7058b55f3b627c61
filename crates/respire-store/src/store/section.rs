//! Atomic sections: several shards held at once. The crate's locking rule lives here.

use core::fmt;

use dashmap::{RwLock, RwLockWriteGuard};

use super::Store;
use crate::database::Cleared;
use crate::observe::{Unit, Unreported};
use crate::table::{Table, entry_of};

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
    /// All that is changed in the section. It is dropped first: freeing the rest takes longer.
    unit: Unit,
    /// In ascending order of place.
    tables: Vec<(Place, Table)>,
    /// What was flushed, kept until the shards have been released.
    garbage: Vec<Cleared>,
}

impl Held {
    pub(crate) fn table(&self, place: Place) -> &Table {
        self.nth(self.at(place))
    }

    /// The table at a place among those that are held ([`Held::at`]).
    pub(crate) fn nth(&self, nth: usize) -> &Table {
        &self.tables[nth].1
    }

    /// A table to be changed, and the unit that the change is part of.
    pub(crate) fn lend(&mut self, place: Place) -> (&mut Table, &Unit) {
        let at = self.at(place);
        (&mut self.tables[at].1, &self.unit)
    }

    pub(crate) fn unit(&self) -> &Unit {
        &self.unit
    }

    pub(crate) fn swap_tables(&mut self, a: Place, b: Place) -> Unreported {
        let (a, b) = (self.at(a.min(b)), self.at(a.max(b)));
        let (front, back) = self.tables.split_at_mut(b);
        core::mem::swap(&mut front[a].1, &mut back[0].1);
        Unreported::new()
    }

    /// The databases that shards are held of, ascending.
    pub(crate) fn databases(&self) -> Vec<u32> {
        let mut databases: Vec<u32> = self.tables.iter().map(|((db, _), _)| *db).collect();
        databases.dedup();
        databases
    }

    pub(crate) fn discard(&mut self, cleared: Cleared) {
        self.garbage.push(cleared);
    }

    /// Taking a further lock here could close a circle of waiting threads, and going on without
    /// one would break the section's promise, so a place that was not declared is a bug.
    pub(crate) fn at(&self, place: Place) -> usize {
        match self.tables.binary_search_by_key(&place, |(at, _)| *at) {
            Ok(at) => at,
            Err(_) => panic!(
                "shard {} of database {} is not covered by the section",
                place.1, place.0
            ),
        }
    }
}

/// How often a lock is asked for before the thread sleeps until it is free.
const TRIES_MAX: u32 = 100;

/// Waits for a shard that others hold, as a rule for a few microseconds: less than it takes a thread
/// to fall asleep and to wake up, while it holds other shards.
pub(crate) fn write_soon(lock: &RwLock<Table>) -> RwLockWriteGuard<'_, Table> {
    for _ in 0..TRIES_MAX {
        if let Some(guard) = lock.try_write() {
            return guard;
        }
        core::hint::spin_loop();
    }
    lock.write()
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
            guards.push(write_soon(store.database(db).lock(shard)));
        }
        let tables = places.into_iter().zip(&mut guards);
        let tables = tables
            .map(|(place, guard)| (place, core::mem::take(&mut **guard)))
            .collect();
        Section {
            guards,
            held: Held {
                unit: Unit::default(),
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
            // Whoever reached the shard past the section would have written into a table that is lost here.
            debug_assert!(!guard.has_memory());
            **guard = core::mem::take(table);
        }
        drop(self.held.unit.ending());
        // Releases. What `held` has is dropped after it: the unit, whose shards are released now, and
        // the garbage.
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
            Scope::Keys(keys) => return self.lock_keys(keys),
            Scope::Database(db) => all(db).collect(),
            Scope::Databases(a, b) => all(a).chain(all(b)).collect(),
            Scope::Everything => (0..self.databases()).flat_map(all).collect(),
        };
        Section::new(self, places)
    }

    /// Locks every database that was ever used; unlike [`Scope::Everything`] it makes no others.
    pub(crate) fn lock_existing(&self) -> Section<'_> {
        let used = (0..self.databases()).filter(|db| self.existing_database(*db).is_some());
        let places = used.flat_map(|db| (0..self.shards()).map(move |shard| (db, shard)));
        Section::new(self, places.collect())
    }

    /// Locks the shards of these keys, and loads ahead what is found of them there.
    fn lock_keys(&self, keys: &[(u32, &[u8])]) -> Section<'_> {
        let is_far = self.is_beyond_caches();
        let found = keys.iter().map(|(number, key)| {
            let (db, hash) = (self.database(*number), self.hash(key));
            if is_far {
                db.prefetch(hash);
            }
            ((*number, db.shard_of(hash)), hash)
        });
        let found: Vec<(Place, u64)> = found.collect();
        let section = Section::new(self, found.iter().map(|(place, _)| *place).collect());
        for (place, hash) in found.into_iter().take_while(|_| is_far) {
            entry_of(section.held.table(place), hash);
        }
        section
    }
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};

    use super::*;
    use crate::{Config, Expiry, Freeing, View};

    fn store() -> Store {
        Store::new(Config {
            databases: 4,
            shards: 8,
            ..Config::default()
        })
    }

    fn set(view: &mut View<'_>, key: &[u8], number: i64) {
        view.update(key, |slot| slot.set(number, Expiry::Clear));
    }

    fn get(view: &mut View<'_>, key: &[u8]) -> Option<i64> {
        view.read(key, |entry| entry?.value().as_string()?.to_int())
    }

    #[test]
    fn places_are_locked_in_order_and_once() {
        let store = store();
        let keys: Vec<Vec<u8>> = (0..50_u8).map(|key| vec![key]).collect();
        let scope: Vec<(u32, &[u8])> = keys
            .iter()
            .map(|key| (3 - u32::from(key[0]) % 4, key.as_slice()))
            .collect();
        let section = store.lock(&Scope::Keys(&scope));
        let places: Vec<Place> = section
            .held
            .tables
            .iter()
            .map(|(place, _)| *place)
            .collect();
        assert!(places.is_sorted_by(|a, b| a < b), "{places:?}");
        assert_eq!(section.guards.len(), places.len());
    }

    #[test]
    fn section_shows_what_was_there_and_leaves_what_was_done() {
        let store = store();
        set(&mut store.view(0, 0), b"a", 1);
        let mut section = store.lock(&Scope::Keys(&[(0, b"a"), (1, b"b"), (0, b"a")]));
        let mut view = View::within(&store, 0, 0, Some(section.held()));
        assert_eq!(get(&mut view, b"a"), Some(1));
        set(&mut view, b"a", 2);
        set(&mut view.in_db(1), b"b", 3);
        assert_eq!(get(&mut view.in_db(1), b"b"), Some(3));
        drop(section);
        assert_eq!(
            (
                get(&mut store.view(0, 0), b"a"),
                get(&mut store.view(1, 0), b"b")
            ),
            (Some(2), Some(3))
        );
    }

    #[test]
    fn section_left_by_a_panic_loses_nothing_and_holds_nothing() {
        let store = store();
        set(&mut store.view(0, 0), b"a", 1);
        let panicked = catch_unwind(AssertUnwindSafe(|| {
            let mut section = store.lock(&Scope::Everything);
            set(
                &mut View::within(&store, 0, 0, Some(section.held())),
                b"b",
                2,
            );
            std::panic::resume_unwind(Box::new(()));
        }));
        assert!(panicked.is_err());
        assert_eq!(
            (
                get(&mut store.view(0, 0), b"a"),
                get(&mut store.view(0, 0), b"b")
            ),
            (Some(1), Some(2))
        );
        set(&mut store.view(0, 0), b"a", 3);
    }

    #[test]
    fn place_not_covered_is_refused_instead_of_waited_for() {
        let store = store();
        set(&mut store.view(0, 0), b"a", 1);
        let panicked = catch_unwind(AssertUnwindSafe(|| {
            let mut section = store.lock(&Scope::Database(1));
            get(&mut View::within(&store, 0, 0, Some(section.held())), b"a")
        }));
        assert!(panicked.is_err());
        assert_eq!(get(&mut store.view(0, 0), b"a"), Some(1));
    }

    #[test]
    fn locked_inside_a_section_takes_no_lock() {
        let store = store();
        let mut section = store.lock(&Scope::Everything);
        let mut view = View::within(&store, 0, 0, Some(section.held()));
        let inner = view.locked(&Scope::Keys(&[(2, b"a")]), |view| {
            set(&mut view.in_db(2), b"a", 1);
            get(&mut view.in_db(2), b"a")
        });
        assert_eq!(inner, Some(1));
    }

    #[test]
    fn flush_and_swap_work_free_and_inside_a_section() {
        for inside in [false, true] {
            let store = store();
            for db in 0..3 {
                (0..100_u8)
                    .for_each(|key| set(&mut store.view(db, 0), &[key, db as u8], i64::from(db)));
            }
            let mut section = inside.then(|| store.lock(&Scope::Everything));
            let mut view = View::within(&store, 0, 0, section.as_mut().map(Section::held));
            view.swap(0, 3);
            view.swap(1, 1);
            assert_eq!([0, 1, 2, 3].map(|db| store.len(db)), [0, 100, 100, 100]);
            assert_eq!(get(&mut view.in_db(3), &[7, 0]), Some(0));
            assert_eq!(view.in_db(1).flush(Freeing::AtOnce), 100);
            assert_eq!([0, 1, 2, 3].map(|db| store.len(db)), [0, 0, 100, 100]);
            set(&mut view.in_db(1), b"new", 9);
            assert_eq!(view.flush_all(Freeing::AtOnce), 201);
            drop(section);
            assert_eq!(store.memory(), crate::MemoryUse::default());
        }
    }
}
