//! Measures the cost of a request by the number of keys.

use respire_bench::compare::Contender;
use respire_bench::error::Result;
use respire_bench::workload::Workload;

use super::scaling::{Scaling, Series, grouped, powers_of_ten};
use super::setting::{Entrant, Setting, sound_turn};
use crate::machine::free_memory;

/// The number of keys of the smallest store, and of the load that stays in the caches.
const HOT: u64 = 1_000;
/// The free memory required: per key, and besides the keys.
const BYTES_PER_KEY: u64 = 160;
const BYTES_LEFT: u64 = 1 << 30;

/// The commands, and whether they use all keys.
const LOADS: [(&str, u32, u32, bool); 4] = [
    ("GET of 1,000 keys", 0, 1, false),
    ("SET of 1,000 keys", 1, 0, false),
    ("GET of all keys", 0, 1, true),
    ("SET of all keys", 1, 0, true),
];

pub(super) fn measure(setting: &Setting) -> Result<Scaling> {
    let mut left_out = Vec::new();
    let mut sizes = powers_of_ten(HOT, setting.keys_max);
    // Servers of all sizes run side by side, so that each round measures all of them.
    sizes.retain(|&size| {
        let need = 2 * size * BYTES_PER_KEY + BYTES_LEFT;
        let free = free_memory().unwrap_or(u64::MAX);
        if free < need {
            let (free, need) = (free >> 20, need >> 20);
            left_out.push(format!(
                "{} keys: {free} MiB of memory are free, {need} MiB are wanted",
                grouped(size)
            ));
        }
        free >= need
    });
    let mut series = Vec::new();
    for entrant in &setting.entrants {
        series.extend(on(setting, entrant, &sizes)?);
    }
    Ok(Scaling {
        name: "keys",
        title: "Keys",
        sizes_of: "keys in the server",
        cost_of: "command",
        method: format!(
            "Keys of 16 bytes with values of 3, 20 connections, pipeline 64. Loads of {} keys stay in the processor's \
             caches, however many others there are, and show what the code does; loads of all keys wait for memory, too.",
            grouped(HOT)
        ),
        series,
        left_out,
    })
}

fn on(setting: &Setting, entrant: &Entrant, sizes: &[u64]) -> Result<Vec<Series>> {
    let mut servers: Vec<(u64, Contender)> = Vec::new();
    for &size in sizes {
        let server = setting.start(entrant)?;
        setting.populate(&server, &workload(1, 0, size))?;
        servers.push((size, server));
    }
    let mut costs = vec![vec![Vec::new(); sizes.len()]; LOADS.len()];
    for _ in 0..setting.rounds {
        for (costs, (_, sets, gets, of_all)) in costs.iter_mut().zip(LOADS) {
            for (costs, (size, server)) in costs.iter_mut().zip(&servers) {
                let keys = if of_all { *size } else { HOT };
                let load = setting.load(server, workload(sets, gets, keys), 20);
                costs.push(sound_turn(&load, server)?.1);
            }
        }
    }
    let name = |load: &str| format!("{}: {load}", entrant.name);
    let series = costs.into_iter().zip(LOADS);
    Ok(series
        .map(|(costs, (load, ..))| Series::new(name(load), sizes.iter().copied().zip(costs)))
        .collect())
}

fn workload(sets: u32, gets: u32, keys: u64) -> Workload {
    Workload {
        pipeline: 64,
        key_space: keys,
        ..Workload::mixed(sets, gets)
    }
}
