//! What was removed and has yet to be freed: a queue that the sweep empties in bounded steps.
//!
//! Freeing a million keys takes a good part of a second, so who removes them may leave it to the
//! housekeeping. To the counters they are gone at once: only the allocator still has them.

use core::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::entry::Entry;
use crate::expiry::Deadlines;
use crate::table::{Entries, Table};

/// Who frees the memory of keys that a flush removes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Freeing {
    /// The caller, before the call returns, though after other threads may go on.
    AtOnce,
    /// [`Store::sweep`](crate::Store::sweep), in its bounded steps.
    InSteps,
}

/// What a shard held when it was cleared.
#[derive(Default)]
pub(crate) struct Cleared {
    pub(crate) table: Table,
    pub(crate) deadlines: Deadlines,
}

/// Memory that is as much work to give back as an entry is.
const BYTES_PER_ENTRY: usize = 16 << 10;

/// A value removed by [`Slot::unlink`](crate::Slot::unlink) is queued from this size on; to free a
/// smaller one takes less than it would take to come back to it.
pub(crate) const QUEUED_BYTES_MIN: usize = 1 << 20;

/// The queue. Its lock is a leaf, and held for no longer than a push or a pop.
#[derive(Default)]
pub(crate) struct Garbage {
    pieces: Mutex<VecDeque<Piece>>,
    /// Entries in the queue.
    pending: AtomicUsize,
    /// Entries that have left it.
    freed: AtomicU64,
}

enum Piece {
    Entry(Entry),
    Entries(Entries),
    Deadlines(Deadlines),
}

impl Garbage {
    pub(crate) fn push_entry(&self, entry: Entry) {
        self.pending.fetch_add(1, Ordering::Relaxed);
        self.lock().push_back(Piece::Entry(entry));
    }

    pub(crate) fn push(&self, Cleared { table, deadlines }: Cleared) {
        if !table.has_memory() && deadlines.bytes() == 0 {
            return;
        }
        self.pending.fetch_add(table.len(), Ordering::Relaxed);
        let mut pieces = self.lock();
        pieces.push_back(Piece::Entries(table.into_entries()));
        pieces.push_back(Piece::Deadlines(deadlines));
    }

    /// Entries waiting to be freed.
    pub(crate) fn pending(&self) -> usize {
        self.pending.load(Ordering::Relaxed)
    }

    /// Entries freed since the start.
    pub(crate) fn freed(&self) -> u64 {
        self.freed.load(Ordering::Relaxed)
    }

    /// Frees as much as is the work of `budget` entries, and at least one allocation if there is
    /// any; whether nothing is left.
    pub(crate) fn free(&self, budget: usize) -> bool {
        let mut left = budget;
        loop {
            let Some(piece) = self.lock().pop_front() else {
                return true;
            };
            let rest = self.free_piece(piece, &mut left);
            if rest.is_some() || left == 0 {
                let mut pieces = self.lock();
                pieces.extend(rest);
                return pieces.is_empty();
            }
        }
    }

    /// Frees a piece as far as the budget goes; what is left of it.
    fn free_piece(&self, piece: Piece, left: &mut usize) -> Option<Piece> {
        match piece {
            Piece::Deadlines(deadlines) => {
                let bytes = deadlines.bytes() / BYTES_PER_ENTRY;
                *left = left.saturating_sub(deadlines.allocations() + bytes);
                None
            }
            Piece::Entry(entry) => {
                self.free_entry(entry, left);
                None
            }
            Piece::Entries(mut entries) => {
                while *left > 0 {
                    let entry = entries.next()?;
                    self.free_entry(entry, left);
                }
                Some(Piece::Entries(entries))
            }
        }
    }

    fn free_entry(&self, entry: Entry, left: &mut usize) {
        *left = left.saturating_sub(1 + entry.heap_bytes() / BYTES_PER_ENTRY);
        drop(entry);
        self.pending.fetch_sub(1, Ordering::Relaxed);
        self.freed.fetch_add(1, Ordering::Relaxed);
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<Piece>> {
        self.pieces.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use crate::{Config, Expiry, Freeing, MemoryUse, Store};

    fn store(keys: u32) -> Store {
        let store = Store::new(Config {
            databases: 2,
            shards: 4,
            ..Config::default()
        });
        for key in 0..keys {
            let expiry = Expiry::At(1_000 + u64::from(key));
            let mut view = store.view(key % 2, 0);
            view.update(&key.to_le_bytes(), |slot| slot.set(b"value", expiry));
        }
        store
    }

    #[test]
    fn flush_in_steps_forgets_at_once_and_frees_within_the_budget() {
        let store = store(1_000);
        assert_eq!(store.view(0, 0).flush(Freeing::InSteps), 500);
        assert_eq!(store.view(0, 0).flush_all(Freeing::InSteps), 500);
        let pending = |keys| MemoryUse {
            pending_keys: keys,
            ..MemoryUse::default()
        };
        assert_eq!(store.memory(), pending(1_000));
        store
            .view(0, 0)
            .update(b"new", |slot| slot.set(1, Expiry::At(5_000)));
        let mut steps = 0;
        loop {
            let before = store.memory().pending_keys;
            let swept = store.sweep(0, 10);
            let freed = before - store.memory().pending_keys;
            assert!(
                freed <= 10 * super::super::expiry::FREED_PER_DEADLINE,
                "{freed}"
            );
            assert_eq!(swept.expired, 0);
            assert!(swept.next_ms.is_some_and(|at| (1..=5_000).contains(&at)));
            steps += 1;
            if swept.finished {
                break;
            }
        }
        assert!(steps > 1_000 / 10 / super::super::expiry::FREED_PER_DEADLINE);
        assert_eq!((store.len(0), store.memory().pending_keys), (1, 0));
        assert_eq!(store.stats().freed_later_keys, 1_000);
    }

    #[test]
    fn flush_at_once_leaves_nothing_to_the_sweep() {
        let store = store(100);
        assert_eq!(store.view(0, 0).flush_all(Freeing::AtOnce), 100);
        assert_eq!(store.memory(), MemoryUse::default());
        assert_eq!(store.stats().freed_later_keys, 0);
    }

    #[test]
    fn sweep_frees_also_while_expiry_is_switched_off() {
        let store = store(100);
        store.set_active_expiry(false);
        store.view(0, 0).flush_all(Freeing::InSteps);
        assert!(store.sweep(0, 1_000).finished);
        assert_eq!(store.memory().pending_keys, 0);
    }

    #[test]
    fn unlink_queues_large_values_only() {
        let store = store(0);
        let large = vec![b'x'; super::QUEUED_BYTES_MIN];
        let mut view = store.view(0, 0);
        for (key, value) in [(b"s", &large[..10]), (b"l", &large[..]), (b"m", &large[..])] {
            view.update(key, |slot| slot.set(value, Expiry::Clear));
        }
        for key in [b"s", b"l", b"m"] {
            assert!(view.update(key, |slot| slot.unlink()));
            assert!(!view.update(key, |slot| slot.unlink()));
        }
        assert_eq!((store.len(0), store.memory().dataset), (0, 0));
        assert_eq!(store.memory().pending_keys, 2);
        assert!(!store.sweep(0, 1).finished);
        assert_eq!(store.memory().pending_keys, 1);
        assert!(store.sweep(0, 1).finished);
    }
}
