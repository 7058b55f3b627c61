//! What is counted and known about a shard, beside its table.

use core::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering};

use dashmap::RwLock;

use super::deadlines::Deadlines;
use crate::entry::SLOT_BYTES;
use crate::hash::mix;
use crate::observe::Hooks;
use crate::table::Table;

/// What is known about a shard beside its table. Everything is written under the shard's write
/// lock only (but for `random` and `hooks`), so plain loads and stores suffice; anyone may read.
///
/// Its first line of memory is what writing a key without an expiry touches, and is loaded ahead.
#[repr(C, align(128))]
pub(crate) struct Side {
    /// Entries with an expiry.
    pub(crate) expires: AtomicUsize,
    pub(crate) changes: AtomicU64,
    /// [`Entry::heap_bytes`](crate::entry::Entry::heap_bytes) of all entries.
    pub(crate) dataset: AtomicUsize,
    /// Entries in the table.
    pub(crate) keys: AtomicUsize,
    /// Bytes of the table.
    pub(crate) table_bytes: AtomicUsize,
    /// Bytes of the deadlines.
    pub(crate) index_bytes: AtomicUsize,
    /// What the gauge has been told of these bytes.
    pub(crate) told: AtomicUsize,
    /// State of a generator of random numbers; readers share it without care.
    random: AtomicU32,
    /// Who must hear of changes.
    pub(crate) hooks: Hooks,
    /// Sum of the expiries, modulo 2^64.
    pub(crate) expires_sum: AtomicU64,
    pub(crate) expired: AtomicU64,
    pub(crate) evicted: AtomicU64,
    /// No key is due before this.
    pub(crate) next_deadline: AtomicU64,
    /// Locked only by who holds the shard's write lock, so never waited for.
    pub(crate) deadlines: RwLock<Deadlines>,
}

// A shard's lock and counters share no cache line with its neighbour's, and take one pair.
const _: () = assert!(size_of::<Side>() == 128);
const _: () = assert!(core::mem::offset_of!(Side, hooks) < 64);

/// A shard tells the gauge when its bytes have changed by this much: a shared counter written by
/// every request would cost more than the map itself.
pub(crate) const GAUGE_STEP: usize = 4096;

impl Side {
    pub(super) fn new(seed: u64, interests: u32) -> Side {
        Side {
            expires: AtomicUsize::new(0),
            changes: AtomicU64::new(0),
            dataset: AtomicUsize::new(0),
            keys: AtomicUsize::new(0),
            table_bytes: AtomicUsize::new(0),
            index_bytes: AtomicUsize::new(0),
            told: AtomicUsize::new(0),
            random: AtomicU32::new(seed as u32),
            hooks: Hooks::new(interests),
            expires_sum: AtomicU64::new(0),
            expired: AtomicU64::new(0),
            evicted: AtomicU64::new(0),
            next_deadline: AtomicU64::new(u64::MAX),
            deadlines: RwLock::new(Deadlines::default()),
        }
    }

    /// A random number, good enough to sample with.
    pub(crate) fn random(&self) -> u64 {
        let state = self.random.load(Ordering::Relaxed).wrapping_add(1);
        self.random.store(state, Ordering::Relaxed);
        mix(u64::from(state).wrapping_mul(0x9e37_79b9_7f4a_7c15))
    }

    /// Bytes of table and deadlines.
    pub(crate) fn overhead(&self) -> usize {
        self.table_bytes.load(Ordering::Relaxed) + self.index_bytes.load(Ordering::Relaxed)
    }

    /// Brings what is known of the deadlines up to date with them.
    pub(crate) fn note_deadlines(&self, deadlines: &Deadlines, gauge: &AtomicUsize) {
        self.next_deadline
            .store(deadlines.next(), Ordering::Release);
        let bytes = deadlines.bytes();
        if bytes != self.index_bytes.load(Ordering::Relaxed) {
            self.index_bytes.store(bytes, Ordering::Relaxed);
            self.tell(gauge);
        }
    }

    /// Buckets of the table.
    pub(crate) fn buckets(&self) -> usize {
        self.table_bytes.load(Ordering::Relaxed) / SLOT_BYTES
    }

    /// Brings the counters up to date with the table's size.
    #[inline]
    pub(super) fn note_size(&self, table: &Table, gauge: &AtomicUsize) {
        self.keys.store(table.len(), Ordering::Release);
        let bytes = table.bytes();
        if bytes != self.table_bytes.load(Ordering::Relaxed) {
            self.table_bytes.store(bytes, Ordering::Relaxed);
            self.tell(gauge);
        }
    }

    /// Tells the gauge of the shard's bytes, if they have changed enough.
    #[inline(never)]
    pub(crate) fn tell(&self, gauge: &AtomicUsize) {
        let bytes = self.dataset.load(Ordering::Relaxed) + self.overhead();
        let told = self.told.load(Ordering::Relaxed);
        if bytes.abs_diff(told) >= GAUGE_STEP {
            gauge.fetch_add(bytes.wrapping_sub(told), Ordering::Relaxed);
            self.told.store(bytes, Ordering::Relaxed);
        }
    }

    /// The counters that describe the table's contents and go where it goes.
    pub(super) fn contents(&self) -> [&AtomicUsize; 6] {
        [
            &self.keys,
            &self.expires,
            &self.dataset,
            &self.table_bytes,
            &self.index_bytes,
            &self.told,
        ]
    }
}

/// Adds to a counter that only the holder of the shard's write lock writes.
#[inline]
pub(crate) fn bump(counter: &AtomicU64, by: u64) {
    counter.store(
        counter.load(Ordering::Relaxed).wrapping_add(by),
        Ordering::Relaxed,
    );
}
