//! Goes through the entries of a cut: those that writers handed over, and those that are still in the tables.

use std::collections::VecDeque;

use crate::entry::{Entry, Generation};
use crate::raw;
use crate::shard::{Writing, try_soon};
use crate::store::Store;
use crate::table::{Entries, Table};

/// Entries that are copied under one lock, or given in one step.
const ENTRIES_MAX: usize = 64;

/// Bytes copied under one lock; the last entry may exceed it.
const COPIED_MAX: usize = 16 << 10;

/// Buckets looked at under one lock.
const BUCKETS_MAX: usize = 1 << 10;

/// A shard of the cut.
struct Part {
    /// Its database at the cut.
    origin: u32,
    shard: usize,
    /// The next bucket to look at.
    bucket: usize,
    /// [`Table::moves`] when the buckets before were looked at. If an entry has moved since, it may be in one of them.
    moves: u32,
}

/// The work that is left of a cut.
pub(super) struct Walk {
    parts: VecDeque<Part>,
    /// Parts that were locked, one after another.
    locked: usize,
    /// A table that a flush handed over, and its database at the cut.
    flushed: Option<(u32, Entries)>,
    /// The copies of a step, with their databases.
    copies: Vec<(u32, Entry)>,
    /// The buckets of a step.
    buckets: Vec<usize>,
}

/// What to do with the entries of the cut.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Aim {
    Copy,
    /// Only change their generation.
    Skip,
}

impl Walk {
    pub(super) fn new(databases: impl Iterator<Item = u32>, shards: usize) -> Walk {
        let parts = databases.flat_map(|origin| {
            (0..shards).map(move |shard| Part {
                origin,
                shard,
                bucket: 0,
                moves: 0,
            })
        });
        Walk {
            parts: parts.collect(),
            locked: 0,
            flushed: None,
            copies: Vec::new(),
            buckets: Vec::new(),
        }
    }

    /// Gives some entries, and returns whether none is left. `after` is the generation of what is not part of the cut.
    pub(super) fn step(
        &mut self,
        store: &Store,
        after: Generation,
        mut give: impl FnMut(u32, &Entry),
    ) -> bool {
        debug_assert!(self.copies.is_empty());
        // First what takes memory only for the cut.
        store.images().take(ENTRIES_MAX, &mut self.copies);
        if self.copies.is_empty() && !self.give_flushed(store, after, &mut give) {
            if self.parts.is_empty() {
                return true;
            }
            self.part(store, after, Aim::Copy);
        }
        for (origin, entry) in self.copies.drain(..) {
            give(origin, &entry);
        }
        false
    }

    /// Goes on with the next part without giving its entries, and returns whether none is left.
    pub(super) fn skip(&mut self, store: &Store, after: Generation) -> bool {
        self.flushed = None;
        self.part(store, after, Aim::Skip);
        self.parts.is_empty()
    }

    /// Gives some entries of a flushed table. Returns whether there was one.
    fn give_flushed(
        &mut self,
        store: &Store,
        after: Generation,
        give: &mut impl FnMut(u32, &Entry),
    ) -> bool {
        if self.flushed.is_none() {
            let table = store.images().take_table();
            self.flushed = table.map(|(origin, table)| (origin, table.into_entries()));
        }
        let Some((origin, entries)) = &mut self.flushed else {
            return false;
        };
        for _ in 0..ENTRIES_MAX {
            let Some(entry) = entries.next() else {
                self.flushed = None;
                return true;
            };
            if entry.generation() != after {
                give(*origin, &entry);
            }
        }
        true
    }

    /// Goes on with the first part if it is free, and else puts it behind the others.
    fn part(&mut self, store: &Store, after: Generation, aim: Aim) {
        let Some(mut part) = self.parts.pop_front() else {
            return;
        };
        let number = store.images().database_of(part.origin);
        let lock = store.database(number).lock(part.shard);
        let guard = match try_soon::<Writing, Table>(lock) {
            None if self.locked >= self.parts.len() => Some(store.wait_for::<Writing, _>(lock)),
            guard => guard,
        };
        let Some(mut table) = guard else {
            self.locked += 1;
            return self.parts.push_back(part);
        };
        self.locked = 0;
        // It may have been exchanged with another one before it was locked.
        let is_it = store.images().database_of(part.origin) == number;
        if !is_it || !self.go_on(&mut part, &mut table, after, aim) {
            self.parts.push_front(part);
        }
    }

    /// Looks at the next buckets of a part, and returns whether they were the last ones.
    fn go_on(&mut self, part: &mut Part, table: &mut Table, after: Generation, aim: Aim) -> bool {
        if part.moves != table.moves() {
            part.moves = table.moves();
            part.bucket = 0;
        }
        let end = table.buckets().min(part.bucket + BUCKETS_MAX);
        self.buckets.clear();
        for bucket in part.bucket..end {
            part.bucket = bucket + 1;
            let Some(entry) = table.at_mut(bucket) else {
                continue;
            };
            if entry.generation() == after {
                continue;
            }
            if aim == Aim::Skip {
                entry.set_generation(after);
                continue;
            }
            raw::prefetch(entry.place().0);
            self.buckets.push(bucket);
            if self.buckets.len() == ENTRIES_MAX {
                break;
            }
        }
        let mut copied = 0;
        for bucket in self.buckets.drain(..) {
            let Some(entry) = table.at_mut(bucket) else {
                continue;
            };
            if copied >= COPIED_MAX {
                // The rest is for the next step.
                part.bucket = bucket;
                return false;
            }
            let copy = entry.image();
            copied += copy.cell_bytes();
            entry.set_generation(after);
            self.copies.push((part.origin, copy));
        }
        part.bucket >= table.buckets()
    }
}
