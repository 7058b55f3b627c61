//! Compares one worker thread with two, on two cores; the server and the load generator share the
//! second core.

use std::time::Duration;

use respire_bench::compare::{Contender, Grid, ratio};
use respire_bench::error::Result;
use respire_bench::os;
use respire_bench::stats::Spread;
use respire_bench::workload::{Values, Workload};
use serde::Serialize;

use super::scaling::grouped;
use super::setting::{Entrant, Setting, THREADS, no_cpu_time, sound_turn};
use crate::script::{Batch, key, rounds};

const CONNECTIONS: u64 = 16;
/// Each connection repeats these batches of requests.
const BATCHES: u64 = 8;
const REQUESTS: u64 = 16;
const KEYS: u64 = 100;
const VALUE_BYTES: usize = 3;

/// A load on a server with this many workers.
#[derive(Clone, Debug, Serialize)]
pub struct Workers {
    /// Server and load.
    pub name: String,
    /// Worker threads.
    pub threads: usize,
    /// Keys per second.
    pub per_second: Spread,
    /// CPU time of the server per key in microseconds.
    pub cpu_us: Spread,
    /// The share of a core that the load generator was busy.
    pub load_share: Spread,
}

/// The figures of one turn.
#[derive(Clone, Copy)]
struct Turn {
    per_second: f64,
    cpu_us: f64,
    load_share: f64,
}

/// The requests to send.
#[derive(Clone, Copy)]
enum Request {
    Exists,
    Mset,
    Get,
}

const REQUEST_KINDS: [(&str, Request); 3] = [
    ("EXISTS of 100 keys", Request::Exists),
    ("MSET of 100 keys", Request::Mset),
    ("GET, pipeline 64", Request::Get),
];

/// Whether a server takes a number of threads.
fn has_workers(entrant: &Entrant) -> bool {
    entrant.words.iter().any(|word| word.contains(THREADS))
}

pub(super) fn measure(setting: &Setting) -> Result<Vec<Workers>> {
    let mut all = Vec::new();
    for entrant in setting
        .entrants
        .iter()
        .filter(|entrant| has_workers(entrant))
    {
        all.extend(on(setting, entrant)?);
    }
    Ok(all)
}

fn on(setting: &Setting, entrant: &Entrant) -> Result<Vec<Workers>> {
    let both = format!("{},{}", setting.server_cpu, setting.load_cpu);
    let servers = [
        (1, setting.start(entrant)?),
        (2, setting.start_with(entrant, 2, &both)?),
    ];
    for (_, server) in &servers {
        setting.populate(server, &workload(setting))?;
    }
    let mut turns = vec![[const { Vec::new() }; 2]; REQUEST_KINDS.len()];
    for _ in 0..setting.rounds {
        for (turns, (_, ask)) in turns.iter_mut().zip(REQUEST_KINDS) {
            for (turns, (_, server)) in turns.iter_mut().zip(&servers) {
                turns.push(turn(setting, server, ask)?);
            }
        }
    }
    let mut all = Vec::new();
    for (turns, (title, _)) in turns.iter().zip(REQUEST_KINDS) {
        for (turns, (threads, _)) in turns.iter().zip(&servers) {
            let spread = |number: fn(&Turn) -> f64| {
                Spread::of(turns.iter().map(number)).expect("there is a round")
            };
            all.push(Workers {
                name: format!("{}: {title}", entrant.name),
                threads: *threads,
                per_second: spread(|turn| turn.per_second),
                cpu_us: spread(|turn| turn.cpu_us),
                load_share: spread(|turn| turn.load_share),
            });
        }
    }
    Ok(all)
}

fn workload(setting: &Setting) -> Workload {
    Workload {
        pipeline: 64,
        key_space: setting.keys(),
        data_size: VALUE_BYTES,
        ..Workload::mixed(0, 1)
    }
}

