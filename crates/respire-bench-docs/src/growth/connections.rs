//! Measures the cost of a request by the number of connections, and the memory of idle connections.

use respire_bench::compare::{Contender, Grid};
use respire_bench::error::Result;
use respire_bench::launch::Probe;
use respire_bench::os;
use respire_bench::target::{Client, Login};
use respire_bench::workload::Workload;
use serde::Serialize;

use super::scaling::{Scaling, Series, grouped, powers_of_ten};
use super::setting::{Entrant, Setting, sound_turn};

/// The number of keys of the load: few enough for the processor's caches.
const KEYS: u64 = 1_000;
/// Open files besides the connections, here and in a server.
const FILES_LEFT: u64 = 200;

/// The memory of idle connections.
#[derive(Clone, Debug, Serialize)]
pub struct Idle {
    /// The server.
    pub name: String,
    /// The number of connections; each has had one reply.
    pub connections: usize,
    /// Growth of resident memory in bytes per connection.
    pub bytes_each: f64,
}

pub(super) fn measure(setting: &Setting) -> Result<Scaling> {
    let mut left_out = Vec::new();
    let mut sizes = powers_of_ten(1, setting.connections_max as u64);
    sizes.retain(|&size| match os::allow_files(size + FILES_LEFT) {
        Ok(()) => true,
        Err(error) => {
            left_out.push(format!("{} connections: {error}", grouped(size)));
            false
        }
    });
    let mut servers = Vec::new();
    for entrant in &setting.entrants {
        let server = setting.start(entrant)?;
        setting.populate(&server, &workload())?;
        servers.push(server);
    }
    servers.push(floor(setting)?);
    let mut costs = vec![vec![Vec::new(); sizes.len()]; servers.len()];
    for _ in 0..setting.rounds {
        for (place, &size) in sizes.iter().enumerate() {
            for (costs, server) in costs.iter_mut().zip(&servers) {
                let load = setting.load(server, workload(), size as usize);
                costs[place].push(sound_turn(&load, server)?.1);
            }
        }
    }
    let series = servers.iter().zip(costs);
    let series = series
        .map(|(server, costs)| Series::new(server.name.clone(), sizes.iter().copied().zip(costs)));
    Ok(Scaling {
        name: "connections",
        title: "Connections",
        sizes_of: "connections",
        cost_of: "command",
        method: format!(
            "GET of {} keys, 3 B, one request at a time on every connection. Nearly all of it is the system's: the floor \
             moves the same bytes, but parses and stores nothing.",
            grouped(KEYS)
        ),
        series: series.collect(),
        left_out,
    })
}

/// The null server, which only moves the bytes.
fn floor(setting: &Setting) -> Result<Contender> {
    let mut words = crate::floor::command()?;
    words.extend(workload().flags());
    let cores = setting.server_cpu.to_string();
    Contender::started("floor", &words, Some(&cores), Probe::Connect)
}

fn workload() -> Workload {
    Workload {
        key_space: KEYS,
        ..Workload::mixed(0, 1)
    }
}

/// Measures the memory of connections that are idle after one reply.
pub(super) fn idle(setting: &Setting) -> Result<Vec<Idle>> {
    let connections = setting.connections_max;
    os::allow_files(connections as u64 + FILES_LEFT)?;
    let each = |entrant: &Entrant| {
        let server = setting.start(entrant)?;
        let rss = || os::usage(server.pid.unwrap_or_default()).map_or(0, |usage| usage.rss);
        let before = rss();
        let mut clients = Vec::with_capacity(connections);
        for _ in 0..connections {
            let mut client = Client::connect(&server.target, &Login::default())?;
            client.call(&["PING"])?;
            clients.push(client);
        }
        let grown = rss().saturating_sub(before);
        Ok(Idle {
            name: entrant.name.clone(),
            connections,
            bytes_each: grown as f64 / connections as f64,
        })
    };
    setting.entrants.iter().map(each).collect()
}

pub(super) fn idle_grid(idle: &[Idle]) -> Grid {
    let mut grid = Grid::new(["server", "connections", "bytes each"]);
    for idle in idle {
        let bytes = format!("{:.0}", idle.bytes_each);
        grid.push([idle.name.clone(), grouped(idle.connections as u64), bytes]);
    }
    grid
}
