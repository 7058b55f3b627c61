//! Atomic sections: several shards held at once.

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

/// The tables of the shards a [`Section`] holds, moved out of their guards so that they can travel
/// without a lifetime.
#[derive(Default)]
pub struct Held {
    tables: Vec<((u32, usize), Table)>,
    /// Tables that were flushed; dropped when the shards have been released.
    pub(crate) garbage: Vec<Table>,
}

impl Held {
    pub(crate) fn covers(&self, place: (u32, usize)) -> bool {
        self.tables
            .binary_search_by_key(&place, |(at, _)| *at)
            .is_ok()
    }

    fn at(&self, (db, shard): (u32, usize)) -> usize {
        let found = self
            .tables
            .binary_search_by_key(&(db, shard), |(at, _)| *at);
        assert!(
            found.is_ok(),
            "shard {shard} of database {db} is not covered by the section"
        );
        found.unwrap_or_default()
    }

    pub(crate) fn table(&self, place: (u32, usize)) -> &Table {
        &self.tables[self.at(place)].1
    }

    pub(crate) fn table_mut(&mut self, place: (u32, usize)) -> &mut Table {
        let at = self.at(place);
        &mut self.tables[at].1
    }
}

/// Shards held in write mode until dropped.
pub struct Section<'s> {
    guards: Vec<RwLockWriteGuard<'s, Table>>,
    held: Held,
}

impl<'s> Section<'s> {
    /// Locks the shards at `places`, which must be sorted and free of duplicates.
    pub(crate) fn new(store: &'s Store, places: &[(u32, usize)]) -> Section<'s> {
        let mut guards: Vec<RwLockWriteGuard<'s, Table>> = Vec::with_capacity(places.len());
        for &(db, shard) in places {
            guards.push(store.database(db).lock(shard).write());
        }
        let tables = places
            .iter()
            .zip(&mut guards)
            .map(|(&place, guard)| (place, core::mem::take(&mut **guard)));
        let held = Held {
            tables: tables.collect(),
            garbage: Vec::new(),
        };
        Section { guards, held }
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
        self.guards.clear();
    }
}
