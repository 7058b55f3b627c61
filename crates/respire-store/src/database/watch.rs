//! Watched keys (WATCH): each watch has a flag that is set when its key changes.

use core::fmt;
use core::sync::atomic::{AtomicBool, Ordering};
use std::collections::HashMap;
use std::sync::Arc;

use ahash::RandomState;
use dashmap::RwLock;

use super::Side;

/// The watched keys of one database. They belong to the database's number: when databases are swapped,
/// the watches stay.
///
/// A watch begins under its key's shard lock, and a change sets the flags under the same lock in write
/// mode, so no change after the beginning is missed. The lock in here is a leaf: nothing is locked while
/// it is held.
pub(crate) struct Watches {
    /// The shards, whose [`Hooks`](crate::observe::Hooks) say whether any of their keys is watched.
    sides: Arc<[Side]>,
    watched: RwLock<Watched>,
}

struct Watched {
    keys: HashMap<Box<[u8]>, Flags, RandomState>,
    /// Watches per shard.
    counts: Box<[usize]>,
}

/// The flags of a key, one per watch.
type Flags = Vec<Arc<Flag>>;

struct Flag {
    dirty: AtomicBool,
    /// The key's expiry when the watch began; `u64::MAX` is never.
    expires_at: u64,
    /// The key had already expired when the watch began, so its removal is not a change.
    was_expired: bool,
}

/// In debug builds, up to this many watched keys are recounted after each change.
const COUNTED_MAX: usize = 32;

impl Watched {
    /// Returns whether the counts agree with the keys; it recounts only a few keys.
    fn is_counted(&self) -> bool {
        self.keys.len() > COUNTED_MAX
            || self.keys.values().map(Vec::len).sum::<usize>() == self.counts.iter().sum::<usize>()
                && self.keys.values().all(|flags| !flags.is_empty())
    }
}

impl Watches {
    pub(crate) fn new(sides: Arc<[Side]>, hasher: RandomState) -> Watches {
        let watched = Watched {
            keys: HashMap::with_hasher(hasher),
            counts: vec![0; sides.len()].into(),
        };
        Watches {
            sides,
            watched: RwLock::new(watched),
        }
    }

    /// Begins to watch a key with this expiry; its shard must be locked.
    pub(crate) fn watch(
        self: &Arc<Self>,
        shard: usize,
        key: &[u8],
        expires_at: Option<u64>,
        now_ms: u64,
    ) -> Watch {
        let expires_at = expires_at.unwrap_or(u64::MAX);
        let was_expired = expires_at <= now_ms;
        let flag = Arc::new(Flag {
            dirty: AtomicBool::new(false),
            expires_at,
            was_expired,
        });
        let mut watched = self.watched.write();
        let flags = watched.keys.entry(key.into()).or_default();
        flags.push(Arc::clone(&flag));
        self.count(&mut watched, shard, |count| count + 1);
        drop(watched);
        Watch {
            watches: Arc::clone(self),
            shard,
            key: key.into(),
            flag,
        }
    }

    /// Sets the flags of a key that was written or removed.
    pub(crate) fn touch(&self, key: &[u8]) {
        self.raise(key, |_| true);
    }

    /// Sets the flags of a key that expired, except those of watches that began after it had expired.
    pub(crate) fn touch_removed(&self, key: &[u8]) {
        self.raise(key, |flag| !flag.was_expired);
    }

    /// Returns the watched keys. O(watched keys).
    pub(crate) fn keys(&self) -> Vec<Box<[u8]>> {
        self.watched.read().keys.keys().cloned().collect()
    }

    /// Returns whether the key is watched.
    pub(crate) fn is_watched(&self, key: &[u8]) -> bool {
        self.watched.read().keys.contains_key(key)
    }

    fn raise(&self, key: &[u8], concerned: impl Fn(&Flag) -> bool) {
        for flag in self.watched.read().keys.get(key).into_iter().flatten() {
            if concerned(flag) {
                flag.dirty.store(true, Ordering::Release);
            }
        }
    }

    fn count(&self, watched: &mut Watched, shard: usize, change: impl Fn(usize) -> usize) {
        let count = &mut watched.counts[shard];
        *count = change(*count);
        self.sides[shard].hooks.set_watched(*count > 0);
        debug_assert!(watched.is_counted());
    }
}

/// A watch of one key. [`View::watch`](crate::View::watch) begins it, and dropping it ends it.
#[must_use = "a watch ends when it is dropped"]
pub struct Watch {
    watches: Arc<Watches>,
    shard: usize,
    key: Box<[u8]>,
    flag: Arc<Flag>,
}

impl Watch {
    /// Returns whether the key has changed or expired since the watch began. Call it inside a section that
    /// covers the key if the key must not change after the call.
    #[must_use]
    pub fn is_dirty(&self, now_ms: u64) -> bool {
        let expired_since = !self.flag.was_expired && self.flag.expires_at <= now_ms;
        expired_since || self.flag.dirty.load(Ordering::Acquire)
    }

    /// Returns the key.
    #[must_use]
    pub fn key(&self) -> &[u8] {
        &self.key
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        let mut watched = self.watches.watched.write();
        if let Some(flags) = watched.keys.get_mut(&self.key) {
            flags.retain(|flag| !Arc::ptr_eq(flag, &self.flag));
            if flags.is_empty() {
                watched.keys.remove(&self.key);
            }
        }
        self.watches
            .count(&mut watched, self.shard, |count| count - 1);
    }
}

impl fmt::Debug for Watch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Watch")
            .field("key", &self.key.escape_ascii().to_string())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
