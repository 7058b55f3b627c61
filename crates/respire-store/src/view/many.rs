//! Reads and writes several keys of one command at one moment. Each key is hashed once and loaded
//! ahead, and all shards are locked together.
//!
//! Shards are locked in ascending order. While later shards are locked, the entries of the earlier
//! ones are already being loaded. If a shard is not free, all of them are released and locked again
//! (`store/wait.rs`). Once all are locked, a write changes the shards in the same order
//! and releases each one when its keys are done. This is enough to make the write atomic: no shard is
//! released before all of them are locked, so a thread that sees one written key finds the others
//! locked or written too. With an observer, keys are changed in the command's order, and all shards
//! stay locked until the last change is reported.

use core::ops::Range;

use super::{Note, View};
use crate::database::Database;
use crate::entry::{Entry, EntryRef};
use crate::observe::{Interest, Unit};
use crate::shard::{Mode, Reading, ShardMut, Writing, try_soon};
use crate::slot::Slot;
use crate::store::{Held, Store};
use crate::table::{Bucket, Table, entry_of};

/// Tables are loaded this many keys ahead of the key that is being looked up.
const TABLES_AHEAD: usize = 16;

/// A key, and where to look it up.
struct Aim<'k> {
    key: &'k [u8],
    hash: u64,
    bucket: Bucket,
    /// The index of its table among the held tables.
    nth: usize,
}

impl Aim<'_> {
    fn find<'t>(&self, table: &'t Table) -> Option<&'t Entry> {
        self.bucket.find(table, self.hash, self.key)
    }
}

/// A key that has to be removed or reported after a read.
struct Rest<'k> {
    key: &'k [u8],
    /// The key has expired or has elements that are due, which are still in the table.
    is_due: bool,
    is_absent: bool,
}

