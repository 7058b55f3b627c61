//! The side of a shard: its counters, deadlines and hook word, which lie beside its table.

use core::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering};

use dashmap::RwLock;

use super::deadlines::Deadlines;
use crate::entry::SLOT_BYTES;
use crate::hash::mix;
use crate::observe::Hooks;
use crate::table::Table;

/// The counters, deadlines and hook word of a shard. All fields but `random` and `hooks` are written under
/// the shard's write lock only, so plain loads and stores suffice; any thread may read them.
///
/// The first cache line has the fields that a write of a key without an expiry uses. It is loaded ahead.
#[repr(C, align(128))]
pub(crate) struct Side {
    /// Entries with an expiry of their own or of elements.
    pub(crate) timed: AtomicUsize,
    pub(crate) changes: AtomicU64,
    /// [`Entry::heap_bytes`](crate::entry::Entry::heap_bytes) of all entries.
    pub(crate) dataset: AtomicUsize,
    /// Entries in the table.
    pub(crate) keys: AtomicUsize,
    /// Bytes of the table.
    pub(crate) table_bytes: AtomicUsize,
    /// Bytes of the deadlines.
    pub(crate) index_bytes: AtomicUsize,
    /// The bytes that the shared gauge includes for this shard.
    pub(crate) told: AtomicUsize,
    /// State of a random number generator. Racing readers may use the same number, which does no harm.
    random: AtomicU32,
    /// The parties to which changes must be reported.
    pub(crate) hooks: Hooks,
    /// Entries with an expiry of their own.
    pub(crate) expires: AtomicUsize,
    /// Sum of these expiries, modulo 2^64.
    pub(crate) expires_sum: AtomicU64,
    pub(crate) expired: AtomicU64,
    pub(crate) evicted: AtomicU64,
    /// No key is due before this.
    pub(crate) next_deadline: AtomicU64,
    /// Locked only under the shard's write lock, so no thread ever waits for it.
    pub(crate) deadlines: RwLock<Deadlines>,
}

// A shard's lock and counters share no cache line with its neighbour's, and take one pair.
const _: () = assert!(size_of::<Side>() == 128);
const _: () = assert!(core::mem::offset_of!(Side, hooks) < 64);

/// A shard updates the shared gauge when its bytes have changed by this much. Updating a shared counter in
/// every request would cost more than the table itself.
pub(crate) const GAUGE_STEP: usize = 4096;

impl Side {
    pub(super) fn new(seed: u64, hooks: u32) -> Side {
        Side {
            timed: AtomicUsize::new(0),
            changes: AtomicU64::new(0),
            dataset: AtomicUsize::new(0),
            keys: AtomicUsize::new(0),
            table_bytes: AtomicUsize::new(0),
            index_bytes: AtomicUsize::new(0),
            told: AtomicUsize::new(0),
            random: AtomicU32::new(seed as u32),
            hooks: Hooks::new(hooks),
            expires: AtomicUsize::new(0),
            expires_sum: AtomicU64::new(0),
            expired: AtomicU64::new(0),
            evicted: AtomicU64::new(0),
            next_deadline: AtomicU64::new(u64::MAX),
            deadlines: RwLock::new(Deadlines::default()),
        }
    }

    /// Returns a random number of a quality that suffices for sampling.
    pub(crate) fn random(&self) -> u64 {
        let state = self.random.load(Ordering::Relaxed).wrapping_add(1);
        self.random.store(state, Ordering::Relaxed);
        mix(u64::from(state).wrapping_mul(0x9e37_79b9_7f4a_7c15))
    }

    /// Returns the bytes of the table and the deadlines.
    pub(crate) fn overhead(&self) -> usize {
        self.table_bytes.load(Ordering::Relaxed) + self.index_bytes.load(Ordering::Relaxed)
    }

    /// Updates the next deadline and the index's bytes from the deadlines.
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

    /// Updates the counters of keys and bytes from the table.
    #[inline]
    pub(super) fn note_size(&self, table: &Table, gauge: &AtomicUsize) {
        self.keys.store(table.len(), Ordering::Release);
        let bytes = table.bytes();
        if bytes != self.table_bytes.load(Ordering::Relaxed) {
            self.table_bytes.store(bytes, Ordering::Relaxed);
            self.tell(gauge);
        }
    }

    /// Updates the gauge if the shard's bytes have changed by [`GAUGE_STEP`] or more.
    #[inline(never)]
    pub(crate) fn tell(&self, gauge: &AtomicUsize) {
        let bytes = self.dataset.load(Ordering::Relaxed) + self.overhead();
        let told = self.told.load(Ordering::Relaxed);
        if bytes.abs_diff(told) >= GAUGE_STEP {
            gauge.fetch_add(bytes.wrapping_sub(told), Ordering::Relaxed);
            self.told.store(bytes, Ordering::Relaxed);
        }
    }

    /// Returns the counters that describe the table's contents, and are exchanged with it.
    pub(super) fn contents(&self) -> [&AtomicUsize; 7] {
        [
            &self.keys,
            &self.timed,
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
