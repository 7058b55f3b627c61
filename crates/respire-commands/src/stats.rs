//! Counts hits and misses: per connection without atomics, and added to the totals once per turn.

use respire_store::{Stats, Store};
use std::sync::atomic::{AtomicU64, Ordering};

/// The counts of one connection since its last turn ended.
#[derive(Clone, Copy, Debug, Default)]
pub struct ConnStats {
    hits: u64,
    misses: u64,
}

impl ConnStats {
    #[inline]
    pub(crate) fn looked_up(&mut self, found: bool) {
        if found {
            self.hits += 1;
        } else {
            self.misses += 1;
        }
    }
}

/// The counts of all connections.
#[derive(Debug, Default)]
pub(crate) struct KvStats {
    hits: AtomicU64,
    misses: AtomicU64,
    /// The memory of the empty store, in bytes.
    memory_at_start: u64,
    /// The highest recorded memory in use, in bytes.
    memory_peak: AtomicU64,
    /// The counts of the store at the last reset; the store itself never resets them.
    expired_before: AtomicU64,
    evicted_before: AtomicU64,
    freed_later_before: AtomicU64,
}

impl KvStats {
    /// Creates the counters for an empty store.
    pub(crate) fn new(store: &Store) -> Self {
        Self {
            memory_at_start: store.memory().total() as u64,
            ..Self::default()
        }
    }

    /// The memory of the empty store, in bytes.
    pub(crate) fn memory_at_start(&self) -> u64 {
        self.memory_at_start
    }

    /// Adds the counts of a connection, and resets them to zero.
    pub(crate) fn add(&self, conn: &mut ConnStats) {
        if conn.hits > 0 {
            self.hits.fetch_add(conn.hits, Ordering::Relaxed);
        }
        if conn.misses > 0 {
            self.misses.fetch_add(conn.misses, Ordering::Relaxed);
        }
        *conn = ConnStats::default();
    }

    /// The number of look-ups that found their key.
    pub(crate) fn hits(&self) -> u64 {
        self.hits.load(Ordering::Relaxed)
    }

    /// The number of look-ups that did not find their key.
    pub(crate) fn misses(&self) -> u64 {
        self.misses.load(Ordering::Relaxed)
    }

    /// The keys that the store has removed by itself since the last reset.
    pub(crate) fn removed(&self, store: &Store) -> Stats {
        let Stats {
            expired_keys,
            evicted_keys,
            freed_later_keys,
        } = store.stats();
        let since =
            |now: u64, before: &AtomicU64| now.saturating_sub(before.load(Ordering::Relaxed));
        Stats {
            expired_keys: since(expired_keys, &self.expired_before),
            evicted_keys: since(evicted_keys, &self.evicted_before),
            freed_later_keys: since(freed_later_keys, &self.freed_later_before),
        }
    }

    /// Records the memory in use; returns the highest value recorded so far.
    pub(crate) fn note_memory(&self, bytes: u64) -> u64 {
        self.memory_peak
            .fetch_max(bytes, Ordering::Relaxed)
            .max(bytes)
    }

    pub(crate) fn reset(&self, store: &Store) {
        let now = store.stats();
        self.hits.store(0, Ordering::Relaxed);
        self.misses.store(0, Ordering::Relaxed);
        self.expired_before
            .store(now.expired_keys, Ordering::Relaxed);
        self.evicted_before
            .store(now.evicted_keys, Ordering::Relaxed);
        self.freed_later_before
            .store(now.freed_later_keys, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use respire_store::{Config, Expiry};

    #[test]
    fn counts_of_a_connection_are_added_once() {
        let (stats, mut conn) = (KvStats::default(), ConnStats::default());
        conn.looked_up(true);
        conn.looked_up(true);
        conn.looked_up(false);
        stats.add(&mut conn);
        stats.add(&mut conn);
        assert_eq!((stats.hits(), stats.misses()), (2, 1));
    }

    #[test]
    fn removed_keys_are_counted_since_the_last_reset() {
        let store = Store::new(Config::default());
        let stats = KvStats::default();
        let expire_one = || {
            store
                .view(0, 1)
                .update(b"k", |slot| slot.set(b"v", Expiry::At(2)));
            store.sweep(10, 100);
        };
        expire_one();
        assert_eq!(stats.removed(&store).expired_keys, 1);
        stats.reset(&store);
        assert_eq!(stats.removed(&store).expired_keys, 0);
        expire_one();
        assert_eq!(stats.removed(&store).expired_keys, 1);
    }
}
