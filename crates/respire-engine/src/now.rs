//! The time, as a value: a driver reads its clocks once per turn and passes the result on.

use core::time::Duration;

/// The two times of a turn: a monotonic one for deadlines, and the wall clock for expiries.
///
/// The engine, the commands and the store never read a clock, so a test, a simulator and a web page
/// control the time.
///
/// ```
/// use respire_engine::Now;
/// use std::time::Duration;
///
/// let now = Now::new(Duration::from_secs(5), Duration::from_millis(1_700_000_000_123));
/// assert_eq!(now.monotonic_us(), 5_000_000);
/// assert_eq!(now.unix_ms(), 1_700_000_000_123);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Now {
    /// Its highest bit says that a log is replayed: a field of its own would make each copy longer.
    monotonic_us: u64,
    unix_us: u64,
    /// `unix_us / 1000`, divided once per turn instead of once per command.
    unix_ms: u64,
}

/// The bit of a replay, in half a million years of microseconds.
const REPLAYING: u64 = 1 << 63;

impl Now {
    /// `monotonic` counts from any fixed origin of the driver's choosing; `unix` from 1970-01-01.
    #[must_use]
    pub const fn new(monotonic: Duration, unix: Duration) -> Self {
        Self {
            monotonic_us: below_replaying(saturating_us(monotonic)),
            unix_us: saturating_us(unix),
            unix_ms: saturating_us(unix) / 1000,
        }
    }

    /// The same times, for the replay of a log: nothing is due ([`Now::due_ms`]).
    #[must_use]
    pub const fn replaying(self) -> Self {
        Self {
            monotonic_us: self.monotonic_us | REPLAYING,
            ..self
        }
    }

    /// Whether changes of a log are made again. Each expiry is a change of its own in a log, so nothing
    /// may expire by itself.
    #[must_use]
    #[inline]
    pub const fn is_replaying(self) -> bool {
        self.monotonic_us & REPLAYING != 0
    }

    /// What is expired: everything with an expiry up to this time, in milliseconds since 1970-01-01
    /// UTC. It is the time, and 0 in a [replay](Now::replaying).
    #[must_use]
    #[inline]
    pub const fn due_ms(self) -> u64 {
        if self.is_replaying() { 0 } else { self.unix_ms }
    }

    /// Microseconds since the driver's origin; never decreases.
    #[must_use]
    pub const fn monotonic_us(self) -> u64 {
        self.monotonic_us & !REPLAYING
    }

    /// Microseconds since 1970-01-01 UTC.
    #[must_use]
    pub const fn unix_us(self) -> u64 {
        self.unix_us
    }

    /// Milliseconds since 1970-01-01 UTC.
    #[must_use]
    pub const fn unix_ms(self) -> u64 {
        self.unix_ms
    }

    /// Both times advanced by `by`.
    #[must_use]
    pub const fn after(self, by: Duration) -> Self {
        let us = saturating_us(by);
        let unix_us = self.unix_us.saturating_add(us);
        let monotonic_us = below_replaying(self.monotonic_us().saturating_add(us));
        Self {
            monotonic_us: monotonic_us | self.monotonic_us & REPLAYING,
            unix_us,
            unix_ms: unix_us / 1000,
        }
    }
}

const fn below_replaying(us: u64) -> u64 {
    if us < REPLAYING { us } else { REPLAYING - 1 }
}

const fn saturating_us(d: Duration) -> u64 {
    let us = d.as_micros();
    if us > u64::MAX as u128 {
        u64::MAX
    } else {
        us as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn after_moves_both_clocks() {
        let now = Now::new(Duration::from_secs(1), Duration::from_secs(10))
            .after(Duration::from_millis(1500));
        assert_eq!(now.monotonic_us(), 2_500_000);
        assert_eq!(now.unix_us(), 11_500_000);
        assert_eq!(now.unix_ms(), 11_500);
    }

    #[test]
    fn durations_beyond_the_range_saturate() {
        let now = Now::new(Duration::MAX, Duration::MAX);
        assert_eq!(now.monotonic_us(), u64::MAX >> 1);
        let later = now.after(Duration::MAX);
        assert_eq!((later.unix_us(), later.is_replaying()), (u64::MAX, false));
        let replaying = now.replaying().after(Duration::MAX);
        assert_eq!(replaying.monotonic_us(), u64::MAX >> 1);
        assert!(replaying.is_replaying());
    }
}
