//! Limits how often an event that peers can cause is logged.

use respire_engine::Now;
use std::sync::{Mutex, PoisonError};

/// Lets a few events pass in each period, and counts the others.
#[derive(Debug)]
pub(crate) struct Throttle {
    period: Mutex<Period>,
}

#[derive(Debug)]
struct Period {
    /// Monotonic microseconds; `None` before the first event.
    began_us: Option<u64>,
    passed: u32,
    held_back: u64,
}

const PASSED_MAX: u32 = 10;
const PERIOD_US: u64 = 60 * 1_000_000;

impl Throttle {
    pub(crate) const fn new() -> Self {
        Self {
            period: Mutex::new(Period {
                began_us: None,
                passed: 0,
                held_back: 0,
            }),
        }
    }

    /// Whether an event at `now` passes. If so, returns how many were held back since the last one
    /// that passed.
    pub(crate) fn pass(&self, now: Now) -> Option<HeldBack> {
        let mut period = self.period.lock().unwrap_or_else(PoisonError::into_inner);
        let now_us = now.monotonic_us();
        let is_over = |began_us| now_us.saturating_sub(began_us) >= PERIOD_US;
        if period.began_us.is_none_or(is_over) {
            period.began_us = Some(now_us);
            period.passed = 0;
        }
        if period.passed == PASSED_MAX {
            period.held_back += 1;
            return None;
        }
        period.passed += 1;
        Some(HeldBack(std::mem::take(&mut period.held_back)))
    }
}

/// The number of events that were not logged; displayed after one that is logged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct HeldBack(u64);

impl std::fmt::Display for HeldBack {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.0 {
            0 => Ok(()),
            count => write!(f, " ({count} more were not logged)"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn events_beyond_the_limit_are_counted_in_the_next_period() {
        let throttle = Throttle::new();
        let start = Now::new(Duration::ZERO, Duration::ZERO);
        let passed = |now| {
            (0..25)
                .filter_map(|_| throttle.pass(now))
                .collect::<Vec<_>>()
        };
        assert_eq!(passed(start), [HeldBack(0); 10]);
        assert_eq!(passed(start.after(Duration::from_secs(59))), []);
        let next = passed(start.after(Duration::from_secs(60)));
        assert_eq!(
            (next.len(), next[0], next[1]),
            (10, HeldBack(40), HeldBack(0))
        );
        assert_eq!(next[0].to_string(), " (40 more were not logged)");
    }
}
