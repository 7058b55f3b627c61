//! Counters of a server besides the engine's, and its final report.

use std::sync::atomic::{AtomicU64, Ordering};

/// Counters of a running server.
#[derive(Debug, Default)]
pub struct Stats {
    /// Connections that were served.
    pub accepted: AtomicU64,
    /// Connections that were refused.
    pub refused: AtomicU64,
    /// Failed accepts.
    pub accept_errors: AtomicU64,
}

impl Stats {
    /// Adds one to a counter.
    pub fn count(counter: &AtomicU64) {
        counter.fetch_add(1, Ordering::Relaxed);
    }

    /// The final report; `cut` connections had not ended in time.
    #[must_use]
    pub fn report(&self, cut: u64) -> Report {
        Report {
            accepted: self.accepted.load(Ordering::Relaxed),
            refused: self.refused.load(Ordering::Relaxed),
            accept_errors: self.accept_errors.load(Ordering::Relaxed),
            cut,
        }
    }
}

/// The counts of a server's whole run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Report {
    /// Connections that were served.
    pub accepted: u64,
    /// Connections that were refused.
    pub refused: u64,
    /// Failed accepts.
    pub accept_errors: u64,
    /// Connections that had not ended when the grace time was over.
    pub cut: u64,
}
