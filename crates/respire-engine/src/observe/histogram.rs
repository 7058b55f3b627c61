//! A histogram of call times, cheap enough to update while commands run.

use std::sync::atomic::{AtomicU64, Ordering};

/// Each power of two is divided into this many buckets, so times are accurate to 1/16.
const PARTS: u64 = 1 << PARTS_LOG2;
const PARTS_LOG2: u32 = 4;
/// Longer times, beyond 68 seconds, count as this many nanoseconds.
const NANOS_MAX: u64 = (1 << 36) - 1;
const BUCKETS: usize = bucket_of(NANOS_MAX) + 1;

/// Counts of times per bucket. Adding a time costs two relaxed additions.
pub(crate) struct Histogram {
    buckets: Box<[AtomicU64; BUCKETS]>,
    sum_ns: AtomicU64,
}

impl Histogram {
    pub(crate) fn new() -> Self {
        Self {
            buckets: Box::new([const { AtomicU64::new(0) }; BUCKETS]),
            sum_ns: AtomicU64::new(0),
        }
    }

    /// Adds a time that stands for `calls` calls.
    pub(crate) fn add(&self, nanos: u64, calls: u64) {
        let bucket = &self.buckets[bucket_of(nanos.min(NANOS_MAX))];
        bucket.fetch_add(calls, Ordering::Relaxed);
        self.sum_ns
            .fetch_add(nanos.saturating_mul(calls), Ordering::Relaxed);
    }

    pub(crate) fn reset(&self) {
        for bucket in self.buckets.iter() {
            bucket.store(0, Ordering::Relaxed);
        }
        self.sum_ns.store(0, Ordering::Relaxed);
    }

    /// A copy of the current counts.
    pub(crate) fn counts(&self) -> Counts {
        let load = |bucket: &AtomicU64| bucket.load(Ordering::Relaxed);
        Counts {
            counts: self.buckets.iter().map(load).collect(),
            sum_ns: load(&self.sum_ns),
        }
    }
}

/// A copy of a histogram's counts at one time.
pub(crate) struct Counts {
    counts: Vec<u64>,
    sum_ns: u64,
}

impl Counts {
    /// The number of calls.
    pub(crate) fn total(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// The sum of all times, in seconds.
    pub(crate) fn sum_s(&self) -> f64 {
        self.sum_ns as f64 / 1e9
    }

    /// The time, in nanoseconds, that `percent` of the calls did not exceed: the upper bound of its
    /// bucket. 0 if there are no calls.
    pub(crate) fn percentile(&self, percent: f64) -> u64 {
        let total = self.total();
        let rank = (percent / 100.0 * total as f64).round() as u64;
        let rank = rank.clamp(1, total.max(1));
        let mut below = 0;
        let bucket = self.counts.iter().position(|count| {
            below += count;
            below >= rank
        });
        bucket.map_or(0, last_of)
    }

    /// The number of calls shorter than each power of two from `2^first` to `2^last` nanoseconds.
    pub(crate) fn by_power(&self, first: u32, last: u32) -> impl Iterator<Item = (u32, u64)> {
        (first..=last).map(|power| {
            let end = bucket_of(((1 << power) - 1).min(NANOS_MAX)) + 1;
            (power, self.counts[..end].iter().sum())
        })
    }
}

/// Short times have a bucket each; the leading bits of longer times select the bucket.
const fn bucket_of(nanos: u64) -> usize {
    if nanos < PARTS {
        return nanos as usize;
    }
    let power = nanos.ilog2();
    let part = (nanos >> (power - PARTS_LOG2)) & (PARTS - 1);
    ((power - PARTS_LOG2 + 1) as u64 * PARTS + part) as usize
}

/// The longest time in a bucket.
fn last_of(bucket: usize) -> u64 {
    let bucket = bucket as u64;
    if bucket < PARTS {
        return bucket;
    }
    let shift = bucket / PARTS - 1;
    let part = bucket % PARTS;
    ((PARTS + part + 1) << shift) - 1
}

impl std::fmt::Debug for Histogram {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Histogram")
            .field("total", &self.counts().total())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bucket_bound_is_within_a_sixteenth_of_the_time() {
        let mut times: Vec<u64> = (0..70_000).collect();
        times.extend((10..36).flat_map(|power| [(1 << power) - 1, 1 << power, (1 << power) + 1]));
        times.sort_unstable();
        let mut previous = 0;
        for nanos in times {
            let bucket = bucket_of(nanos);
            let last = last_of(bucket);
            assert!(bucket >= previous && bucket < BUCKETS, "{nanos}");
            assert!(nanos <= last && last - nanos <= nanos / PARTS, "{nanos}");
            previous = bucket;
        }
        assert_eq!(last_of(BUCKETS - 1), NANOS_MAX);
    }

    #[test]
    fn percentile_is_the_time_that_this_share_did_not_exceed() {
        let histogram = Histogram::new();
        assert_eq!(histogram.counts().percentile(50.0), 0);
        for nanos in 1..=10 {
            histogram.add(nanos, 1);
        }
        let counts = histogram.counts();
        assert_eq!(counts.total(), 10);
        assert!((counts.sum_s() - 55e-9).abs() < 1e-12);
        let percentiles = [0.0, 10.0, 50.0, 90.0, 99.9, 100.0].map(|p| counts.percentile(p));
        assert_eq!(percentiles, [1, 1, 5, 9, 10, 10]);
        histogram.add(1 << 40, 90);
        assert_eq!(histogram.counts().percentile(50.0), NANOS_MAX);
        histogram.reset();
        assert_eq!(histogram.counts().total(), 0);
    }

    #[test]
    fn powers_of_two_count_shorter_calls() {
        let histogram = Histogram::new();
        for (nanos, calls) in [(5, 1), (1023, 1), (1024, 2), (2047, 1), (1 << 40, 4)] {
            histogram.add(nanos, calls);
        }
        let counts = histogram.counts();
        let powers: Vec<_> = counts.by_power(9, 12).collect();
        assert_eq!(powers, [(9, 1), (10, 2), (11, 5), (12, 5)]);
        assert_eq!(counts.by_power(36, 40).last(), Some((40, 9)));
    }
}
