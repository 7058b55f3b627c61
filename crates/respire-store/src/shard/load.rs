//! Adds many entries to a shard at once.

use core::sync::atomic::Ordering;

use super::ShardMut;
use crate::database::Side;
use crate::entry::{Entry, Generation};
use crate::hash::HashPart;
use crate::table::find;

/// An entry that is to be added, its hash, and its number among those of its caller.
pub(crate) struct Loaded {
    pub(crate) hash: u64,
    pub(crate) nth: usize,
    pub(crate) entry: Entry,
}

/// What added entries change of the shard's counters.
#[derive(Default)]
struct Added {
    timed: usize,
    expires: usize,
    expires_sum: u64,
    dataset: usize,
}

impl ShardMut<'_> {
    /// Makes room for more entries.
    pub(crate) fn reserve(&mut self, entries: usize) {
        let hasher = self.db.hasher();
        // An upper bound of the buckets that the table will have.
        let buckets = (3 * (self.table.len() + entries)).max(self.table.buckets());
        self.table
            .reserve(entries, |entry| entry.table_hash(hasher, buckets));
        self.db.resized(self.index, self.table);
        self.recount();
    }

    /// Adds entries, without a report. If the key of one is in the table already, returns its number and the key, and
    /// leaves the rest out.
    pub(crate) fn load(
        mut self,
        entries: impl ExactSizeIterator<Item = Loaded>,
    ) -> Result<(), (usize, Vec<u8>)> {
        self.reserve(entries.len());
        let side = self.side();
        let generation = Generation::of(self.word(0));
        let (mut added, mut result) = (Added::default(), Ok(()));
        let mut deadlines = side.deadlines.write();
        for loaded in entries {
            let Loaded {
                hash,
                nth,
                mut entry,
            } = loaded;
            if find(self.table, hash, entry.key()).is_some() {
                result = Err((nth, entry.key().to_vec()));
                break;
            }
            if let Some(at) = entry.due_at() {
                added.timed += 1;
                deadlines.push(HashPart::new(hash), at, self.now_ms);
            }
            if let Some(at) = entry.expires_at() {
                added.expires += 1;
                added.expires_sum = added.expires_sum.wrapping_add(at);
            }
            added.dataset += entry.heap_bytes();
            entry.set_generation(generation);
            let hasher = self.db.hasher();
            self.table
                .insert(hash, entry, |entry| entry.table_hash(hasher, usize::MAX));
        }
        added.count(side);
        if added.timed > 0 {
            side.note_deadlines(&deadlines, &self.db.gauge);
        }
        self.db.resized(self.index, self.table);
        side.tell(&self.db.gauge);
        self.recount();
        self.recount_deadlines(&deadlines);
        result
    }
}

impl Added {
    fn count(&self, side: &Side) {
        for (counter, more) in [
            (&side.timed, self.timed),
            (&side.expires, self.expires),
            (&side.dataset, self.dataset),
        ] {
            counter.store(counter.load(Ordering::Relaxed) + more, Ordering::Release);
        }
        let sum = side.expires_sum.load(Ordering::Relaxed);
        side.expires_sum
            .store(sum.wrapping_add(self.expires_sum), Ordering::Relaxed);
    }
}
