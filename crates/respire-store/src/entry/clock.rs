//! Reads and writes the access clock of an entry.

use super::Policy;

/// The earlier use of a key, for [`Slot::set_access`](crate::Slot::set_access).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Milliseconds since the last access. Ignored under an LFU policy.
    IdleMs(u64),
    /// The logarithmic counter of accesses. Ignored unless the policy is an LFU one.
    Frequency(u8),
}

/// The rules for the 31-bit access clock of each entry. Under LRU, the clock is the second of the last
/// access, modulo 2^31. Under LFU, it has 16 bits of minutes and 8 bits of logarithmic counter, as in Redis.
///
/// The rules are one word, so that one load reads them all: the low byte is the policy's index in
/// [`Policy::ALL`], then come 16 bits each of LFU factor and decay, then a bit for an LFU policy.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Clock(u64);

/// The bit of [`Clock`] for an LFU policy.
const IS_LFU: u64 = 1 << 40;

/// The largest number of seconds in a clock.
const SECONDS_MAX: u32 = (1 << 31) - 1;

/// The counter of a new key, so that it is not evicted first.
const LFU_INITIAL: u32 = 5;

impl Clock {
    /// Makes a clock without eviction, with these rules of LFU.
    pub(crate) fn new(log_factor: u16, decay_minutes: u16) -> Clock {
        Clock(0).with_lfu(log_factor, decay_minutes)
    }

    /// Returns the clock of this [word](Clock::word).
    #[inline]
    pub(crate) fn of_word(word: u64) -> Clock {
        Clock(word)
    }

    /// The rules in one word.
    pub(crate) fn word(self) -> u64 {
        self.0
    }

    /// The same under another policy.
    pub(crate) fn with_policy(self, policy: Policy) -> Clock {
        let mut all = Policy::ALL.iter();
        let at = all.position(|known| *known == policy).unwrap_or_default() as u64;
        let is_lfu = if policy.is_lfu() { IS_LFU } else { 0 };
        Clock((self.0 & !(0xff | IS_LFU)) | at | is_lfu)
    }

    /// The same with other rules of LFU.
    pub(crate) fn with_lfu(self, log_factor: u16, decay_minutes: u16) -> Clock {
        let rules = (u64::from(log_factor) << 8) | (u64::from(decay_minutes) << 24);
        Clock((self.0 & (0xff | IS_LFU)) | rules)
    }

    #[inline]
    pub(crate) fn policy(self) -> Policy {
        let at = usize::from(self.0 as u8);
        Policy::ALL.get(at).copied().unwrap_or_default()
    }

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

    /// Returns the clock of an entry with this access; `None` if the policy uses the other measure.
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

    /// Returns the clock after one more access.
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
            u64::from(seconds_since(clock, seconds(now_ms))) * 1000
        }
    }

    pub(crate) fn freq(self, clock: u32, now_ms: u64) -> u8 {
        if self.is_lfu() {
            self.counter(clock, now_ms) as u8
        } else {
            0
        }
    }

    /// Returns the counter, decremented once for each `decay_minutes` that have passed.
    fn counter(self, clock: u32, now_ms: u64) -> u32 {
        let passed = minutes(now_ms).wrapping_sub(clock >> 8) & 0xffff;
        let periods = passed
            .checked_div(u32::from(self.decay_minutes()))
            .unwrap_or(0);
        (clock & 0xff).saturating_sub(periods)
    }
}

fn seconds(now_ms: u64) -> u32 {
    (now_ms / 1000) as u32 & SECONDS_MAX
}

/// Returns the seconds from `clock` to `now`. They count modulo 2^31 (until 2038), so that a time after `now` is
/// either in the future, which makes the result 0, or before the count began again.
fn seconds_since(clock: u32, now: u32) -> u32 {
    match now.checked_sub(clock) {
        Some(seconds) => seconds,
        None => {
            let seconds = now.wrapping_sub(clock) & SECONDS_MAX;
            if seconds < SECONDS_MAX / 2 {
                seconds
            } else {
                0
            }
        }
    }
}

fn minutes(now_ms: u64) -> u32 {
    ((now_ms / 60_000) & 0xffff) as u32
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::mix;

    #[test]
    fn lfu_counter_decays_by_the_minute() {
        let clock = |decay_minutes| Clock::new(10, decay_minutes).with_policy(Policy::AllKeysLfu);
        let (clock, lasting) = (clock(2), clock(0));
        let fresh = clock.fresh(0);
        assert_eq!(clock.freq(fresh, 0), 5);
        assert_eq!(clock.freq(fresh, 4 * 60_000), 3);
        assert_eq!(clock.freq(fresh, 60 * 60_000), 0);
        assert_eq!(lasting.freq(fresh, 60 * 60_000), 5);
        let used = (0..10_000).fold(fresh, |state, step| clock.touched(state, 0, || mix(step)));
        // Redis's table for factor 10: about 18 after 1,000 uses, about 53 after 10,000.
        assert!(
            (40..=70).contains(&clock.freq(used, 0)),
            "{}",
            clock.freq(used, 0)
        );
    }

    #[test]
    fn idle_time_is_right_when_the_seconds_begin_again() {
        let clock = Clock::new(10, 1);
        let turn_ms = (1 << 31) * 1000;
        for (used_ms, now_ms, idle_ms) in [
            (turn_ms - 5_000, turn_ms + 2_000, 7_000),
            (turn_ms + 2_000, turn_ms + 2_500, 0),
            (turn_ms + 5_000, turn_ms + 2_000, 0),
            (turn_ms - 1_000, turn_ms - 5_000, 0),
            (0, turn_ms - 1_000, turn_ms - 1_000),
        ] {
            let used = clock.fresh(used_ms);
            assert_eq!(clock.idle_ms(used, now_ms), idle_ms, "{used_ms} {now_ms}");
        }
    }

    #[test]
    fn policy_and_lfu_rules_are_kept_apart() {
        for policy in Policy::ALL {
            let clock = Clock::new(u16::MAX, u16::MAX).with_policy(policy);
            assert_eq!((clock.policy(), clock.is_lfu()), (policy, policy.is_lfu()));
            let other = Clock::of_word(clock.with_lfu(1, 2).word());
            assert_eq!((other.policy(), other.is_lfu()), (policy, policy.is_lfu()));
            assert_eq!((other.log_factor(), other.decay_minutes()), (1, 2));
        }
    }
}
