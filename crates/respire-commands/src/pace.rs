//! The pace of housekeeping: slices well below a millisecond, with everyone who is ready served in
//! between, and a rest after each, so that the sweep takes about a quarter of a processor.
//!
//! How much a slice does follows from how long ago the one before was: a server that serves many at
//! a time gives the sweep its share of the time, less often and more at once. Who cannot keep up
//! that way, because more keys expire all the time, gives up the rests.

use respire_engine::Now;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Keys that a slice may look at, some half a microsecond each: enough that what each slice costs beside
/// them is little, and well below a millisecond.
const SLICE_KEYS_MIN: u64 = 128;
const SLICE_KEYS_MAX: u64 = 512;

/// Time since the slice before, for each key that this one may look at.
const US_PER_KEY: u64 = 2;

/// The rest after a slice while there is more to sweep, and the least before the next key is due.
pub(crate) const REST: Duration = Duration::from_millis(1);

/// Who has been behind for so long rests no more.
const PATIENCE_US: u64 = 5_000_000;

/// How often the memory in use is looked at while there is more to sweep.
const SAMPLE_US: u64 = 100_000;

/// When there was what, in monotonic microseconds. Housekeeping has one thread, so these are plain
/// loads and stores.
#[derive(Debug)]
pub(crate) struct SweepPace {
    sliced_us: AtomicU64,
    sampled_us: AtomicU64,
    /// Since when there has been more to sweep than a slice holds; [`NOT_BEHIND`] if there is not.
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
    /// Keys that the slice may look at that begins now.
    pub(crate) fn slice(&self, now: Now) -> usize {
        let keys = since(&self.sliced_us, now) / US_PER_KEY;
        note(&self.sliced_us, now);
        keys.clamp(SLICE_KEYS_MIN, SLICE_KEYS_MAX) as usize
    }

    /// The rest after a slice that has left something to sweep.
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

    /// A slice has left nothing to sweep.
    pub(crate) fn caught_up(&self) {
        self.behind_us.store(NOT_BEHIND, Ordering::Relaxed);
    }

    /// Whether the memory is to be looked at between slices; if so, that counts as done.
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
    fn slice_grows_with_the_time_since_the_one_before_within_its_bounds() {
        let pace = SweepPace::default();
        let mut now_us = 0;
        let slices = [0, 1, 300, 600, 900, 2_000, 1_000_000].map(|us| {
            now_us += us;
            pace.slice(at(now_us))
        });
        assert_eq!(slices, [128, 128, 150, 300, 450, 512, 512]);
    }

    #[test]
    fn who_is_behind_for_long_rests_no_more_until_caught_up() {
        let pace = SweepPace::default();
        for begin_us in [0, 100_000_000] {
            for (us, rest) in [(0, REST), (4_999_999, REST), (5_000_000, Duration::ZERO)] {
                assert_eq!(pace.rest(at(begin_us + us)), rest, "{us}");
            }
            pace.caught_up();
        }
    }

    #[test]
    fn memory_is_looked_at_ten_times_a_second_however_many_slices_there_are() {
        let pace = SweepPace::default();
        let looks = (0..=1_000_000).step_by(50);
        let looks = looks.filter(|us| pace.is_sample_due(at(*us)));
        assert_eq!(looks.count(), 10);
    }
}
