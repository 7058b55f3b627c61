//! The old states of keys that writers hand to the running cut, and the tables that a flush hands to it.
//!
//! `store/cut` has the rules. A writer that holds the key's shard calls this module; the cut takes what was handed over
//! without locking a shard.

use core::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};
use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::entry::{Entry, Generation, SLOT_BYTES};
use crate::table::Table;

/// What a store's writers and its running cut share.
pub(crate) struct Images {
    /// A cut is running.
    is_running: AtomicBool,
    /// The old states are wanted: the cut was not aborted.
    are_wanted: AtomicBool,
    /// The generation of units after the cut. Changes while no shard has a cut.
    after: AtomicU32,
    /// For each database, the number that its keys had at the cut. Two of them change under the locks of both databases.
    origins: Box<[AtomicU32]>,
    /// A leaf lock, held for a push or for taking a few entries.
    queue: Mutex<Queue>,
    /// Bytes of the entries in the queue. Changes under its lock.
    bytes: AtomicUsize,
    bytes_most: AtomicUsize,
    /// The bytes above which writers should be held back.
    bytes_max: AtomicUsize,
}

/// What was handed over, each with its database at the cut.
#[derive(Default)]
struct Queue {
    entries: VecDeque<(u32, Entry)>,
    tables: Vec<(u32, Table)>,
}

impl Images {
    pub(crate) fn new(databases: u32) -> Images {
        Images {
            is_running: AtomicBool::new(false),
            are_wanted: AtomicBool::new(false),
            after: AtomicU32::new(0),
            origins: (0..databases).map(AtomicU32::new).collect(),
            queue: Mutex::default(),
            bytes: AtomicUsize::new(0),
            bytes_most: AtomicUsize::new(0),
            bytes_max: AtomicUsize::new(usize::MAX),
        }
    }

    /// A cut begins, unless one is running. Returns whether it may. `after` returns the generation of units after it.
    pub(crate) fn begin(&self, bytes_max: usize, after: impl FnOnce() -> Generation) -> bool {
        if self.is_running.swap(true, Ordering::AcqRel) {
            return false;
        }
        for (origin, number) in self.origins.iter().zip(0..) {
            origin.store(number, Ordering::Relaxed);
        }
        self.after.store(after().bits(), Ordering::Relaxed);
        self.bytes_max.store(bytes_max, Ordering::Relaxed);
        self.bytes_most.store(0, Ordering::Relaxed);
        self.are_wanted.store(true, Ordering::Relaxed);
        true
    }

    /// The old states are not wanted any more.
    pub(crate) fn abort(&self) {
        self.are_wanted.store(false, Ordering::Relaxed);
        self.empty();
    }

    /// The cut is over in all shards.
    pub(crate) fn end(&self) {
        self.are_wanted.store(false, Ordering::Relaxed);
        // A flush may have handed over tables of which no entry is left for the cut.
        self.empty();
        self.is_running.store(false, Ordering::Release);
    }

    fn empty(&self) {
        let mut queue = self.lock();
        let emptied = core::mem::take(&mut *queue);
        self.bytes.store(0, Ordering::Relaxed);
        drop(queue);
        drop(emptied);
    }

    /// Returns whether a cut is running.
    pub(crate) fn is_running(&self) -> bool {
        self.is_running.load(Ordering::Relaxed)
    }

    /// Returns whether more is queued than should be.
    #[inline]
    pub(crate) fn is_behind(&self) -> bool {
        self.bytes.load(Ordering::Relaxed) > self.bytes_max.load(Ordering::Relaxed)
    }

    /// Returns the largest size of the queue during the cut, in bytes.
    pub(crate) fn bytes_most(&self) -> usize {
        self.bytes_most.load(Ordering::Relaxed)
    }

    fn after(&self) -> Generation {
        Generation::of(self.after.load(Ordering::Relaxed))
    }

    /// Returns the number that the keys of a database had at the cut. A shard of the database is locked.
    fn origin_of(&self, db: u32) -> u32 {
        self.origins[db as usize].load(Ordering::Relaxed)
    }

    /// Returns the number of the database whose keys had this number at the cut. The answer lasts only while a shard of
    /// that database is locked.
    pub(crate) fn database_of(&self, origin: u32) -> u32 {
        let mut numbers = self.origins.iter();
        let found = numbers.position(|it| it.load(Ordering::Relaxed) == origin);
        // Two origins may be seen while they are exchanged. The caller asks again under the lock.
        found.map_or(origin, |number| number as u32)
    }

    /// A unit of this generation is about to change the entry, or has just removed it.
    pub(crate) fn keep(&self, generation: Generation, db: u32, entry: &mut Entry) {
        if entry.generation() == generation {
            return;
        }
        debug_assert_eq!(
            generation,
            self.after(),
            "a unit before the cut finds nothing that came after it"
        );
        entry.set_generation(generation);
        if !self.are_wanted.load(Ordering::Relaxed) {
            return;
        }
        let (origin, image) = (self.origin_of(db), entry.image());
        let mut queue = self.lock();
        let bytes = self.bytes.load(Ordering::Relaxed) + bytes_of(&image);
        self.bytes.store(bytes, Ordering::Relaxed);
        self.bytes_most.fetch_max(bytes, Ordering::Relaxed);
        queue.entries.push_back((origin, image));
    }

    /// A unit of this generation has cleared a shard of this table. Returns the table if the cut does not need it.
    pub(crate) fn keep_table(&self, generation: Generation, db: u32, table: Table) -> Table {
        let is_needed = generation == self.after() && self.are_wanted.load(Ordering::Relaxed);
        if !is_needed || table.is_empty() {
            return table;
        }
        self.lock().tables.push((self.origin_of(db), table));
        Table::default()
    }

    /// A unit of this generation has exchanged two databases, all of whose shards are locked.
    pub(crate) fn swapped(&self, generation: Generation, a: u32, b: u32) {
        if generation == self.after() {
            let (a, b) = (&self.origins[a as usize], &self.origins[b as usize]);
            b.store(
                a.swap(b.load(Ordering::Relaxed), Ordering::Relaxed),
                Ordering::Relaxed,
            );
        }
    }

    /// Moves up to `count` entries from the queue to `to`.
    pub(crate) fn take(&self, count: usize, to: &mut Vec<(u32, Entry)>) {
        let mut queue = self.lock();
        let count = count.min(queue.entries.len());
        for (origin, image) in queue.entries.drain(..count) {
            self.bytes.fetch_sub(bytes_of(&image), Ordering::Relaxed);
            to.push((origin, image));
        }
    }

    /// Takes a table that was handed over.
    pub(crate) fn take_table(&self) -> Option<(u32, Table)> {
        self.lock().tables.pop()
    }

    fn lock(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn bytes_of(entry: &Entry) -> usize {
    SLOT_BYTES + entry.heap_bytes()
}
