//! Measures how costs grow with keys, connections, arguments and worker threads, how long clients
//! wait while a server does other work, and the memory of keys and connections.

mod arguments;
mod connections;
mod document;
mod keys;
mod memory;
mod pauses;
mod scaling;
mod setting;
mod workers;

pub use connections::Idle;
pub use memory::Memory;
pub use pauses::{Pauses, Waits};
pub use scaling::{Point, Scaling, Series};
pub use setting::{Entrant, Setting};
pub use workers::Workers;

use std::fs;
use std::io::Write;
use std::path::Path;
use std::time::Duration;

use respire_bench::error::{Error, Result};
use respire_bench::launch::{first_line, words};
use respire_bench::os;
use respire_bench::stats::write_json;
use serde::Serialize;

use crate::cli::GrowthArgs;
use crate::machine::Machine;
use crate::marks::replace_between;
use crate::output::say;
use setting::THREADS;

/// The marks around the result in the document.
pub(crate) const MARKS: (&str, &str) = ("<!-- growth -->", "<!-- /growth -->");

/// One part of the result.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Part {
    /// A cost by size.
    Scaling(Scaling),
    /// A load alone, and during a sweep and a flush.
    BesideWork(Vec<Pauses>),
    /// A load that grows the tables, and one that does not.
    GrowingTables(Vec<Pauses>),
    /// The memory of keys.
    Memory(Vec<Memory>),
    /// The memory of connections.
    Idle(Vec<Idle>),
    /// One worker thread and two.
    Workers(Vec<Workers>),
}

/// Measures one part.
type Measure = fn(&Setting) -> Result<Part>;

/// The parts, in document order.
const PARTS: [(&str, Measure); 8] = [
    ("keys", |setting| keys::measure(setting).map(Part::Scaling)),
    ("connections", |setting| {
        connections::measure(setting).map(Part::Scaling)
    }),
    ("arguments", |setting| {
        arguments::measure(setting).map(Part::Scaling)
    }),
    ("work", |setting| {
        pauses::beside_work(setting).map(Part::BesideWork)
    }),
    ("tables", |setting| {
        pauses::growing_tables(setting).map(Part::GrowingTables)
    }),
    ("memory", |setting| {
        memory::measure(setting).map(Part::Memory)
    }),
    ("idle", |setting| connections::idle(setting).map(Part::Idle)),
    ("workers", |setting| {
        workers::measure(setting).map(Part::Workers)
    }),
];

/// All measurements.
#[derive(Clone, Debug, Serialize)]
pub struct Measured {
    /// The machine.
    pub machine: Machine,
    /// The settings.
    pub setting: Setting,
    /// The parts.
    pub parts: Vec<Part>,
}

/// Runs `respire-bench-docs growth`.
///
/// # Errors
/// Any [`Error`]; a wrong reply is an error.
pub fn run(args: &GrowthArgs, out: &mut dyn Write) -> Result<bool> {
    let chosen = choose(&args.part)?;
    let setting = setting(args)?;
    os::pin_self(&[args.cores.load_cpu])?;
    let mut measured = Measured {
        machine: Machine::this(),
        setting,
        parts: Vec::new(),
    };
    for (name, measure) in chosen {
        say(out, name)?;
        measured.parts.push(measure(&measured.setting)?);
    }
    let prefix = args.out.with_extension("");
    let stem = prefix.file_name().unwrap_or_default().to_string_lossy();
    let text = document::markdown(&measured, &stem);
    write_between(&args.out, &text)?;
    document::plots(&measured, &prefix)?;
    if let Some(path) = &args.json {
        write_json(path, &measured)?;
    }
    say(out, &text)?;
    Ok(true)
}

fn choose(names: &[String]) -> Result<Vec<(&'static str, Measure)>> {
    let known = |name: &String| PARTS.iter().any(|part| part.0 == name);
    if let Some(name) = names.iter().find(|name| !known(name)) {
        let all = PARTS.map(|part| part.0).join(", ");
        return Err(Error::flag(
            "--part",
            format!("no part {name:?} among {all}"),
        ));
    }
    let wanted = |part: &&(&'static str, Measure)| {
        names.is_empty() || names.iter().any(|name| name == part.0)
    };
    Ok(PARTS.iter().filter(wanted).copied().collect())
}

fn setting(args: &GrowthArgs) -> Result<Setting> {
    if args.rounds == 0 {
        return Err(Error::flag("--rounds", "want at least one"));
    }
    if args.keys_max < 1_000 {
        return Err(Error::flag("--keys-max", "want at least 1000"));
    }
    if args.connections_max == 0 {
        return Err(Error::flag("--connections-max", "want at least one"));
    }
    let time = Duration::try_from_secs_f64(args.test_time)
        .map_err(|error| Error::flag("--test-time", error.to_string()))?;
    Ok(Setting {
        entrants: entrants(args)?,
        server_cpu: args.cores.server_cpu,
        load_cpu: args.cores.load_cpu,
        rounds: args.rounds,
        time,
        keys_max: args.keys_max,
        connections_max: args.connections_max,
    })
}

fn entrants(args: &GrowthArgs) -> Result<Vec<Entrant>> {
    let mut commands = Vec::new();
    for server in &args.server {
        let (name, line) = server
            .split_once('=')
            .ok_or_else(|| Error::flag("--server", format!("{server:?} is not NAME=COMMAND")))?;
        commands.push((name.to_owned(), words(line)?));
    }
    if commands.is_empty() {
        let tokio = [
            "--flavour",
            "tokio",
            "--threads",
            THREADS,
            "--port",
            "{port}",
        ];
        let mio = ["--flavour", "mio", "--port", "{port}"];
        for (name, flags) in [("tokio", &tokio[..]), ("mio", &mio[..])] {
            let words = [&args.respire[..]].into_iter().chain(flags.iter().copied());
            commands.push((name.to_owned(), words.map(str::to_owned).collect()));
        }
    }
    let entrant = |(name, words): (String, Vec<String>)| {
        let version = first_line(&words[0], &["--version"])
            .ok_or_else(|| Error::program(&words[0], "does not tell its --version"))?;
        Ok(Entrant {
            name,
            words,
            version,
        })
    };
    commands.into_iter().map(entrant).collect()
}

/// Replaces the result in the document, or creates the document.
fn write_between(path: &Path, block: &str) -> Result<()> {
    let what = format!("--out {}", path.display());
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(Error::io(&what))?;
    }
    let text = if path.exists() {
        let text = fs::read_to_string(path).map_err(Error::io(&what))?;
        replace_between(&text, MARKS, block)
            .ok_or_else(|| Error::flag("--out", format!("{} has no {}", path.display(), MARKS.0)))?
    } else {
        format!("{}{block}{}\n", MARKS.0, MARKS.1)
    };
    fs::write(path, text).map_err(Error::io(what))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_chosen_by_name_keep_document_order() {
        let chosen = choose(&["idle".to_owned(), "keys".to_owned()]).unwrap();
        let names: Vec<&str> = chosen.iter().map(|part| part.0).collect();
        assert_eq!(names, ["keys", "idle"]);
        assert_eq!(choose(&[]).unwrap().len(), PARTS.len());
        let text = choose(&["key".to_owned()]).unwrap_err().to_string();
        assert!(
            text.starts_with("--part: no part \"key\" among keys, "),
            "{text}"
        );
    }
}
