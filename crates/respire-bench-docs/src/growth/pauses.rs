//! Measures how long clients wait while a server does other work: expires keys, flushes all keys,
//! or grows its tables.

use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use respire_bench::compare::{Contender, Grid, ratio};
use respire_bench::engine::{Bound, Load};
use respire_bench::error::{Error, Result};
use respire_bench::stats::{Latency, Spread};
use respire_bench::workload::{Pattern, Workload};
use serde::Serialize;

use super::scaling::grouped;
use super::setting::{Entrant, Setting, ask, info};
use crate::script::{Batch, key, once};

/// The load during a sweep or a flush: connections, requests per second.
const CLIENTS: usize = 16;
const RATE: f64 = 20_000.0;
/// The length of such a load, as a multiple of the usual one.
const TURNS: u32 = 5;
/// The number of requests sent at once to fill a server.
const BATCH: u64 = 256;
/// The first number of the keys that expire; the load reads no such keys.
const EXPIRING: u64 = 100_000_000_000;

/// The latencies of all rounds, and the curve of the last round.
#[derive(Clone, Debug, Serialize)]
pub struct Waits {
    /// The work at the same time.
    pub name: &'static str,
    /// The latency of each round.
    pub rounds: Vec<Latency>,
    /// (share of requests that are longer, microseconds) of the last round.
    pub quantiles_us: Vec<(f64, f64)>,
}

/// The same load on one server, alone and during other work.
#[derive(Clone, Debug, Serialize)]
pub struct Pauses {
    /// The server.
    pub server: String,
    /// The load alone, then during each kind of work.
    pub waits: Vec<Waits>,
    /// For each round, the share of the due keys that were swept by the end of the load; empty if
    /// no keys were due.
    pub swept: Vec<f64>,
}

impl Waits {
    fn new(name: &'static str) -> Self {
        Self {
            name,
            rounds: Vec::new(),
            quantiles_us: Vec::new(),
        }
    }

    fn spread(&self, number: fn(&Latency) -> f64) -> Spread {
        Spread::of(self.rounds.iter().map(number)).expect("there is a round")
    }

    /// Runs one round.
    fn measure(&mut self, load: &Load) -> Result<()> {
        let (report, _) = load.run(|_| ())?;
        if let Some(complaint) = report.first_complaint {
            return Err(Error::server(report.server, complaint));
        }
        self.rounds.push(report.all);
        self.quantiles_us = report.quantiles_us;
        Ok(())
    }
}

/// Runs a steady load alone, while as many keys expire within half of its time, and while all keys
/// are flushed.
pub(super) fn beside_work(setting: &Setting) -> Result<Vec<Pauses>> {
    setting
        .entrants
        .iter()
        .map(|entrant| steady(setting, entrant))
        .collect()
}

fn steady(setting: &Setting, entrant: &Entrant) -> Result<Pauses> {
    let server = setting.start(entrant)?;
    let workload = Workload {
        key_space: setting.keys(),
        ..Workload::mixed(1, 10)
    };
    let load = Load {
        rate: Some(RATE),
        bound: Bound::time(setting.time * TURNS),
        ..setting.load(&server, workload.clone(), CLIENTS)
    };
    let mut waits = ["alone", "keys expire", "FLUSHALL ASYNC"].map(Waits::new);
    let mut swept = Vec::new();
    for _ in 0..setting.rounds {
        let began = Instant::now();
        setting.populate(&server, &workload)?;
        let patience = began.elapsed() * 3 + setting.time;
        waits[0].measure(&load)?;
        let keys = setting.keys();
        let due = expiring(&server, keys, setting.time * TURNS / 2, patience)?;
        // The load starts when the first keys are due, or a moment earlier.
        let until_due = due
            .saturating_sub(unix_time())
            .saturating_sub(setting.time / 4);
        thread::sleep(until_due);
        let before = info(&server.target, "stats", "expired_keys")?;
        waits[1].measure(&load)?;
        let expired = info(&server.target, "stats", "expired_keys")? - before;
        swept.push(expired as f64 / keys as f64);
        flush_beside(&mut waits[2], &load)?;
    }
    Ok(Pauses {
        server: entrant.name.clone(),
        waits: waits.into(),
        swept,
    })
}

/// Stores keys that expire evenly over `spread`, and returns the time of the first expiry, as time
/// since 1970. Storing them may take `patience`; if it takes longer, the expiries are moved by as
/// much.
fn expiring(
    server: &Contender,
    keys: u64,
    spread: Duration,
    patience: Duration,
) -> Result<Duration> {
    for patience in [1, 2, 4, 8].map(|factor| patience * factor) {
        let due = unix_time() + patience;
        once(&server.target, expiring_batches(keys, due, spread))?;
        if unix_time() < due {
            return Ok(due);
        }
    }
    let reason = "storing keys that expire takes longer than they last";
    Err(Error::server(server.name.clone(), reason))
}

