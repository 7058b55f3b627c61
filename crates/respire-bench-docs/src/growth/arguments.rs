//! Measures the cost of a command by its number of arguments.

use respire_bench::error::Result;
use respire_bench::os;

use super::scaling::{Scaling, Series, powers_of_ten};
use super::setting::{Entrant, Setting, no_cpu_time};
use crate::script::{Batch, key, once, rounds};

/// The number of keys in each batch, whatever the number of arguments per request; also the most
/// arguments.
const KEYS: u64 = 1_000;
const VALUE: &str = "xxx";

/// A command, its requests on the keys `from..to`, and how many key operations a batch does per
/// key.
type Load = (&'static str, fn(&mut Batch, u64, u64), f64);

const LOADS: [Load; 3] = [
    ("MGET", mget, 1.0),
    ("MSET", mset, 1.0),
    ("MSET and DEL", mset_and_del, 2.0),
];

pub(super) fn measure(setting: &Setting) -> Result<Scaling> {
    let sizes = powers_of_ten(1, KEYS);
    let mut series = Vec::new();
    for entrant in &setting.entrants {
        series.extend(on(setting, entrant, &sizes)?);
    }
    Ok(Scaling {
        name: "arguments",
        title: "Arguments",
        sizes_of: "keys in a request",
        cost_of: "key",
        method: format!(
            "One connection, {KEYS} keys of 16 bytes with values of 3 in each batch of requests: a thousand requests of \
             one key, or one of a thousand. The cost is of a key that is read, written or removed."
        ),
        series,
        left_out: Vec::new(),
    })
}

fn on(setting: &Setting, entrant: &Entrant, sizes: &[u64]) -> Result<Vec<Series>> {
    let server = setting.start(entrant)?;
    let pid = server.pid.unwrap_or_default();
    let mut all = Batch::default();
    mset(&mut all, 0, KEYS);
    once(&server.target, [all.clone()])?;
    let mut costs = vec![vec![Vec::new(); sizes.len()]; LOADS.len()];
    for _ in 0..setting.rounds {
        for (costs, (_, requests, moved)) in costs.iter_mut().zip(LOADS) {
            for (costs, &size) in costs.iter_mut().zip(sizes) {
                let batch = batch(requests, size);
                let cpu = || os::usage(pid).map(|usage| usage.cpu);
                let before = cpu();
                let (count, _) = rounds(&server.target, &[vec![batch]], setting.time)?;
                let used = before.zip(cpu()).ok_or_else(|| no_cpu_time(&server))?;
                let used = used.1.saturating_sub(used.0).as_secs_f64() * 1e6;
                costs.push(used / (count.max(1) as f64 * KEYS as f64 * moved));
            }
            // Store the keys again, so that the next command finds them all.
            once(&server.target, [all.clone()])?;
        }
    }
    let series = costs.into_iter().zip(LOADS);
    Ok(series
        .map(|(costs, (command, ..))| {
            let name = format!("{}: {command}", entrant.name);
            Series::new(name, sizes.iter().copied().zip(costs))
        })
        .collect())
}

/// Requests of `size` keys each, which together name every key once.
fn batch(requests: fn(&mut Batch, u64, u64), size: u64) -> Batch {
    let mut batch = Batch::default();
    for from in (0..KEYS).step_by(size as usize) {
        requests(&mut batch, from, from + size);
    }
    batch
}

fn words(command: &str, from: u64, to: u64, value: Option<&str>) -> Vec<String> {
    let mut words = vec![command.to_owned()];
    for number in from..to {
        words.push(key(number));
        words.extend(value.map(str::to_owned));
    }
    words
}

fn mget(batch: &mut Batch, from: u64, to: u64) {
    let values = format!("${}\r\n{VALUE}\r\n", VALUE.len()).repeat((to - from) as usize);
    let reply = format!("*{}\r\n{values}", to - from);
    batch.push(&words("MGET", from, to, None), reply);
}

fn mset(batch: &mut Batch, from: u64, to: u64) {
    batch.push(&words("MSET", from, to, Some(VALUE)), "+OK\r\n");
}

fn mset_and_del(batch: &mut Batch, from: u64, to: u64) {
    mset(batch, from, to);
    batch.push(&words("DEL", from, to, None), format!(":{}\r\n", to - from));
}
