//! Making room: eviction policies, and the access clock they rank keys by.

use core::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use crate::database::{Database, GAUGE_STEP, Side, mix};
use crate::entry::Entry;
use crate::shard::ShardMut;
use crate::slot::Access;
use crate::store::Store;

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

    /// Whether keys are ranked by how often they are used. Entries then have a
    /// [frequency](crate::EntryRef::freq), and no idle time.
    #[must_use]
    pub fn is_lfu(self) -> bool {
        matches!(self, Policy::AllKeysLfu | Policy::VolatileLfu)
    }

    /// Whether only keys with an expiry are evicted.
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

/// How the 32 bits of access clock in each entry are read and written: under LRU, the second of
/// the last use; under LFU, 16 bits of minutes and 8 bits of logarithmic counter, as in Redis.
///
/// The rules in one word, so that they are loaded and passed on as one: in the low byte the place of the policy
/// in [`Policy::ALL`], then 16 bits each of LFU factor and decay, then a bit for an LFU policy.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Clock(u64);

/// The bit of [`Clock`] that says that the policy is an LFU one.
const IS_LFU: u64 = 1 << 40;

/// Factor and decay at their places in [`Clock`].
fn lfu_rules(log_factor: u16, decay_minutes: u16) -> u64 {
    (u64::from(log_factor) << 8) | (u64::from(decay_minutes) << 24)
}

/// Counter of a new key, so that it is not the first to go.
const LFU_INITIAL: u32 = 5;

impl Clock {
    fn is_lfu(self) -> bool {
        self.0 & IS_LFU != 0
    }

    fn log_factor(self) -> u16 {
        (self.0 >> 8) as u16
    }

    fn decay_minutes(self) -> u16 {
        (self.0 >> 24) as u16
    }

    /// The clock of a new entry.
    pub(crate) fn fresh(self, now_ms: u64) -> u32 {
        if self.is_lfu() {
            (minutes(now_ms) << 8) | LFU_INITIAL
        } else {
            seconds(now_ms)
        }
    }

    /// The clock of an entry said to have been used so; `None` if the policy ranks by another measure.
    pub(crate) fn said(self, access: Access, now_ms: u64) -> Option<u32> {
        match access {
            Access::IdleMs(idle_ms) if !self.is_lfu() => {
                Some(seconds(now_ms.saturating_sub(idle_ms)))
            }
            Access::Frequency(counter) if self.is_lfu() => {
                Some((minutes(now_ms) << 8) | u32::from(counter))
            }
            Access::IdleMs(_) | Access::Frequency(_) => None,
        }
    }

    /// The clock after one more use.
    #[inline]
    pub(crate) fn touched(self, clock: u32, now_ms: u64, random: impl FnOnce() -> u64) -> u32 {
        if !self.is_lfu() {
            return seconds(now_ms);
        }
        let counter = self.counter(clock, now_ms);
        let rarity =
            u64::from(counter.saturating_sub(LFU_INITIAL)) * u64::from(self.log_factor()) + 1;
        let grows = counter < 255 && random().is_multiple_of(rarity);
        (minutes(now_ms) << 8) | (counter + u32::from(grows))
    }

    pub(crate) fn idle_ms(self, clock: u32, now_ms: u64) -> u64 {
        if self.is_lfu() {
            0
        } else {
            u64::from(seconds(now_ms).saturating_sub(clock)) * 1000
        }
    }

    pub(crate) fn freq(self, clock: u32, now_ms: u64) -> u8 {
        if self.is_lfu() {
            self.counter(clock, now_ms) as u8
        } else {
            0
        }
    }

    /// The counter, less one for each `decay_minutes` that have passed.
    fn counter(self, clock: u32, now_ms: u64) -> u32 {
        let passed = minutes(now_ms).wrapping_sub(clock >> 8) & 0xffff;
        let periods = passed
            .checked_div(u32::from(self.decay_minutes()))
            .unwrap_or(0);
        (clock & 0xff).saturating_sub(periods)
    }
}

