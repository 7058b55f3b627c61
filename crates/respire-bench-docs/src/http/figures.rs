//! The figures of the comparison, as plain data.

use std::time::Duration;

use respire_bench::stats::{Latency, Spread, quantiles_us};
use serde::Serialize;

use super::call::Call;
use super::load::Turn;
use super::rows::{Entrant, Row};
use crate::machine::Machine;

/// One turn of one entrant.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Sample {
    /// Calls answered.
    pub calls: u64,
    /// Calls answered per second.
    pub per_second: f64,
    /// Median latency in microseconds, the wait for a connection included.
    pub p50_us: f64,
    /// 99th percentile in microseconds.
    pub p99_us: f64,
    /// CPU time of the server per call in microseconds, if the system reports it.
    pub server_cpu_us: Option<f64>,
    /// CPU time of the client per call in microseconds.
    pub client_cpu_us: f64,
    /// The share of the time that the client was busy.
    pub client_share: f64,
    /// Bytes that the client wrote to its sockets, per call.
    pub bytes_sent: f64,
    /// Bytes that the client read from its sockets, per call.
    pub bytes_received: f64,
}

/// The figures of an entrant over all rounds.
#[derive(Clone, Debug, Serialize)]
pub struct Standing {
    /// Server and client.
    #[serde(flatten)]
    pub entrant: Entrant,
    /// Threads of the server.
    pub threads: usize,
    /// The figures of each round.
    pub samples: Vec<Sample>,
    /// Calls answered per second.
    pub per_second: Spread,
    /// Median latency in microseconds.
    pub p50_us: Spread,
    /// 99th percentile in microseconds.
    pub p99_us: Spread,
    /// CPU time of the server per call in microseconds.
    pub server_cpu_us: Option<Spread>,
    /// CPU time of the client per call in microseconds.
    pub client_cpu_us: Spread,
    /// The share of the time that the client was busy.
    pub client_share: Spread,
    /// Bytes sent per call.
    pub bytes_sent: Spread,
    /// Bytes received per call.
    pub bytes_received: Spread,
    /// (share of calls that are longer, microseconds) of the last round.
    pub quantiles_us: Vec<(f64, f64)>,
}

/// A row with its results.
#[derive(Clone, Debug, Serialize)]
pub struct Outcome {
    /// The row.
    #[serde(flatten)]
    pub row: Row,
    /// Its entrants, in their order.
    pub standings: Vec<Standing>,
}

/// All content of the document.
#[derive(Clone, Debug, Serialize)]
pub struct Measured {
    /// The machine.
    pub machine: Machine,
    /// The number of threads that were ready to run before the measurement, averaged over a minute.
    pub load_average: Option<f64>,
    /// The niceness of servers and client; 0 is the default.
    pub niceness: Option<i32>,
    /// The installed compiler.
    pub compiler: Option<String>,
    /// Versions of the packages involved, from `Cargo.lock`.
    pub packages: Vec<(String, String)>,
    /// The command line.
    pub line: String,
    /// The call.
    pub call: Call,
    /// Length of the expected reply in bytes.
    pub reply_bytes: usize,
    /// Callers.
    pub callers: usize,
    /// Connections of a pool.
    pub pool: usize,
    /// Rounds.
    pub rounds: usize,
    /// Seconds of each turn.
    pub test_time_s: f64,
    /// Core of the servers with one thread.
    pub server_cpu: usize,
    /// Core of the clients.
    pub load_cpu: usize,
    /// The rows.
    pub outcomes: Vec<Outcome>,
}

/// The figures of one turn.
pub(super) fn sample(turn: &Turn, server_cpu: Option<Duration>, client_cpu: Duration) -> Sample {
    let calls = turn.calls.max(1) as f64;
    let seconds = turn.elapsed.as_secs_f64().max(1e-9);
    let each_us = |time: Duration| time.as_secs_f64() * 1e6 / calls;
    let latency = Latency::of(&turn.latencies);
    Sample {
        calls: turn.calls,
        per_second: turn.calls as f64 / seconds,
        p50_us: latency.p50_us,
        p99_us: latency.p99_us,
        server_cpu_us: server_cpu.map(each_us),
        client_cpu_us: each_us(client_cpu),
        client_share: client_cpu.as_secs_f64() / seconds,
        bytes_sent: turn.bytes_sent as f64 / calls,
        bytes_received: turn.bytes_received as f64 / calls,
    }
}

