//! A queue of removed entries that have yet to be freed. The sweep frees them in bounded steps.
//!
//! Freeing a million keys takes a good part of a second, so a flush may leave it to the sweep. The
//! counters no longer include the entries: only the allocator still has their memory.

use core::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::deadlines::Deadlines;
use crate::entry::Entry;
use crate::table::{Entries, Table};

/// When the memory of flushed keys is freed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Freeing {
    /// The flush frees it before it returns, after it has released the shards. In a section, it is freed
    /// when the section is dropped.
    AtOnce,
    /// [`Store::sweep`](crate::Store::sweep) frees it later, in bounded steps.
    InSteps,
}

/// The contents of a cleared shard.
#[derive(Default)]
pub(crate) struct Cleared {
    pub(crate) table: Table,
    pub(crate) deadlines: Deadlines,
}

/// Bytes whose freeing is as much work as the freeing of an entry.
const BYTES_PER_ENTRY: usize = 16 << 10;

/// Removed entries of at least this many bytes are queued. Freeing a smaller one at once costs less than
/// queueing it.
pub(crate) const QUEUED_BYTES_MIN: usize = 1 << 20;

/// The queue. Its lock is a leaf, and held for no longer than a push or a pop.
#[derive(Default)]
pub(crate) struct Garbage {
    pieces: Mutex<VecDeque<Piece>>,
    /// Entries in the queue.
    pending: AtomicUsize,
    /// Entries that were freed from the queue.
    freed: AtomicU64,
}

enum Piece {
    Entry(Entry),
    /// The rest of a partly freed entry, and the entries after it.
    Entries(Option<Entry>, Entries),
    Deadlines(Deadlines),
}

impl Piece {
    fn entries(&self) -> usize {
        match self {
            Piece::Entry(_) => 1,
            Piece::Entries(rest, entries) => usize::from(rest.is_some()) + entries.len(),
            Piece::Deadlines(_) => 0,
        }
    }
}

/// In debug builds, queues of up to this many pieces are recounted.
const COUNTED_MAX: usize = 32;

impl Garbage {
    /// Frees an entry that was removed from its table: at once or, if it is large, in steps of the sweep. All
    /// removals but a flush call this: removal by a command, replacement, expiry, eviction.
    #[inline]
    pub(crate) fn discard(&self, entry: Entry) {
        if entry.heap_bytes() >= QUEUED_BYTES_MIN {
            self.pending.fetch_add(1, Ordering::Relaxed);
            self.lock().push_back(Piece::Entry(entry));
        }
    }

    pub(crate) fn push(&self, Cleared { table, deadlines }: Cleared) {
        if !table.has_memory() && deadlines.bytes() == 0 {
            return;
        }
        self.pending.fetch_add(table.len(), Ordering::Relaxed);
        let mut pieces = self.lock();
        pieces.push_back(Piece::Entries(None, table.into_entries()));
        pieces.push_back(Piece::Deadlines(deadlines));
    }

    /// Returns the number of entries in the queue.
    pub(crate) fn pending(&self) -> usize {
        self.pending.load(Ordering::Relaxed)
    }

    /// Returns the number of entries freed from the queue since the store was made.
    pub(crate) fn freed(&self) -> u64 {
        self.freed.load(Ordering::Relaxed)
    }

    /// Frees as much as the work of `budget` entries, and at least one allocation if there is any.
    /// Returns whether the queue is empty.
    pub(crate) fn free(&self, budget: usize) -> bool {
        let mut left = budget;
        loop {
            let Some(piece) = self.lock().pop_front() else {
                return true;
            };
            let rest = self.free_piece(piece, &mut left);
            if rest.is_some() || left == 0 {
                debug_assert_eq!(
                    left, 0,
                    "what is left of a piece is left for want of budget"
                );
                let mut pieces = self.lock();
                pieces.extend(rest);
                debug_assert!(self.has_counted(&pieces));
                return pieces.is_empty();
            }
        }
    }

