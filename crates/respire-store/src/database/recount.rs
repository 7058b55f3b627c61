//! Recounts: checks the counters and deadlines beside a table against the table. Debug builds do so after
//! changes, so that tests and fuzzers fail at the first wrong one.

use core::sync::atomic::Ordering;

use ahash::RandomState;

use super::Database;
use super::deadlines::Deadlines;
use super::side::{GAUGE_STEP, Side};
use crate::entry::Entry;
use crate::hash::{HashPart, hash_key, mix};
use crate::table::Table;

/// Tables of up to this many entries are recounted after each change. A table of n entries above that is
/// recounted after about one change in n, so a change still costs O(1) on average.
const ALWAYS_MAX: usize = 32;

/// The counters of a table's contents.
#[derive(Debug, PartialEq, Eq)]
struct Counts {
    keys: usize,
    timed: usize,
    expires: usize,
    expires_sum: u64,
    dataset: usize,
    table_bytes: usize,
}

impl Counts {
    fn kept(side: &Side) -> Counts {
        Counts {
            keys: side.keys.load(Ordering::Relaxed),
            timed: side.timed.load(Ordering::Relaxed),
            expires: side.expires.load(Ordering::Relaxed),
            expires_sum: side.expires_sum.load(Ordering::Relaxed),
            dataset: side.dataset.load(Ordering::Relaxed),
            table_bytes: side.table_bytes.load(Ordering::Relaxed),
        }
    }

    fn of(table: &Table) -> Counts {
        let mut counts = Counts {
            keys: 0,
            timed: 0,
            expires: 0,
            expires_sum: 0,
            dataset: 0,
            table_bytes: table.bytes(),
        };
        for entry in table.entries() {
            let expires_at = entry.expires_at();
            counts.keys += 1;
            counts.timed += usize::from(entry.due_at().is_some());
            counts.expires += usize::from(expires_at.is_some());
            counts.expires_sum = counts.expires_sum.wrapping_add(expires_at.unwrap_or(0));
            counts.dataset += entry.heap_bytes();
        }
        counts
    }
}

impl Database {
    /// In a debug build, checks a shard's counters against its table, which must be locked.
    #[inline(always)]
    pub(crate) fn recount(&self, index: usize, table: &Table) {
        if cfg!(debug_assertions) && is_due(self.side(index), table) {
            self.recount_now(index, table);
        }
    }

    /// Checks a shard's counters against its table. O(entries).
    pub(super) fn recount_now(&self, index: usize, table: &Table) {
        let side = self.side(index);
        assert_eq!(Counts::kept(side), Counts::of(table), "shard {index}");
        assert!(self.whereabouts(index).are_of(table), "shard {index}");
        if let Some(generation) = side.hooks.generation() {
            let mut entries = table.entries();
            assert!(entries.all(|entry| entry.generation() == generation));
        }
        let bytes = side.dataset.load(Ordering::Relaxed) + side.overhead();
        let told = side.told.load(Ordering::Relaxed);
        assert!(
            bytes.abs_diff(told) < GAUGE_STEP,
            "{bytes} bytes, told {told}"
        );
    }

    /// In a debug build, checks the deadlines of a small shard against its table; both must be locked.
    #[inline(always)]
    pub(crate) fn recount_deadlines(&self, index: usize, table: &Table, deadlines: &Deadlines) {
        if cfg!(debug_assertions) && table.len() <= ALWAYS_MAX {
            check_deadlines(self.side(index), table, deadlines, &self.hasher);
        }
    }
}

/// Checks that every entry with an expiry has a deadline that comes up no later. O(entries * deadlines).
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
            entry.due_at()?,
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
