//! Watched keys (WATCH): a flag per watcher, raised when the key changes.

use core::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::collections::HashMap;
use std::sync::Arc;

use dashmap::RwLock;

/// The watched keys of one database.
pub(crate) struct Watches {
    counts: Box<[AtomicUsize]>,
    keys: RwLock<HashMap<Box<[u8]>, Vec<Arc<Flag>>>>,
}

struct Flag {
    dirty: AtomicBool,
    /// When the key will expire, as of WATCH; `u64::MAX` is never.
    expires_at: u64,
    /// The key had expired before WATCH, so its removal is no change.
    was_expired: bool,
}

impl Watches {
    pub(crate) fn new(shards: usize) -> Watches {
        Watches {
            counts: (0..shards).map(|_| AtomicUsize::new(0)).collect(),
            keys: RwLock::new(HashMap::new()),
        }
    }

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
        self.counts[shard].fetch_add(1, Ordering::Release);
        Watch {
            watches: Arc::clone(self),
            shard,
            key: key.into(),
            flag,
        }
    }

    pub(crate) fn touch(&self, shard: usize, key: &[u8]) {
        self.raise(shard, key, true);
    }

    pub(crate) fn touch_expired(&self, shard: usize, key: &[u8]) {
        self.raise(shard, key, false);
    }

    /// The watched keys now.
    pub(crate) fn keys(&self) -> Vec<Box<[u8]>> {
        self.keys.read().keys().cloned().collect()
    }

    fn raise(&self, shard: usize, key: &[u8], also_expired: bool) {
        if self.counts[shard].load(Ordering::Acquire) == 0 {
            return;
        }
        for flag in self.keys.read().get(key).into_iter().flatten() {
            if also_expired || !flag.was_expired {
                flag.dirty.store(true, Ordering::Release);
            }
        }
    }
}

/// One watched key. Dropping it ends the watch.
pub struct Watch {
    watches: Arc<Watches>,
    shard: usize,
    key: Box<[u8]>,
    flag: Arc<Flag>,
}

impl Watch {
    /// Whether the key has changed, or has expired, since it was watched.
    #[must_use]
    pub fn is_dirty(&self, now_ms: u64) -> bool {
        self.flag.dirty.load(Ordering::Acquire)
            || (!self.flag.was_expired && self.flag.expires_at <= now_ms)
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
        self.watches.counts[self.shard].fetch_sub(1, Ordering::Release);
    }
}

impl core::fmt::Debug for Watch {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Watch")
            .field("key", &self.key.escape_ascii().to_string())
            .finish_non_exhaustive()
    }
}