/// The figures of an entrant over all turns.
pub(super) fn standing(entrant: &Entrant, threads: usize, turns: &[(Sample, Turn)]) -> Standing {
    let spread = |number: fn(&Sample) -> f64| {
        Spread::of(turns.iter().map(|(sample, _)| number(sample))).expect("there is a round")
    };
    let (_, last) = &turns[turns.len() - 1];
    Standing {
        entrant: *entrant,
        threads,
        samples: turns.iter().map(|(sample, _)| *sample).collect(),
        per_second: spread(|s| s.per_second),
        p50_us: spread(|s| s.p50_us),
        p99_us: spread(|s| s.p99_us),
        server_cpu_us: Spread::of(turns.iter().filter_map(|(sample, _)| sample.server_cpu_us)),
        client_cpu_us: spread(|s| s.client_cpu_us),
        client_share: spread(|s| s.client_share),
        bytes_sent: spread(|s| s.bytes_sent),
        bytes_received: spread(|s| s.bytes_received),
        quantiles_us: quantiles_us(&last.latencies),
    }
}

#[cfg(test)]
pub(super) mod tests {
    use clap::Parser as _;

    use super::super::client::Client;
    use super::super::rows::choose;
    use super::*;
    use crate::cli::{Cli, Command};
    use respire_bench::stats::latencies;

    /// A turn with this many calls in a second.
    fn turn(calls: u64) -> Turn {
        let mut histogram = latencies();
        histogram.record_n(2_000, calls).unwrap();
        Turn {
            calls,
            elapsed: Duration::from_secs(1),
            latencies: histogram,
            bytes_sent: 50 * calls,
            bytes_received: 1_500 * calls,
        }
    }

    /// All rows: `resp` calls per second over RESP, `http` by an HTTP client, twice as many
    /// replayed. HTTP clients are always busy; all other clients are busy half of the time.
    pub(crate) fn measured(resp: u64, http: u64) -> Measured {
        let cli = Cli::parse_from(["respire-bench-docs", "http"]);
        let Command::Http(args) = cli.command else {
            unreachable!("it was asked for")
        };
        let standing_of = |entrant: &Entrant| {
            let (calls, busy) = match entrant.client {
                Client::Resp => (resp, 500),
                Client::Get | Client::Post => (http, 1_000),
                Client::ReplayedGet | Client::ReplayedPost => (2 * http, 500),
            };
            let turn = turn(calls);
            let server = Some(Duration::from_millis(500));
            let sample = sample(&turn, server, Duration::from_millis(busy));
            standing(entrant, 1, &[(sample, turn)])
        };
        let rows = choose(&args).unwrap().into_iter();
        let outcomes = rows.map(|row| Outcome {
            standings: row.entrants.iter().map(standing_of).collect(),
            row,
        });
        Measured {
            machine: Machine::this(),
            load_average: Some(3.0),
            niceness: Some(0),
            compiler: None,
            packages: Vec::new(),
            line: String::new(),
            call: super::super::call::tests::call(),
            reply_bytes: 45,
            callers: args.callers,
            pool: args.pool,
            rounds: 1,
            test_time_s: 1.0,
            server_cpu: 0,
            load_cpu: 1,
            outcomes: outcomes.collect(),
        }
    }

    #[test]
    fn sample_divides_by_calls() {
        let sample = sample(
            &turn(50),
            Some(Duration::from_micros(100)),
            Duration::from_millis(500),
        );
        assert_eq!(sample.per_second, 50.0);
        assert_eq!(sample.server_cpu_us, Some(2.0));
        assert_eq!((sample.client_cpu_us, sample.client_share), (10_000.0, 0.5));
        assert_eq!((sample.bytes_sent, sample.bytes_received), (50.0, 1_500.0));
    }
}
