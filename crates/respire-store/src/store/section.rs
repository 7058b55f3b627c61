//! Atomic sections: several shards locked together. `store/wait.rs` locks them and states the locking rule.

use core::fmt;

use dashmap::RwLockWriteGuard;
use smallvec::{SmallVec, smallvec};

use super::Store;
use crate::database::Cleared;
use crate::observe::{Unit, Unreported};
use crate::shard::Writing;
use crate::table::{Table, entry_of};

/// The keys or databases that an atomic section covers.
#[derive(Debug, Clone, Copy)]
pub enum Scope<'a> {
    /// Single keys, each with its database's number.
    Keys(&'a [(u32, &'a [u8])]),
    /// One whole database.
    Database(u32),
    /// Two whole databases.
    Databases(u32, u32),
    /// Every database.
    Everything,
}

/// A shard's database and index. Shards are locked in ascending order of it where nothing else decides.
pub(crate) type Place = (u32, usize);

/// The tables of a [`Section`]'s shards, moved out of the locks' guards so that this type needs no
/// lifetime. A [`View`](crate::View) that is made with it works on these tables.
#[derive(Default)]
pub struct Held {
    /// The unit of all changes in the section. It is dropped first, as freeing the rest takes longer.
    unit: Unit,
    /// In ascending order of place.
    tables: Vec<(Place, Table)>,
    /// Flushed contents, kept until the shards have been released.
    garbage: Vec<Cleared>,
}

impl Held {
    pub(crate) fn table(&self, place: Place) -> &Table {
        self.nth(self.at(place))
    }

    /// Returns the table of this index among the held ones ([`Held::at`]).
    pub(crate) fn nth(&self, nth: usize) -> &Table {
        &self.tables[nth].1
    }

    /// Returns a table for changing, and the unit to which the change belongs.
    pub(crate) fn lend(&mut self, place: Place) -> (&mut Table, &Unit) {
        let at = self.at(place);
        (&mut self.tables[at].1, &self.unit)
    }

    pub(crate) fn unit(&self) -> &Unit {
        &self.unit
    }

    /// Takes the unit out, to report the release before the rest is dropped.
    pub(super) fn take_unit(&mut self) -> Unit {
        core::mem::take(&mut self.unit)
    }

    pub(crate) fn swap_tables(&mut self, a: Place, b: Place) -> Unreported {
        let (a, b) = (self.at(a.min(b)), self.at(a.max(b)));
        let (front, back) = self.tables.split_at_mut(b);
        core::mem::swap(&mut front[a].1, &mut back[0].1);
        Unreported::new()
    }

    /// Returns the numbers of the databases of which shards are held, ascending.
    pub(crate) fn databases(&self) -> Vec<u32> {
        let mut databases: Vec<u32> = self.tables.iter().map(|((db, _), _)| *db).collect();
        databases.dedup();
        databases
    }

    pub(crate) fn discard(&mut self, cleared: Cleared) {
        self.garbage.push(cleared);
    }

    /// Whether the section covers all of `scope`; `store` is the section's store. O(shards in `scope`), or
    /// O(1) for whole databases. Locks nothing.
    ///
    /// ```
    /// use respire_store::{Config, Scope, Store};
    ///
    /// let store = Store::new(Config::default());
    /// let mut section = store.lock(&Scope::Keys(&[(0, b"a")]));
    /// assert!(section.held().covers(&store, &Scope::Keys(&[(0, b"a")])));
    /// assert!(!section.held().covers(&store, &Scope::Keys(&[(1, b"a")])));
    /// ```
    #[must_use]
    pub fn covers(&self, store: &Store, scope: &Scope<'_>) -> bool {
        match *scope {
            Scope::Keys(keys) => {
                let mut keys = keys.iter();
                keys.all(|(db, key)| self.has((*db, store.shard_of(key))))
            }
            Scope::Database(db) => self.covers_database(store, db),
            Scope::Databases(a, b) => {
                self.covers_database(store, a) && self.covers_database(store, b)
            }
            Scope::Everything => self.tables.len() == store.databases() as usize * store.shards(),
        }
    }

    fn covers_database(&self, store: &Store, db: u32) -> bool {
        let first = self.tables.partition_point(|((held, _), _)| *held < db);
        let last = self.tables.get(first + store.shards() - 1);
        last.is_some_and(|((held, _), _)| *held == db)
    }

    pub(super) fn has(&self, place: Place) -> bool {
        let found = self.tables.binary_search_by_key(&place, |(at, _)| *at);
        found.is_ok()
    }

    pub(super) fn len(&self) -> usize {
        self.tables.len()
    }

    /// Adds the tables of shards that were just locked and are not in it yet.
    pub(super) fn add(&mut self, tables: impl Iterator<Item = (Place, Table)>) {
        self.tables.extend(tables);
        self.tables.sort_by_key(|(place, _)| *place);
        self.unit.widened();
    }

    /// Moves the tables back into their shards, which are given in ascending order of place, and ends the
    /// unit. [`Held::serve`] has been called.
    pub(super) fn put_back<'g>(&mut self, shards: impl Iterator<Item = &'g mut Table>) {
        for (shard, (_, table)) in shards.zip(&mut self.tables) {
            // A write that bypassed the section would be in this table, and would be lost here.
            debug_assert!(!shard.has_memory());
            *shard = core::mem::take(table);
        }
        drop(self.unit.ending());
    }

    /// Returns the index of a shard's table.
    ///
    /// It panics if the section does not cover the shard, which is a bug of the caller: taking another
    /// lock here could deadlock, and continuing without one would make the section not atomic. A section
    /// that may need more shards is [widened](crate::Widener::widen) first.
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

