//! Measures commands on collections, their memory, and how long others wait for commands on large ones.
//!
//! A scene is what a server holds. For each, all servers are started and filled, and then measured in interleaved
//! rounds.

mod data;
mod document;
mod load;
mod rows;
mod waits;

use std::io::Write;
use std::time::Duration;

use respire_bench::compare::Contender;
use respire_bench::error::{Error, Result};
use respire_bench::launch::{Probe, first_line};
use respire_bench::os;
use respire_bench::stats::write_json;
use serde::Serialize;

use crate::cli::CollectionsArgs;
use crate::machine::Machine;
use crate::output::say;
use crate::script::once;
use data::{Fill, Scene};
use rows::{ROWS, Row, What};
use waits::Waits;

pub(crate) use document::MARKS;

/// A measured server.
#[derive(Clone, Debug, Serialize)]
struct Entrant {
    name: &'static str,
    words: Vec<String>,
    version: String,
}

/// A figure of one server, measured once or in every round.
#[derive(Clone, Debug, Serialize)]
struct Figures {
    /// The row.
    name: &'static str,
    title: String,
    server: &'static str,
    /// Microseconds of CPU time, or bytes.
    rounds: Vec<f64>,
}

/// All content of the part of the document.
#[derive(Debug, Serialize)]
struct Measured {
    machine: Machine,
    entrants: Vec<Entrant>,
    server_cpu: usize,
    load_cpu: usize,
    rounds: usize,
    elements: u64,
    test_time_s: f64,
    wait_time_s: f64,
    /// CPU time per command of pipelined loads.
    loads: Vec<Figures>,
    /// CPU time of single commands.
    commands: Vec<Figures>,
    /// Resident bytes.
    memory: Vec<Figures>,
    waits: Vec<Waits>,
}

/// Runs `respire-bench-docs collections`.
///
/// # Errors
/// Any [`Error`].
pub fn run(args: &CollectionsArgs, out: &mut dyn Write) -> Result<bool> {
    let (min, max) = data::ELEMENTS;
    if !(min..=max).contains(&args.elements) || 10_u64.pow(args.elements.ilog10()) != args.elements
    {
        let reason = format!("want a power of ten from {min} to {max}");
        return Err(Error::flag("--elements", reason));
    }
    check_names(&args.row)?;
    os::pin_self(&[args.cores.load_cpu])?;
    let mut measured = Measured {
        machine: Machine::this(),
        entrants: entrants(args)?,
        server_cpu: args.cores.server_cpu,
        load_cpu: args.cores.load_cpu,
        rounds: args.rounds,
        elements: args.elements,
        test_time_s: args.test_time,
        wait_time_s: args.wait_time,
        loads: Vec::new(),
        commands: Vec::new(),
        memory: Vec::new(),
        waits: Vec::new(),
    };
    for scene in Scene::ALL {
        measure(scene, args, &mut measured, out)?;
    }
    document::write(&measured, &args.out)?;
    if let Some(path) = &args.json {
        write_json(path, &measured)?;
    }
    say(out, &document::summary(&measured))?;
    Ok(true)
}

fn fills() -> impl Iterator<Item = &'static Fill> {
    let all = Scene::ALL.into_iter().flat_map(Scene::fills);
    all.filter(|fill| !fill.name.is_empty())
}

fn check_names(names: &[String]) -> Result<()> {
    let all: Vec<&str> = ROWS
        .iter()
        .map(|row| row.name)
        .chain(fills().map(|fill| fill.name))
        .collect();
    match names.iter().find(|name| !all.contains(&name.as_str())) {
        None => Ok(()),
        Some(name) => {
            let reason = format!("no row {name:?} among {}", all.join(", "));
            Err(Error::flag("--row", reason))
        }
    }
}

fn is_chosen(args: &CollectionsArgs, name: &str) -> bool {
    !name.is_empty() && (args.row.is_empty() || args.row.iter().any(|row| row == name))
}

fn entrants(args: &CollectionsArgs) -> Result<Vec<Entrant>> {
    let entrant = |name, program: &str, flags: &str| {
        let version = first_line(program, &["--version"])
            .ok_or_else(|| Error::program(program, "does not tell its --version"))?;
        let mut words = vec![program.to_owned()];
        words.extend(flags.split(' ').map(|word| word.replace("''", "")));
        Ok(Entrant {
            name,
            words,
            version,
        })
    };
    let no_files = "--port {port} --save '' --appendonly no";
    let mut all = vec![entrant("redis", &args.redis, no_files)?];
    if let Some(valkey) = &args.valkey {
        all.push(entrant("valkey", valkey, no_files)?);
    }
    let tokio = "--flavour tokio --threads 1 --port {port}";
    all.push(entrant("respire tokio", &args.respire, tokio)?);
    all.push(entrant(
        "respire mio",
        &args.respire,
        "--flavour mio --port {port}",
    )?);
    Ok(all)
}

