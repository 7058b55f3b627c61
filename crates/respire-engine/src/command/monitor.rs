//! The engine's own metrics for monitoring.

use crate::client::pubsub::Kind;
use crate::command::table::CommandEntry;
use crate::observe::histogram::Counts;
use crate::observe::metrics::{Buckets, Metrics};
use crate::{App, Engine, Keyspace, Now};
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

impl<A: App> Engine<A> {
    /// All metrics: those of the engine, the process and the application.
    ///
    /// Reads every counter once, in some ten microseconds for each command that was called.
    #[must_use]
    pub fn metrics(&self, now: Now) -> Metrics {
        let mut out = Metrics::default();
        let version = [("version", env!("CARGO_PKG_VERSION"))];
        out.gauge(
            "respire_build_info",
            "The version that runs.",
            &version,
            1.0,
        );
        let up_us = now
            .monotonic_us()
            .saturating_sub(self.started.monotonic_us());
        let up_s = up_us as f64 / 1e6;
        out.gauge("respire_uptime_seconds", "Time since the start.", &[], up_s);
        self.connections(&mut out);
        for entry in self.table.all() {
            command(entry, &mut out);
        }
        for (code, count) in self.stats.errors() {
            let (name, help) = (
                "respire_error_replies",
                "Errors answered, by their first word.",
            );
            out.counter(name, help, &[("code", &code)], count);
        }
        self.host.metrics(&mut out);
        self.app().metrics(now, &mut out);
        A::Keys::metrics(self.app(), now, &mut out);
        for part in &self.extensions {
            part.metrics(now, &mut out);
        }
        out
    }

    fn connections(&self, out: &mut Metrics) {
        let stats = &self.stats;
        let (open, most) = (self.clients.len() as f64, self.tunables.clients_max());
        let gauges = [
            ("respire_connections", "Connections open.", open),
            (
                "respire_connections_max",
                "Connections served at once at most.",
                f64::from(most),
            ),
            (
                "respire_pubsub_channels",
                "Channels with subscribers.",
                self.pubsub.len(Kind::Channel) as f64,
            ),
            (
                "respire_pubsub_patterns",
                "Patterns with subscribers.",
                self.pubsub.len(Kind::Pattern) as f64,
            ),
        ];
        for (name, help, number) in gauges {
            out.gauge(name, help, &[], number);
        }
        let counters: [(&str, &str, &AtomicU64); 6] = [
            (
                "respire_connections_opened",
                "Connections that were served.",
                &stats.connections,
            ),
            (
                "respire_connections_refused",
                "Connections beyond maxclients.",
                &stats.rejected_connections,
            ),
            (
                "respire_received_bytes",
                "Bytes of requests.",
                &stats.input_bytes,
            ),
            (
                "respire_sent_bytes",
                "Bytes of replies.",
                &stats.output_bytes,
            ),
            (
                "respire_protocol_errors",
                "Connections that broke the protocol.",
                &stats.protocol_errors,
            ),
            (
                "respire_auth_failures",
                "Wrong passwords.",
                &stats.auth_denied,
            ),
        ];
        for (name, help, counter) in counters {
            out.counter(name, help, &[], counter.load(Relaxed));
        }
        let (name, help) = (
            "respire_unknown_commands",
            "Requests for commands that are not there.",
        );
        out.counter(name, help, &[], self.unknowns.total());
    }
}

/// The metrics of one command, if it was called or refused.
fn command<A: App>(entry: &CommandEntry<A>, out: &mut Metrics) {
    let stats = &entry.stats;
    let counts = [&stats.calls, &stats.failed, &stats.rejected, &stats.panics]
        .map(|counter| counter.load(Relaxed));
    if counts == [0; 4] {
        return;
    }
    let [calls, failed, rejected, panics] = counts;
    let label = [("command", entry.spec().name)];
    for (name, help, count) in [
        ("respire_commands", "Calls of the command.", calls),
        (
            "respire_command_failures",
            "Calls answered with an error.",
            failed,
        ),
        (
            "respire_command_rejections",
            "Requests refused before the command ran.",
            rejected,
        ),
        (
            "respire_command_panics",
            "Calls that panicked, which are defects.",
            panics,
        ),
    ] {
        out.counter(name, help, &label, count);
    }
    if let Some(times) = stats.times() {
        let name = "respire_command_duration_seconds";
        out.histogram(name, "Time commands took.", &label, buckets(&times));
    }
}

/// Bounds of the time buckets, in steps of a factor of four, from a microsecond to a minute.
fn buckets(times: &Counts) -> Buckets {
    const FIRST: u32 = 10;
    const LAST: u32 = 36;
    let mut before = 0;
    let total = times.total();
    let mut buckets: Vec<(f64, u64)> = times
        .by_power(FIRST, LAST)
        .step_by(2)
        .map(|(power, calls)| {
            let more = calls - std::mem::replace(&mut before, calls);
            (f64::from(power).exp2() / 1e9, more)
        })
        .collect();
    buckets.push((f64::INFINITY, total - before));
    Buckets {
        sum: times.sum_s(),
        buckets,
    }
}

#[cfg(test)]
mod tests {
    use crate::observe::metrics::Value;
    use crate::redis::testing::Server;

    #[test]
    fn metrics_cover_engine_process_and_application() {
        let server = Server::new();
        let mut line = server.connect();
        line.ask("SET a 1\nSET a 1\nSET a 1 what\nSET\nnope\nPANIC\nAUTH a b");
        let metrics = server.engine.metrics(line.now);
        let value = |name: &str, label: &str| {
            let family = metrics.families().iter().find(|known| known.name == name)?;
            let is_it = |known: &&crate::observe::metrics::Sample| {
                known.labels.is_empty() || known.labels.iter().any(|(_, value)| value == label)
            };
            family
                .samples
                .iter()
                .find(is_it)
                .map(|sample| &sample.value)
        };
        for (name, label, count) in [
            ("respire_commands", "set", 3.0),
            ("respire_command_failures", "set", 1.0),
            ("respire_command_rejections", "set", 1.0),
            ("respire_command_panics", "panic", 1.0),
            ("respire_command_panics", "set", 0.0),
            ("respire_error_replies", "ERR", 4.0),
            ("respire_connections_opened", "", 1.0),
            ("respire_auth_failures", "", 1.0),
            ("respire_unknown_commands", "", 1.0),
        ] {
            assert_eq!(value(name, label), Some(&Value::Counter(count)), "{name}");
        }
        for (name, number) in [
            ("respire_connections", 1.0),
            ("respire_connections_max", 10_000.0),
            ("process_test_threads", 1.0),
            ("cells", 7.0),
        ] {
            assert_eq!(value(name, ""), Some(&Value::Gauge(number)), "{name}");
        }
        let Some(Value::Histogram(times)) = value("respire_command_duration_seconds", "set") else {
            panic!("SET was timed");
        };
        // The tests' stopwatch advances by 5 ms with each read.
        assert!((times.sum - 0.015).abs() < 1e-9);
        assert_eq!(times.buckets.len(), 15);
        let filled: Vec<_> = times
            .buckets
            .iter()
            .filter(|(_, calls)| *calls > 0)
            .collect();
        assert_eq!(filled, [&(0.016_777_216, 3)]);
    }
}