fn turn(setting: &Setting, server: &Contender, ask: Request) -> Result<Turn> {
    let request: fn(&[u64]) -> (Vec<String>, String) = match ask {
        Request::Exists => exists,
        Request::Mset => mset,
        Request::Get => {
            let load = setting.load(server, workload(setting), CONNECTIONS as usize);
            let (sample, cpu_us) = sound_turn(&load, server)?;
            return Ok(Turn {
                per_second: sample.per_second,
                cpu_us,
                load_share: sample.load_share,
            });
        }
    };
    let connections: Vec<_> = (0..CONNECTIONS)
        .map(|connection| batches(connection, setting.keys(), request))
        .collect();
    let cpu = || os::usage(server.pid.unwrap_or_default()).map(|usage| usage.cpu);
    let (own_before, before) = (os::own_cpu()?, cpu());
    let (count, elapsed) = rounds(&server.target, &connections, setting.time)?;
    let used = before.zip(cpu()).ok_or_else(|| no_cpu_time(server))?;
    let own = os::own_cpu()?.saturating_sub(own_before);
    let keys = (count * REQUESTS * KEYS).max(1) as f64;
    let share = |time: Duration| time.as_secs_f64() / elapsed.as_secs_f64().max(1e-9);
    Ok(Turn {
        per_second: keys / elapsed.as_secs_f64().max(1e-9),
        cpu_us: used.1.saturating_sub(used.0).as_secs_f64() * 1e6 / keys,
        load_share: share(own),
    })
}

/// The batches of one connection: requests of keys in scattered order.
fn batches(connection: u64, keys: u64, request: fn(&[u64]) -> (Vec<String>, String)) -> Vec<Batch> {
    // Steps of a prime number reach every key, whatever their number.
    const STEP: u64 = 2_654_435_761;
    let mut next = connection * BATCHES * REQUESTS * KEYS;
    let mut some_keys = || -> Vec<u64> {
        let numbers = next..next + KEYS;
        next += KEYS;
        numbers.map(|nth| nth.wrapping_mul(STEP) % keys).collect()
    };
    let mut batch = || {
        let mut batch = Batch::default();
        for _ in 0..REQUESTS {
            let keys = some_keys();
            let (words, reply) = request(&keys);
            batch.push(&words, reply);
        }
        batch
    };
    (0..BATCHES).map(|_| batch()).collect()
}

fn exists(keys: &[u64]) -> (Vec<String>, String) {
    let keys_of = keys.iter().copied().map(key);
    let words = ["EXISTS".to_owned()].into_iter().chain(keys_of);
    (words.collect(), format!(":{}\r\n", keys.len()))
}

/// Stores the values of the keys, which `GET` checks.
fn mset(keys: &[u64]) -> (Vec<String>, String) {
    let values = Values::new(VALUE_BYTES);
    let pair = |number: u64| {
        let mut value = [0; VALUE_BYTES];
        values.write(&mut value, number);
        [key(number), String::from_utf8_lossy(&value).into_owned()]
    };
    let pairs = keys.iter().copied().flat_map(pair);
    let words = ["MSET".to_owned()].into_iter().chain(pairs);
    (words.collect(), "+OK\r\n".to_owned())
}

pub(super) fn grid(all: &[Workers]) -> Grid {
    let header = [
        "server: load",
        "workers",
        "keys/s",
        "ratio",
        "CPU ns/key",
        "ratio",
        "load busy",
    ];
    let mut grid = Grid::new(header);
    for pair in all.chunks(2) {
        for workers in pair {
            let (rate, cpu) = (workers.per_second.median, workers.cpu_us.median);
            grid.push([
                workers.name.clone(),
                workers.threads.to_string(),
                grouped(rate as u64),
                ratio(Some(rate), Some(pair[0].per_second.median)),
                format!("{:.0}", cpu * 1_000.0),
                ratio(Some(cpu), Some(pair[0].cpu_us.median)),
                format!("{:.0} %", 100.0 * workers.load_share.median),
            ]);
        }
    }
    grid
}
