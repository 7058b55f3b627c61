//! Slows down attempts to guess passwords.
//!
//! The first few wrong passwords are answered at once, because people mistype. After that, each
//! attempt is answered later than the one before, up to a second, whether it is right or wrong:
//! otherwise a quick answer would reveal the result. Failures are counted per connection and per
//! address, so connecting again does not help. Other addresses are not slowed down. After a minute
//! without failures all counts are cleared.

use crate::client::Peer;
use crate::{Limits, Now};
use std::collections::HashMap;
use std::net::{IpAddr, SocketAddr};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The delay of the first delayed attempt. It doubles with each failure.
const FIRST_WAIT_MS: u64 = 100;
/// The shortest time between two reports of wrong passwords.
const REPORT_INTERVAL_US: u64 = 60 * 1_000_000;

/// A report of wrong passwords sent to a server, for the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Denied<'d> {
    /// Failures since the last report.
    pub count: u64,
    /// Addresses with recent failures, as far as they are stored.
    pub peers: usize,
    /// The address of the latest failure.
    pub latest: &'d str,
}

/// Consecutive wrong passwords of a connection or an address.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Failures {
    count: u32,
    last_us: u64,
}

impl Failures {
    fn is_forgotten(&self, now: Now, limits: &Limits) -> bool {
        let kept_us = u64::from(limits.wrong_passwords_kept_s) * 1_000_000;
        now.monotonic_us().saturating_sub(self.last_us) >= kept_us
    }

    /// The number of failures that are not expired.
    fn count(&self, now: Now, limits: &Limits) -> u32 {
        if self.is_forgotten(now, limits) {
            0
        } else {
            self.count
        }
    }

    fn add(&mut self, now: Now, limits: &Limits) {
        *self = Self {
            count: self.count(now, limits).saturating_add(1),
            last_us: now.monotonic_us(),
        };
    }
}

/// The source of attempts. An IPv6 client has a whole network of addresses, so the network counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Source {
    V4([u8; 4]),
    V6([u8; 8]),
    Local,
}

impl Source {
    fn of(peer: &Peer) -> Self {
        let address = peer.address.parse::<SocketAddr>();
        match address.map(|address| address.ip().to_canonical()) {
            Ok(IpAddr::V4(ip)) => Self::V4(ip.octets()),
            Ok(IpAddr::V6(ip)) => {
                let [network @ .., _, _, _, _, _, _, _, _] = ip.octets();
                Self::V6(network)
            }
            Err(_) => Self::Local,
        }
    }
}

/// The stored failures. Only attempts to authenticate and the tick that reports failures lock it.
#[derive(Debug, Default)]
pub(crate) struct Guard {
    memory: Mutex<Memory>,
    /// Failures that are not reported yet.
    unreported: AtomicU64,
}

#[derive(Debug, Default)]
struct Memory {
    /// At most `auth_peers_max`.
    sources: HashMap<Source, Failures>,
    told_us: Option<u64>,
    latest: Box<str>,
}

impl Guard {
    /// Records an attempt of a connection to authenticate, and returns the delay of its answer in
    /// microseconds. O(1); O(`auth_peers_max`) for the first failure of an address when that many
    /// addresses are stored.
    pub(crate) fn attempt(
        &self,
        (peer, own): (&Peer, &mut Failures),
        is_right: bool,
        now: Now,
        limits: &Limits,
    ) -> u64 {
        let source = Source::of(peer);
        let mut memory = self.lock();
        let known = memory.sources.get(&source).copied().unwrap_or_default();
        let before = known.count(now, limits).max(own.count(now, limits));
        if !is_right {
            own.add(now, limits);
            memory.add(source, now, limits);
            memory.latest = peer.address.clone();
            self.unreported.fetch_add(1, Ordering::Relaxed);
        }
        wait_us(before, limits)
    }

