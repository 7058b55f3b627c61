//! Sets the pace of the sweep: how many keys a slice visits, and how long the sweep rests after it.
//!
//! A slice takes well below a millisecond. After it, the sweep rests and all ready connections are
//! served, so the sweep takes about a quarter of a processor.
//!
//! The number of keys of a slice depends on the time since the previous slice: a server with many
//! ready connections runs slices less often, and each does more. If more keys keep expiring than
//! this removes, the sweep stops resting.

use respire_engine::Now;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// The fewest keys that a slice visits, at about half a microsecond each: enough that the fixed cost
/// of a slice is small beside them.
const SLICE_KEYS_MIN: u64 = 128;
/// The most keys that a slice visits: they take well below a millisecond.
const SLICE_KEYS_MAX: u64 = 512;

/// A slice may visit one key for each period of this length since the previous slice.
const US_PER_KEY: u64 = 2;

/// The rest after a slice while there is more to sweep, and the shortest wait for the next expiry.
pub(crate) const REST: Duration = Duration::from_millis(1);

/// After this time with more to sweep, the sweep stops resting.
const PATIENCE_US: u64 = 5_000_000;

/// The time between two samples of the memory in use while there is more to sweep.
const SAMPLE_US: u64 = 100_000;

/// The times of the last slice and the last sample, in monotonic microseconds. Housekeeping has one
/// thread, so plain loads and stores are enough.
#[derive(Debug)]
pub(crate) struct SweepPace {
    sliced_us: AtomicU64,
    sampled_us: AtomicU64,
    /// The time since which there has been more to sweep than one slice; [`NOT_BEHIND`] if there is
    /// not.
    behind_us: AtomicU64,
}

const NOT_BEHIND: u64 = u64::MAX;

impl Default for SweepPace {
    fn default() -> Self {
        Self {
            sliced_us: AtomicU64::new(0),
            sampled_us: AtomicU64::new(0),
            behind_us: AtomicU64::new(NOT_BEHIND),
        }
    }
}

impl SweepPace {
    /// Starts a slice; returns the number of keys that it may visit.
    pub(crate) fn slice(&self, now: Now) -> usize {
        let keys = since(&self.sliced_us, now) / US_PER_KEY;
        note(&self.sliced_us, now);
        keys.clamp(SLICE_KEYS_MIN, SLICE_KEYS_MAX) as usize
    }

    /// Returns the rest after a slice that has left something to sweep.
    pub(crate) fn rest(&self, now: Now) -> Duration {
        if self.behind_us.load(Ordering::Relaxed) == NOT_BEHIND {
            note(&self.behind_us, now);
        }
        if since(&self.behind_us, now) < PATIENCE_US {
            REST
        } else {
            Duration::ZERO
        }
    }

    /// Records that a slice has left nothing to sweep.
    pub(crate) fn caught_up(&self) {
        self.behind_us.store(NOT_BEHIND, Ordering::Relaxed);
    }

    /// Whether the memory in use should be sampled now. If so, records the sample.
    pub(crate) fn is_sample_due(&self, now: Now) -> bool {
        let is_due = since(&self.sampled_us, now) >= SAMPLE_US;
        if is_due {
            note(&self.sampled_us, now);
        }
        is_due
    }
}

fn since(us: &AtomicU64, now: Now) -> u64 {
    now.monotonic_us()
        .saturating_sub(us.load(Ordering::Relaxed))
}

fn note(us: &AtomicU64, now: Now) {
    us.store(now.monotonic_us(), Ordering::Relaxed);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(us: u64) -> Now {
        Now::new(Duration::from_micros(us), Duration::from_secs(1))
    }

    #[test]
    fn slice_grows_with_the_time_since_the_previous_one() {
        let pace = SweepPace::default();
        let mut now_us = 0;
        let slices = [0, 1, 300, 600, 900, 2_000, 1_000_000].map(|us| {
            now_us += us;
            pace.slice(at(now_us))
        });
        assert_eq!(slices, [128, 128, 150, 300, 450, 512, 512]);
    }

    #[test]
    fn sweep_that_stays_behind_stops_resting_until_it_catches_up() {
        let pace = SweepPace::default();
        for begin_us in [0, 100_000_000] {
            for (us, rest) in [(0, REST), (4_999_999, REST), (5_000_000, Duration::ZERO)] {
                assert_eq!(pace.rest(at(begin_us + us)), rest, "{us}");
            }
            pace.caught_up();
        }
    }

    #[test]
    fn memory_is_sampled_ten_times_a_second() {
        let pace = SweepPace::default();
        let samples = (0..=1_000_000).step_by(50);
        let samples = samples.filter(|us| pace.is_sample_due(at(*us)));
        assert_eq!(samples.count(), 10);
    }
}
