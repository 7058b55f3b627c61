//! The queues of those who wait until a key is written.

use core::any::Any;
use core::fmt;
use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use ahash::RandomState;

use super::Side;

/// The result of a call of a [`Waiter`](crate::Waiter).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Served {
    /// The waiter no longer waits for the key.
    Over,
    /// The waiter still waits: what was written is not what it waits for.
    Waits,
    /// The waiter needs this other key of the same database, which the section does not cover. It is called again in
    /// a section that covers both, after the writer has released its shards. The waiters behind it are called after
    /// it.
    Needs(Box<[u8]>),
}

/// The waiters of one database. They belong to the database's number: when databases are swapped, they stay.
///
/// A waiter is added under its key's shard lock, and a write looks for waiters under the same lock, so it misses none.
/// The lock in here is a leaf: nothing is locked while it is held.
pub(crate) struct Waiters {
    /// The shards, whose [`Hooks`](crate::observe::Hooks) say whether any of their keys is waited for.
    sides: Arc<[Side]>,
    queues: Mutex<Queues>,
}

struct Queues {
    keys: HashMap<Box<[u8]>, Queue, RandomState>,
    /// Waiters per shard.
    counts: Box<[usize]>,
    /// The number of the next waiter.
    next: u64,
}

/// The waiters of a key.
#[derive(Default)]
struct Queue {
    /// With their numbers, ascending.
    waiters: VecDeque<Place>,
    /// How many of them want to know when the key is removed.
    of_losses: usize,
}

/// A waiter in a queue.
struct Place {
    number: u64,
    waiter: Queued,
    sees_loss: bool,
}

/// A waiter, which only `store/serve.rs` looks into.
pub(crate) type Queued = Arc<dyn Any + Send + Sync>;

impl Waiters {
    pub(crate) fn new(sides: Arc<[Side]>, hasher: RandomState) -> Waiters {
        let queues = Queues {
            keys: HashMap::with_hasher(hasher),
            counts: vec![0; sides.len()].into(),
            next: 1,
        };
        Waiters {
            sides,
            queues: Mutex::new(queues),
        }
    }

    /// Adds a waiter for a key, whose shard must be locked. `sees_loss` says whether it wants to know when the key is
    /// removed.
    pub(crate) fn add(
        self: &Arc<Self>,
        shard: usize,
        key: &[u8],
        (waiter, sees_loss): (Queued, bool),
    ) -> Wait {
        let mut queues = self.lock();
        let number = queues.next;
        queues.next += 1;
        let queue = queues.keys.entry(key.into()).or_default();
        queue.of_losses += usize::from(sees_loss);
        queue.waiters.push_back(Place {
            number,
            waiter,
            sees_loss,
        });
        self.count(&mut queues, shard, |count| count + 1);
        drop(queues);
        Wait {
            waiters: Arc::clone(self),
            shard,
            key: key.into(),
            number,
        }
    }

    /// Removes a waiter if it is still there.
    pub(crate) fn remove(&self, shard: usize, key: &[u8], number: u64) {
        let mut queues = self.lock();
        let Some(queue) = queues.keys.get_mut(key) else {
            return;
        };
        let Ok(at) = queue.waiters.binary_search_by_key(&number, |it| it.number) else {
            return;
        };
        let removed = queue.waiters.remove(at);
        if removed.as_ref().is_some_and(|removed| removed.sees_loss) {
            queue.of_losses -= 1;
        }
        if queue.waiters.is_empty() {
            queues.keys.remove(key);
        }
        self.count(&mut queues, shard, |count| count - 1);
        drop(queues);
        // Dropped without the lock: it may own the waits for other keys.
        drop(removed);
    }

    /// Returns the first waiter of a key after the one with this number.
    pub(crate) fn after(&self, key: &[u8], number: u64) -> Option<(u64, Queued)> {
        let queues = self.lock();
        let waiters = &queues.keys.get(key)?.waiters;
        let at = waiters.partition_point(|other| other.number <= number);
        let place = waiters.get(at)?;
        Some((place.number, Arc::clone(&place.waiter)))
    }

    /// Returns whether the key is waited for.
    pub(crate) fn is_waited(&self, key: &[u8]) -> bool {
        self.lock().keys.contains_key(key)
    }

    /// Returns whether a waiter of the key wants to know when it is removed.
    pub(crate) fn is_loss_seen(&self, key: &[u8]) -> bool {
        self.lock()
            .keys
            .get(key)
            .is_some_and(|queue| queue.of_losses > 0)
    }

    /// Returns the keys that are waited for. O(such keys).
    pub(crate) fn keys(&self) -> Vec<Box<[u8]>> {
        self.lock().keys.keys().cloned().collect()
    }

    fn count(&self, queues: &mut Queues, shard: usize, change: impl Fn(usize) -> usize) {
        let count = &mut queues.counts[shard];
        *count = change(*count);
        self.sides[shard].hooks.set_waited(*count > 0);
    }

    fn lock(&self) -> MutexGuard<'_, Queues> {
        self.queues.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A waiter's place in the queue of one key. [`View::wait`](crate::View::wait) makes it, and dropping it ends the
/// waiting. It may be dropped under any lock.
#[must_use = "the waiting ends when it is dropped"]
pub struct Wait {
    waiters: Arc<Waiters>,
    shard: usize,
    key: Box<[u8]>,
    number: u64,
}

impl Drop for Wait {
    fn drop(&mut self) {
        self.waiters.remove(self.shard, &self.key, self.number);
    }
}

impl fmt::Debug for Wait {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Wait")
            .field("key", &self.key.escape_ascii().to_string())
            .finish_non_exhaustive()
    }
}