    /// Frees a piece until the budget is used up, and returns the rest.
    fn free_piece(&self, piece: Piece, left: &mut usize) -> Option<Piece> {
        match piece {
            Piece::Deadlines(deadlines) => {
                let bytes = deadlines.bytes() / BYTES_PER_ENTRY;
                *left = left.saturating_sub(deadlines.allocations() + bytes);
                None
            }
            Piece::Entry(entry) => self.free_entry(entry, left).map(Piece::Entry),
            Piece::Entries(mut rest, mut entries) => {
                while *left > 0 {
                    let entry = rest.take().or_else(|| entries.next())?;
                    rest = self.free_entry(entry, left);
                }
                Some(Piece::Entries(rest, entries))
            }
        }
    }

    /// Frees an entry until the budget is used up, and returns the rest.
    fn free_entry(&self, mut entry: Entry, left: &mut usize) -> Option<Entry> {
        let (bytes, before) = (entry.heap_bytes(), *left);
        if !entry.free_some(left) {
            debug_assert!(entry.heap_bytes() < bytes, "each step frees something");
            debug_assert_eq!(*left, 0, "a value stops where the budget does");
            return Some(entry);
        }
        *left = left.saturating_sub(1 + entry.heap_bytes() / BYTES_PER_ENTRY);
        debug_assert!(*left < before.max(1), "no entry is free of charge");
        drop(entry);
        self.pending.fetch_sub(1, Ordering::Relaxed);
        self.freed.fetch_add(1, Ordering::Relaxed);
        None
    }

