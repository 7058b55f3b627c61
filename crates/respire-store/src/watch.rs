//! Watched keys (WATCH): a flag per watcher, raised when the key changes.

use core::fmt;
use core::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::collections::HashMap;
use std::sync::Arc;

use ahash::RandomState;
use dashmap::RwLock;

/// The watched keys of one database. They belong to its number: when databases are swapped, the
/// watches stay.
///
/// A watch begins under its key's shard lock, and a change is announced under that lock in write
/// mode, so a change after the watch began is never missed. The lock in here is a leaf: nothing is
/// locked while it is held.
pub(crate) struct Watches {
    /// Watches per shard, so that a write into a shard without any pays one load.
    counts: Box<[AtomicUsize]>,
    keys: RwLock<HashMap<Box<[u8]>, Flags, RandomState>>,
}

/// One for each watcher of a key.
type Flags = Vec<Arc<Flag>>;

struct Flag {
    dirty: AtomicBool,
    /// When the key would expire, as of WATCH; `u64::MAX` is never.
    expires_at: u64,
    /// The key had expired before WATCH, so its removal is no change.
    was_expired: bool,
}

impl Watches {
    pub(crate) fn new(shards: usize, hasher: RandomState) -> Watches {
        let counts = (0..shards).map(|_| AtomicUsize::new(0)).collect();
        Watches {
            counts,
            keys: RwLock::new(HashMap::with_hasher(hasher)),
        }
    }

    /// Begins to watch a key that has this expiry; its shard must be locked.
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
        self.keys
            .write()
            .entry(key.into())
            .or_default()
            .push(Arc::clone(&flag));
        self.count(shard).fetch_add(1, Ordering::Release);
        Watch {
            watches: Arc::clone(self),
            shard,
            key: key.into(),
            flag,
        }
    }

    /// How many watches there are in a shard.
    #[inline]
    pub(crate) fn count(&self, shard: usize) -> &AtomicUsize {
        &self.counts[shard]
    }

    /// The key was written or removed.
    #[inline]
    pub(crate) fn touch(&self, shard: usize, key: &[u8]) {
        self.raise(shard, key, |_| true);
    }

    /// The key went away without anyone asking for it: of no concern to those who never saw it.
    pub(crate) fn touch_removed(&self, shard: usize, key: &[u8]) {
        self.raise(shard, key, |flag| !flag.was_expired);
    }

    /// The keys being watched.
    pub(crate) fn keys(&self) -> Vec<Box<[u8]>> {
        if self
            .counts
            .iter()
            .all(|count| count.load(Ordering::Acquire) == 0)
        {
            return Vec::new();
        }
        self.keys.read().keys().cloned().collect()
    }

    #[inline]
    fn raise(&self, shard: usize, key: &[u8], concerned: impl Fn(&Flag) -> bool) {
        if self.count(shard).load(Ordering::Acquire) > 0 {
            self.raise_some(key, concerned);
        }
    }

    #[cold]
    fn raise_some(&self, key: &[u8], concerned: impl Fn(&Flag) -> bool) {
        for flag in self.keys.read().get(key).into_iter().flatten() {
            if concerned(flag) {
                flag.dirty.store(true, Ordering::Release);
            }
        }
    }
}

/// One watched key, from [`View::watch`](crate::View::watch). Dropping it ends the watch.
#[must_use = "a watch ends when it is dropped"]
pub struct Watch {
    watches: Arc<Watches>,
    shard: usize,
    key: Box<[u8]>,
    flag: Arc<Flag>,
}

impl Watch {
    /// Whether the key has changed, or has expired, since it was watched. For an answer that
    /// stays true, ask inside a section that covers the key.
    #[must_use]
    pub fn is_dirty(&self, now_ms: u64) -> bool {
        let expired_since = !self.flag.was_expired && self.flag.expires_at <= now_ms;
        expired_since || self.flag.dirty.load(Ordering::Acquire)
    }

    /// The key.
    #[must_use]
    pub fn key(&self) -> &[u8] {
        &self.key
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        let mut keys = self.watches.keys.write();
        if let Some(flags) = keys.get_mut(&self.key) {
            flags.retain(|flag| !Arc::ptr_eq(flag, &self.flag));
            if flags.is_empty() {
                keys.remove(&self.key);
            }
        }
        self.watches
            .count(self.shard)
            .fetch_sub(1, Ordering::Release);
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
