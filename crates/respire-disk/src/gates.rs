//! Decides which gate of the server is closed: writes are refused, or wait, while they could not be kept.

use crate::served::Served;
use respire_durable::log::Trouble;
use respire_engine::{Error, Gate};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The reasons for which writes are refused or wait.
pub(crate) struct Gates {
    served: Arc<dyn Served>,
    reasons: Mutex<Reasons>,
}

#[derive(Default)]
struct Reasons {
    /// The log cannot take changes.
    log: Option<Error>,
    /// The last snapshot failed, and `stop-writes-on-bgsave-error` is on.
    has_snapshot_failed: bool,
    /// Changes come faster than the disk takes them.
    is_log_slow: bool,
    /// Changes come faster than a snapshot passes over them.
    is_cut_behind: bool,
}

const SNAPSHOT_FAILED: Error = Error::fixed(
    "MISCONF Redis is configured to save RDB snapshots, but it's \
    currently unable to persist to disk. Commands that may modify the data set are disabled, \
    because this instance is configured to report errors during writes if RDB snapshotting fails \
    (stop-writes-on-bgsave-error option). Please check the Redis logs for details about the RDB \
    error.",
);

impl Gates {
    pub(crate) fn new(served: Arc<dyn Served>) -> Self {
        Self {
            served,
            reasons: Mutex::default(),
        }
    }

    /// The log has this trouble now, with the system's error, or none.
    pub(crate) fn set_log_trouble(&self, trouble: Option<(Trouble, &str)>) {
        let refuses = trouble.filter(|(trouble, _)| *trouble != Trouble::Renewing);
        let text = |error| format!("Errors writing to the AOF file: {error}");
        let log = refuses.map(|(_, error)| Error::new("MISCONF", text(error)));
        self.change(|reasons| reasons.log = log);
    }

    /// Whether writes are refused because of the last snapshot.
    pub(crate) fn set_snapshot_failed(&self, has_failed: bool) {
        self.change(|reasons| reasons.has_snapshot_failed = has_failed);
    }

    /// Whether writes wait until the log has caught up.
    pub(crate) fn set_log_slow(&self, is_slow: bool) {
        self.change(|reasons| reasons.is_log_slow = is_slow);
    }

    /// Whether writes wait until a snapshot has caught up.
    pub(crate) fn set_cut_behind(&self, is_behind: bool) {
        self.change(|reasons| reasons.is_cut_behind = is_behind);
    }

    fn change(&self, change: impl FnOnce(&mut Reasons)) {
        let mut reasons = self.lock();
        let before = reasons.gates();
        change(&mut reasons);
        let after = reasons.gates();
        // Under the lock, so that the gates are those of the last change.
        for (before, after) in before.into_iter().zip(after) {
            match (before, after) {
                (before, after) if before == after => {}
                (_, Some(gate)) => self.served.set_gate(gate, true),
                (Some(gate), None) => self.served.set_gate(gate, false),
                (None, None) => {}
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, Reasons> {
        self.reasons.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Reasons {
    /// The gates that are closed.
    fn gates(&self) -> [Option<Gate>; 2] {
        let snapshot = self.has_snapshot_failed.then_some(SNAPSHOT_FAILED);
        let refusal = self.log.clone().or(snapshot);
        [
            refusal.map(Gate::Misconf),
            (self.is_log_slow || self.is_cut_behind).then_some(Gate::Pace),
        ]
    }
}
