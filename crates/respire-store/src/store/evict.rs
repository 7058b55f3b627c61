//! Making room: eviction policies, and the access clock they rank keys by.

use core::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use super::Store;
use crate::database::{Database, GAUGE_STEP, Side};
use crate::entry::{Clock, Entry, Policy};
use crate::hash::mix;
use crate::shard::ShardMut;

/// The settings of eviction, each its own atomic: they are read by every request.
pub(crate) struct Eviction {
    bytes_max: AtomicU64,
    /// A [`Clock`].
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
            rules: AtomicU64::new(Clock::new(log_factor, decay_minutes).word()),
            samples: AtomicU32::new(samples),
            random: AtomicU64::new(seed),
        }
    }

    #[inline]
    pub(crate) fn clock(&self) -> Clock {
        Clock::of_word(self.rules.load(Ordering::Relaxed))
    }

    fn change_clock(&self, change: impl Fn(Clock) -> Clock) {
        let change = |rules| Some(change(Clock::of_word(rules)).word());
        let _previous = self
            .rules
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, change);
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
        eviction
            .samples
            .store(samples.clamp(1, SAMPLES_MAX), Ordering::Relaxed);
        eviction.change_clock(|clock| clock.with_policy(policy));
        eviction.bytes_max.store(bytes, Ordering::Relaxed);
    }

    /// How the LFU counter grows and shrinks (`lfu-log-factor`, `lfu-decay-time`; 10 and 1 unless
    /// set): a use counts with probability 1 in `counter * log_factor`, and `decay_minutes` without
    /// use take one off the counter (0: never).
    pub fn set_lfu(&self, log_factor: u16, decay_minutes: u16) {
        let change = |clock: Clock| clock.with_lfu(log_factor, decay_minutes);
        self.eviction().change_clock(change);
    }

    /// The eviction policy.
    #[must_use]
    pub fn policy(&self) -> Policy {
        self.clock().policy()
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
        let policy = eviction.clock().policy();
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