fn seconds(now_ms: u64) -> u32 {
    (now_ms / 1000) as u32
}

fn minutes(now_ms: u64) -> u32 {
    ((now_ms / 60_000) & 0xffff) as u32
}

/// The settings of eviction, each its own atomic: they are read by every request.
pub(crate) struct Eviction {
    bytes_max: AtomicU64,
    /// What [`Clock`] holds.
    rules: AtomicU64,
    samples: AtomicU32,
    random: AtomicU64,
}

/// Most keys compared for one that is evicted. It is Redis's bound too; more make it no better.
const SAMPLES_MAX: u32 = 64;

/// Most keys evicted by one call.
const EVICTIONS_MAX: usize = 1024;

impl Eviction {
    pub(crate) fn new(seed: u64) -> Eviction {
        let (log_factor, decay_minutes, samples) = (10, 1, 5);
        Eviction {
            bytes_max: AtomicU64::new(0),
            rules: AtomicU64::new(lfu_rules(log_factor, decay_minutes)),
            samples: AtomicU32::new(samples),
            random: AtomicU64::new(seed),
        }
    }

    #[inline]
    fn policy(&self) -> Policy {
        let at = self.rules.load(Ordering::Relaxed) as u8;
        Policy::ALL
            .get(usize::from(at))
            .copied()
            .unwrap_or_default()
    }

    #[inline]
    pub(crate) fn clock(&self) -> Clock {
        Clock(self.rules.load(Ordering::Relaxed))
    }

    /// A random number, good enough to sample with.
    pub(crate) fn random(&self) -> u64 {
        mix(self
            .random
            .fetch_add(0x9e37_79b9_7f4a_7c15, Ordering::Relaxed))
    }
}

