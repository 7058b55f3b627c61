//! Calls waiters at a time: what they wait for may come without a write, as an entry of a stream becomes old enough.

use core::sync::atomic::{AtomicU64, Ordering};
use std::collections::{BTreeSet, HashMap};
use std::sync::{Mutex, MutexGuard, PoisonError};

use ahash::RandomState;

use super::Store;
use crate::observe::Ready;

/// Keys whose waiters are called in one sweep.
const PER_SWEEP_MAX: usize = 16;

/// A key whose shard was locked is tried again after this time.
const RETRY_MS: u64 = 2;

/// No time is further ahead: a waiter that is called too early asks again, and one that is gone leaves nothing for long.
const AHEAD_MAX_MS: u64 = 10_000;

/// A key, with its database.
type Key = (u32, Box<[u8]>);

/// The times at which waiters are called.
pub(crate) struct Rouse {
    times: Mutex<Times>,
    /// The first of them; `u64::MAX` if there are none.
    next_ms: AtomicU64,
}

/// The first time of each key.
struct Times {
    keys: HashMap<Key, u64, RandomState>,
    due: BTreeSet<(u64, Key)>,
}

impl Rouse {
    pub(super) fn new(hasher: RandomState) -> Self {
        let times = Times {
            keys: HashMap::with_hasher(hasher),
            due: BTreeSet::new(),
        };
        Rouse {
            times: Mutex::new(times),
            next_ms: AtomicU64::new(u64::MAX),
        }
    }

    /// Adds a time. No other lock is taken meanwhile.
    pub(crate) fn add(&self, (now_ms, at_ms): (u64, u64), db: u32, key: &[u8]) {
        let at_ms = at_ms.min(now_ms.saturating_add(AHEAD_MAX_MS));
        let (mut times, key) = (self.lock(), (db, Box::from(key)));
        if let Some(before) = times.keys.get(&key).copied() {
            if before <= at_ms {
                return;
            }
            times.due.remove(&(before, key.clone()));
        }
        times.keys.insert(key.clone(), at_ms);
        times.due.insert((at_ms, key));
        self.note(&times);
    }

    /// Removes and returns the keys whose time has come, as many as one sweep calls.
    fn take(&self, now_ms: u64) -> Vec<Key> {
        let mut times = self.lock();
        let mut taken = Vec::new();
        while taken.len() < PER_SWEEP_MAX
            && times.due.first().is_some_and(|(at_ms, _)| *at_ms <= now_ms)
            && let Some((_, key)) = times.due.pop_first()
        {
            times.keys.remove(&key);
            taken.push(key);
        }
        self.note(&times);
        taken
    }

    fn note(&self, times: &Times) {
        let next_ms = times.due.first().map_or(u64::MAX, |(at_ms, _)| *at_ms);
        self.next_ms.store(next_ms, Ordering::Release);
    }

    fn lock(&self) -> MutexGuard<'_, Times> {
        self.times.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Store {
    /// Calls the waiters whose time has come, as if their keys had been written. It waits for no shard. Returns the next
    /// time; `u64::MAX` if there is none.
    pub(super) fn rouse_due(&self, now_ms: u64) -> u64 {
        if self.rouse.next_ms.load(Ordering::Acquire) > now_ms {
            return self.rouse.next_ms.load(Ordering::Acquire);
        }
        for (db, key) in self.rouse.take(now_ms) {
            match self.try_lock_key(db, &key) {
                Some(mut section) => {
                    // The end of the section calls the waiters.
                    let ready = Ready { db, key, now_ms };
                    section.held().unit().ready(self.observers(), ready);
                }
                None => self.rouse.add((now_ms, now_ms + RETRY_MS), db, &key),
            }
        }
        self.rouse.next_ms.load(Ordering::Acquire)
    }
}
