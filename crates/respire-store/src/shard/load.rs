//! Adds many entries to a shard at once.

use core::sync::atomic::Ordering;

use super::ShardMut;
use crate::database::Side;
use crate::entry::{Entry, Generation};
use crate::hash::{HashPart, Tag, is_same_key};

/// An entry that is to be added.
pub(crate) struct Loaded {
    hash: u64,
    /// Its number among those of its caller.
    nth: u32,
    /// Whether it has an expiry, of its own or of elements. The entry itself would have to be loaded to know.
    is_timed: bool,
    entry: Entry,
}

impl Loaded {
    pub(crate) fn new(hash: u64, nth: u32, entry: Entry) -> Loaded {
        Loaded {
            hash,
            nth,
            is_timed: entry.due_at().is_some(),
            entry,
        }
    }
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
    ) -> Result<(), (u32, Vec<u8>)> {
        self.reserve(entries.len());
        let side = self.side();
        let generation = Generation::of(self.word(0));
        let (mut added, mut result) = (Added::default(), Ok(()));
        let mut deadlines = side.deadlines.write();
        for loaded in entries {
            let Loaded {
                hash,
                nth,
                is_timed,
                mut entry,
            } = loaded;
            // Reads the key only if another one has the same tag: it is elsewhere in memory.
            let tag = Tag::new(hash);
            let is_same =
                |there: &Entry| there.tag() == tag && is_same_key(there.key(), entry.key());
            if self.table.find(hash, is_same).is_some() {
                result = Err((nth, entry.key().to_vec()));
                break;
            }
            if is_timed {
                added.time(&entry);
                if let Some(at) = entry.due_at() {
                    deadlines.push(HashPart::new(hash), at, self.now_ms);
                }
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
    fn time(&mut self, entry: &Entry) {
        self.timed += 1;
        if let Some(at) = entry.expires_at() {
            self.expires += 1;
            self.expires_sum = self.expires_sum.wrapping_add(at);
        }
    }

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
