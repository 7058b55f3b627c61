//! Cuts: the contents of the whole store at one moment, read while others go on writing.
//!
//! A cut is one atomic step: it changes the *generation* of all later tickets. So each unit lies before or after it with
//! all of its changes, on all shards and databases. An entry has the generation of the unit that wrote it last, in one
//! bit. Before the cut all entries have the same generation, so an entry of the old one has its state of the cut:
//!
//! - a unit after the cut that is about to change or remove such an entry hands a copy to the cut, and changes the bit;
//! - the cut goes through all shards, a few entries under each lock, copies those that are left, and changes their bit.
//!
//! So each key of the cut is given once. Large values are shared instead of copied. A flush hands over whole tables.
//!
//! A unit takes its ticket at its first change, when it has locked all of its shards. Two things must hold at the moment
//! of the cut:
//!
//! - Each unit has its ticket before its first change. Without a cut it takes the ticket afterwards, or never. So a cut
//!   first sets a bit in the hook word of each shard, under the shard's lock. A unit that changed anything without
//!   looking at that bit has released the shard then.
//! - No widening section is running. If one took its ticket before the cut and renewed it afterwards, its earlier changes
//!   would come after the cut as well, and nobody would have kept what they changed. So the cut holds the widening
//!   token for that moment.

mod walk;

use core::fmt;
use core::ops::Deref;

use super::Store;
use crate::database::Database;
use crate::entry::{EntryRef, Generation};
use crate::observe::Ticket;
use crate::shard::Writing;
use walk::Walk;

/// The queue of old states should stay below this part of the memory that the store uses,
const QUEUED_PART: usize = 50;

/// or these bytes if that is less,
const QUEUED_BYTES_LEAST: usize = 16 << 20;

/// or these if that is more.
const QUEUED_BYTES_MOST: usize = 64 << 20;

/// The store has a cut already, and can have only one ([`Store::cut`]).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CutRunning;

impl fmt::Display for CutRunning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the store has a cut already")
    }
}

impl core::error::Error for CutRunning {}

/// The contents of a store at one moment ([`Store::cut`]). `S` leads to the store: a reference, or an `Arc`.
///
/// Until all of it is given, each unit copies what it changes for the first time, and the store keeps these copies.
/// So go on calling [`Cut::step`] until it returns false, or drop the cut. Dropping it goes through the rest of the
/// store without copying anything, which takes a few nanoseconds for each key.
#[must_use = "a cut that is dropped gives nothing"]
pub struct Cut<S: Deref<Target = Store>> {
    store: S,
    /// The last ticket before the cut.
    ticket: Ticket,
    databases: Vec<CutDatabase>,
    walk: Walk,
    is_over: bool,
}

/// How many keys a database of a cut has, give or take those that other threads added and removed at that moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CutDatabase {
    /// The number of the database.
    pub db: u32,
    /// Number of keys.
    pub keys: usize,
    /// Number of keys with an expiry.
    pub expires: usize,
}

impl Store {
    /// Takes a cut: the contents of the store at one moment, between two units. They are those after all units up to
    /// [`Cut::ticket`], and after no other.
    ///
    /// It waits for each shard in turn, and for a running [`WideningSection`](crate::WideningSection), but nobody waits
    /// for it longer than a few instructions. The thread must hold no section. O(shards).
    ///
    /// # Errors
    /// [`CutRunning`] if the store has a cut that is not over.
    ///
    /// ```
    /// use respire_store::{Config, Expiry, Store};
    ///
    /// let store = Store::new(Config::default());
    /// let mut view = store.view(0, 0);
    /// view.update(b"a", |slot| slot.set(1, Expiry::Clear));
    ///
    /// let mut cut = store.cut()?;
    /// view.update(b"a", |slot| slot.set(2, Expiry::Clear));
    /// view.update(b"b", |slot| slot.set(3, Expiry::Clear));
    ///
    /// let mut seen = Vec::new();
    /// while cut.step(|db, key, entry| {
    ///     let number = entry.value().as_string().and_then(|string| string.to_int());
    ///     seen.push((db, key.to_vec(), number));
    /// }) {}
    /// assert_eq!(seen, [(0, b"a".to_vec(), Some(1))]);
    /// # Ok::<(), respire_store::CutRunning>(())
    /// ```
    pub fn cut(&self) -> Result<Cut<&Store>, CutRunning> {
        Cut::new(self)
    }

    /// Makes each unit take its ticket before its first change from now on. Returns false if a cut is running.
    fn begin_cut(&self) -> bool {
        let bytes_max =
            (self.memory().total() / QUEUED_PART).clamp(QUEUED_BYTES_LEAST, QUEUED_BYTES_MOST);
        let after = || self.observers().last_ticket().generation().other();
        if !self.images().begin(bytes_max, after) {
            return false;
        }
        self.observers().begin_cut();
        self.each_shard(|db, shard| db.side(shard).hooks.begin_cut());
        true
    }

