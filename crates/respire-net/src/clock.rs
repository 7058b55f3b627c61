//! Reads the clocks of the process. No other module reads them.

use respire_engine::Now;
use std::sync::OnceLock;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// The origin of monotonic time for all servers of this process. An engine and the drivers that
/// serve it must share it.
static ORIGIN: OnceLock<Instant> = OnceLock::new();

/// The current time on both clocks. Reads two clocks, so call it once per turn.
///
/// ```
/// let earlier = respire_net::clock::now();
/// assert!(respire_net::clock::now().monotonic_us() >= earlier.monotonic_us());
/// ```
#[must_use]
pub fn now() -> Now {
    // A wall clock before 1970 counts as 1970: nothing expires early.
    let unix = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    Now::new(origin().elapsed(), unix)
}

/// The monotonic time in nanoseconds since the origin. Reads one clock.
#[must_use]
pub fn monotonic_ns() -> u64 {
    u64::try_from(origin().elapsed().as_nanos()).unwrap_or(u64::MAX)
}

/// The instant at which the monotonic time is `us`.
#[must_use]
pub fn instant_at(us: u64) -> Instant {
    // Only a deadline further away than any process runs is out of range.
    origin()
        .checked_add(Duration::from_micros(us))
        .unwrap_or_else(|| origin() + FAR)
}

/// How long to wait from `now` until the monotonic time is `us`; zero if that has passed.
#[must_use]
pub fn until(us: u64, now: Now) -> Duration {
    Duration::from_micros(us.saturating_sub(now.monotonic_us()))
}

const FAR: Duration = Duration::from_secs(60 * 60 * 24 * 365 * 30);

fn origin() -> Instant {
    *ORIGIN.get_or_init(Instant::now)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instants_and_microseconds_agree() {
        let us = now().monotonic_us() + 1_000_000;
        let wait = instant_at(us) - instant_at(us - 250_000);
        assert_eq!(wait, Duration::from_micros(250_000));
        assert!(instant_at(u64::MAX) > Instant::now());
    }

    #[test]
    fn waits_end_at_zero() {
        let now = Now::new(Duration::from_micros(500), Duration::ZERO);
        assert_eq!(until(700, now), Duration::from_micros(200));
        assert_eq!(until(300, now), Duration::ZERO);
    }
}
