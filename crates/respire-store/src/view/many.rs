//! Several keys of one command: each hashed once and loaded ahead, their shards locked together.
//!
//! Shards are locked in ascending order, and while the next ones are locked, the entries in those
//! before begin to load. Once all are locked, those who write go through them in the same order and
//! release each behind them. That is enough to be seen whole or not at all: no shard is released
//! before all of them are locked, so whoever sees one key as it was written finds the others
//! locked, or written too. With an observer they are changed in the command's order, and all stay
//! locked until the last change is reported.

use core::ops::{Deref, Range};

use dashmap::RwLock;

use super::{Note, View};
use crate::database::Database;
use crate::entry::{Entry, EntryRef};
use crate::observe::{Interest, Unit};
use crate::shard::ShardMut;
use crate::slot::Slot;
use crate::store::{Held, write_soon};
use crate::table::{Bucket, Table, entry_of};

/// How many keys ahead of the one that is looked for tables are loaded.
const TABLES_AHEAD: usize = 16;

/// A key, and where it is looked for.
struct Aim<'k> {
    key: &'k [u8],
    hash: u64,
    bucket: Bucket,
    /// The place of its table among those that are held.
    nth: usize,
}

impl Aim<'_> {
    fn find<'t>(&self, table: &'t Table) -> Option<&'t Entry> {
        self.bucket.find(table, self.hash, self.key)
    }
}

/// A key that is absent, but may have to be removed or reported.
struct Absent<'k> {
    key: &'k [u8],
    /// It has expired and is in its table.
    is_due: bool,
}

/// The keys of a command.
struct Aims<'k> {
    /// In the command's order.
    aims: Vec<Aim<'k>>,
    /// In the order in which their shards are locked, and of one shard in the command's: the shard,
    /// and below [`SHARD_SHIFT`] the place in `aims`. Numbers are sorted faster than what they name.
    order: Vec<u64>,
    /// Whether what is looked for is beyond the caches.
    is_far: bool,
}

/// A request has fewer arguments than 2^32.
const SHARD_SHIFT: u32 = u32::BITS;

fn shard_in(place: u64) -> usize {
    (place >> SHARD_SHIFT) as usize
}

fn aim_in(place: u64) -> usize {
    place as u32 as usize
}

