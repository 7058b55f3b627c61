//! Waiting for shards. Every place where a thread waits for a shard is in this module.
//!
//! The locking rule: **a thread waits for a shard only while it holds none, or while it holds the
//! widening token.** A store has one token, and a thread waits for the token only while it holds no shard.
//!
//! Therefore nothing deadlocks. A thread that holds a shard and waits for another one holds the token. The
//! thread that holds that other shard does not hold the token, so it waits for nothing, and releases its
//! shards in time.
//!
//! A thread that knows all shards that it needs locks them by trying. If one of them is not free, it
//! releases the others, waits for that shard, and starts again with it. If this happens several times it
//! takes the token, so it does not start again forever. It reads and changes nothing before all shards are
//! locked, so a new start has no effect that others can see.

use core::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use core::time::Duration;
use std::collections::HashMap;

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use dashmap::{RwLock, RwLockWriteGuard};

use super::Store;
use crate::shard::{Mode, Writing, try_soon};
use crate::table::Table;

/// Lets other work continue while a thread sleeps until a shard is free. Set with [`Store::set_relief`].
///
/// A thread calls it only if the shard was not free for some microseconds, usually because a long
/// [section](crate::Section) holds it.
pub trait Relief: Send + Sync {
    /// Runs `wait` once, on this thread. `wait` returns when the shard is free, which may take long.
    ///
    /// The thread may hold other shards (those of a [`WideningSection`](crate::WideningSection)). So this
    /// method must not use the store, and must not wait for a thread that does.
    fn block(&self, wait: &mut dyn FnMut());
}

/// After this many starts, a thread that needs several shards takes the token if it is free.
const ROUNDS_FREE: u32 = 4;

/// After this many starts it waits for the token, which a long section may hold.
const ROUNDS_MAX: u32 = 64;

/// Number of times a thread lets others run before it sleeps: the thread that holds the shard may be waiting
/// for a processor.
const YIELDS_MAX: u32 = 8;

/// The state that waiting threads share.
#[derive(Default)]
pub(crate) struct Waiting {
    /// No other lock is taken while this one is held.
    relief: RwLock<Option<Arc<dyn Relief>>>,
    token: RwLock<()>,
    is_token_taken: AtomicBool,
    sleepers: Sleepers,
}

/// The threads that sleep until a lock is free. Locks are not fair: a thread that releases one and takes it again at
/// once usually gets it before a thread that sleeps. So whoever does that on purpose waits for these first.
#[derive(Default)]
struct Sleepers {
    /// How many there are.
    count: AtomicUsize,
    /// For each lock, by its address: how many have come, and how many of them have got it. A leaf lock.
    of_locks: Mutex<HashMap<usize, Turns>>,
    has_got: Condvar,
}

#[derive(Clone, Copy, Default)]
struct Turns {
    came: u64,
    got: u64,
}

/// A thread that gives way waits for no longer than this: what the others do under the lock should not take long.
const GIVE_WAY_MAX: Duration = Duration::from_millis(2);

impl Sleepers {
    fn lock(&self) -> MutexGuard<'_, HashMap<usize, Turns>> {
        self.of_locks.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A thread is about to sleep until this lock is free.
    fn come(&self, lock: usize) {
        self.count.fetch_add(1, Ordering::Relaxed);
        self.lock().entry(lock).or_default().came += 1;
    }

    /// The thread has the lock.
    fn got(&self, lock: usize) {
        let mut locks = self.lock();
        if let Some(turns) = locks.get_mut(&lock) {
            turns.got += 1;
            if turns.got == turns.came {
                locks.remove(&lock);
            }
        }
        drop(locks);
        self.count.fetch_sub(1, Ordering::Relaxed);
        self.has_got.notify_all();
    }

    /// Waits until those that sleep for this lock now have had it.
    fn give_way(&self, lock: usize) {
        if self.count.load(Ordering::Relaxed) == 0 {
            return;
        }
        let locks = self.lock();
        let Some(before) = locks.get(&lock).map(|turns| turns.came) else {
            return;
        };
        let wait = |locks: &mut HashMap<usize, Turns>| {
            locks.get(&lock).is_some_and(|turns| turns.got < before)
        };
        let waited = self
            .has_got
            .wait_timeout_while(locks, GIVE_WAY_MAX, wait)
            .unwrap_or_else(PoisonError::into_inner);
        drop(waited);
    }
}