/// Starts and fills the servers of a scene, and measures its rows.
fn measure(
    scene: Scene,
    args: &CollectionsArgs,
    measured: &mut Measured,
    out: &mut dyn Write,
) -> Result<()> {
    let rows: Vec<&Row> = ROWS
        .iter()
        .filter(|row| row.scene == scene && is_chosen(args, row.name))
        .collect();
    if rows.is_empty() && !scene.fills().iter().any(|fill| is_chosen(args, fill.name)) {
        return Ok(());
    }
    let mut servers = Vec::new();
    for entrant in &measured.entrants {
        let cores = args.cores.server_cpu.to_string();
        let server = Contender::started(entrant.name, &entrant.words, Some(&cores), Probe::Ping)?;
        say(out, &format!("fill {}", entrant.name))?;
        for fill in scene.fills() {
            let each = filled(fill, &server, args.elements)?;
            if is_chosen(args, fill.name) {
                let title = format!("{}, bytes per {}", fill.title, fill.per);
                note(&mut measured.memory, (fill.name, title, entrant.name), each);
            }
        }
        servers.push((entrant.name, server));
    }
    let time = |seconds, flag| {
        Duration::try_from_secs_f64(seconds).map_err(|e| Error::flag(flag, e.to_string()))
    };
    let times = (
        time(args.test_time, "--test-time")?,
        time(args.wait_time, "--wait-time")?,
    );
    for row in rows {
        say(out, row.name)?;
        measure_row(row, args, times, &servers, measured)?;
    }
    Ok(())
}

/// Runs the rounds of a row.
fn measure_row(
    row: &Row,
    args: &CollectionsArgs,
    (load_time, wait_time): (Duration, Duration),
    servers: &[(&'static str, Contender)],
    measured: &mut Measured,
) -> Result<()> {
    let mut batches = Vec::new();
    match row.what {
        What::Load(requests) => batches = load::batches(requests, args.elements),
        What::Beside(_) => servers
            .iter()
            .try_for_each(|(_, server)| waits::prepare(server))?,
        What::Command(_) => {}
    }
    for round in 0..args.rounds {
        for place in 0..servers.len() {
            // Rotate the order, so that no server always follows the same other.
            let (name, server) = &servers[(place + round) % servers.len()];
            let of = (row.name, row.title.to_owned(), *name);
            match row.what {
                What::Load(_) => {
                    let cost = load::run(server, &batches, load_time)?;
                    note(&mut measured.loads, of, cost);
                }
                What::Command(line) => {
                    let cost = load::once(server, line)?;
                    note(&mut measured.commands, of, cost);
                }
                What::Beside(line) => {
                    let waits = waits_of(&mut measured.waits, row, name);
                    let load = waits::Beside {
                        line,
                        elements: args.elements,
                        time: wait_time,
                    };
                    load.measure(server, waits)?;
                }
            }
        }
    }
    Ok(())
}

/// Fills a server. Returns the bytes by which its resident memory grew, per request.
fn filled(fill: &Fill, server: &Contender, elements: u64) -> Result<f64> {
    let rss = || server.pid.and_then(os::usage).map_or(0, |usage| usage.rss);
    let before = rss();
    once(&server.target, data::batches(fill, elements))?;
    let grown = rss().saturating_sub(before);
    Ok(grown as f64 / (fill.requests)(elements) as f64)
}

/// Adds a measurement to those of its row and server.
fn note(
    all: &mut Vec<Figures>,
    (name, title, server): (&'static str, String, &'static str),
    figure: f64,
) {
    let is_same = |figures: &&mut Figures| figures.name == name && figures.server == server;
    if let Some(figures) = all.iter_mut().find(is_same) {
        return figures.rounds.push(figure);
    }
    all.push(Figures {
        name,
        title,
        server,
        rounds: vec![figure],
    });
}

fn waits_of<'w>(all: &'w mut Vec<Waits>, row: &Row, server: &str) -> &'w mut Waits {
    let is_same = |waits: &Waits| waits.name == row.name && waits.server == server;
    let at = all.iter().position(is_same).unwrap_or_else(|| {
        all.push(Waits {
            name: row.name,
            title: row.title,
            server: server.to_owned(),
            rounds: Vec::new(),
            commands: 0,
        });
        all.len() - 1
    });
    &mut all[at]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_row_is_refused_with_the_names_of_all() {
        assert!(check_names(&["hset".to_owned(), "memory-zset".to_owned()]).is_ok());
        let text = check_names(&["get".to_owned()]).unwrap_err().to_string();
        assert!(text.starts_with("--row: no row \"get\" among "), "{text}");
    }

    #[test]
    fn measurements_are_collected_by_row_and_server() {
        let mut all = Vec::new();
        for (name, server, figure) in [("a", "x", 1.0), ("a", "y", 2.0), ("a", "x", 3.0)] {
            note(&mut all, (name, name.to_owned(), server), figure);
        }
        let rounds: Vec<_> = all.iter().map(|figures| figures.rounds.clone()).collect();
        assert_eq!(rounds, [vec![1.0, 3.0], vec![2.0]]);
    }
}