impl<'k> Aims<'k> {
    fn new(view: &View<'_>, db: &Database, keys: impl Iterator<Item = &'k [u8]>) -> Aims<'k> {
        let aims = keys.map(|key| {
            let (hash, bucket) = view.seek(key);
            Aim {
                key,
                hash,
                bucket,
                nth: 0,
            }
        });
        let aims: Vec<Aim<'k>> = aims.collect();
        let places = aims.iter().zip(0..);
        let places =
            places.map(|(aim, at): (_, u64)| (db.shard_of(aim.hash) as u64) << SHARD_SHIFT | at);
        let mut order: Vec<u64> = places.collect();
        order.sort_unstable();
        let is_far = view.store.is_beyond_caches();
        let first = order.iter().take(if is_far { TABLES_AHEAD } else { 0 });
        first.for_each(|place| db.prefetch(aims[aim_in(*place)].hash));
        Aims {
            aims,
            order,
            is_far,
        }
    }

    /// The shard whose keys begin at `from` in `order`, and where they stand there.
    fn shard_from(&self, from: usize) -> Option<(usize, Range<usize>)> {
        let shard = shard_in(*self.order.get(from)?);
        let rest = self.order[from..].iter();
        let keys = rest.take_while(|place| shard_in(**place) == shard).count();
        Some((shard, from..from + keys))
    }

    /// Locks all shards, one after the other, with `lock`.
    fn lock<'d, G: Deref<Target = Table>>(
        &mut self,
        db: &'d Database,
        lock: impl Fn(&'d RwLock<Table>) -> G,
    ) -> Vec<G> {
        let mut guards = Vec::with_capacity(self.aims.len().min(db.sides().len()));
        let mut from = 0;
        while let Some((shard, keys)) = self.shard_from(from) {
            from = keys.end;
            let guard = lock(db.lock(shard));
            self.look(db, keys, guards.len(), &guard);
            guards.push(guard);
        }
        guards
    }

    /// Looks into the tables of all shards, which a section holds.
    fn look_into(&mut self, db: &Database, number: u32, held: &Held) {
        let mut from = 0;
        while let Some((shard, keys)) = self.shard_from(from) {
            from = keys.end;
            let nth = held.at((number, shard));
            self.look(db, keys, nth, held.nth(nth));
        }
    }

    /// Looks for the keys of a shard in its table, the `nth` that is held, and begins to load their
    /// entries, as well as the tables of keys further on.
    fn look(&mut self, db: &Database, keys: Range<usize>, nth: usize, table: &Table) {
        for at in keys {
            let aim = aim_in(self.order[at]);
            self.aims[aim].nth = nth;
            if !self.is_far {
                continue;
            }
            if let Some(later) = self.order.get(at + TABLES_AHEAD) {
                db.prefetch(self.aims[aim_in(*later)].hash);
            }
            let aim = &mut self.aims[aim];
            aim.bucket = entry_of(table, aim.hash);
        }
    }

    /// Whether a key exists; `table` has the tables that are held.
    fn any_exists<'t>(&self, now_ms: u64, table: impl Fn(usize) -> &'t Table) -> bool {
        self.aims.iter().any(|aim| {
            let entry = aim.find(table(aim.nth));
            entry.is_some_and(|entry| !entry.is_expired(now_ms))
        })
    }

    /// Lends the keys of the shard that begin at `from` in `order` to `f`; where the next begin.
    fn change(
        &self,
        db: &Database,
        from: usize,
        (table, unit): (&mut Table, &Unit),
        note: Note,
        f: &mut impl FnMut(usize, &mut Slot<'_>),
    ) -> usize {
        let Some((shard, keys)) = self.shard_from(from) else {
            return from;
        };
        for place in &self.order[keys.clone()] {
            let shard = db.shard(shard, table, unit);
            self.change_one(aim_in(*place), shard, note, f);
        }
        keys.end
    }

    fn change_one(
        &self,
        at: usize,
        shard: ShardMut<'_>,
        note: Note,
        f: &mut impl FnMut(usize, &mut Slot<'_>),
    ) {
        let Aim {
            key, hash, bucket, ..
        } = self.aims[at];
        note.with_slot(shard, key, (hash, bucket), |slot| f(at, slot));
    }
}

impl View<'_> {
    /// Reads several keys at one moment: all their shards are read-locked before the first is
    /// read. `f` is given each key's position and entry, in order. Uses are noted, and absent keys
    /// reported to observers.
    pub fn read_many<'k>(
        &mut self,
        mut keys: impl ExactSizeIterator<Item = &'k [u8]>,
        mut f: impl FnMut(usize, Option<EntryRef<'_>>),
    ) {
        if keys.len() == 1
            && let Some(key) = keys.next()
        {
            return self.read(key, |entry| f(0, entry));
        }
        let Some(db) = self.store.existing_database(self.db) else {
            for (at, key) in keys.enumerate() {
                self.missed(key);
                f(at, None);
            }
            return;
        };
        let absent = self.look_at_each(db, keys, self.touch, f);
        for Absent { key, is_due } in absent {
            if is_due {
                self.remove_expired(key);
            }
            self.missed(key);
        }
    }

    /// Reads several keys like [`View::read_many`], without noting that they were used, or reporting which
    /// are absent.
    pub fn peek_many<'k>(
        &mut self,
        keys: impl ExactSizeIterator<Item = &'k [u8]>,
        mut f: impl FnMut(usize, Option<EntryRef<'_>>),
    ) {
        let Some(db) = self.store.existing_database(self.db) else {
            return (0..keys.len()).for_each(|at| f(at, None));
        };
        let absent = self.look_at_each(db, keys, false, f);
        for Absent { key, .. } in absent.into_iter().filter(|absent| absent.is_due) {
            self.remove_expired(key);
        }
    }

    /// Shows keys at one moment; those of which something is left to do, as they are absent.
    fn look_at_each<'k>(
        &self,
        db: &Database,
        keys: impl ExactSizeIterator<Item = &'k [u8]>,
        touch: bool,
        mut f: impl FnMut(usize, Option<EntryRef<'_>>),
    ) -> Vec<Absent<'k>> {
        let mut aims = Aims::new(self, db, keys);
        match self.held.as_deref() {
            Some(held) => {
                aims.look_into(db, self.db, held);
                self.show_each(db, &aims, |nth| held.nth(nth), touch, &mut f)
            }
            None => {
                let guards = aims.lock(db, RwLock::read);
                self.show_each(db, &aims, |nth| &guards[nth], touch, &mut f)
            }
        }
    }

    /// Shows keys whose tables are held.
    fn show_each<'k, 't>(
        &self,
        db: &Database,
        aims: &Aims<'k>,
        table: impl Fn(usize) -> &'t Table,
        touch: bool,
        f: &mut impl FnMut(usize, Option<EntryRef<'_>>),
    ) -> Vec<Absent<'k>> {
        let (note, mut absent) = (self.note(), Vec::new());
        for (at, aim) in aims.aims.iter().enumerate() {
            let entry = aim.find(table(aim.nth));
            let is_due = entry.is_some_and(|entry| entry.is_expired(self.now_ms));
            let Some(entry) = entry.filter(|_| !is_due) else {
                let key = aim.key;
                if is_due || self.store.observers().have(Interest::MISSES) {
                    absent.push(Absent { key, is_due });
                }
                f(at, None);
                continue;
            };
            if touch {
                note.touch(entry, db.side(db.shard_of(aim.hash)));
            }
            f(at, Some(note.entry(entry)));
        }
        absent
    }

    /// Holds several keys for writing at one moment: nobody sees some of them changed and others not.
    /// `f` is given each key's position and slot, in an order of the store's own; only a key that is
    /// named more than once comes in the order in which it is. Expired keys are removed first.
    ///
    /// ```
    /// use respire_store::{Config, Expiry, Store};
    ///
    /// let store = Store::new(Config::default());
    /// let (keys, values) = ([b"a".as_slice(), b"b"], [1, 2]);
    /// let mut view = store.view(0, 0);
    /// view.update_many(keys.into_iter(), |at, slot| slot.set(values[at], Expiry::Clear));
    /// assert_eq!(store.len(0), 2);
    /// ```
    pub fn update_many<'k>(
        &mut self,
        mut keys: impl ExactSizeIterator<Item = &'k [u8]>,
        mut f: impl FnMut(usize, &mut Slot<'_>),
    ) {
        if keys.len() == 1
            && let Some(key) = keys.next()
        {
            return self.update(key, |slot| f(0, slot));
        }
        self.change_many(keys, false, f);
    }

    /// Does what [`View::update_many`] does if none of the keys exists, and nothing otherwise;
    /// whether none does.
    pub fn insert_many<'k>(
        &mut self,
        keys: impl Iterator<Item = &'k [u8]>,
        f: impl FnMut(usize, &mut Slot<'_>),
    ) -> bool {
        self.change_many(keys, true, f)
    }

    fn change_many<'k>(
        &mut self,
        keys: impl Iterator<Item = &'k [u8]>,
        are_new: bool,
        mut f: impl FnMut(usize, &mut Slot<'_>),
    ) -> bool {
        let (db, note) = (self.store.database(self.db), self.note());
        let mut aims = Aims::new(self, db, keys);
        let mut from = 0;
        match self.held.as_deref_mut() {
            Some(held) => {
                aims.look_into(db, self.db, held);
                if are_new && aims.any_exists(self.now_ms, |nth| held.nth(nth)) {
                    return false;
                }
                if self.store.observers().is_any() {
                    for (at, aim) in aims.aims.iter().enumerate() {
                        let shard = db.shard_of(aim.hash);
                        let (table, unit) = held.lend((self.db, shard));
                        aims.change_one(at, db.shard(shard, table, unit), note, &mut f);
                    }
                    return true;
                }
                while let Some((shard, _)) = aims.shard_from(from) {
                    from = aims.change(db, from, held.lend((self.db, shard)), note, &mut f);
                }
            }
            None => {
                let unit = Unit::default();
                let mut guards = aims.lock(db, write_soon);
                if are_new && aims.any_exists(self.now_ms, |nth| &guards[nth]) {
                    return false;
                }
                let _ending = unit.ending();
                // Asked while the shards are locked, as observers that want every change begin when none is.
                if self.store.observers().is_any() {
                    for (at, aim) in aims.aims.iter().enumerate() {
                        let (shard, table) = (db.shard_of(aim.hash), &mut guards[aim.nth]);
                        aims.change_one(at, db.shard(shard, table, &unit), note, &mut f);
                    }
                    return true;
                }
                // Each guard goes out of scope, and its shard is free, when its keys are done.
                for mut guard in guards {
                    from = aims.change(db, from, (&mut guard, &unit), note, &mut f);
                }
            }
        }
        true
    }
}
