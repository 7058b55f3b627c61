//! When keys expire: the deadlines of a shard in order.

use core::cmp::Reverse;
use std::collections::BinaryHeap;

/// The deadlines of a shard, soonest first. Items whose key has changed since are left in place
/// and recognised when they come up.
#[derive(Default)]
pub(crate) struct Deadlines {
    heap: BinaryHeap<Reverse<(u64, u64)>>,
}

impl Deadlines {
    pub(crate) fn push(&mut self, at: u64, hash: u64) {
        self.heap.push(Reverse((at, hash)));
    }

    /// The next deadline, or `u64::MAX`.
    pub(crate) fn next(&self) -> u64 {
        self.heap.peek().map_or(u64::MAX, |Reverse((at, _))| *at)
    }

    /// The hash of a key that was due at `now_ms`.
    pub(crate) fn pop_due(&mut self, now_ms: u64) -> Option<u64> {
        if self.next() > now_ms {
            return None;
        }
        self.heap.pop().map(|Reverse((_, hash))| hash)
    }
}

/// What [`Store::sweep`](crate::Store::sweep) did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Swept {
    /// Keys removed because their time had come.
    pub expired: usize,
    /// Whether every due key has been removed; otherwise the budget was used up and the sweep
    /// should be called again soon.
    pub finished: bool,
    /// When the next key is due, in unix milliseconds, if any has an expiry.
    pub next_ms: Option<u64>,
}
