//! The settings that all measurements of growth share: servers, cores, rounds and sizes.

use std::time::Duration;

use serde::Serialize;

use respire_bench::check::Verify;
use respire_bench::compare::{Contender, Sample, turn};
use respire_bench::engine::{Bound, Load};
use respire_bench::error::{Error, Result};
use respire_bench::launch::Probe;
use respire_bench::target::{Client, Login, Target};
use respire_bench::workload::Workload;

/// The placeholder of the number of threads in a command line.
pub(super) const THREADS: &str = "{threads}";

/// A measured server.
#[derive(Clone, Debug, Serialize)]
pub struct Entrant {
    /// Its name in the tables.
    pub name: String,
    /// Its command, with `{port}` for the port and, if it takes them, `{threads}` for its threads.
    pub words: Vec<String>,
    /// Its version, as it reports it.
    pub version: String,
}

/// The settings of a measurement.
#[derive(Clone, Debug, Serialize)]
pub struct Setting {
    /// The servers.
    pub entrants: Vec<Entrant>,
    /// Core of the servers.
    pub server_cpu: usize,
    /// Core of the load generator.
    pub load_cpu: usize,
    /// The number of rounds of each measurement.
    pub rounds: usize,
    /// The time of each turn of a load.
    #[serde(rename = "test_time_s", serialize_with = "as_seconds")]
    pub time: Duration,
    /// The greatest number of keys in a server.
    pub keys_max: u64,
    /// The greatest number of connections.
    pub connections_max: usize,
}

fn as_seconds<S: serde::Serializer>(
    time: &Duration,
    to: S,
) -> std::result::Result<S::Ok, S::Error> {
    to.serialize_f64(time.as_secs_f64())
}

impl Setting {
    /// The number of keys in measurements that do not vary it.
    pub(super) fn keys(&self) -> u64 {
        (self.keys_max / 10).max(1_000)
    }

    /// Starts a server on the servers' core, with one thread if it takes a number of threads.
    pub(super) fn start(&self, entrant: &Entrant) -> Result<Contender> {
        self.start_with(entrant, 1, &self.server_cpu.to_string())
    }

    pub(super) fn start_with(
        &self,
        entrant: &Entrant,
        threads: usize,
        cores: &str,
    ) -> Result<Contender> {
        let words = entrant.words.iter();
        let words: Vec<String> = words
            .map(|word| word.replace(THREADS, &threads.to_string()))
            .collect();
        Contender::started(&entrant.name, &words, Some(cores), Probe::Ping)
    }

    /// A closed loop of one turn; the caller changes what differs.
    pub(super) fn load(&self, server: &Contender, workload: Workload, clients: usize) -> Load {
        Load {
            target: server.target.clone(),
            login: Login::default(),
            workload,
            verify: if server.is_floor {
                Verify::Replies
            } else {
                Verify::Values
            },
            clients,
            threads: 1,
            bound: Bound::time(self.time),
            rate: None,
            seed: 1,
            logging: false,
            beside: None,
        }
    }

    /// Stores every key of a workload.
    pub(super) fn populate(&self, server: &Contender, workload: &Workload) -> Result<()> {
        self.load(server, workload.clone(), 8)
            .populating()
            .run(|_| ())
            .map(drop)
    }
}

/// A turn whose replies must all be correct; also returns the server's CPU time per command in
/// microseconds.
pub(super) fn sound_turn(load: &Load, server: &Contender) -> Result<(Sample, f64)> {
    let (sample, report) = turn(load, server)?;
    if let Some(complaint) = report.first_complaint {
        return Err(Error::server(report.server, complaint));
    }
    let cpu_us = sample.cpu_us.ok_or_else(|| no_cpu_time(server))?;
    Ok((sample, cpu_us))
}

pub(super) fn no_cpu_time(server: &Contender) -> Error {
    Error::server(server.name.clone(), "the system does not tell its CPU time")
}

/// Sends a command that must not get an error reply.
pub(super) fn ask(target: &Target, words: &[&str]) -> Result<()> {
    let reply = Client::connect(target, &Login::default())?.call(words)?;
    if reply.is_error() {
        let reason = format!(
            "{} was refused: {}",
            words[0],
            reply.as_str().unwrap_or("an error")
        );
        return Err(Error::server(target.to_string(), reason));
    }
    Ok(())
}

/// A number of `INFO`; 0 if it is missing.
pub(super) fn info(target: &Target, section: &str, field: &str) -> Result<u64> {
    let told = Client::connect(target, &Login::default())?.info(section, field)?;
    Ok(told.and_then(|text| text.parse().ok()).unwrap_or(0))
}
