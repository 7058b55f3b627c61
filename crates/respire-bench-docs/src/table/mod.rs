//! Measures the project's benchmark table: its rows, its servers, and the document with the
//! results.
//!
//! The whole document is generated: machine, versions, command lines, numbers. Nobody edits it.

mod document;
mod rows;

pub use rows::{Row, rows};

use std::fs;
use std::io::Write;
use std::path::Path;
use std::time::Duration;

use respire_bench::check::Verify;
use respire_bench::compare::{Contender, Contest, Standing};
use respire_bench::engine::{Bound, Load};
use respire_bench::error::{Error, Result};
use respire_bench::launch::{Probe, words};
use respire_bench::os;
use respire_bench::plot::latency;
use respire_bench::stats::write_json;
use respire_bench::target::{Login, Target};
use respire_bench::workload::Protocol;
use serde::Serialize;

use crate::cli::TableArgs;
use crate::machine::Machine;
use crate::marks::between;
use crate::output::say;
use crate::{collections, floor, growth, plot};

/// The load on each server before the first round of a row.
const WARM_UP: Duration = Duration::from_millis(500);

/// A server of the table.
#[derive(Clone, Debug, Serialize)]
pub struct Entrant {
    /// Its name in the columns.
    pub name: String,
    /// Its command, with `{port}` for the port. The flags of a row complete the floor's command.
    pub words: Vec<String>,
    /// The protocol it speaks.
    pub protocol: Protocol,
    /// Its version, as it reports it.
    pub version: String,
}

/// A row with its results.
#[derive(Clone, Debug, Serialize)]
pub struct Outcome {
    /// The row.
    pub row: Row,
    /// The servers, in the order of the columns.
    pub standings: Vec<Standing>,
}

/// All content of the document.
#[derive(Debug, Serialize)]
pub struct Measured {
    /// The machine.
    pub machine: Machine,
    /// Core of the servers.
    pub server_cpu: String,
    /// Core of the load generator.
    pub load_cpu: usize,
    /// The number of rounds of each row.
    pub rounds: usize,
    /// Seconds of each turn.
    pub test_time_s: f64,
    /// The servers.
    pub entrants: Vec<Entrant>,
    /// The rows.
    pub outcomes: Vec<Outcome>,
}

/// The name of the floor's column.
pub(crate) const FLOOR: &str = "floor";

/// Runs `respire-bench-docs table`; returns `false` if a server sent wrong replies.
///
/// # Errors
/// Any [`Error`].
pub fn run(args: &TableArgs, out: &mut dyn Write) -> Result<bool> {
    os::pin_self(&[args.load_cpu])?;
    let chosen = choose(&args.row)?;
    let entrants = entrants(args)?;
    let mut measured = Measured {
        machine: Machine::this(),
        server_cpu: args.server_cpu.clone(),
        load_cpu: args.load_cpu,
        rounds: args.rounds,
        test_time_s: args.test_time,
        entrants,
        outcomes: Vec::new(),
    };
    for row in chosen {
        say(out, &format!("{}: {}", row.name, row.title))?;
        let standings = measure(&row, &measured, out)?;
        measured.outcomes.push(Outcome { row, standings });
    }
    write_document(&measured, &args.out)?;
    if let Some(path) = &args.summary {
        let what = format!("--summary {}", path.display());
        let text = fs::read_to_string(path).map_err(Error::io(&what))?;
        let text = document::with_summary(&text, &measured, &args.out).ok_or_else(|| {
            let reason = format!("{} has no {}", path.display(), document::SUMMARY.0);
            Error::flag("--summary", reason)
        })?;
        fs::write(path, text).map_err(Error::io(what))?;
    }
    if let Some(path) = &args.json {
        write_json(path, &measured)?;
    }
    say(out, &document::summary(&measured).to_string())?;
    let standings = measured.outcomes.iter().flat_map(|o| &o.standings);
    let mut wrong = standings.filter(|standing| standing.wrong > 0);
    match wrong.next() {
        None => Ok(true),
        Some(first) => {
            let complaint = first.first_complaint.as_deref().unwrap_or("unknown");
            say(
                out,
                &format!("{} gave wrong replies: {complaint}", first.name),
            )?;
            Ok(false)
        }
    }
}

fn choose(names: &[String]) -> Result<Vec<Row>> {
    if let Some(name) = names
        .iter()
        .find(|name| rows().all(|row| row.name != **name))
    {
        let all: Vec<&str> = rows().map(|row| row.name).collect();
        let reason = format!("no row {name:?} among {}", all.join(", "));
        return Err(Error::flag("--row", reason));
    }
    let wanted = |row: &Row| names.is_empty() || names.iter().any(|name| name == row.name);
    Ok(rows().filter(wanted).collect())
}

