//! Starts the servers of the comparison and runs its rounds.

use std::fs;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use respire_bench::error::{Error, Result};
use respire_bench::launch::{Server, first_line};
use respire_bench::os;

use super::call::Call;
use super::figures::{Measured, Outcome, Sample, sample, standing};
use super::load::{Load, Turn};
use super::rows::{Entrant, Row, choose};
use crate::cli::{HttpArgs, Service};
use crate::machine::{self, Machine};

/// The longest turn of each entrant before the first round.
const WARM_UP: Duration = Duration::from_millis(200);
/// Files that a process needs besides its connections.
const FILES: u64 = 64;
/// The packages whose versions the document shows.
const PACKAGES: [&str; 4] = ["axum", "hyper", "tokio", "mio"];

/// Starts the servers and runs the rounds. Calls `note` with the progress.
///
/// # Errors
/// Any [`Error`].
pub(super) fn measure(
    args: &HttpArgs,
    note: &mut dyn FnMut(&str) -> Result<()>,
) -> Result<Measured> {
    let call = Call {
        payload: args.payload.clone(),
        times: args.times,
    };
    call.check()?;
    let time = Duration::try_from_secs_f64(args.test_time)
        .ok()
        .filter(|time| !time.is_zero())
        .ok_or_else(|| Error::flag("--test-time", "want some seconds"))?;
    let rows = choose(args)?;
    os::allow_files(args.pool as u64 + FILES)?;
    let load_average = machine::load_average();
    let stage = Setup::new(args, &rows, call, time)?;
    let turns = stage.rounds(&rows, args.rounds, note)?;
    let mut turns = turns.into_iter();
    let outcomes = rows.iter().map(|row| {
        let standings = row.entrants.iter().zip(&mut turns);
        let standings = standings.map(|(entrant, turns)| {
            let threads = entrant.service.threads(stage.threads(row));
            standing(entrant, threads, &turns)
        });
        Outcome {
            row: row.clone(),
            standings: standings.collect(),
        }
    });
    let outcomes = outcomes.collect();
    Ok(Measured {
        machine: Machine::this(),
        load_average,
        niceness: machine::own_niceness(),
        compiler: first_line("rustc", &["--version"]),
        packages: packages(&fs::read_to_string("Cargo.lock").unwrap_or_default()),
        line: line(args),
        reply_bytes: stage.call.reply().len(),
        call: (*stage.call).clone(),
        callers: args.callers,
        pool: args.pool,
        rounds: args.rounds,
        test_time_s: args.test_time,
        server_cpu: args.server_cpu,
        load_cpu: args.load_cpu,
        outcomes,
    })
}

/// The running servers, and the call.
struct Setup {
    /// Each server, and whether it has all cores.
    servers: Vec<(Service, bool, Server)>,
    cores: Vec<usize>,
    load_cpu: usize,
    call: Arc<Call>,
    callers: usize,
    time: Duration,
}

impl Setup {
    fn new(args: &HttpArgs, rows: &[Row], call: Call, time: Duration) -> Result<Self> {
        let mut stage = Self {
            servers: Vec::new(),
            cores: machine::own_cores(),
            load_cpu: args.load_cpu,
            call: Arc::new(call),
            callers: args.callers,
            time,
        };
        for row in rows {
            for entrant in row.entrants {
                stage.start(entrant.service, row, args.server_cpu)?;
            }
        }
        Ok(stage)
    }

    /// Servers must start before this process is pinned, because they would inherit the pinning.
    fn start(&mut self, service: Service, row: &Row, core: usize) -> Result<()> {
        if self.find(service, row.all_cores).is_some() {
            return Ok(());
        }
        let own = std::env::current_exe().map_err(Error::io("own program"))?;
        let threads = self.threads(row).to_string();
        let words = [
            &*own.to_string_lossy(),
            "http-server",
            "--port",
            "{port}",
            "--service",
            service.name(),
            "--threads",
            &threads,
        ];
        let words = words.map(str::to_owned);
        let core = (!row.all_cores).then(|| core.to_string());
        let server = Server::start(&words, core.as_deref(), service.probe())?;
        self.servers.push((service, row.all_cores, server));
        Ok(())
    }

    fn find(&self, service: Service, all_cores: bool) -> Option<&Server> {
        let mut servers = self.servers.iter();
        let found = servers.find(|server| (server.0, server.1) == (service, all_cores));
        found.map(|(.., server)| server)
    }

