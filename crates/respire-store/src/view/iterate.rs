//! Going through the keys of a database: SCAN, KEYS, RANDOMKEY.

use core::sync::atomic::Ordering;

use super::View;
use crate::entry::{Entry, EntryRef};
use crate::hash::mix;
use crate::table::{Allowance, Cursor, Table, scan_from};

/// How many buckets are drawn before the choice is left to a neighbour. A table is at least 7/16 full
/// after it has grown, so that two or three are enough; of one that is 1/16 full, 999 of 1,000 calls find
/// an entry.
const DRAWS_MAX: u64 = 128;

impl View<'_> {
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

    /// Calls `f` with every key that there is at one moment. O(keys), all shards being locked for
    /// reading meanwhile; [`View::scan`] keeps nobody waiting for long.
    ///
    /// # Panics
    ///
    /// Inside a section that does not cover the database.
    pub fn for_each(&mut self, mut f: impl FnMut(&[u8], EntryRef<'_>)) {
        let Some(db) = self.store.existing_database(self.db) else {
            return;
        };
        let (now_ms, clock) = (self.now_ms, self.store.clock());
        let mut give = |table: &Table| {
            for entry in table.entries().filter(|entry| !entry.is_expired(now_ms)) {
                f(entry.key(), EntryRef::new(entry, clock));
            }
        };
        match &self.held {
            Some(held) => {
                (0..db.sides().len()).for_each(|index| give(held.table((self.db, index))));
            }
            None => self.read_all(db).iter().for_each(|table| give(table)),
        }
    }

    /// A key chosen at random, or `None` if there is none. Every key is as likely as another, unless
    /// nearly all keys of a shard have been removed or have expired: then one after a gap in its table is
    /// more likely. Stores of one seed choose alike. O(shards), unless most keys have expired and not
    /// been swept.
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

/// A live entry of the table: that in a bucket drawn at random, or, where many are empty, one that follows.
fn live_at_random(table: &Table, random: u64, now_ms: u64) -> Option<&Entry> {
    const STEP: u64 = 0x9e37_79b9_7f4a_7c15;
    let is_live = |entry: &&Entry| !entry.is_expired(now_ms);
    let buckets = table.buckets() as u64;
    (0..DRAWS_MAX)
        .map(|draw| mix(random.wrapping_add(draw.wrapping_mul(STEP))).checked_rem(buckets))
        .find_map(|bucket| table.at(bucket? as usize).filter(is_live))
        .or_else(|| table.entries_from(random).find(is_live))
}