/// The keys of a command.
struct Aims<'k> {
    /// In the command's order.
    aims: Vec<Aim<'k>>,
    /// The keys in the order of their shards' locks, and within a shard in the command's order. Each
    /// item has the shard and, below [`SHARD_SHIFT`], the index in `aims`: sorting numbers is faster
    /// than sorting aims.
    order: Vec<u64>,
    /// The store is larger than the caches, so loading ahead pays.
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

    /// Returns the shard whose keys begin at `from` in `order`, and their range in `order`.
    fn shard_from(&self, from: usize) -> Option<(usize, Range<usize>)> {
        let shard = shard_in(*self.order.get(from)?);
        let rest = self.order[from..].iter();
        let keys = rest.take_while(|place| shard_in(**place) == shard).count();
        Some((shard, from..from + keys))
    }

    /// Locks all shards.
    fn lock<'d, M: Mode>(&mut self, store: &Store, db: &'d Database) -> Vec<M::Guard<'d, Table>> {
        let mut guards = Vec::with_capacity(self.aims.len().min(db.sides().len()));
        let mut from = 0;
        while let Some((shard, keys)) = self.shard_from(from) {
            from = keys.end;
            let Some(guard) = try_soon::<M, Table>(db.lock(shard)) else {
                let missing = guards.len();
                drop(guards);
                return self.lock_contended::<M>(store, db, missing);
            };
            self.look(db, keys, guards.len(), &guard);
            guards.push(guard);
        }
        guards
    }

    /// Locks all shards after the one at `missing` was not free, and looks the keys up.
    #[cold]
    #[inline(never)]
    fn lock_contended<'d, M: Mode>(
        &mut self,
        store: &Store,
        db: &'d Database,
        missing: usize,
    ) -> Vec<M::Guard<'d, Table>> {
        let mut shards: Vec<usize> = self.order.iter().map(|place| shard_in(*place)).collect();
        shards.dedup();
        let locks: Vec<_> = shards.into_iter().map(|shard| db.lock(shard)).collect();
        let guards = store.lock_contended::<M>(&locks, missing);
        let mut from = 0;
        for (nth, guard) in guards.iter().enumerate() {
            if let Some((_, keys)) = self.shard_from(from) {
                from = keys.end;
                self.look(db, keys, nth, guard);
            }
        }
        guards
    }

    /// Looks the keys up in tables that a section holds.
    fn look_into(&mut self, db: &Database, number: u32, held: &Held) {
        let mut from = 0;
        while let Some((shard, keys)) = self.shard_from(from) {
            from = keys.end;
            let nth = held.at((number, shard));
            self.look(db, keys, nth, held.nth(nth));
        }
    }

    /// Looks the keys of a shard up in its table, the `nth` held one. Begins to load their entries, and
    /// the tables of later keys.
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

    /// Returns whether at least one of the keys exists; `table` returns the nth held table.
    fn any_exists<'t>(&self, now_ms: u64, table: impl Fn(usize) -> &'t Table) -> bool {
        self.aims.iter().any(|aim| {
            let entry = aim.find(table(aim.nth));
            entry.is_some_and(|entry| entry.is_live(now_ms))
        })
    }

    /// Calls `f` with a slot for each key of the shard whose keys begin at `from` in `order`. Returns
    /// where the next shard's keys begin.
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
    /// Reads several keys at one moment: all their shards are locked for reading before the first key
    /// is read. Calls `f` with each key's position and entry, in order. Records the access of each key,
    /// and reports absent keys to observers. O(keys).
    ///
    /// # Panics
    ///
    /// If the view is inside a section that does not cover a key.
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
        for rest in self.look_at_each(db, keys, self.touch, f) {
            if rest.is_due {
                self.remove_due(rest.key);
            }
            if rest.is_absent {
                self.missed(rest.key);
            }
        }
    }

    /// Reads several keys like [`View::read_many`], but neither records their access nor reports absent
    /// keys.
    ///
    /// # Panics
    ///
    /// If the view is inside a section that does not cover a key.
    pub fn peek_many<'k>(
        &mut self,
        keys: impl ExactSizeIterator<Item = &'k [u8]>,
        mut f: impl FnMut(usize, Option<EntryRef<'_>>),
    ) {
        let Some(db) = self.store.existing_database(self.db) else {
            return (0..keys.len()).for_each(|at| f(at, None));
        };
        let rest = self.look_at_each(db, keys, false, f);
        for Rest { key, .. } in rest.into_iter().filter(|rest| rest.is_due) {
            self.remove_due(key);
        }
    }

    /// Calls `f` with the keys at one moment. Returns the keys that must be removed or reported.
    fn look_at_each<'k>(
        &self,
        db: &Database,
        keys: impl ExactSizeIterator<Item = &'k [u8]>,
        touch: bool,
        mut f: impl FnMut(usize, Option<EntryRef<'_>>),
    ) -> Vec<Rest<'k>> {
        let mut aims = Aims::new(self, db, keys);
        match self.held.as_deref() {
            Some(held) => {
                aims.look_into(db, self.db, held);
                self.show_each(db, &aims, |nth| held.nth(nth), touch, &mut f)
            }
            None => {
                let guards = aims.lock::<Reading>(self.store, db);
                self.show_each(db, &aims, |nth| &guards[nth], touch, &mut f)
            }
        }
    }

    /// Calls `f` with keys whose tables are held. Returns like [`View::look_at_each`].
    fn show_each<'k, 't>(
        &self,
        db: &Database,
        aims: &Aims<'k>,
        table: impl Fn(usize) -> &'t Table,
        touch: bool,
        f: &mut impl FnMut(usize, Option<EntryRef<'_>>),
    ) -> Vec<Rest<'k>> {
        let (note, mut rest) = (self.note(), Vec::new());
        for (at, aim) in aims.aims.iter().enumerate() {
            let entry = aim.find(table(aim.nth));
            let is_due = entry.is_some_and(|entry| entry.is_due(self.now_ms));
            let Some(entry) = entry.filter(|_| !is_due) else {
                let settled = entry.and_then(|entry| entry.settled(self.now_ms));
                let (key, is_absent) = (aim.key, settled.is_none());
                if is_due || self.store.observers().have(Interest::MISSES) {
                    rest.push(Rest {
                        key,
                        is_due,
                        is_absent,
                    });
                }
                f(at, settled.as_ref().map(|entry| note.entry(entry)));
                continue;
            };
            if touch {
                note.touch(entry, db.side(db.shard_of(aim.hash)));
            }
            f(at, Some(note.entry(entry)));
        }
        rest
    }

    /// Changes several keys atomically: no other thread sees some of them changed and others not. Calls
    /// `f` with each key's position and slot. The order of the calls is unspecified, except that a key
    /// given more than once is visited in the order of its positions. Expired keys are removed first.
    /// O(keys), plus sorting them by shard.
    ///
    /// # Panics
    ///
    /// If the view is inside a section that does not cover a key.
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

    /// Changes several keys like [`View::update_many`] if none of them exists, and returns true.
    /// Otherwise it changes nothing and returns false.
    ///
    /// # Panics
    ///
    /// If the view is inside a section that does not cover a key.
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
                let mut guards = aims.lock::<Writing>(self.store, db);
                if are_new && aims.any_exists(self.now_ms, |nth| &guards[nth]) {
                    return false;
                }
                let _ending = unit.ending();
                // Checked under the locks: an observer that wants every change is registered while no shard is locked.
                if self.store.observers().is_any() {
                    for (at, aim) in aims.aims.iter().enumerate() {
                        let (shard, table) = (db.shard_of(aim.hash), &mut guards[aim.nth]);
                        aims.change_one(at, db.shard(shard, table, &unit), note, &mut f);
                    }
                    return true;
                }
                // Each guard is dropped, and so its shard released, when its keys are done.
                for mut guard in guards {
                    from = aims.change(db, from, (&mut guard, &unit), note, &mut f);
                }
            }
        }
        true
    }
}