/// The widening token. It is free again when this is dropped.
pub(crate) struct Token<'s> {
    is_taken: &'s AtomicBool,
    _guard: RwLockWriteGuard<'s, ()>,
}

impl<'s> Token<'s> {
    fn new(waiting: &'s Waiting, guard: RwLockWriteGuard<'s, ()>) -> Token<'s> {
        waiting.is_token_taken.store(true, Ordering::Relaxed);
        Token {
            is_taken: &waiting.is_token_taken,
            _guard: guard,
        }
    }
}

impl Drop for Token<'_> {
    fn drop(&mut self) {
        self.is_taken.store(false, Ordering::Relaxed);
    }
}

impl Store {
    /// Sets what is called when a thread is about to sleep until a shard is free. Without it, the thread just
    /// sleeps.
    ///
    /// ```
    /// use respire_store::{Config, Relief, Store};
    /// use std::sync::Arc;
    ///
    /// struct Plain;
    ///
    /// impl Relief for Plain {
    ///     fn block(&self, wait: &mut dyn FnMut()) {
    ///         wait(); // as `tokio::task::block_in_place` would
    ///     }
    /// }
    ///
    /// Store::new(Config::default()).set_relief(Arc::new(Plain));
    /// ```
    pub fn set_relief(&self, relief: Arc<dyn Relief>) {
        *self.waiting().relief.write() = Some(relief);
    }

    /// Whether a thread holds the widening token, so that [`Store::lock_widening`] would wait. The thread has a
    /// [`WideningSection`](crate::WideningSection), or waits for its first shards; or it takes several shards
    /// for which other threads compete. Takes no lock. The answer may be out of date when this returns.
    #[must_use]
    pub fn is_widening(&self) -> bool {
        self.waiting().is_token_taken.load(Ordering::Relaxed)
    }

    /// Whether a thread, perhaps this one, holds the shard of this key for writing, so that reading the key
    /// would wait. Costs a hash, and an attempt to lock. The answer may be out of date when this returns, so it
    /// is useful only while a section lasts long.
    ///
    /// # Panics
    ///
    /// If there is no database `db`.
    #[must_use]
    pub fn is_held(&self, db: u32, key: &[u8]) -> bool {
        self.existing_database(db)
            .is_some_and(|db| db.lock(db.shard_of(self.hash(key))).is_locked_exclusive())
    }

    /// Whether a thread, perhaps this one, holds the shard of this key, if only for reading. For tests.
    ///
    /// # Panics
    ///
    /// If there is no database `db`.
    #[cfg(any(test, feature = "toy"))]
    #[must_use]
    pub fn is_locked(&self, db: u32, key: &[u8]) -> bool {
        self.existing_database(db)
            .is_some_and(|db| db.lock(db.shard_of(self.hash(key))).is_locked())
    }