impl fmt::Debug for Held {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Held")
            .field("shards", &self.tables.len())
            .finish_non_exhaustive()
    }
}

/// Shards locked for writing together. When the section is dropped, also by a panic, it puts every table
/// back before it releases any shard.
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
    store: &'s Store,
    guards: SmallVec<[RwLockWriteGuard<'s, Table>; 1]>,
    held: Held,
}

impl<'s> Section<'s> {
    fn new(store: &'s Store, mut places: SmallVec<[Place; 4]>) -> Section<'s> {
        // Ascending order, each once, so that threads that need the same shards seldom have to start again.
        places.sort_unstable();
        places.dedup();
        let lock_of = |nth: usize| {
            let (db, shard) = places[nth];
            store.database(db).lock(shard)
        };
        let guards: SmallVec<[_; 1]> = match places.len() {
            1 => smallvec![store.wait_for::<Writing, Table>(lock_of(0))],
            len => store.lock_all::<Writing>(len, lock_of).into(),
        };
        Section::of(store, places, guards)
    }

    /// Takes the tables out of the guards of these shards.
    fn of(
        store: &'s Store,
        places: SmallVec<[Place; 4]>,
        mut guards: SmallVec<[RwLockWriteGuard<'s, Table>; 1]>,
    ) -> Section<'s> {
        let tables = places.into_iter().zip(&mut guards);
        let tables = tables
            .map(|(place, guard)| (place, core::mem::take(&mut **guard)))
            .collect();
        Section {
            store,
            guards,
            held: Held {
                unit: Unit::default(),
                tables,
                garbage: Vec::new(),
            },
        }
    }

    /// Returns the tables that views inside the section use ([`View::within`](crate::View::within)).
    pub fn held(&mut self) -> &mut Held {
        &mut self.held
    }
}

impl Drop for Section<'_> {
    fn drop(&mut self) {
        let apart = self.held.serve(self.store);
        let shards = self.guards.iter_mut().map(|guard| &mut **guard);
        self.held.put_back(shards);
        // Releases the shards. The fields of `held` are dropped after this: the unit, which then reports
        // the release, and the garbage.
        self.guards.clear();
        if !apart.is_empty() {
            drop(self.held.take_unit());
            self.store.serve_apart(apart);
        }
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
    /// Locks the shards in `scope` for writing until the section is dropped. O(shards in `scope`), plus
    /// sorting them.
    ///
    /// While a thread has a section, it must use the store through [`Section::held`] only: a call that
    /// takes its own lock would deadlock.
    ///
    /// # Panics
    ///
    /// If `scope` names a database that does not exist.
    pub fn lock(&self, scope: &Scope<'_>) -> Section<'_> {
        match *scope {
            Scope::Keys(keys) => self.lock_keys(keys),
            _ => Section::new(self, self.places(scope)),
        }
    }

    /// Locks the shard of a key; `None` if it is not free.
    pub(super) fn try_lock_key(&self, db: u32, key: &[u8]) -> Option<Section<'_>> {
        let place = (db, self.shard_of(key));
        let guard = self.database(db).lock(place.1).try_write()?;
        Some(Section::of(self, smallvec![place], smallvec![guard]))
    }

    /// The shards that `scope` names.
    pub(super) fn places(&self, scope: &Scope<'_>) -> SmallVec<[Place; 4]> {
        let all = |db: u32| (0..self.shards()).map(move |shard| (db, shard));
        match *scope {
            Scope::Keys(keys) => {
                let keys = keys.iter();
                keys.map(|(db, key)| (*db, self.shard_of(key))).collect()
            }
            Scope::Database(db) => all(db).collect(),
            Scope::Databases(a, b) => all(a).chain(all(b)).collect(),
            Scope::Everything => (0..self.databases()).flat_map(all).collect(),
        }
    }

    /// The shard of a key, which is the same in every database.
    fn shard_of(&self, key: &[u8]) -> usize {
        self.database(0).shard_of(self.hash(key))
    }

    /// Locks every database that was ever used. Unlike [`Scope::Everything`], it creates no database.
    pub(crate) fn lock_existing(&self) -> Section<'_> {
        let used = (0..self.databases()).filter(|db| self.existing_database(*db).is_some());
        let places = used.flat_map(|db| (0..self.shards()).map(move |shard| (db, shard)));
        Section::new(self, places.collect())
    }

    /// Locks the shards of these keys, and begins to load their entries.
    fn lock_keys(&self, keys: &[(u32, &[u8])]) -> Section<'_> {
        let is_far = self.is_beyond_caches();
        let found = keys.iter().map(|(number, key)| {
            let (db, hash) = (self.database(*number), self.hash(key));
            if is_far {
                db.prefetch(hash);
            }
            ((*number, db.shard_of(hash)), hash)
        });
        let found: SmallVec<[(Place, u64); 4]> = found.collect();
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
    fn shards_are_locked_in_ascending_order_and_once() {
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
    fn section_reads_earlier_writes_and_keeps_its_own() {
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
    fn panic_in_a_section_keeps_its_keys_and_releases_its_shards() {
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
    fn key_outside_the_section_panics_instead_of_deadlocking() {
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
    fn locked_takes_no_lock_inside_a_section() {
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
    fn flush_and_swap_work_inside_and_outside_a_section() {
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