    /// Returns whether the count includes every entry of the queue; it recounts only short queues. The count
    /// may also include an entry that is being freed or about to be queued.
    fn has_counted(&self, pieces: &VecDeque<Piece>) -> bool {
        pieces.len() > COUNTED_MAX
            || pieces.iter().map(Piece::entries).sum::<usize>() <= self.pending()
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<Piece>> {
        self.pieces.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use crate::store::FREED_PER_DEADLINE;
    use crate::{Config, Expiry, Freeing, Kind, MemoryUse, NewValue, Policy, Stack, Store, View};

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
    fn flush_in_steps_removes_at_once_and_frees_within_the_budget() {
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
            assert!(freed <= 10 * FREED_PER_DEADLINE, "{freed}");
            assert_eq!(swept.expired, 0);
            assert!(swept.next_ms.is_some_and(|at| (1..=5_000).contains(&at)));
            steps += 1;
            if swept.finished {
                break;
            }
        }
        assert!(steps > 1_000 / 10 / FREED_PER_DEADLINE);
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
    fn sweep_frees_flushed_keys_without_active_expiry() {
        let store = store(100);
        store.set_active_expiry(false);
        store.view(0, 0).flush_all(Freeing::InSteps);
        assert!(store.sweep(0, 1_000).finished);
        assert_eq!(store.memory().pending_keys, 0);
    }

    /// Returns a stack of at least this many bytes.
    fn stack(bytes: usize) -> Stack {
        let mut stack = Stack::default();
        while stack.heap_bytes() < bytes {
            stack.push(b"0123456789abcdef");
        }
        stack
    }

    fn put(view: &mut View<'_>, key: &[u8], value: impl Into<NewValue<'static>>, expiry: Expiry) {
        view.update(key, |slot| slot.set(value, expiry));
    }

    type Way = fn(&Store, &mut View<'_>);

    /// Every way to remove a value from a table, except a flush.
    const WAYS: &[(&str, Way)] = &[
        ("removed", |_, view| {
            assert!(view.update(b"k", |slot| slot.remove()))
        }),
        ("written over by a small one", |_, view| {
            put(view, b"k", 1, Expiry::Keep)
        }),
        ("written over by a large one", |_, view| {
            put(view, b"k", vec![0; 20_000], Expiry::Clear)
        }),
        ("exchanged", |_, view| {
            let exchanged = view.update(b"k", |slot| {
                slot.exchange(b"other", Expiry::Clear, |old| old.map(|_| ()).ok_or(()))
            });
            assert_eq!(exchanged, Ok(()));
        }),
        ("renamed over", |_, view| {
            put(view, b"other", 1, Expiry::Clear);
            let other = view.update(b"other", |slot| slot.take());
            view.update(b"k", |slot| slot.put(other.expect("it was put")));
        }),
        ("expired as it is read", |store, _| {
            assert!(store.view(0, 1_000).read(b"k", |entry| entry.is_none()))
        }),
        ("set to a time that is over", |_, view| {
            assert!(view.update(b"k", |slot| slot.set_expiry(Some(0))))
        }),
        ("evicted", |store, _| {
            store.set_max_memory(store.memory().total() as u64 - 1, Policy::AllKeysRandom, 5);
            assert!(store.make_room(0));
            store.set_max_memory(0, Policy::NoEviction, 5);
        }),
    ];

    #[test]
    fn large_value_is_freed_in_steps_however_it_is_removed() {
        for (way, go) in WAYS {
            for is_string in [false, true] {
                let store = store(0);
                let mut view = store.view(0, 0);
                let large = if is_string {
                    vec![b'x'; super::QUEUED_BYTES_MIN].into()
                } else {
                    NewValue::from(stack(super::QUEUED_BYTES_MIN))
                };
                put(&mut view, b"k", large, Expiry::At(1_000));
                go(&store, &mut view);
                assert!(
                    store.memory().dataset < super::QUEUED_BYTES_MIN / 2,
                    "{way}"
                );
                assert_eq!(store.memory().pending_keys, 1, "{way}");
                let mut steps = 1;
                while !store.sweep(0, 1).finished {
                    steps += 1;
                }
                assert_eq!(store.memory().pending_keys, 0, "{way}");
                assert_eq!(store.stats().freed_later_keys, 1, "{way}");
                // A string is one allocation.
                assert_eq!(steps > 100, !is_string, "{way}: {steps}");
            }
        }
    }

    #[test]
    fn small_value_is_freed_at_once_however_it_is_removed() {
        for (way, go) in WAYS {
            let store = store(0);
            let mut view = store.view(0, 0);
            put(&mut view, b"k", stack(10_000), Expiry::At(1_000));
            go(&store, &mut view);
            assert_eq!(store.memory().pending_keys, 0, "{way}");
        }
    }

    #[test]
    fn flush_in_steps_frees_the_elements_of_a_large_value_in_steps() {
        let store = store(100);
        put(&mut store.view(0, 0), b"k", stack(1 << 20), Expiry::Clear);
        assert_eq!(store.view(0, 0).flush(Freeing::InSteps), 51);
        let elements = stack(1 << 20).len();
        let mut steps = 1;
        while !store.sweep(0, 1).finished {
            steps += 1;
        }
        // A part of 64 elements is freed together.
        assert!(steps >= elements / 64, "{steps}");
        assert_eq!(store.stats().freed_later_keys, 51);
    }

    #[test]
    fn sweep_is_not_finished_until_a_value_that_it_removed_is_freed() {
        let store = store(0);
        let mut view = store.view(0, 0);
        put(&mut view, b"k", stack(1 << 20), Expiry::At(1_000));
        let swept = store.sweep(1_000, 10);
        assert_eq!((swept.expired, swept.next_ms), (1, None));
        assert_eq!((swept.finished, store.memory().pending_keys), (false, 1));
        while !store.sweep(1_000, 1_000).finished {}
        assert_eq!(store.memory().pending_keys, 0);
    }

    #[test]
    fn value_moved_under_another_key_is_not_freed() {
        let store = store(0);
        let mut view = store.view(0, 0);
        put(&mut view, b"k", stack(1 << 20), Expiry::Clear);
        let before = store.memory();
        let owned = view.update(b"k", |slot| slot.take()).expect("it is there");
        view.update(b"l", |slot| slot.put(owned));
        assert_eq!(store.memory().dataset, before.dataset);
        assert_eq!(store.memory().pending_keys, 0);
    }
}
