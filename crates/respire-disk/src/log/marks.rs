//! The marks: which unit last changed a key, for readers whose replies wait until it is kept.

use core::sync::atomic::{AtomicU64, Ordering};
use std::hash::{BuildHasher, RandomState};

/// Marks of groups of keys. A group is made by a hash; a key that shares its group with one that was changed later
/// waits a moment longer.
pub(crate) struct Marks {
    groups: Box<[AtomicU64]>,
    /// The last unit that changed whole databases.
    whole: AtomicU64,
    hasher: RandomState,
}

/// Enough that readers seldom wait for another key of their group; 64 KiB.
const GROUPS: usize = 8192;

impl Marks {
    pub(crate) fn new() -> Self {
        Self {
            groups: (0..GROUPS).map(|_| AtomicU64::new(0)).collect(),
            whole: AtomicU64::new(0),
            hasher: RandomState::new(),
        }
    }

    /// Notes that the unit of this ticket changed the key. Called under the lock of the key's shard.
    pub(crate) fn changed(&self, db: u32, key: &[u8], ticket: u64) {
        self.group(db, key).fetch_max(ticket, Ordering::Relaxed);
    }

    /// Notes that the unit of this ticket changed whole databases.
    pub(crate) fn changed_all(&self, ticket: u64) {
        self.whole.fetch_max(ticket, Ordering::Relaxed);
    }

    /// The ticket of the last unit that may have changed the key; 0 if none has.
    pub(crate) fn last(&self, db: u32, key: &[u8]) -> u64 {
        let own = self.group(db, key).load(Ordering::Relaxed);
        own.max(self.whole.load(Ordering::Relaxed))
    }

    fn group(&self, db: u32, key: &[u8]) -> &AtomicU64 {
        let hash = self.hasher.hash_one((db, key));
        &self.groups[hash as usize % GROUPS]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reader_waits_for_the_key_that_it_reads_and_for_changes_of_everything() {
        let marks = Marks::new();
        marks.changed(0, b"a", 7);
        marks.changed(0, b"a", 5);
        assert_eq!(marks.last(0, b"a"), 7);
        let others = (0..100_u32).filter(|key| marks.last(1, &key.to_le_bytes()) > 0);
        assert!(others.count() < 5);
        marks.changed_all(9);
        assert_eq!(marks.last(3, b"z"), 9);
    }
}
