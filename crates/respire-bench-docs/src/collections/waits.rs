//! How long a load of `GET` waits while commands on large collections run.

use std::time::Duration;

use respire_bench::check::Verify;
use respire_bench::compare::{Contender, Grid, ratio};
use respire_bench::engine::{self, Bound, Load};
use respire_bench::error::{Error, Result};
use respire_bench::stats::{Latency, Spread};
use respire_bench::target::Login;
use respire_bench::workload::Workload;
use serde::Serialize;

use super::data::words;
use super::rows::{ALONE, VICTIM};
use crate::script::{Batch, once};

/// The load: connections, requests per second, keys.
const CLIENTS: usize = 16;
const RATE: f64 = 10_000.0;
const KEYS: u64 = 100_000;

/// The sets that are removed during one load.
const VICTIMS: u64 = 3;

/// How long to wait before other commands.
const PAUSE: Duration = Duration::from_millis(100);

/// The latencies of the load beside one command.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Waits {
    /// The row.
    pub(super) name: &'static str,
    /// What runs at the same time.
    pub(super) title: &'static str,
    /// The server.
    pub(super) server: String,
    /// The latency of each round.
    pub(super) rounds: Vec<Latency>,
    /// Commands that ran at the same time, in all rounds.
    pub(super) commands: u64,
}

/// Stores the keys of the load.
pub(super) fn prepare(server: &Contender) -> Result<()> {
    let load = load(server, PAUSE);
    load.populating().run(|_| ()).map(drop)
}

/// A load, and the command beside it, if any.
pub(super) struct Beside {
    pub(super) line: Option<&'static str>,
    /// Elements of a large collection.
    pub(super) elements: u64,
    pub(super) time: Duration,
}

impl Beside {
    /// Runs the load, and the command again and again.
    pub(super) fn measure(&self, server: &Contender, waits: &mut Waits) -> Result<()> {
        let mut load = load(server, self.time);
        if let Some(line) = self.line {
            let pause = if line.contains(VICTIM) {
                self.make_victims(server)?;
                self.time / (VICTIMS as u32 + 1)
            } else {
                PAUSE
            };
            load.beside = Some(engine::Beside {
                commands: vec![words(&line.split(' ').collect::<Vec<_>>())],
                pause,
            });
        }
        let (report, _) = load.run(|_| ())?;
        let beside = report.beside.unwrap_or_default();
        if let Some(complaint) = report.first_complaint.or(beside.first_error) {
            return Err(Error::server(report.server, complaint));
        }
        waits.rounds.push(report.all);
        waits.commands += beside.commands;
        Ok(())
    }

    /// Makes large sets, one after another. They share nothing with other sets, as a copy might.
    fn make_victims(&self, server: &Contender) -> Result<()> {
        let made = (0..VICTIMS).map(|number| {
            let mut batch = Batch::default();
            let victim = format!("{VICTIM}{number}");
            let reply = format!(":{}\r\n", self.elements / 2 * 3);
            batch.push(&["SUNIONSTORE", &victim, "S", "S2"], reply);
            batch
        });
        once(&server.target, made)
    }
}

fn load(server: &Contender, time: Duration) -> Load {
    Load {
        target: server.target.clone(),
        login: Login::default(),
        workload: Workload {
            key_space: KEYS,
            ..Workload::mixed(0, 1)
        },
        verify: Verify::Values,
        clients: CLIENTS,
        threads: 1,
        bound: Bound::time(time),
        rate: Some(RATE),
        seed: 1,
        logging: false,
        beside: None,
    }
}

/// A description of the method.
pub(super) fn method(time_s: f64) -> String {
    format!(
        "{RATE} `GET`s a second of {KEYS} keys over {CLIENTS} connections for {time_s} s; a request has its time to leave, \
         and its latency counts from then. Alone, and while another connection sends a command, waits for its reply \
         and {} ms more, again and again; `DEL` runs {VICTIMS} times. The ratio is that of p99.9 to the one alone.",
        PAUSE.as_millis()
    )
}

pub(super) fn grid(all: &[Waits]) -> Grid {
    let header = [
        "GET beside",
        "server",
        "commands",
        "p50 µs",
        "p99 µs",
        "p99.9 µs",
        "ratio",
        "max ms",
    ];
    let mut grid = Grid::new(header);
    for waits in all {
        let median = |waits: &Waits, number: fn(&Latency) -> f64| {
            Spread::of(waits.rounds.iter().map(number)).map(|spread| spread.median)
        };
        let alone = all
            .iter()
            .find(|it| it.name == ALONE && it.server == waits.server);
        let alone = alone.and_then(|waits| median(waits, |latency| latency.p999_us));
        let p999 = median(waits, |latency| latency.p999_us);
        let text = |number: Option<f64>| number.map_or("-".to_owned(), |us| format!("{us:.0}"));
        let max_ms = median(waits, |latency| latency.max_us).unwrap_or_default() / 1e3;
        grid.push([
            waits.title.to_owned(),
            waits.server.clone(),
            waits.commands.to_string(),
            text(median(waits, |latency| latency.p50_us)),
            text(median(waits, |latency| latency.p99_us)),
            text(p999),
            ratio(p999, alone),
            format!("{max_ms:.1}"),
        ]);
    }
    grid
}