impl Store {
    /// Bounds the memory: `bytes` is the bound on [`MemoryUse::total`](crate::MemoryUse::total)
    /// (0: none), `samples` how many keys are compared for each that is evicted (1 to 64; what is
    /// beyond is taken as the nearest of these).
    pub fn set_max_memory(&self, bytes: u64, policy: Policy, samples: u32) {
        let eviction = self.eviction();
        let at = Policy::ALL
            .iter()
            .position(|known| *known == policy)
            .unwrap_or_default() as u64;
        eviction
            .samples
            .store(samples.clamp(1, SAMPLES_MAX), Ordering::Relaxed);
        let _ = eviction
            .rules
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |rules| {
                let is_lfu = if policy.is_lfu() { IS_LFU } else { 0 };
                Some((rules & !(0xff | IS_LFU)) | at | is_lfu)
            });
        eviction.bytes_max.store(bytes, Ordering::Relaxed);
    }

    /// How the LFU counter grows and shrinks (`lfu-log-factor`, `lfu-decay-time`; 10 and 1 unless
    /// set): a use counts with probability 1 in `counter * log_factor`, and `decay_minutes` without
    /// use take one off the counter (0: never).
    pub fn set_lfu(&self, log_factor: u16, decay_minutes: u16) {
        let set = lfu_rules(log_factor, decay_minutes);
        let rules = &self.eviction().rules;
        let _ = rules.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |rules| {
            Some((rules & (0xff | IS_LFU)) | set)
        });
    }

    /// The eviction policy.
    #[must_use]
    pub fn policy(&self) -> Policy {
        self.eviction().policy()
    }

    /// Evicts keys until the memory is within its bound. False if it is not and nothing can be
    /// evicted: the command that asks must then be refused.
    ///
    /// One call evicts a bounded number of keys; where that is not enough, it says true, as
    /// progress was made, and the next call goes on. While there is room it costs a few
    /// loads. It locks shards one at a time, so call it outside sections.
    #[inline]
    pub fn make_room(&self, now_ms: u64) -> bool {
        let bytes_max = self.eviction().bytes_max.load(Ordering::Relaxed);
        bytes_max == 0 || self.is_surely_below(bytes_max) || self.evict(bytes_max, now_ms)
    }

    fn evict(&self, bytes_max: u64, now_ms: u64) -> bool {
        let eviction = self.eviction();
        let policy = eviction.policy();
        let mut used = self.memory().total() as u64;
        for _ in 0..EVICTIONS_MAX {
            if used <= bytes_max {
                return true;
            }
            let Some(freed) = self.evict_one(policy, now_ms) else {
                return false;
            };
            used = used.saturating_sub(freed as u64);
        }
        true
    }

    /// Whether the rough gauge is so far below the bound that the exact sum must be, too.
    fn is_surely_below(&self, bytes_max: u64) -> bool {
        let untold = self.existing().count() * self.shards() * GAUGE_STEP;
        (self.gauge() + untold) as u64 <= bytes_max
    }

    /// Evicts a key: the bytes that freed, or `None` if no key can be evicted.
    fn evict_one(&self, policy: Policy, now_ms: u64) -> Option<usize> {
        if policy == Policy::NoEviction {
            return None;
        }
        // A shard may have been emptied since it was chosen; another is chosen then, and when
        // there is none left the total is 0.
        loop {
            let (db, index) = self.choose_shard(policy)?;
            let evict = |mut shard: ShardMut<'_>| self.evict_in(&mut shard, policy, now_ms);
            if let Some(freed) = db.with_shard(index, evict) {
                return Some(freed);
            }
        }
    }

    /// A shard chosen with the probability of its share of the keys that may be evicted.
    fn choose_shard(&self, policy: Policy) -> Option<(&Database, usize)> {
        let candidates = |side: &Side| {
            let counter = if policy.is_volatile() {
                &side.expires
            } else {
                &side.keys
            };
            counter.load(Ordering::Acquire)
        };
        let total: usize = self
            .existing()
            .flat_map(Database::sides)
            .map(candidates)
            .sum();
        let mut nth = self.eviction().random().checked_rem(total as u64)? as usize;
        let mut last = None;
        for db in self.existing() {
            for (index, side) in db.sides().iter().enumerate() {
                let count = candidates(side);
                if nth < count {
                    return Some((db, index));
                }
                nth -= count;
                last = if count > 0 { Some((db, index)) } else { last };
            }
        }
        // Keys went away between summing and choosing.
        last
    }

    fn evict_in(&self, shard: &mut ShardMut<'_>, policy: Policy, now_ms: u64) -> Option<usize> {
        let samples = match policy {
            Policy::AllKeysRandom | Policy::VolatileRandom => 1,
            _ => self.eviction().samples.load(Ordering::Relaxed) as usize,
        };
        let clock = self.clock();
        let rank = |entry: &&Entry| rank(entry, policy, clock, now_ms);
        let random = || self.eviction().random();
        let chosen = if policy.is_volatile() {
            let sampled = (0..samples)
                .filter_map(|_| shard.sample_expiring(random()))
                .max_by_key(rank);
            // The samples may all have been stale.
            sampled.or_else(|| {
                shard
                    .table()
                    .entries_from(random())
                    .find(|entry| entry.expires_at().is_some())
            })
        } else {
            shard
                .table()
                .entries_from(random())
                .take(samples)
                .max_by_key(rank)
        }?;
        let (hash, place) = (shard.hash_of(chosen), chosen.key().as_ptr());
        shard.evict(hash, |entry| entry.key().as_ptr() == place)
    }
}

/// How much an entry deserves to go; the highest goes first.
fn rank(entry: &Entry, policy: Policy, clock: Clock, now_ms: u64) -> u64 {
    match policy {
        Policy::AllKeysLru | Policy::VolatileLru => clock.idle_ms(entry.clock(), now_ms),
        Policy::AllKeysLfu | Policy::VolatileLfu => {
            u64::from(u8::MAX - clock.freq(entry.clock(), now_ms))
        }
        Policy::VolatileTtl => u64::MAX - entry.expires_at().unwrap_or(u64::MAX),
        Policy::NoEviction | Policy::AllKeysRandom | Policy::VolatileRandom => 0,
    }
}

#[cfg(test)]
mod tests;
