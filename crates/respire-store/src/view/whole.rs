//! Changes whole databases atomically: FLUSHDB, FLUSHALL, SWAPDB.

use super::View;
use crate::database::{Database, Freeing, bump};
use crate::hash::hash_key;
use crate::observe::{Effect, Ready, Unreported};
use crate::store::{Held, Scope, Store};
use crate::table::find;

impl View<'_> {
    /// Removes every key of the database atomically, and returns their number. Their memory no longer
    /// counts. It is freed after the shards are released, or later by the sweep, as `freeing` says.
    /// O(shards), plus O(keys) for freeing.
    ///
    /// # Panics
    ///
    /// If the view is inside a section that does not cover the database.
    pub fn flush(&mut self, freeing: Freeing) -> usize {
        let Some(db) = self.store.existing_database(self.db) else {
            return 0;
        };
        let number = self.db;
        self.locked(&Scope::Database(number), |view| {
            view.held
                .as_deref_mut()
                .map_or(0, |held| clear(db, number, held, freeing))
        })
    }

    /// Removes every key of every database atomically, like [`View::flush`], and returns their number.
    /// Inside a section, it flushes the databases that the section covers.
    ///
    /// # Panics
    ///
    /// If the section covers only a part of a database.
    pub fn flush_all(&mut self, freeing: Freeing) -> usize {
        match self.held.as_deref_mut() {
            Some(held) => clear_all(self.store, held, freeing),
            None => clear_all(self.store, self.store.lock_existing().held(), freeing),
        }
    }

    /// Exchanges the keys of two databases atomically. Watches stay with the database's number.
    /// O(shards and watched keys).
    ///
    /// # Panics
    ///
    /// If a database does not exist, or the view is inside a section that does not cover both.
    pub fn swap(&mut self, a: u32, b: u32) {
        if a == b {
            return;
        }
        let (first, second) = (self.store.database(a), self.store.database(b));
        let now_ms = self.now_ms;
        self.locked(&Scope::Databases(a, b), |view| {
            let Some(held) = view.held.as_deref_mut() else {
                return;
            };
            touch_watched(first, held, a, |watched| live_in(held, b, watched, now_ms));
            touch_watched(second, held, b, |watched| live_in(held, a, watched, now_ms));
            first.keep_swapped(held.unit(), second);
            let mut swapped = None;
            for index in 0..view.store.shards() {
                let change = held.swap_tables((a, index), (b, index));
                swapped = Some(change.with(swapped));
                first.whereabouts(index).note(held.table((a, index)));
                second.whereabouts(index).note(held.table((b, index)));
                first.swap_side(second, index);
                first.recount(index, held.table((a, index)));
                second.recount(index, held.table((b, index)));
            }
            note_ready(first, held, a, now_ms);
            note_ready(second, held, b, now_ms);
            bump(&first.side(0).changes, 1);
            if let Some(change) = swapped {
                first.report_whole(held.unit(), Effect::Swapped { a, b }, change);
            }
        });
    }
}

/// Removes every key of a database all of whose shards are held, and returns their number.
fn clear(db: &Database, number: u32, held: &mut Held, freeing: Freeing) -> usize {
    touch_watched(db, held, number, |_| false);
    note_lost(db, held, number);
    let (mut keys, mut flushed) = (0, None);
    for index in 0..db.sides().len() {
        let (table, unit) = held.lend((number, index));
        let (cleared, change) = db.shard(index, table, unit).clear();
        flushed = Some(change.with(flushed));
        keys += cleared.table.len();
        let cleared = db.keep_cleared(index, unit, cleared);
        match freeing {
            Freeing::AtOnce => held.discard(cleared),
            Freeing::InSteps => db.garbage.push(cleared),
        }
    }
    match flushed {
        Some(change) if keys > 0 => {
            db.report_whole(held.unit(), Effect::Flushed { db: number }, change);
        }
        change => change.into_iter().for_each(Unreported::hide),
    }
    keys
}

/// Removes every key of each database of which shards are held, and returns their number.
fn clear_all(store: &Store, held: &mut Held, freeing: Freeing) -> usize {
    let databases = held.databases();
    databases
        .into_iter()
        .map(|db| clear(store.database(db), db, held, freeing))
        .sum()
}

/// A watched key: its shard, its hash and its bytes.
type Watched<'k> = (usize, u64, &'k [u8]);

/// Marks the watches of database `number` dirty whose keys are about to be removed or replaced; `comes`
/// says whether a key is replaced by a live one.
fn touch_watched(db: &Database, held: &Held, number: u32, comes: impl Fn(Watched<'_>) -> bool) {
    for key in db.watches.keys() {
        let hash = hash_key(db.hasher(), &key);
        let index = db.shard_of(hash);
        if comes((index, hash, &key)) {
            db.watches.touch(&key);
        } else if find(held.table((number, index)), hash, &key).is_some() {
            db.watches.touch_removed(&key);
        }
    }
}

/// Notes the keys of database `number` that are waited for, for databases that were exchanged.
fn note_ready(db: &Database, held: &Held, number: u32, now_ms: u64) {
    for key in db.waiters.keys() {
        let ready = Ready {
            db: number,
            key,
            now_ms,
        };
        held.unit().ready(&db.observers, ready);
    }
}

/// Notes the keys of database `number` that exist, are waited for and are about to be removed.
fn note_lost(db: &Database, held: &Held, number: u32) {
    for key in db.waiters.keys() {
        let hash = hash_key(db.hasher(), &key);
        let is_there = find(held.table((number, db.shard_of(hash))), hash, &key).is_some();
        if is_there && db.waiters.is_loss_seen(&key) {
            let ready = Ready {
                db: number,
                key,
                now_ms: 0,
            };
            held.unit().ready(&db.observers, ready);
        }
    }
}

fn live_in(held: &Held, number: u32, (index, hash, key): Watched<'_>, now_ms: u64) -> bool {
    find(held.table((number, index)), hash, key).is_some_and(|entry| entry.is_live(now_ms))
}
