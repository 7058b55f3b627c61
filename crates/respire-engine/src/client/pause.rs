//! `CLIENT PAUSE`: holds back all commands, or only writing ones, for a time. Beside it, the number
//! of long calls and whether a gate is closed: all that a request asks for before it runs.

use crate::{Now, Spec};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};

/// The end of the pause, and the commands that it holds back.
#[derive(Debug, Default)]
pub(crate) struct Pause {
    /// Monotonic microseconds; 0 without a pause.
    until_us: AtomicU64,
    writes_only: AtomicBool,
    /// [`PAUSED`] while a pause was begun and not ended, [`GATE`] while one is closed, and
    /// [`LONG_CALL`] for each long call.
    reasons: AtomicU32,
}

const PAUSED: u32 = 1;
const GATE: u32 = 2;
const LONG_CALL: u32 = 4;

impl Pause {
    /// Pauses until `until_us`. A pause that is still running can only be extended.
    pub(crate) fn begin(&self, now: Now, until_us: u64, writes_only: bool) {
        let running = self.until_us.load(Ordering::Acquire) > now.monotonic_us();
        // Pausing all commands takes precedence over pausing writes while an earlier pause runs, as
        // in Redis.
        let writes_only = writes_only && (!running || self.writes_only.load(Ordering::Relaxed));
        self.writes_only.store(writes_only, Ordering::Relaxed);
        self.until_us.fetch_max(until_us, Ordering::AcqRel);
        self.reasons.fetch_or(PAUSED, Ordering::AcqRel);
    }

    pub(crate) fn end(&self) {
        self.until_us.store(0, Ordering::Release);
        self.reasons.fetch_and(!PAUSED, Ordering::AcqRel);
    }

    pub(crate) fn note_gates(&self, is_any_closed: bool) {
        if is_any_closed {
            self.reasons.fetch_or(GATE, Ordering::AcqRel);
        } else {
            self.reasons.fetch_and(!GATE, Ordering::AcqRel);
        }
    }

    pub(crate) fn long_call_began(&self) {
        self.reasons.fetch_add(LONG_CALL, Ordering::AcqRel);
    }

    pub(crate) fn long_call_ended(&self) {
        self.reasons.fetch_sub(LONG_CALL, Ordering::AcqRel);
    }

    /// Whether any command may have to wait. Costs one load per request.
    #[inline(always)]
    pub(crate) fn is_on(&self) -> bool {
        self.reasons.load(Ordering::Acquire) > 0
    }

    /// The time until which a command has to wait, if it has to. `writes`: whether it counts as a
    /// write.
    pub(crate) fn holds(
        &self,
        spec: &Spec,
        writes: impl FnOnce() -> bool,
        now: Now,
    ) -> Option<u64> {
        let until = self.until_us.load(Ordering::Acquire);
        if until == 0 || until <= now.monotonic_us() {
            return None;
        }
        let waits = if self.writes_only.load(Ordering::Relaxed) {
            writes()
        } else {
            spec.subcommand()
                .is_none_or(|(container, _)| container != "client")
        };
        waits.then_some(until)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    const GET: Spec = Spec {
        name: "get",
        ..Spec::EMPTY
    };

    fn at(us: u64) -> Now {
        Now::new(Duration::from_micros(us), Duration::ZERO)
    }

    #[test]
    fn write_pause_does_not_hold_reads() {
        let pause = Pause::default();
        pause.begin(at(0), 100, true);
        assert_eq!(pause.holds(&GET, || false, at(50)), None);
        assert_eq!(pause.holds(&GET, || true, at(50)), Some(100));
        assert_eq!(pause.holds(&GET, || true, at(100)), None);
    }

    #[test]
    fn pause_can_be_extended_but_not_shortened() {
        let pause = Pause::default();
        pause.begin(at(0), 100, false);
        pause.begin(at(10), 50, true);
        assert_eq!(pause.holds(&GET, || false, at(60)), Some(100));
        pause.end();
        assert_eq!(pause.holds(&GET, || false, at(60)), None);
    }
}
