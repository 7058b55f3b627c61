//! The counters of the engine, for `INFO`.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard};

/// Counters of the whole engine. Sessions add to them once per turn.
#[derive(Debug, Default)]
pub(crate) struct Stats {
    pub(crate) connections: AtomicU64,
    pub(crate) rejected_connections: AtomicU64,
    pub(crate) commands: AtomicU64,
    pub(crate) input_bytes: AtomicU64,
    pub(crate) output_bytes: AtomicU64,
    pub(crate) protocol_errors: AtomicU64,
    pub(crate) error_replies: AtomicU64,
    /// Wrong passwords.
    pub(crate) auth_denied: AtomicU64,
    /// Operations per second over the last sampling period.
    pub(crate) ops_per_second: AtomicU64,
    sampled_commands: AtomicU64,
    sampled_us: AtomicU64,
    /// The number of error replies for each code word. Locked only for an error reply and by
    /// `INFO`.
    errors: Mutex<BTreeMap<Box<str>, u64>>,
}

/// The maximum number of code words, so that a service's own error texts cannot fill the memory.
const ERROR_CODES_MAX: usize = 128;

/// The interval at which rates are sampled, in microseconds.
pub(crate) const SAMPLE_US: u64 = 100_000;

impl Stats {
    pub(crate) fn add(counter: &AtomicU64, by: u64) {
        if by > 0 {
            counter.fetch_add(by, Ordering::Relaxed);
        }
    }

    /// Counts an error reply by its code word.
    #[cold]
    pub(crate) fn count_error(&self, code: &str) {
        Self::add(&self.error_replies, 1);
        let mut errors = self.lock_errors();
        if let Some(count) = errors.get_mut(code) {
            *count += 1;
        } else if errors.len() < ERROR_CODES_MAX {
            errors.insert(code.into(), 1);
        }
    }

    /// The code words of error replies, with their counts.
    pub(crate) fn errors(&self) -> Vec<(Box<str>, u64)> {
        self.lock_errors()
            .iter()
            .map(|(code, count)| (code.clone(), *count))
            .collect()
    }

    fn lock_errors(&self) -> MutexGuard<'_, BTreeMap<Box<str>, u64>> {
        self.errors
            .lock()
            .unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    /// Updates the rate. The driver's tick calls it, from one thread at a time.
    pub(crate) fn sample(&self, monotonic_us: u64) {
        let elapsed = monotonic_us.saturating_sub(self.sampled_us.load(Ordering::Relaxed));
        if elapsed < SAMPLE_US {
            return;
        }
        let commands = self.commands.load(Ordering::Relaxed);
        let since = commands.saturating_sub(self.sampled_commands.load(Ordering::Relaxed));
        self.ops_per_second
            .store(since.saturating_mul(1_000_000) / elapsed, Ordering::Relaxed);
        self.sampled_commands.store(commands, Ordering::Relaxed);
        self.sampled_us.store(monotonic_us, Ordering::Relaxed);
    }

    /// Sets the counters to zero: `CONFIG RESETSTAT`.
    pub(crate) fn reset(&self) {
        self.lock_errors().clear();
        for counter in [
            &self.connections,
            &self.rejected_connections,
            &self.commands,
            &self.input_bytes,
            &self.output_bytes,
            &self.protocol_errors,
            &self.error_replies,
            &self.auth_denied,
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
    fn number_of_counted_error_codes_is_bounded() {
        let stats = Stats::default();
        for code in 0..2 * ERROR_CODES_MAX {
            stats.count_error(&format!("E{code:03}"));
        }
        stats.count_error("E000");
        assert_eq!(stats.errors().len(), ERROR_CODES_MAX);
        assert_eq!(stats.errors()[0], ("E000".into(), 2));
        stats.reset();
        assert_eq!(stats.errors(), []);
    }

    #[test]
    fn rate_is_the_commands_per_second_of_the_period() {
        let stats = Stats::default();
        stats.sample(1_000_000);
        Stats::add(&stats.commands, 500);
        stats.sample(1_050_000);
        assert_eq!(stats.ops_per_second.load(Ordering::Relaxed), 0);
        stats.sample(1_500_000);
        assert_eq!(stats.ops_per_second.load(Ordering::Relaxed), 1000);
    }
}