    /// Passes unreported failures to `report`, at most once a minute.
    pub(crate) fn report(&self, now: Now, limits: &Limits, report: impl FnOnce(Denied<'_>)) {
        if self.unreported.load(Ordering::Relaxed) == 0 {
            return;
        }
        let mut memory = self.lock();
        let now_us = now.monotonic_us();
        let is_early = |told_us| now_us.saturating_sub(told_us) < REPORT_INTERVAL_US;
        if memory.told_us.is_some_and(is_early) {
            return;
        }
        memory.told_us = Some(now_us);
        let is_counted = |failures: &&Failures| failures.count(now, limits) > 0;
        let peers = memory.sources.values().filter(is_counted).count();
        report(Denied {
            count: self.unreported.swap(0, Ordering::Relaxed),
            peers,
            latest: &memory.latest,
        });
    }

    fn lock(&self) -> MutexGuard<'_, Memory> {
        self.memory.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Memory {
    fn add(&mut self, source: Source, now: Now, limits: &Limits) {
        let is_full = self.sources.len() >= limits.auth_peers_max;
        if is_full && !self.sources.contains_key(&source) {
            let quietest = self.sources.iter().min_by_key(|(_, known)| known.last_us);
            if let Some((quietest, _)) = quietest.map(|(source, known)| (*source, *known)) {
                self.sources.remove(&quietest);
            }
        }
        self.sources.entry(source).or_default().add(now, limits);
    }
}

/// The delay of an attempt after this number of failures.
fn wait_us(failures: u32, limits: &Limits) -> u64 {
    let Some(beyond) = failures.checked_sub(limits.wrong_passwords_free) else {
        return 0;
    };
    let doubled = FIRST_WAIT_MS.saturating_mul(1 << beyond.min(32));
    doubled.min(u64::from(limits.auth_wait_ms_max)) * 1000
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    const LIMITS: Limits = Limits {
        auth_peers_max: 4,
        ..Limits::DEFAULT
    };

    fn at(seconds: u64) -> Now {
        Now::new(Duration::from_secs(seconds), Duration::ZERO)
    }

    /// The delay of a new connection from this address, in milliseconds.
    fn attempt(guard: &Guard, address: &str, is_right: bool, now: Now) -> u64 {
        let peer = Peer {
            address: address.into(),
            ..Peer::default()
        };
        let mut own = Failures::default();
        guard.attempt((&peer, &mut own), is_right, now, &LIMITS) / 1000
    }

    #[test]
    fn delay_doubles_up_to_its_limit_per_address() {
        let guard = Guard::default();
        let wrong = |address: &str| attempt(&guard, address, false, at(1));
        let waits: Vec<_> = (1..10)
            .map(|port| wrong(&format!("10.0.0.1:{port}")))
            .collect();
        assert_eq!(waits, [0, 0, 0, 100, 200, 400, 800, 1000, 1000]);
        assert_eq!(attempt(&guard, "10.0.0.1:99", true, at(1)), 1000);
        assert_eq!(attempt(&guard, "10.0.0.2:99", true, at(1)), 0);
        assert_eq!(attempt(&guard, "[::ffff:10.0.0.1]:9", true, at(1)), 1000);
    }

    #[test]
    fn ipv6_network_counts_as_one_address() {
        let guard = Guard::default();
        for host in 1..=3 {
            attempt(&guard, &format!("[2001:db8:0:1::{host}]:5"), false, at(1));
        }
        assert_eq!(attempt(&guard, "[2001:db8:0:1::ff]:5", true, at(1)), 100);
        assert_eq!(attempt(&guard, "[2001:db8:0:2::1]:5", true, at(1)), 0);
    }

    #[test]
    fn failures_expire_after_a_minute_without_new_ones() {
        let guard = Guard::default();
        for second in 0..4 {
            attempt(&guard, "10.0.0.1:5", false, at(second));
        }
        assert_eq!(attempt(&guard, "10.0.0.1:5", true, at(62)), 200);
        assert_eq!(attempt(&guard, "10.0.0.1:5", true, at(63)), 0);
    }

    #[test]
    fn stored_addresses_are_limited() {
        let guard = Guard::default();
        for host in 1..=100 {
            for _ in 0..4 {
                attempt(&guard, &format!("10.0.0.{host}:5"), false, at(host));
            }
        }
        assert_eq!(guard.lock().sources.len(), LIMITS.auth_peers_max);
        assert_eq!(attempt(&guard, "10.0.0.100:5", true, at(100)), 200);
        assert_eq!(attempt(&guard, "10.0.0.96:5", true, at(100)), 0);
    }

    #[test]
    fn failures_are_reported_at_once_and_then_once_a_minute() {
        let guard = Guard::default();
        let told = |now| {
            let mut told = None;
            guard.report(now, &LIMITS, |denied| {
                told = Some((denied.count, denied.peers, denied.latest.to_owned()));
            });
            told
        };
        assert_eq!(told(at(0)), None);
        attempt(&guard, "10.0.0.1:5", false, at(1));
        assert_eq!(told(at(1)), Some((1, 1, "10.0.0.1:5".to_owned())));
        attempt(&guard, "10.0.0.1:6", false, at(50));
        attempt(&guard, "10.0.0.2:7", false, at(51));
        assert_eq!(told(at(60)), None);
        assert_eq!(told(at(61)), Some((2, 2, "10.0.0.2:7".to_owned())));
        assert_eq!(told(at(200)), None);
    }
}
