//! What the engine counts, for `INFO`.

use std::sync::atomic::{AtomicU64, Ordering};

/// Counters of the whole engine; sessions add to them once per turn.
#[derive(Debug, Default)]
pub struct Stats {
    pub(crate) connections: AtomicU64,
    pub(crate) rejected_connections: AtomicU64,
    pub(crate) commands: AtomicU64,
    pub(crate) input_bytes: AtomicU64,
    pub(crate) output_bytes: AtomicU64,
    pub(crate) protocol_errors: AtomicU64,
    pub(crate) error_replies: AtomicU64,
    /// Operations per second over the last sampling period.
    pub(crate) ops_per_second: AtomicU64,
    sampled_commands: AtomicU64,
    sampled_us: AtomicU64,
}

/// How often the rates are sampled.
pub(crate) const SAMPLE_US: u64 = 100_000;

impl Stats {
    pub(crate) fn add(counter: &AtomicU64, by: u64) {
        if by > 0 {
            counter.fetch_add(by, Ordering::Relaxed);
        }
    }

    /// Updates the rate; called from one thread at a time, by the driver's tick.
    pub(crate) fn sample(&self, monotonic_us: u64) {
        let elapsed = monotonic_us.saturating_sub(self.sampled_us.load(Ordering::Relaxed));
        if elapsed < SAMPLE_US {
            return;
        }
        let commands = self.commands.load(Ordering::Relaxed);
        let since = commands.saturating_sub(self.sampled_commands.load(Ordering::Relaxed));
        self.ops_per_second.store(since.saturating_mul(1_000_000) / elapsed, Ordering::Relaxed);
        self.sampled_commands.store(commands, Ordering::Relaxed);
        self.sampled_us.store(monotonic_us, Ordering::Relaxed);
    }

    /// Sets the counters back to zero: `CONFIG RESETSTAT`.
    pub(crate) fn reset(&self) {
        for counter in [
            &self.connections,
            &self.rejected_connections,
            &self.commands,
            &self.input_bytes,
            &self.output_bytes,
            &self.protocol_errors,
            &self.error_replies,
            &self.ops_per_second,
            &self.sampled_commands,
        ] {
            counter.store(0, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rate_is_commands_per_second_of_the_period() {
        let stats = Stats::default();
        stats.sample(1_000_000);
        Stats::add(&stats.commands, 500);
        stats.sample(1_050_000);
        assert_eq!(stats.ops_per_second.load(Ordering::Relaxed), 0);
        stats.sample(1_500_000);
        assert_eq!(stats.ops_per_second.load(Ordering::Relaxed), 1000);
    }
}
