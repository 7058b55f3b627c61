//! Iterates over the keys of a database, and picks one at random: SCAN, KEYS, RANDOMKEY.

use core::sync::atomic::Ordering;

use super::View;
use crate::entry::{Entry, EntryRef};
use crate::hash::mix;
use crate::table::{Allowance, Cursor, Table, scan_from};

/// Buckets drawn at random before `random_key` falls back to the entries after a random bucket. A table is
/// at least 7/16 full after it has grown, so two or three draws are usually enough. In a table that is
/// 1/16 full, 999 of 1,000 calls find an entry by drawing.
const DRAWS_MAX: u64 = 128;

impl View<'_> {
    /// Runs one step of an iteration over all keys: calls `f` with about `count` keys and returns the
    /// cursor for the next step. The cursor 0 starts an iteration; a returned 0 ends it.
    ///
    /// Every key that exists from the start to the end is visited at least once, even if the database
    /// grows or shrinks between the steps; a key may be visited more than once. Returned cursors are
    /// less than 2^63; any number is a valid cursor. O(`count`), with one shard locked at a time.
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
            entry.while_live(now_ms, |entry| f(entry.key(), EntryRef::new(entry, clock)));
        };
        while !allowance.is_used_up() {
            let next = if db.side(at.shard).keys.load(Ordering::Acquire) == 0 {
                None
            } else {
                self.with_table(db, at.shard, |table| {
                    scan_from(
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

    /// Calls `f` with every key that exists at one moment. O(keys). All shards stay locked for reading
    /// until it returns; use [`View::scan`] if writers must not wait that long.
    ///
    /// # Panics
    ///
    /// If the view is inside a section that does not cover the database.
    pub fn for_each(&mut self, mut f: impl FnMut(&[u8], EntryRef<'_>)) {
        let Some(db) = self.store.existing_database(self.db) else {
            return;
        };
        let (now_ms, clock) = (self.now_ms, self.store.clock());
        let mut give = |table: &Table| {
            for entry in table.entries() {
                entry.while_live(now_ms, |entry| f(entry.key(), EntryRef::new(entry, clock)));
            }
        };
        match &self.held {
            Some(held) => {
                (0..db.sides().len()).for_each(|index| give(held.table((self.db, index))));
            }
            None => self.read_all(db).iter().for_each(|table| give(table)),
        }
    }

    /// Returns a random number. Stores with the same seed return the same numbers.
    pub fn random(&mut self) -> u64 {
        self.store.eviction().random()
    }

    /// Returns a key chosen at random, or `None` if the database has none. All keys are equally likely,
    /// unless nearly all keys of a shard have been removed or have expired: then a key after a gap in the
    /// table is more likely. Stores with the same seed choose the same keys. O(shards), or more if most
    /// keys have expired and have not been swept.
    pub fn random_key(&mut self) -> Option<Box<[u8]>> {
        let db = self.store.existing_database(self.db)?;
        let random = self.store.eviction().random();
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
                live_at_random(table, mix(random), now_ms).map(|entry| entry.key().into())
            })
        })
    }
}

/// Returns a live entry of the table: from a bucket drawn at random or, if all draws fail, the first one
/// after a random bucket.
fn live_at_random(table: &Table, random: u64, now_ms: u64) -> Option<&Entry> {
    const STEP: u64 = 0x9e37_79b9_7f4a_7c15;
    let is_live = |entry: &&Entry| entry.is_live(now_ms);
    let buckets = table.buckets() as u64;
    (0..DRAWS_MAX)
        .map(|draw| mix(random.wrapping_add(draw.wrapping_mul(STEP))).checked_rem(buckets))
        .find_map(|bucket| table.at(bucket? as usize).filter(is_live))
        .or_else(|| table.entries_from(random).find(is_live))
}
