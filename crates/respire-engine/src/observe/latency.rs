//! The latency monitor: stores the latest spikes of each kind of event.

use crate::Now;
use std::collections::{BTreeMap, VecDeque};
use std::sync::{Mutex, MutexGuard};

/// The maximum number of spikes stored per event.
const SAMPLES_MAX: usize = 160;

/// The spikes of all events. Locked only to add a spike and by `LATENCY`.
#[derive(Debug, Default)]
pub(crate) struct LatencyMonitor {
    events: Mutex<BTreeMap<&'static str, Spikes>>,
}

/// The spikes of one event.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Spikes {
    /// Oldest first; for each second at most one, the worst.
    pub(crate) samples: VecDeque<Spike>,
    /// The worst since the last reset, even if it is no longer among the samples.
    pub(crate) worst_ms: u64,
}

/// The worst spike of one second.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Spike {
    pub(crate) unix_s: u64,
    pub(crate) ms: u64,
}

impl LatencyMonitor {
    /// Adds a spike of `ms`.
    pub(crate) fn add(&self, event: &'static str, now: Now, ms: u64) {
        let unix_s = now.unix_ms() / 1000;
        let mut events = self.lock();
        let spikes = events.entry(event).or_default();
        spikes.worst_ms = spikes.worst_ms.max(ms);
        if let Some(last) = spikes
            .samples
            .back_mut()
            .filter(|last| last.unix_s == unix_s)
        {
            last.ms = last.ms.max(ms);
            return;
        }
        if spikes.samples.len() == SAMPLES_MAX {
            spikes.samples.pop_front();
        }
        spikes.samples.push_back(Spike { unix_s, ms });
    }

    /// All events with spikes, sorted by name.
    pub(crate) fn events(&self) -> Vec<(&'static str, Spikes)> {
        self.lock()
            .iter()
            .map(|(event, spikes)| (*event, spikes.clone()))
            .collect()
    }

    /// The spikes of the event with this name, in any case.
    pub(crate) fn find(&self, event: &[u8]) -> Option<Spikes> {
        let events = self.lock();
        let is_it = |name: &str| name.as_bytes().eq_ignore_ascii_case(event);
        events
            .iter()
            .find(|(name, _)| is_it(name))
            .map(|(_, spikes)| spikes.clone())
    }

    /// Removes the spikes of one event, or of all. Returns the number of events removed.
    pub(crate) fn reset(&self, event: Option<&[u8]>) -> usize {
        let mut events = self.lock();
        let before = events.len();
        match event {
            Some(event) => events.retain(|name, _| !name.as_bytes().eq_ignore_ascii_case(event)),
            None => events.clear(),
        }
        before - events.len()
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<&'static str, Spikes>> {
        self.events
            .lock()
            .unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn at(seconds: u64) -> Now {
        Now::new(Duration::ZERO, Duration::from_secs(seconds))
    }

    #[test]
    fn spikes_of_one_second_keep_the_worst() {
        let monitor = LatencyMonitor::default();
        monitor.add("command", at(1), 5);
        monitor.add("command", at(1), 9);
        monitor.add("command", at(1), 7);
        monitor.add("command", at(2), 1);
        let spikes = monitor.find(b"COMMAND").expect("added above");
        assert_eq!(
            spikes.samples,
            [Spike { unix_s: 1, ms: 9 }, Spike { unix_s: 2, ms: 1 }]
        );
        assert_eq!(spikes.worst_ms, 9);
    }

    #[test]
    fn oldest_samples_beyond_the_limit_are_dropped() {
        let monitor = LatencyMonitor::default();
        for second in 0..=SAMPLES_MAX as u64 {
            monitor.add("command", at(second), 1000 - second);
        }
        let spikes = monitor.find(b"command").expect("added above");
        assert_eq!(spikes.samples.len(), SAMPLES_MAX);
        assert_eq!(spikes.samples[0].unix_s, 1);
        assert_eq!(spikes.worst_ms, 1000);
    }

    #[test]
    fn reset_removes_one_event_or_all() {
        let monitor = LatencyMonitor::default();
        monitor.add("command", at(1), 5);
        monitor.add("fast-command", at(1), 5);
        assert_eq!(monitor.reset(Some(b"nothing")), 0);
        assert_eq!(monitor.reset(Some(b"command")), 1);
        assert_eq!(monitor.reset(None), 1);
        assert_eq!(monitor.events(), []);
    }
}
