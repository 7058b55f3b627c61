//! The policies of eviction.

/// The eviction policy: which key is evicted when memory runs out (`maxmemory-policy`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Policy {
    /// Nothing: writes are refused.
    #[default]
    NoEviction,
    /// The least recently used of all keys.
    AllKeysLru,
    /// The least frequently used of all keys.
    AllKeysLfu,
    /// Any key.
    AllKeysRandom,
    /// The least recently used of the keys with an expiry.
    VolatileLru,
    /// The least frequently used of the keys with an expiry.
    VolatileLfu,
    /// Any key with an expiry.
    VolatileRandom,
    /// The key with the nearest expiry.
    VolatileTtl,
}

impl Policy {
    /// Every policy.
    pub const ALL: [Policy; 8] = [
        Policy::NoEviction,
        Policy::AllKeysLru,
        Policy::AllKeysLfu,
        Policy::AllKeysRandom,
        Policy::VolatileLru,
        Policy::VolatileLfu,
        Policy::VolatileRandom,
        Policy::VolatileTtl,
    ];

    /// Returns the policy's name in Redis's configuration.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Policy::NoEviction => "noeviction",
            Policy::AllKeysLru => "allkeys-lru",
            Policy::AllKeysLfu => "allkeys-lfu",
            Policy::AllKeysRandom => "allkeys-random",
            Policy::VolatileLru => "volatile-lru",
            Policy::VolatileLfu => "volatile-lfu",
            Policy::VolatileRandom => "volatile-random",
            Policy::VolatileTtl => "volatile-ttl",
        }
    }

    /// Returns the policy with this name, ignoring case, or `None` if there is none.
    ///
    /// ```
    /// use respire_store::Policy;
    ///
    /// assert_eq!(Policy::from_name(b"AllKeys-LRU"), Some(Policy::AllKeysLru));
    /// assert_eq!(Policy::from_name(b"lru"), None);
    /// ```
    #[must_use]
    pub fn from_name(name: &[u8]) -> Option<Policy> {
        Policy::ALL
            .into_iter()
            .find(|policy| policy.name().as_bytes().eq_ignore_ascii_case(name))
    }

    /// Returns whether keys are ranked by how often they are used. Entries then have a
    /// [frequency](crate::EntryRef::freq), and no idle time.
    #[must_use]
    pub fn is_lfu(self) -> bool {
        matches!(self, Policy::AllKeysLfu | Policy::VolatileLfu)
    }

    /// Returns whether only keys with an expiry are evicted.
    #[must_use]
    pub fn is_volatile(self) -> bool {
        matches!(
            self,
            Policy::VolatileLru
                | Policy::VolatileLfu
                | Policy::VolatileRandom
                | Policy::VolatileTtl
        )
    }
}