    /// The number of threads of a row's servers, if they can have several.
    fn threads(&self, row: &Row) -> usize {
        if row.all_cores {
            self.cores.len().max(1)
        } else {
            1
        }
    }

    /// The turns of every entrant of every row, in order.
    fn rounds(
        &self,
        rows: &[Row],
        rounds: usize,
        note: &mut dyn FnMut(&str) -> Result<()>,
    ) -> Result<Vec<Vec<(Sample, Turn)>>> {
        let entrants = rows
            .iter()
            .flat_map(|row| row.entrants.iter().map(move |entrant| (row, entrant)));
        let entrants: Vec<_> = entrants.collect();
        for (row, entrant) in &entrants {
            self.turn(row, entrant, self.time.min(WARM_UP))?;
        }
        let mut turns: Vec<Vec<_>> = entrants.iter().map(|_| Vec::new()).collect();
        for round in 0..rounds {
            note(&format!("round {} of {rounds}", round + 1))?;
            for place in 0..entrants.len() {
                // Rotate the order, so that no entrant is always first.
                let index = (place + round) % entrants.len();
                let (row, entrant) = entrants[index];
                turns[index].push(self.turn(row, entrant, self.time)?);
            }
        }
        Ok(turns)
    }

    /// One turn of one entrant. CPU time counts from the moment all connections are open.
    fn turn(&self, row: &Row, entrant: &Entrant, time: Duration) -> Result<(Sample, Turn)> {
        let server = self.find(entrant.service, row.all_cores);
        let server = server.expect("every server was started");
        let place = if row.all_cores {
            &self.cores[..]
        } else {
            &[self.load_cpu]
        };
        os::pin_self(place)?;
        let load = Load {
            server: address(server)?,
            client: entrant.client,
            call: Arc::clone(&self.call),
            callers: self.callers,
            connections: row.connections,
            depth: row.depth,
            time,
        };
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_io()
            .enable_time()
            .build()
            .map_err(Error::io("the client's runtime"))?;
        let server_cpu = || os::usage(server.pid()).map(|usage| usage.cpu);
        let ready = runtime.block_on(load.connect())?;
        let before = (server_cpu(), os::own_cpu()?);
        let turn = runtime.block_on(ready.run())?;
        let client_cpu = os::own_cpu()?.saturating_sub(before.1);
        let used = before.0.zip(server_cpu());
        let used = used.map(|(before, after)| after.saturating_sub(before));
        Ok((sample(&turn, used, client_cpu), turn))
    }
}

fn address(server: &Server) -> Result<SocketAddr> {
    let text = server.target().to_string();
    text.parse()
        .map_err(|e| Error::server(&text, format!("not an address: {e}")))
}

/// The command line that repeats this measurement, without its output files.
fn line(args: &HttpArgs) -> String {
    let own = [
        ("--times", args.times.to_string()),
        ("--callers", args.callers.to_string()),
        ("--pool", args.pool.to_string()),
        ("--rounds", args.rounds.to_string()),
        ("--test-time", args.test_time.to_string()),
        ("--server-cpu", args.server_cpu.to_string()),
        ("--load-cpu", args.load_cpu.to_string()),
    ];
    let rows = args.row.iter().map(|row| ("--row", row.clone()));
    let payload =
        (args.payload != crate::cli::PAYLOAD).then(|| ("--payload", args.payload.clone()));
    let mut words = ["respire-bench-docs", "http"].map(str::to_owned).to_vec();
    for (flag, value) in own.into_iter().chain(rows).chain(payload) {
        words.extend([flag.to_owned(), value]);
    }
    respire_bench::launch::line(&words)
}

/// The versions of [`PACKAGES`] in the text of a `Cargo.lock`.
fn packages(lock: &str) -> Vec<(String, String)> {
    let version = |package: &str| {
        let (_, rest) = lock.split_once(&format!("name = \"{package}\"\nversion = \""))?;
        Some(rest.split_once('"')?.0.to_owned())
    };
    let found = PACKAGES.into_iter();
    found
        .filter_map(|package| Some((package.to_owned(), version(package)?)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_come_from_the_lock_file() {
        let lock = "[[package]]\nname = \"axum-core\"\nversion = \"0.5.6\"\n\n[[package]]\n\
                    name = \"axum\"\nversion = \"0.8.9\"\nsource = \"x\"\n";
        let axum = ("axum".to_owned(), "0.8.9".to_owned());
        assert_eq!(packages(lock), [axum]);
        assert!(packages("").is_empty());
    }
}
