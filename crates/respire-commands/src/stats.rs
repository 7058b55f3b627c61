//! What is counted on the way: plainly per connection, and added up once per turn.

use std::sync::atomic::{AtomicU64, Ordering};

/// What one connection has counted since its last turn ended.
#[derive(Clone, Copy, Debug, Default)]
pub struct ConnStats {
    hits: u64,
    misses: u64,
}

impl ConnStats {
    pub(crate) fn looked_up(&mut self, found: bool) {
        if found {
            self.hits += 1;
        } else {
            self.misses += 1;
        }
    }
}

/// What all connections have counted.
#[derive(Debug, Default)]
pub(crate) struct KvStats {
    pub(crate) hits: AtomicU64,
    pub(crate) misses: AtomicU64,
}

impl KvStats {
    /// Adds what a connection counted, and sets it back to zero.
    pub(crate) fn add(&self, conn: &mut ConnStats) {
        if conn.hits > 0 {
            self.hits.fetch_add(conn.hits, Ordering::Relaxed);
        }
        if conn.misses > 0 {
            self.misses.fetch_add(conn.misses, Ordering::Relaxed);
        }
        *conn = ConnStats::default();
    }

    pub(crate) fn reset(&self) {
        self.hits.store(0, Ordering::Relaxed);
        self.misses.store(0, Ordering::Relaxed);
    }
}
