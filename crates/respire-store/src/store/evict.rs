//! Evicts keys when memory is used up, by the policy and the entries' access clocks.

use core::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use super::Store;
use crate::database::{Database, GAUGE_STEP, Side};
use crate::entry::{Clock, Entry, Policy};
use crate::hash::mix;
use crate::shard::ShardMut;

/// The settings of eviction. Each is an atomic, because every request reads them.
pub(crate) struct Eviction {
    bytes_max: AtomicU64,
    /// The word of a [`Clock`].
    rules: AtomicU64,
    samples: AtomicU32,
    random: AtomicU64,
}

/// Most keys compared to evict one. Redis has the same bound; more samples do not improve the choice.
const SAMPLES_MAX: u32 = 64;

/// Most keys evicted by one call.
const EVICTIONS_MAX: usize = 1024;

/// A bound below this has no room for a key and counts as used up, even by a store without keys: no key
/// takes less.
const KEY_BYTES_MIN: u64 = 64;

/// Number of shards chosen at random that may be locked before all shards are tried in turn.
const TRIES_MAX: usize = 16;

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

    /// Returns a random number of a quality that suffices for sampling.
    pub(crate) fn random(&self) -> u64 {
        mix(self
            .random
            .fetch_add(0x9e37_79b9_7f4a_7c15, Ordering::Relaxed))
    }
}

impl Store {
    /// Sets the bound of memory and the eviction policy. `bytes` is the bound on
    /// [`MemoryUse::total`](crate::MemoryUse::total); 0 is none. `samples` is the number of keys that are
    /// compared to evict one; it is clamped to 1 to 64. The bound takes effect in [`Store::make_room`].
    pub fn set_max_memory(&self, bytes: u64, policy: Policy, samples: u32) {
        let eviction = self.eviction();
        eviction
            .samples
            .store(samples.clamp(1, SAMPLES_MAX), Ordering::Relaxed);
        eviction.change_clock(|clock| clock.with_policy(policy));
        eviction.bytes_max.store(bytes, Ordering::Relaxed);
    }

    /// Sets how the LFU counter grows and decays (`lfu-log-factor` and `lfu-decay-time`; 10 and 1 by
    /// default). An access increments it with a probability of about 1 in `counter * log_factor`. Every
    /// `decay_minutes` without an access decrement it; 0 is never.
    pub fn set_lfu(&self, log_factor: u16, decay_minutes: u16) {
        let change = |clock: Clock| clock.with_lfu(log_factor, decay_minutes);
        self.eviction().change_clock(change);
    }

    /// Returns the eviction policy.
    #[must_use]
    pub fn policy(&self) -> Policy {
        self.clock().policy()
    }

    /// Evicts keys until the memory is within its bound. Returns false if it is above the bound and no
    /// key can be evicted; the caller must then refuse the command. A bound that has no room for any key is
    /// exceeded by a store without keys, too.
    ///
    /// One call evicts at most 1,024 keys. If that is not enough, it returns true, as it made progress,
    /// and the next call continues. It costs a few loads while the memory is well below the bound, and
    /// O(shards) near it, plus O(shards) per evicted key. It locks one shard at a time and waits for none: it
    /// cannot evict keys whose shards a thread holds, and returns false if there are no other keys.
    #[inline]
    pub fn make_room(&self, now_ms: u64) -> bool {
        let bytes_max = self.eviction().bytes_max.load(Ordering::Relaxed);
        bytes_max == 0 || self.is_surely_below(bytes_max) || self.evict(bytes_max, now_ms)
    }

    fn evict(&self, bytes_max: u64, now_ms: u64) -> bool {
        let eviction = self.eviction();
        let policy = eviction.clock().policy();
        let mut used = (self.memory().total() as u64).max(KEY_BYTES_MIN);
        for _ in 0..EVICTIONS_MAX {
            if used <= bytes_max {
                return true;
            }
            let Some(freed) = self.evict_one(policy, now_ms) else {
                return false;
            };
            used = used.saturating_sub(freed as u64).max(KEY_BYTES_MIN);
        }
        true
    }

    /// Returns whether the gauge, with its largest error added, is within the bound.
    fn is_surely_below(&self, bytes_max: u64) -> bool {
        let untold = self.existing().count() * self.shards() * GAUGE_STEP;
        ((self.gauge() + untold) as u64).max(KEY_BYTES_MIN) <= bytes_max
    }

    /// Evicts a key. Returns the bytes that this freed, or `None` if no key can be evicted.
    fn evict_one(&self, policy: Policy, now_ms: u64) -> Option<usize> {
        if policy == Policy::NoEviction {
            return None;
        }
        let mut tries = 0;
        while tries < TRIES_MAX {
            let (db, index) = self.choose_shard(policy)?;
            match self.try_evict(db, index, policy, now_ms) {
                Some(Some(freed)) => return Some(freed),
                // The shard was emptied after it was chosen, so another one is chosen. If no keys are left,
                // `choose_shard` returns `None`.
                Some(None) => {}
                None => {
                    tries += 1;
                    // The thread that holds the shard may be waiting for a processor.
                    std::thread::yield_now();
                }
            }
        }
        // Nearly all keys are in locked shards, so take the first shard that is not.
        let mut shards = self.existing().flat_map(|db| {
            let sides = db.sides().iter().enumerate();
            let has_keys = |(_, side): &(usize, &Side)| candidates(side, policy) > 0;
            sides.filter(has_keys).map(move |(index, _)| (db, index))
        });
        shards.find_map(|(db, index)| self.try_evict(db, index, policy, now_ms).flatten())
    }

    /// Evicts a key of a shard. Returns the bytes that freed, if there was an evictable key; `None` if the
    /// shard is locked.
    fn try_evict(
        &self,
        db: &Database,
        index: usize,
        policy: Policy,
        now_ms: u64,
    ) -> Option<Option<usize>> {
        db.try_with_shard(index, |mut shard| self.evict_in(&mut shard, policy, now_ms))
    }

    /// Chooses a shard at random, with a probability proportional to its number of evictable keys.
    fn choose_shard(&self, policy: Policy) -> Option<(&Database, usize)> {
        let total: usize = self
            .existing()
            .flat_map(Database::sides)
            .map(|side| candidates(side, policy))
            .sum();
        let mut nth = self.eviction().random().checked_rem(total as u64)? as usize;
        let mut last = None;
        for db in self.existing() {
            for (index, side) in db.sides().iter().enumerate() {
                let count = candidates(side, policy);
                if nth < count {
                    return Some((db, index));
                }
                nth -= count;
                last = if count > 0 { Some((db, index)) } else { last };
            }
        }
        // Other threads removed keys between the sum and the choice.
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
            // All samples may have been stale deadlines.
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

/// Returns the number of evictable keys of a shard.
fn candidates(side: &Side, policy: Policy) -> usize {
    let counter = if policy.is_volatile() {
        &side.expires
    } else {
        &side.keys
    };
    counter.load(Ordering::Acquire)
}

/// Returns the rank of an entry for eviction; the highest is evicted first.
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
