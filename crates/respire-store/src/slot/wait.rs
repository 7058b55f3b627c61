//! Adds those who wait for the key.

use super::Slot;
use crate::database::{Queued, Wait};

impl Slot<'_> {
    /// Adds a waiter for the key, behind those that already wait for it.
    pub(crate) fn wait(&mut self, waiter: (Queued, bool)) -> Wait {
        let db = self.shard.db;
        db.waiters.add(db.shard_of(self.hash), self.key, waiter)
    }
}
