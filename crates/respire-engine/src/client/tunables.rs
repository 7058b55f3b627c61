//! The values of `CONFIG` that the engine uses; they can change while it runs.

use crate::Limits;
use crate::secret::is_same;
use std::sync::RwLock;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU32, AtomicU64, Ordering};

/// Values that sessions read for each request. Reading is a plain load, except for the password,
/// which is read only by `AUTH` and when a connection opens.
#[derive(Debug)]
pub struct Tunables {
    password: RwLock<Option<Box<[u8]>>>,
    has_password: AtomicBool,
    /// Whether an authenticator replaces the password.
    has_authenticator: bool,
    /// Incremented when decoders must apply new limits.
    pub(crate) limits_generation: AtomicU32,
    pub(crate) bulk_bytes_max: AtomicU64,
    pub(crate) clients_max: AtomicU32,
    pub(crate) idle_timeout_s: AtomicU64,
    /// How long requests wait for a long call before they are refused.
    pub(crate) busy_reply_ms: AtomicU64,
    /// Negative if the slow log is off.
    pub(crate) slowlog_us: AtomicI64,
    pub(crate) slowlog_len_max: AtomicU64,
    /// 0 if the latency monitor is off.
    pub(crate) latency_threshold_ms: AtomicU64,
    /// Whether command times are recorded.
    pub(crate) latency_tracking: AtomicBool,
    /// The percentiles that `INFO latencystats` shows.
    percentiles: RwLock<Vec<f64>>,
}

impl Tunables {
    pub(crate) fn new(
        limits: &Limits,
        clients_max: u32,
        password: &[u8],
        has_authenticator: bool,
    ) -> Self {
        let tunables = Self {
            password: RwLock::new(None),
            has_password: AtomicBool::new(has_authenticator),
            has_authenticator,
            limits_generation: AtomicU32::new(0),
            bulk_bytes_max: AtomicU64::new(limits.bulk_bytes_max),
            clients_max: AtomicU32::new(clients_max),
            idle_timeout_s: AtomicU64::new(0),
            busy_reply_ms: AtomicU64::new(5000),
            slowlog_us: AtomicI64::new(10_000),
            slowlog_len_max: AtomicU64::new(128),
            latency_threshold_ms: AtomicU64::new(0),
            latency_tracking: AtomicBool::new(true),
            percentiles: RwLock::new(vec![50.0, 99.0, 99.9]),
        };
        tunables.set_password(password);
        tunables
    }

    /// The maximum number of connections at once.
    #[must_use]
    pub fn clients_max(&self) -> u32 {
        self.clients_max.load(Ordering::Relaxed)
    }

    /// The longest bulk string in a request, and the longest string that a command may create, in
    /// bytes (`proto-max-bulk-len`).
    #[must_use]
    pub fn bulk_bytes_max(&self) -> u64 {
        self.bulk_bytes_max.load(Ordering::Relaxed)
    }

    /// Whether a connection must authenticate.
    #[must_use]
    pub fn has_password(&self) -> bool {
        self.has_password.load(Ordering::Acquire)
    }

    /// The percentiles of command times that `INFO latencystats` shows.
    pub(crate) fn percentiles(&self) -> Vec<f64> {
        self.percentiles
            .read()
            .unwrap_or_else(|poisoned| poisoned.into_inner())
            .clone()
    }

    pub(crate) fn set_percentiles(&self, percentiles: Vec<f64>) {
        *self
            .percentiles
            .write()
            .unwrap_or_else(|poisoned| poisoned.into_inner()) = percentiles;
    }

    /// Whether an authenticator checks users. The password is not used then.
    #[must_use]
    pub fn has_authenticator(&self) -> bool {
        self.has_authenticator
    }

    /// Sets the password. With an empty one, clients need no password.
    pub fn set_password(&self, password: &[u8]) {
        let mut slot = self
            .password
            .write()
            .unwrap_or_else(|poisoned| poisoned.into_inner());
        *slot = (!password.is_empty()).then(|| password.into());
        let has_password = slot.is_some() || self.has_authenticator;
        self.has_password.store(has_password, Ordering::Release);
    }

    /// The password, for `CONFIG GET` by an authenticated connection.
    #[must_use]
    pub fn password(&self) -> Option<Box<[u8]>> {
        self.password
            .read()
            .unwrap_or_else(|poisoned| poisoned.into_inner())
            .clone()
    }

    /// Compares in a time that depends only on the lengths.
    #[must_use]
    pub fn password_is(&self, attempt: &[u8]) -> bool {
        let password = self
            .password
            .read()
            .unwrap_or_else(|poisoned| poisoned.into_inner());
        is_same(password.as_deref().unwrap_or_default(), attempt)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn empty_password_disables_authentication() {
        let tunables = Tunables::new(&Limits::DEFAULT, 10_000, b"", false);
        assert!(!tunables.has_password());
        tunables.set_password(b"x");
        assert!(tunables.has_password());
        tunables.set_password(b"");
        assert_eq!(tunables.password(), None);
        assert!(!tunables.has_password());
        let guarded = Tunables::new(&Limits::DEFAULT, 10_000, b"", true);
        guarded.set_password(b"");
        assert!(guarded.has_password());
    }
}
