//! Eviction policies and the access clock they rank keys by.

/// What is evicted when memory runs out (`maxmemory-policy`).
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

    /// The policy's name in Redis's configuration.
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

    /// The policy of that name, in any case of letters.
    #[must_use]
    pub fn from_name(name: &[u8]) -> Option<Policy> {
        Policy::ALL
            .into_iter()
            .find(|policy| policy.name().as_bytes().eq_ignore_ascii_case(name))
    }

    /// Whether keys are ranked by frequency of use.
    #[must_use]
    pub fn is_lfu(self) -> bool {
        matches!(self, Policy::AllKeysLfu | Policy::VolatileLfu)
    }
}

/// How the 32 bits of access clock in each entry are read and written.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Clock {
    pub(crate) lfu: bool,
    pub(crate) decay_minutes: u32,
    pub(crate) log_factor: u32,
}

impl Clock {
    pub(crate) fn fresh(self, now_ms: u64) -> u32 {
        (now_ms / 1000) as u32
    }
    pub(crate) fn touched(self, _clock: u32, now_ms: u64, _random: u64) -> u32 {
        (now_ms / 1000) as u32
    }
    pub(crate) fn idle_ms(self, clock: u32, now_ms: u64) -> u64 {
        if self.lfu {
            0
        } else {
            (now_ms / 1000).saturating_sub(u64::from(clock)) * 1000
        }
    }
    pub(crate) fn freq(self, _clock: u32, _now_ms: u64) -> u8 {
        u8::from(self.lfu && self.decay_minutes + self.log_factor > 0)
    }
}