    /// Returns whether a cut is running.
    #[must_use]
    pub fn is_cutting(&self) -> bool {
        self.images().is_running()
    }

    /// Returns whether writers are so far ahead of a running cut that the copies which they keep for it take more
    /// memory than they should: 2 % of the store's, at least 16 MiB, at most 64 MiB. Writes should be held back then; no
    /// write is refused. Two atomic loads.
    #[must_use]
    #[inline]
    pub fn is_cut_behind(&self) -> bool {
        self.images().is_behind()
    }

    /// Calls `f` with each shard of the databases that exist, while it is locked.
    fn each_shard(&self, f: impl Fn(&Database, usize)) {
        for db in self.existing() {
            for shard in 0..self.shards() {
                let guard = self.wait_for::<Writing, _>(db.lock(shard));
                f(db, shard);
                drop(guard);
            }
        }
    }
}

impl<S: Deref<Target = Store>> Cut<S> {
    /// Takes a cut like [`Store::cut`]; `store` is kept until it is dropped.
    ///
    /// # Errors
    /// [`CutRunning`] if the store has a cut that is not over.
    ///
    /// ```
    /// use respire_store::{Config, Cut, Store};
    /// use std::sync::Arc;
    ///
    /// let cut = Cut::new(Arc::new(Store::new(Config::default())))?;
    /// let keys = std::thread::spawn(move || cut.keys()).join();
    /// assert_eq!(keys.unwrap(), 0);
    /// # Ok::<(), respire_store::CutRunning>(())
    /// ```
    pub fn new(store: S) -> Result<Cut<S>, CutRunning> {
        if store.begin_cut() {
            Ok(Cut::place(store))
        } else {
            Err(CutRunning)
        }
    }

    /// Takes the cut.
    fn place(store: S) -> Cut<S> {
        let token = store.take_token();
        let ticket = store.observers().change_generation();
        drop(token);
        // Later ones have no key of the cut.
        let databases = store.existing().map(|db| CutDatabase {
            db: db.number,
            keys: store.len(db.number),
            expires: store.expires_len(db.number),
        });
        let databases: Vec<CutDatabase> = databases.collect();
        let numbers = databases.iter().map(|database| database.db);
        Cut {
            walk: Walk::new(numbers, store.shards()),
            databases,
            store,
            ticket,
            is_over: false,
        }
    }

    /// Returns the last ticket before the cut: units with this ticket or an earlier one are part of it, and others are
    /// not. It is a ticket of which nothing is known if no unit had one; its [number](Ticket::number) is 0 then.
    #[must_use]
    pub fn ticket(&self) -> Ticket {
        self.ticket
    }

    /// Returns how many keys the cut has, about ([`CutDatabase`]).
    #[must_use]
    pub fn keys(&self) -> usize {
        self.databases.iter().map(|database| database.keys).sum()
    }

    /// Returns the databases of the cut that may have keys, ascending.
    #[must_use]
    pub fn databases(&self) -> &[CutDatabase] {
        &self.databases
    }

    /// Returns the most memory that copies kept by writers have taken so far, in bytes.
    #[must_use]
    pub fn queued_bytes_most(&self) -> usize {
        self.store.images().bytes_most()
    }

    /// Returns the store.
    #[must_use]
    pub fn store(&self) -> &Store {
        &self.store
    }

    /// Calls `f` with the database, key and entry of some keys of the cut, and returns whether there may be more. Each
    /// key is given once, in no particular order, and as it was at the cut. Keys that had expired and were not removed
    /// yet are given as well.
    ///
    /// A step locks one shard at most, for at most 64 small entries, and calls `f` without a lock. It waits for a shard
    /// only if all of the others are done or locked as well. The thread must hold no section.
    pub fn step(&mut self, mut f: impl FnMut(u32, &[u8], EntryRef<'_>)) -> bool {
        if self.is_over {
            return false;
        }
        let clock = self.store.clock();
        let is_done = self.walk.step(&self.store, self.after(), |db, entry| {
            f(db, entry.key(), EntryRef::new(entry, clock));
        });
        if is_done {
            self.end();
        }
        !is_done
    }

    /// The generation of what comes after the cut.
    fn after(&self) -> Generation {
        self.ticket.generation().other()
    }

    /// All entries have the generation after the cut, so units need not look at it any more.
    fn end(&mut self) {
        self.is_over = true;
        let (store, after) = (&self.store, self.after());
        store.observers().end_cut(after);
        store.each_shard(|db, shard| db.side(shard).hooks.end_cut(after));
        store.images().end();
    }
}

impl<S: Deref<Target = Store>> Drop for Cut<S> {
    /// Ends the cut, so that the store can have another one.
    fn drop(&mut self) {
        if self.is_over {
            return;
        }
        self.store.images().abort();
        while !self.walk.skip(&self.store, self.after()) {}
        self.end();
    }
}

impl<S: Deref<Target = Store>> fmt::Debug for Cut<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cut")
            .field("ticket", &self.ticket)
            .field("databases", &self.databases)
            .field("is_over", &self.is_over)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
