//! The report of one run, for people and for programs.

use std::fmt::{self, Write as _};
use std::time::Duration;

use serde::Serialize;

use super::{BesideReport, Collector, Counts, Latency, Moment, quantiles_us};
use crate::workload::{Kind, Mix, Workload};

/// The results of a run.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// Address of the server.
    pub server: String,
    /// The requests that were sent.
    pub workload: Workload,
    /// Connections.
    pub clients: usize,
    /// Threads of the load generator.
    pub threads: usize,
    /// The intended requests per second, in the open loop.
    pub rate: Option<f64>,
    /// From the first request to the last reply, in seconds.
    pub seconds: f64,
    /// Commands answered.
    pub commands: u64,
    /// Commands answered per second.
    pub per_second: f64,
    /// Misses, mismatches, errors, bytes.
    pub counts: Counts,
    /// The first reply that was an error or a mismatch.
    pub first_complaint: Option<String>,
    /// CPU seconds of the load generator. If near `seconds` × threads, the load generator was the
    /// bottleneck.
    pub load_cpu_s: f64,
    /// Latencies of all commands.
    pub all: Latency,
    /// Latencies per command.
    pub kinds: Vec<KindReport>,
    /// (share of requests that are longer, microseconds).
    pub quantiles_us: Vec<(f64, f64)>,
    /// The time series of the run.
    pub moments: Vec<Moment>,
    /// The commands that ran at the same time.
    pub beside: Option<BesideReport>,
}

/// Latencies of one command.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct KindReport {
    /// The command.
    pub kind: Kind,
    /// How many commands were answered.
    pub commands: u64,
    /// Their latencies.
    #[serde(flatten)]
    pub latency: Latency,
}

/// The facts of a run besides the measurements.
pub(crate) struct Facts<'a> {
    pub(crate) server: String,
    pub(crate) workload: &'a Workload,
    pub(crate) clients: usize,
    pub(crate) threads: usize,
    pub(crate) rate: Option<f64>,
    pub(crate) elapsed: Duration,
    pub(crate) load_cpu: Duration,
    pub(crate) first_complaint: Option<String>,
}

impl Report {
    pub(crate) fn new(facts: Facts<'_>, collector: &Collector) -> Self {
        let all = collector.total_all();
        let seconds = facts.elapsed.as_secs_f64();
        let kinds = Kind::ALL
            .into_iter()
            .filter(|&kind| !collector.total(kind).is_empty())
            .map(|kind| KindReport {
                kind,
                commands: collector.total(kind).len(),
                latency: Latency::of(collector.total(kind)),
            });
        Self {
            server: facts.server,
            workload: facts.workload.clone(),
            clients: facts.clients,
            threads: facts.threads,
            rate: facts.rate,
            seconds,
            commands: all.len(),
            per_second: all.len() as f64 / seconds.max(1e-9),
            counts: *collector.counts(),
            first_complaint: facts.first_complaint,
            load_cpu_s: facts.load_cpu.as_secs_f64(),
            all: Latency::of(&all),
            kinds: kinds.collect(),
            quantiles_us: quantiles_us(&all),
            moments: collector.moments().to_vec(),
            beside: None,
        }
    }

    /// Whether every reply was of its request's kind, every value correct, and no command beside the load failed.
    pub fn is_sound(&self) -> bool {
        let errors_beside = self.beside.as_ref().map_or(0, |beside| beside.errors);
        self.counts.mismatches == 0 && self.counts.errors == 0 && errors_beside == 0
    }

    /// The share of the time that the load generator's threads were busy.
    pub fn load_share(&self) -> f64 {
        self.load_cpu_s / (self.seconds * self.threads as f64).max(1e-9)
    }

    fn write_load(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let load = &self.workload;
        let mix = match load.mix {
            Mix::Cycle => "SET, GET, DELETE".to_owned(),
            Mix::Ratio { sets, gets } => format!("SET:GET {sets}:{gets}"),
        };
        let loop_kind = match self.rate {
            None => "closed loop".to_owned(),
            Some(rate) => format!("open loop at {rate} requests/s"),
        };
        writeln!(
            f,
            "{}: {mix}, {} connections, pipeline {}, {loop_kind}, keys of {} B out of {}, values of {} B",
            self.server,
            self.clients,
            load.pipeline,
            load.key_length,
            load.key_space,
            load.data_size
        )
    }
}

/// The table that is printed.
impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write_load(f)?;
        writeln!(
            f,
            "\n{:<8}{:>12}{:>10}{:>10}{:>10}{:>10}{:>10}{:>10}{:>10}",
            "", "commands", "min µs", "max µs", "avg µs", "p50 µs", "p95 µs", "p99 µs", "p99.9 µs"
        )?;
        for kind in &self.kinds {
            writeln!(f, "{}", row(kind.kind.name(), kind.commands, &kind.latency))?;
        }
        writeln!(f, "{}", row("all", self.commands, &self.all))?;
        writeln!(
            f,
            "\n{:.0} operations per second: {} in {:.3} s; load generator {:.0} % busy",
            self.per_second,
            self.commands,
            self.seconds,
            100.0 * self.load_share()
        )?;
        let Counts {
            misses,
            mismatches,
            errors,
            ..
        } = self.counts;
        if misses + mismatches + errors > 0 {
            writeln!(
                f,
                "{misses} misses, {mismatches} wrong replies, {errors} error replies"
            )?;
        }
        if self.counts.unsent > 0 {
            let unsent = self.counts.unsent;
            writeln!(
                f,
                "{unsent} requests were due and not sent: the rate was not reached"
            )?;
        }
        if let Some(complaint) = &self.first_complaint {
            writeln!(f, "the first that is wrong: {complaint}")?;
        }
        match &self.beside {
            Some(beside) => write!(f, "{beside}"),
            None => Ok(()),
        }
    }
}

fn row(name: &str, commands: u64, latency: &Latency) -> String {
    let mut line = format!("{name:<8}{commands:>12}");
    let columns = [
        latency.min_us,
        latency.max_us,
        latency.avg_us,
        latency.p50_us,
        latency.p95_us,
        latency.p99_us,
        latency.p999_us,
    ];
    for us in columns {
        write!(line, "{us:>10.1}").expect("a string takes any text");
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::{Interval, latencies};

    #[test]
    fn report_counts_commands_of_every_kind() {
        let mut collector = Collector::new(Duration::from_secs(1), false);
        let mut interval = Interval::empty(0);
        for (kind, count) in [(Kind::Set, 10), (Kind::Get, 30)] {
            let mut histogram = latencies();
            histogram.record_n(2_000, count).unwrap();
            interval.kinds[kind.index()] = Some(histogram);
        }
        interval.counts.misses = 4;
        collector.take(interval);
        collector.finish();
        let workload = Workload::mixed(1, 3);
        let facts = Facts {
            server: "127.0.0.1:6379".to_owned(),
            workload: &workload,
            clients: 2,
            threads: 1,
            rate: None,
            elapsed: Duration::from_secs(2),
            load_cpu: Duration::from_secs(1),
            first_complaint: None,
        };
        let report = Report::new(facts, &collector);
        assert_eq!((report.commands, report.per_second), (40, 20.0));
        assert_eq!(report.kinds.len(), 2);
        assert!(report.is_sound());
        let text = report.to_string();
        for part in [
            "SET:GET 1:3",
            "20 operations per second",
            "4 misses",
            "50 % busy",
        ] {
            assert!(text.contains(part), "{part} in {text}");
        }
    }
}
