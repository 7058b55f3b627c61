//! How much of a processor a snapshot takes.

use core::time::Duration;

/// Keeps the work of a snapshot to a part of a processor. It knows for how long its caller should rest; the caller
/// rests in a way that something urgent can end. Times count from any moment, the same for all.
///
/// ```
/// use respire_disk::snapshot::Duty;
/// use std::time::Duration;
///
/// let mut duty = Duty::new(25, Duration::ZERO);
/// assert_eq!(duty.rest(Duration::from_micros(100)), None);
/// assert_eq!(duty.rest(Duration::from_millis(2)), Some(Duration::from_millis(6)));
/// ```
#[derive(Debug, Clone)]
pub struct Duty {
    /// The part of the time in which it may work, in percent.
    percent: u32,
    /// When the caller began to work after its last rest.
    since: Duration,
}

/// Work of less than this is not followed by a rest, which would be too short to be kept.
const WORK_LEAST: Duration = Duration::from_millis(1);

/// A longer piece of work, such as waiting for a slow disk, is not work of a processor as a whole. So a rest is not
/// longer than this.
const REST_MOST: Duration = Duration::from_millis(50);

impl Duty {
    /// Begins to work at `now` for this part of the time, in percent. It is clamped to 1 to 100.
    #[must_use]
    pub fn new(percent: u32, now: Duration) -> Duty {
        Duty {
            percent: percent.clamp(1, 100),
            since: now,
        }
    }

    /// Returns for how long to rest at `now`, if it is time for that. The caller is expected to work on afterwards.
    pub fn rest(&mut self, now: Duration) -> Option<Duration> {
        let worked = now.saturating_sub(self.since);
        if worked < WORK_LEAST || self.percent == 100 {
            return None;
        }
        let rest = (worked * (100 - self.percent) / self.percent).min(REST_MOST);
        self.since = now + rest;
        Some(rest)
    }
}
