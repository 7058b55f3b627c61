//! The clock: the only place of the crate that reads one.

use std::time::{Duration, Instant, SystemTime};

/// The time since 1970.
pub(crate) fn unix() -> Duration {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    since.unwrap_or_default()
}

/// The same in whole seconds.
pub(crate) fn unix_s() -> u64 {
    unix().as_secs()
}

/// A moment, to measure from.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Moment(Instant);

impl Moment {
    pub(crate) fn now() -> Self {
        Self(Instant::now())
    }

    /// The time since then.
    pub(crate) fn elapsed(self) -> Duration {
        self.0.elapsed()
    }
}

/// Tells milliseconds since 1970 that never go back, whatever is done to the system's clock.
#[derive(Debug)]
pub(crate) struct Clock {
    since: Moment,
    began: Duration,
}

impl Clock {
    pub(crate) fn new() -> Self {
        Self {
            since: Moment::now(),
            began: unix(),
        }
    }

    pub(crate) fn now_ms(&self) -> u64 {
        (self.began + self.since.elapsed()).as_millis() as u64
    }
}