    /// Takes a lock. The thread waits until it is free, so it must hold no shard, or the token.
    #[inline(always)]
    pub(crate) fn wait_for<'d, M: Mode, T>(&self, lock: &'d RwLock<T>) -> M::Guard<'d, T> {
        match M::try_lock(lock) {
            Some(guard) => guard,
            None => self.wait_long::<M, T>(lock),
        }
    }

    #[cold]
    #[inline(never)]
    fn wait_long<'d, M: Mode, T>(&self, lock: &'d RwLock<T>) -> M::Guard<'d, T> {
        if let Some(guard) = try_soon::<M, T>(lock) {
            return guard;
        }
        for _ in 0..YIELDS_MAX {
            std::thread::yield_now();
            if let Some(guard) = M::try_lock(lock) {
                return guard;
            }
        }
        let relief = self.waiting().relief.read().clone();
        let (sleepers, address) = (&self.waiting().sleepers, address_of(lock));
        sleepers.come(address);
        let mut guard = None;
        if let Some(relief) = relief {
            // A second call must not wait for the guard of the first.
            relief.block(&mut || {
                guard.get_or_insert_with(|| M::sleep(lock));
            });
        }
        let guard = guard.unwrap_or_else(|| M::sleep(lock));
        sleepers.got(address);
        guard
    }

    /// Lets the threads that sleep until the shard of this key is free use it first. Call it between the steps of long
    /// work that locks the same key again and again; the thread must hold no shard. It waits for two milliseconds at
    /// most. One atomic load if no thread sleeps.
    ///
    /// ```
    /// use respire_store::{Config, Store};
    ///
    /// let store = Store::new(Config::default());
    /// let mut view = store.view(0, 0);
    /// for _ in 0..1_000 {
    ///     view.update(b"jobs", |slot| slot.exists());
    ///     store.give_way(0, b"jobs");
    /// }
    /// ```
    ///
    /// # Panics
    ///
    /// If there is no database `db`.
    pub fn give_way(&self, db: u32, key: &[u8]) {
        if let Some(db) = self.existing_database(db) {
            let lock = db.lock(db.shard_of(self.hash(key)));
            self.waiting().sleepers.give_way(address_of(lock));
        }
    }

    /// Takes the widening token. The thread waits until it is free, so it must hold no shard.
    pub(crate) fn take_token(&self) -> Token<'_> {
        let waiting = self.waiting();
        Token::new(waiting, self.wait_for::<Writing, _>(&waiting.token))
    }

    fn try_token(&self) -> Option<Token<'_>> {
        let waiting = self.waiting();
        let guard = waiting.token.try_write()?;
        Some(Token::new(waiting, guard))
    }

    /// Locks `count` shards; `lock_of` returns the lock of each. The thread must hold no other shard.
    pub(crate) fn lock_all<'d, M: Mode>(
        &self,
        count: usize,
        lock_of: impl Fn(usize) -> &'d RwLock<Table>,
    ) -> Vec<M::Guard<'d, Table>> {
        let mut guards = Vec::with_capacity(count);
        for nth in 0..count {
            let Some(guard) = try_soon::<M, Table>(lock_of(nth)) else {
                drop(guards);
                let locks: Vec<_> = (0..count).map(lock_of).collect();
                return self.lock_contended::<M>(&locks, nth);
            };
            guards.push(guard);
        }
        guards
    }

    /// Locks shards after the one at `missing` was not free. The thread must hold no shard.
    #[cold]
    #[inline(never)]
    pub(crate) fn lock_contended<'d, M: Mode>(
        &self,
        locks: &[&'d RwLock<Table>],
        mut missing: usize,
    ) -> Vec<M::Guard<'d, Table>> {
        for round in 0..ROUNDS_MAX {
            if round >= ROUNDS_FREE
                && let Some(token) = self.try_token()
            {
                return self.lock_with::<M>(&token, locks);
            }
            let first = self.wait_for::<M, Table>(locks[missing]);
            match try_others::<M>(locks, missing, first) {
                Ok(guards) => return guards,
                Err(next) => missing = next,
            }
        }
        self.lock_with::<M>(&self.take_token(), locks)
    }

    fn lock_with<'d, M: Mode>(
        &self,
        _: &Token<'_>,
        locks: &[&'d RwLock<Table>],
    ) -> Vec<M::Guard<'d, Table>> {
        let locks = locks.iter();
        locks.map(|lock| self.wait_for::<M, _>(lock)).collect()
    }
}

fn address_of<T>(lock: &RwLock<T>) -> usize {
    core::ptr::from_ref(lock).addr()
}

/// Tries to lock all shards except the one at `held`, which `first` holds. Returns the guards in the order of
/// the locks. If a shard is not free, releases all of them and returns its index as the error.
fn try_others<'d, M: Mode>(
    locks: &[&'d RwLock<Table>],
    held: usize,
    first: M::Guard<'d, Table>,
) -> Result<Vec<M::Guard<'d, Table>>, usize> {
    let mut first = Some(first);
    let mut guards = Vec::with_capacity(locks.len());
    for (at, lock) in locks.iter().enumerate() {
        let own = if at == held { first.take() } else { None };
        guards.push(own.or_else(|| try_soon::<M, _>(lock)).ok_or(at)?);
    }
    Ok(guards)
}

#[cfg(test)]
mod tests;
