//! Recounts: what is kept beside a table is what the table says. Debug builds check it as they go, so
//! that tests and fuzzers stop where it first goes wrong.

use core::sync::atomic::Ordering;

use ahash::RandomState;

use super::Database;
use super::deadlines::Deadlines;
use super::side::{GAUGE_STEP, Side};
use crate::entry::Entry;
use crate::hash::{HashPart, hash_key, mix};
use crate::table::Table;

/// Tables of up to this many entries are counted again after each change. Of larger ones that happens
/// after one change in as many as there are entries, so a change takes O(1) all the same.
const ALWAYS_MAX: usize = 32;

/// What is counted about a table's contents.
#[derive(Debug, PartialEq, Eq)]
struct Counts {
    keys: usize,
    expires: usize,
    expires_sum: u64,
    dataset: usize,
    table_bytes: usize,
}

impl Counts {
    fn kept(side: &Side) -> Counts {
        Counts {
            keys: side.keys.load(Ordering::Relaxed),
            expires: side.expires.load(Ordering::Relaxed),
            expires_sum: side.expires_sum.load(Ordering::Relaxed),
            dataset: side.dataset.load(Ordering::Relaxed),
            table_bytes: side.table_bytes.load(Ordering::Relaxed),
        }
    }

    fn of(table: &Table) -> Counts {
        let mut counts = Counts {
            keys: 0,
            expires: 0,
            expires_sum: 0,
            dataset: 0,
            table_bytes: table.bytes(),
        };
        for entry in table.entries() {
            let expires_at = entry.expires_at();
            counts.keys += 1;
            counts.expires += usize::from(expires_at.is_some());
            counts.expires_sum = counts.expires_sum.wrapping_add(expires_at.unwrap_or(0));
            counts.dataset += entry.heap_bytes();
        }
        counts
    }
}

impl Database {
    /// In a debug build, holds what is kept about a shard against its table, which is locked.
    #[inline(always)]
    pub(crate) fn recount(&self, index: usize, table: &Table) {
        if cfg!(debug_assertions) && is_due(self.side(index), table) {
            self.recount_now(index, table);
        }
    }

    /// Holds what is kept about a shard against its table. O(entries).
    pub(super) fn recount_now(&self, index: usize, table: &Table) {
        let side = self.side(index);
        assert_eq!(Counts::kept(side), Counts::of(table), "shard {index}");
        assert!(self.whereabouts(index).are_of(table), "shard {index}");
        let bytes = side.dataset.load(Ordering::Relaxed) + side.overhead();
        let told = side.told.load(Ordering::Relaxed);
        assert!(
            bytes.abs_diff(told) < GAUGE_STEP,
            "{bytes} bytes, told {told}"
        );
    }

    /// In a debug build, holds the deadlines of a small shard against its table; both are locked.
    #[inline(always)]
    pub(crate) fn recount_deadlines(&self, index: usize, table: &Table, deadlines: &Deadlines) {
        if cfg!(debug_assertions) && table.len() <= ALWAYS_MAX {
            check_deadlines(self.side(index), table, deadlines, &self.hasher);
        }
    }
}

/// Every entry with an expiry has a deadline that comes up no later. O(entries * deadlines).
pub(super) fn check_deadlines(
    side: &Side,
    table: &Table,
    deadlines: &Deadlines,
    hasher: &RandomState,
) {
    let index_bytes = side.index_bytes.load(Ordering::Relaxed);
    let next = side.next_deadline.load(Ordering::Relaxed);
    assert_eq!((index_bytes, next), (deadlines.bytes(), deadlines.next()));
    let expiring = |entry: &Entry| {
        Some((
            HashPart::new(hash_key(hasher, entry.key())),
            entry.expires_at()?,
        ))
    };
    for (part, at) in table.entries().filter_map(expiring) {
        assert!(
            deadlines.has(part, at),
            "no deadline leads to a key that expires at {at}"
        );
    }
}

fn is_due(side: &Side, table: &Table) -> bool {
    let len = table.len();
    len <= ALWAYS_MAX
        || mix(side.changes.load(Ordering::Relaxed) ^ len as u64).is_multiple_of(len as u64)
}
