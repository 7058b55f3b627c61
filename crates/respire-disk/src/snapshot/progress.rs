//! How far a snapshot is.

use core::sync::atomic::{AtomicU64, Ordering};

/// How far a snapshot is, for `INFO`. The thread that writes it changes these numbers, and any thread reads them.
#[derive(Debug, Default)]
pub struct Progress {
    keys_total: AtomicU64,
    keys_done: AtomicU64,
    bytes: AtomicU64,
    queued_bytes_most: AtomicU64,
}

impl Progress {
    /// A snapshot of about this many keys begins.
    pub(super) fn begin(&self, keys_total: usize) {
        self.keys_total.store(keys_total as u64, Ordering::Relaxed);
        for number in [&self.keys_done, &self.bytes, &self.queued_bytes_most] {
            number.store(0, Ordering::Relaxed);
        }
    }

    pub(super) fn note(&self, keys_done: u64, bytes: u64, queued_bytes_most: usize) {
        self.keys_done.store(keys_done, Ordering::Relaxed);
        self.bytes.store(bytes, Ordering::Relaxed);
        let queued_bytes_most = queued_bytes_most as u64;
        self.queued_bytes_most
            .store(queued_bytes_most, Ordering::Relaxed);
    }

    /// Returns about how many keys the snapshot has in total (`current_save_keys_total`).
    #[must_use]
    pub fn keys_total(&self) -> u64 {
        self.keys_total.load(Ordering::Relaxed)
    }

    /// Returns how many keys have been looked at (`current_save_keys_processed`).
    #[must_use]
    pub fn keys_done(&self) -> u64 {
        self.keys_done.load(Ordering::Relaxed)
    }

    /// Returns how many bytes have been written.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }

    /// Returns the most memory that copies of changed keys have taken, in bytes (`rdb_last_cow_size`).
    #[must_use]
    pub fn queued_bytes_most(&self) -> u64 {
        self.queued_bytes_most.load(Ordering::Relaxed)
    }
}
