//! What is done to whole databases at once: FLUSHDB, FLUSHALL, SWAPDB.

use crate::database::{Database, find};
use crate::entry::hash_key;
use crate::section::{Held, Scope};
use crate::shard::bump;
use crate::store::Store;
use crate::view::View;

impl View<'_> {
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

    /// Exchanges the contents of two databases, all at once; watches stay where they are. O(shards).
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
            touch_existing(first, held, &[a, b]);
            touch_existing(second, held, &[a, b]);
            for index in 0..view.store.shards() {
                held.swap_tables((a, index), (b, index));
                first.swap_side(second, index);
            }
            bump(&first.side(0).changes, 1);
        });
    }
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
        let hash = hash_key(db.hasher(), &key);
        let index = db.shard_of(hash);
        if numbers
            .iter()
            .any(|number| find(held.table((*number, index)), hash, &key).is_some())
        {
            db.watches.touch_removed(index, &key);
        }
    }
}