fn entrants(args: &TableArgs) -> Result<Vec<Entrant>> {
    let version = |program: &str| {
        respire_bench::launch::first_line(program, &["--version"])
            .ok_or_else(|| Error::program(program, "does not tell its --version"))
    };
    let strings = |words: &[&str]| words.iter().map(|&word| word.to_owned()).collect();
    let entrant = |name: &str, words: &[&str], protocol| {
        Ok(Entrant {
            name: name.to_owned(),
            words: strings(words),
            protocol,
            version: version(words[0])?,
        })
    };
    let redis = ["--port", "{port}", "--save", "", "--appendonly", "no"];
    let redis = [&[&*args.redis][..], &redis[..]].concat();
    let tokio = ["--flavour", "tokio", "--threads", "1", "--port", "{port}"];
    let tokio = [&[&*args.respire][..], &tokio[..]].concat();
    let mio = ["--flavour", "mio", "--port", "{port}"];
    let mio = [&[&*args.respire][..], &mio[..]].concat();
    let floor = floor::command()?;
    let floor: Vec<&str> = floor.iter().map(String::as_str).collect();
    let mut entrants = vec![entrant("redis", &redis, Protocol::Resp2)?];
    for also in &args.also {
        let (name, line) = also
            .split_once('=')
            .ok_or_else(|| Error::flag("--also", format!("{also:?} is not NAME=COMMAND")))?;
        let words = words(line)?;
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        entrants.push(entrant(name, &words, Protocol::Resp2)?);
    }
    entrants.push(entrant("respire tokio", &tokio, Protocol::Resp2)?);
    entrants.push(entrant("respire mio", &mio, Protocol::Resp2)?);
    entrants.push(entrant("respire mio, binary", &mio, Protocol::Binary)?);
    entrants.push(entrant(FLOOR, &floor, Protocol::Resp2)?);
    Ok(entrants)
}

/// Starts new servers and runs the rounds of one row.
fn measure(row: &Row, measured: &Measured, out: &mut dyn Write) -> Result<Vec<Standing>> {
    let mut contenders = Vec::new();
    for entrant in &measured.entrants {
        let is_floor = entrant.name == FLOOR;
        let mut words = entrant.words.clone();
        if is_floor {
            words.extend(row.workload.flags());
        }
        let probe = if is_floor {
            Probe::Connect
        } else {
            Probe::Ping
        };
        let mut contender =
            Contender::started(&entrant.name, &words, Some(&measured.server_cpu), probe)?;
        contender.protocol = Some(entrant.protocol);
        contenders.push(contender);
    }
    let time = Duration::try_from_secs_f64(measured.test_time_s)
        .map_err(|e| Error::flag("--test-time", e.to_string()))?;
    let contest = Contest {
        load: Load {
            target: Target::Unix("replaced by each server's".into()),
            login: Login::default(),
            workload: row.workload.clone(),
            verify: Verify::Values,
            clients: row.clients,
            threads: 1,
            bound: Bound::time(time),
            rate: None,
            seed: 1,
            logging: false,
            beside: None,
        },
        populate: true,
        rounds: measured.rounds,
        warm_up: WARM_UP,
    };
    contest.run(&mut contenders, |note| {
        // This shows only progress; ignore its errors.
        drop(say(out, &format!("  {note}")));
    })
}

fn write_document(measured: &Measured, path: &Path) -> Result<()> {
    let what = format!("--out {}", path.display());
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(Error::io(&what))?;
    }
    let prefix = path.with_extension("");
    for outcome in &measured.outcomes {
        let mut own = prefix.as_os_str().to_owned();
        own.push(format!("-{}", outcome.row.name));
        let lines: Vec<_> = outcome
            .standings
            .iter()
            .map(|standing| (&*standing.name, &*standing.quantiles_us))
            .collect();
        latency(Path::new(&own), &lines)?;
    }
    let groups: Vec<_> = measured
        .outcomes
        .iter()
        .map(|outcome| {
            let bars = outcome.standings.iter();
            let bars = bars.map(|s| (&*s.name, s.cpu_us.map_or(0.0, |cpu| cpu.median)));
            (outcome.row.name, bars.collect())
        })
        .collect();
    plot::bars(
        &prefix,
        "cpu",
        "Server CPU per command, share of the first",
        &groups,
    )?;
    let stem = prefix.file_name().unwrap_or_default().to_string_lossy();
    // The parts of other commands stay as they are.
    let before = fs::read_to_string(path).unwrap_or_default();
    let mut text = document::markdown(measured, &stem);
    for marks in [growth::MARKS, collections::MARKS] {
        let part = between(&before, marks).unwrap_or("\n");
        text.extend([marks.0, part, marks.1, "\n"]);
    }
    fs::write(path, text).map_err(Error::io(what))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_chosen_by_name_keep_document_order() {
        let chosen = choose(&["set-15".to_owned(), "get-pipelined".to_owned()]).unwrap();
        let names: Vec<&str> = chosen.iter().map(|row| row.name).collect();
        assert_eq!(names, ["get-pipelined", "set-15"]);
        assert_eq!(choose(&[]).unwrap().len(), rows().count());
        let text = choose(&["get".to_owned()]).unwrap_err().to_string();
        assert!(text.starts_with("--row: no row \"get\" among "), "{text}");
    }
}
