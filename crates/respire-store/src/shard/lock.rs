//! The two ways to lock a shard: for reading and for writing.
//!
//! `store/wait.rs` decides when a thread may wait for a lock.

use core::ops::Deref;

use dashmap::{RwLock, RwLockReadGuard, RwLockWriteGuard};

/// A way to lock a shard.
pub(crate) trait Mode {
    /// Holds the lock until it is dropped.
    type Guard<'l, T: 'l>: Deref<Target = T>;

    /// Takes the lock if it is free.
    fn try_lock<T>(lock: &RwLock<T>) -> Option<Self::Guard<'_, T>>;

    /// Takes the lock. The thread sleeps until it is free.
    fn sleep<T>(lock: &RwLock<T>) -> Self::Guard<'_, T>;
}

/// Several threads may read a shard at once.
pub(crate) struct Reading;

/// One thread alone has the shard.
pub(crate) struct Writing;

impl Mode for Reading {
    type Guard<'l, T: 'l> = RwLockReadGuard<'l, T>;

    #[inline(always)]
    fn try_lock<T>(lock: &RwLock<T>) -> Option<Self::Guard<'_, T>> {
        lock.try_read()
    }

    fn sleep<T>(lock: &RwLock<T>) -> Self::Guard<'_, T> {
        lock.read()
    }
}

impl Mode for Writing {
    type Guard<'l, T: 'l> = RwLockWriteGuard<'l, T>;

    #[inline(always)]
    fn try_lock<T>(lock: &RwLock<T>) -> Option<Self::Guard<'_, T>> {
        lock.try_write()
    }

    fn sleep<T>(lock: &RwLock<T>) -> Self::Guard<'_, T> {
        lock.write()
    }
}

/// Number of attempts before the caller does something else.
const TRIES_MAX: u32 = 100;

/// Tries to take a lock for a few microseconds. Others usually hold a shard for less than that, and it is
/// less than a thread needs to fall asleep and wake up.
#[inline(always)]
pub(crate) fn try_soon<M: Mode, T>(lock: &RwLock<T>) -> Option<M::Guard<'_, T>> {
    M::try_lock(lock).or_else(|| try_again::<M, T>(lock))
}

#[cold]
#[inline(never)]
fn try_again<M: Mode, T>(lock: &RwLock<T>) -> Option<M::Guard<'_, T>> {
    (1..TRIES_MAX).find_map(|_| {
        core::hint::spin_loop();
        M::try_lock(lock)
    })
}
