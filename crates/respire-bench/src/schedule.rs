//! The schedule of the open loop: the time at which each request should leave, independent of the
//! server.
//!
//! In a closed loop a slow reply delays the requests after it, and their waiting time is never
//! measured (coordinated omission). Here the time of every request is fixed before the run, and
//! latency counts from that time. A busy connection sends its due requests as soon as it can.

/// Requests at a constant rate, assigned to connections in turn. Times are nanoseconds since the
/// start of the run; this module reads no clock.
///
/// ```
/// use respire_bench::schedule::Schedule;
/// let mut schedule = Schedule::new(1_000.0, 2);
/// // At 2.5 ms the requests of 0, 1 and 2 ms are due: connections 0, 1 and 0.
/// assert_eq!(schedule.due(2_500_000).collect::<Vec<_>>(), [0, 1, 0]);
/// assert_eq!(schedule.next_ns(), 3_000_000);
/// ```
#[derive(Clone, Debug)]
pub struct Schedule {
    ns_per_request: f64,
    connections: u64,
    /// The number of requests that have become due.
    assigned: u64,
}

impl Schedule {
    /// `rate` requests per second over this number of connections.
    ///
    /// # Panics
    /// If the rate is not above 0, or there are no connections.
    pub fn new(rate: f64, connections: usize) -> Self {
        assert!(rate > 0.0 && connections > 0, "a rate over something");
        Self {
            ns_per_request: 1e9 / rate,
            connections: connections as u64,
            assigned: 0,
        }
    }

    /// When the next request is due.
    pub fn next_ns(&self) -> u64 {
        self.at(self.assigned)
    }

    /// When the `nth` request of a connection should leave.
    #[inline]
    pub fn intended_ns(&self, connection: usize, nth: u64) -> u64 {
        self.at(nth * self.connections + connection as u64)
    }

    /// The connections of the requests that became due since the last call.
    pub fn due(&mut self, now_ns: u64) -> impl Iterator<Item = usize> + '_ {
        std::iter::from_fn(move || {
            let connection = self.assigned % self.connections;
            (self.next_ns() <= now_ns).then(|| {
                self.assigned += 1;
                connection as usize
            })
        })
    }

    fn at(&self, request: u64) -> u64 {
        (request as f64 * self.ns_per_request) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    #[test]
    fn every_request_is_assigned_once_even_if_the_clock_jumps() {
        for step in [1, 7, 1_000] {
            let mut schedule = Schedule::new(1_000.0, 3);
            let mut assigned = [0_u64; 3];
            for now in (0..=2_000).step_by(step) {
                for connection in schedule.due(now * MS) {
                    assigned[connection] += 1;
                }
            }
            let last = (2_000 / step * step) as u64;
            assert_eq!(assigned.iter().sum::<u64>(), last + 1, "step {step}");
            assert!(assigned.iter().all(|&n| n.abs_diff(assigned[0]) <= 1));
        }
    }

    #[test]
    fn intended_times_match_the_times_when_requests_became_due() {
        let mut schedule = Schedule::new(333.0, 4);
        let mut sent = [0_u64; 4];
        let mut last = 0;
        while schedule.next_ns() < 1_000 * MS {
            let now = schedule.next_ns();
            let due: Vec<usize> = schedule.due(now).collect();
            for connection in due {
                assert_eq!(schedule.intended_ns(connection, sent[connection]), now);
                sent[connection] += 1;
            }
            assert!(now == 0 || now - last >= 3 * MS);
            last = now;
        }
        assert_eq!(sent.iter().sum::<u64>(), 333);
    }

    #[test]
    fn stalled_server_adds_latency_to_every_waiting_request() {
        // The server sends nothing for 100 ms, then all replies at once.
        let mut schedule = Schedule::new(1_000.0, 1);
        let owed = schedule.due(100 * MS).count() as u64;
        let waits: Vec<u64> = (0..owed)
            .map(|nth| (100 * MS - schedule.intended_ns(0, nth)) / MS)
            .collect();
        assert_eq!(waits, (0..=100).rev().collect::<Vec<u64>>());
    }

    #[test]
    fn rate_is_exact_over_a_long_run() {
        let schedule = Schedule::new(3_000_000.0, 1);
        let hour = 3_600 * 3_000_000_u64;
        assert!(schedule.at(hour).abs_diff(3_600_000 * MS) < 1_000);
    }
}
