//! Summarises histograms and repeated measurements in a few numbers.

use serde::Serialize;

use super::Latencies;

/// Latencies in microseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Latency {
    /// Shortest.
    pub min_us: f64,
    /// Longest.
    pub max_us: f64,
    /// Arithmetic mean.
    pub avg_us: f64,
    /// Half of the latencies are not longer.
    pub p50_us: f64,
    /// 90 in 100 latencies are not longer.
    pub p90_us: f64,
    /// 95 in 100 latencies are not longer.
    pub p95_us: f64,
    /// 99 in 100 latencies are not longer.
    pub p99_us: f64,
    /// 999 in 1000 latencies are not longer.
    pub p999_us: f64,
}

impl Latency {
    /// The summary of a histogram in nanoseconds; zeros for an empty one.
    pub fn of(latencies: &Latencies) -> Self {
        if latencies.is_empty() {
            return Self::default();
        }
        let us = |ns: u64| ns as f64 / 1_000.0;
        let at = |quantile| us(latencies.value_at_quantile(quantile));
        Self {
            min_us: us(latencies.min()),
            max_us: us(latencies.max()),
            avg_us: latencies.mean() / 1_000.0,
            p50_us: at(0.5),
            p90_us: at(0.9),
            p95_us: at(0.95),
            p99_us: at(0.99),
            p999_us: at(0.999),
        }
    }
}

/// The curve of a histogram for a plot: (share of requests that are longer, microseconds), from 1 down to `1e-5` in
/// even steps of its logarithm.
pub fn quantiles_us(latencies: &Latencies) -> Vec<(f64, f64)> {
    const STEPS_PER_DECADE: i32 = 20;
    const DECADES: i32 = 5;
    (0..=STEPS_PER_DECADE * DECADES)
        .map(|step| 10_f64.powf(-f64::from(step) / f64::from(STEPS_PER_DECADE)))
        .map(|longer| {
            let ns = latencies.value_at_quantile(1.0 - longer);
            (longer, ns as f64 / 1_000.0)
        })
        .collect()
}

/// Statistics of a number that was measured several times.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Spread {
    /// The middle value, or the mean of the two middle values.
    pub median: f64,
    /// The smallest.
    pub min: f64,
    /// The greatest.
    pub max: f64,
}

impl Spread {
    /// The spread of some measurements, `None` if there are none.
    ///
    /// ```
    /// use respire_bench::stats::Spread;
    /// let spread = Spread::of([3.0, 1.0, 2.0]).unwrap();
    /// assert_eq!((spread.min, spread.median, spread.max), (1.0, 2.0, 3.0));
    /// ```
    pub fn of(values: impl IntoIterator<Item = f64>) -> Option<Self> {
        let mut values: Vec<f64> = values.into_iter().collect();
        values.sort_by(f64::total_cmp);
        let (min, max) = (*values.first()?, *values.last()?);
        let middle = values.len() / 2;
        let median = if values.len() % 2 == 1 {
            values[middle]
        } else {
            f64::midpoint(values[middle - 1], values[middle])
        };
        Some(Self { median, min, max })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::latencies;

    #[test]
    fn percentiles_match_a_sorted_list() {
        let mut histogram = latencies();
        for us in 1..=1_000_u64 {
            histogram.record(us * 1_000).unwrap();
        }
        let latency = Latency::of(&histogram);
        let near =
            |got: f64, want: f64| assert!((got - want).abs() <= want / 500.0, "{got} {want}");
        near(latency.min_us, 1.0);
        near(latency.max_us, 1_000.0);
        near(latency.avg_us, 500.5);
        near(latency.p50_us, 500.0);
        near(latency.p95_us, 950.0);
        near(latency.p99_us, 990.0);
        near(latency.p999_us, 999.0);
    }

    #[test]
    fn empty_histogram_gives_zeros() {
        assert_eq!(Latency::of(&latencies()), Latency::default());
    }

    #[test]
    fn curve_rises_to_the_maximum() {
        let mut histogram = latencies();
        for us in 1..=1_000_000_u64 {
            histogram.record(us).unwrap();
        }
        let curve = quantiles_us(&histogram);
        assert!(curve.is_sorted_by(|a, b| a.0 > b.0 && a.1 <= b.1));
        assert!((curve[curve.len() - 1].1 - 1_000.0).abs() < 2.0);
    }

    #[test]
    fn median_of_an_even_number_is_between_the_middle_two() {
        assert_eq!(Spread::of([4.0, 1.0, 2.0, 3.0]).unwrap().median, 2.5);
        assert_eq!(Spread::of([]), None);
    }
}