fn expiring_batches(keys: u64, due: Duration, spread: Duration) -> impl Iterator<Item = Batch> {
    (0..keys).step_by(BATCH as usize).map(move |from| {
        let mut batch = Batch::default();
        for number in from..(from + BATCH).min(keys) {
            let at = due + spread.mul_f64(number as f64 / keys as f64);
            let (key, at) = (key(EXPIRING + number), at.as_millis().to_string());
            batch.push(&["SET", &key, "xxx", "PXAT", &at], "+OK\r\n");
        }
        batch
    })
}

fn unix_time() -> Duration {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default()
}

/// Runs the load, and flushes all keys after a quarter of it.
fn flush_beside(waits: &mut Waits, load: &Load) -> Result<()> {
    let time = load.bound.time.unwrap_or_default();
    thread::scope(|scope| {
        let flushed = scope.spawn(|| {
            thread::sleep(time / 4);
            ask(&load.target, &["FLUSHALL", "ASYNC"])
        });
        waits.measure(load)?;
        flushed
            .join()
            .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

/// Stores keys in an empty server, so that its tables grow, and then stores the same keys again.
pub(super) fn growing_tables(setting: &Setting) -> Result<Vec<Pauses>> {
    let workload = Workload {
        pipeline: 16,
        pattern: Pattern::Sequential,
        key_space: setting.keys() * 4,
        ..Workload::mixed(1, 0)
    };
    let on = |entrant: &Entrant| {
        let mut waits = ["same keys again", "tables grow"].map(Waits::new);
        for _ in 0..setting.rounds {
            let server = setting.start(entrant)?;
            let load = Load {
                bound: Bound::requests(workload.key_space),
                ..setting.load(&server, workload.clone(), 8)
            };
            waits[1].measure(&load)?;
            waits[0].measure(&load)?;
        }
        Ok(Pauses {
            server: entrant.name.clone(),
            waits: waits.into(),
            swept: Vec::new(),
        })
    };
    setting.entrants.iter().map(on).collect()
}

pub(super) fn grid(all: &[Pauses]) -> Grid {
    let header = [
        "server, meanwhile",
        "p50 µs",
        "p99 µs",
        "p99.9 µs",
        "ratio",
        "max ms",
        "(min..max)",
    ];
    let mut grid = Grid::new(header);
    for pauses in all {
        let alone = pauses.waits[0].spread(|latency| latency.p999_us).median;
        for waits in &pauses.waits {
            let median = |number| waits.spread(number).median;
            let p999 = median(|latency| latency.p999_us);
            let max = waits.spread(|latency| latency.max_us);
            let ms = |us: f64| format!("{:.2}", us / 1_000.0);
            grid.push([
                format!("{}: {}", pauses.server, waits.name),
                format!("{:.0}", median(|latency| latency.p50_us)),
                format!("{:.0}", median(|latency| latency.p99_us)),
                format!("{p999:.0}"),
                ratio(Some(p999), Some(alone)),
                ms(max.median),
                format!("{}..{}", ms(max.min), ms(max.max)),
            ]);
        }
    }
    grid
}

/// The share of the due keys that were swept in time, in the worst round of each server.
pub(super) fn swept(all: &[Pauses]) -> String {
    let least = |pauses: &Pauses| pauses.swept.iter().copied().fold(1.0, f64::min);
    let of = |pauses: &Pauses| format!("{} {:.1} %", pauses.server, 100.0 * least(pauses));
    all.iter().map(of).collect::<Vec<_>>().join(", ")
}

/// A description of both methods: the load during other work, and the growing tables.
pub(super) fn methods(setting: &Setting) -> (String, String) {
    let keys = grouped(setting.keys());
    let seconds = (setting.time * TURNS).as_secs_f64();
    let beside = format!(
        "{} requests a second, SET:GET 1:10 of {keys} keys, over {CLIENTS} connections for {seconds} s; a request has its \
         time to leave, and its latency counts from then. Alone; while {keys} other keys expire within {} s; while \
         `FLUSHALL ASYNC` takes all of them away.",
        grouped(RATE as u64),
        seconds / 2.0
    );
    let tables = format!(
        "SET of {} keys, 8 connections with 16 requests each at a time, as fast as they are answered: into a server that \
         is empty, and the same keys again.",
        grouped(setting.keys() * 4)
    );
    (beside, tables)
}
