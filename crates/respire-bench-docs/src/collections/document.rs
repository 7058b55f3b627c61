//! Writes the results of `collections` as a part of a Markdown document.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use respire_bench::compare::{Grid, ratio};
use respire_bench::error::{Error, Result};
use respire_bench::launch::line;
use respire_bench::stats::Spread;

use super::load::{CLIENTS, PIPELINE};
use super::{Figures, Measured, waits};
use crate::machine::program_name;
use crate::marks::replace_between;

/// Where the part stands.
pub(crate) const MARKS: (&str, &str) = ("<!-- collections -->", "<!-- /collections -->");

/// Replaces the part of the document, or adds it at the end.
pub(super) fn write(measured: &Measured, path: &Path) -> Result<()> {
    let what = format!("--out {}", path.display());
    let before = match fs::read_to_string(path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
        read => read.map_err(Error::io(&what))?,
    };
    let block = markdown(measured);
    let text = replace_between(&before, MARKS, &block)
        .unwrap_or_else(|| format!("{before}{}{block}{}\n", MARKS.0, MARKS.1));
    fs::write(path, text).map_err(Error::io(what))
}

/// The tables alone.
pub(super) fn summary(measured: &Measured) -> String {
    let mut text = String::new();
    write_tables(measured, &mut text).expect("a string takes any text");
    text
}

fn markdown(measured: &Measured) -> String {
    let mut text = String::new();
    let head = write_head(measured, &mut text);
    head.and_then(|()| write_tables(measured, &mut text))
        .expect("a string takes any text");
    text
}

fn write_head(measured: &Measured, text: &mut String) -> std::fmt::Result {
    writeln!(text, "\n# Collections\n")?;
    writeln!(
        text,
        "Hashes, lists, sets and sorted sets. Servers on core {}, with one thread, the load generator on core {}; {} \
         rounds, interleaved; medians, and their ratios to the first server's.\n",
        measured.server_cpu, measured.load_cpu, measured.rounds
    )?;
    let machine = &measured.machine;
    let revision = machine.revision.as_deref().unwrap_or("unknown");
    writeln!(text, "- Day: {}; revision {revision}", machine.day)?;
    for entrant in &measured.entrants {
        let line = program_name(&line(&entrant.words));
        writeln!(text, "- {}: `{line}`, {}", entrant.name, entrant.version)?;
    }
    writeln!(
        text,
        "- Made by: `respire-bench-docs collections --elements {} --rounds {} --test-time {} --wait-time {}`",
        measured.elements, measured.rounds, measured.test_time_s, measured.wait_time_s
    )
}

fn write_tables(measured: &Measured, text: &mut String) -> std::fmt::Result {
    let names: Vec<&str> = measured.entrants.iter().map(|it| it.name).collect();
    let parts = [
        (
            "Commands",
            format!(
                "CPU time of the server's process per command, {CLIENTS} connections, {PIPELINE} requests at a time."
            ),
            grid("CPU µs/command", &measured.loads, &names, 1.0),
        ),
        (
            "Commands on large collections",
            "CPU time of the server's process until the reply has come.".to_owned(),
            grid("CPU ms", &measured.commands, &names, 1e3),
        ),
        (
            "Memory of collections",
            "Resident memory that the process grew by, in bytes, with those of the elements."
                .to_owned(),
            grid("bytes", &measured.memory, &names, 1.0),
        ),
    ];
    for (title, method, grid) in parts {
        if let Some(grid) = grid {
            writeln!(text, "\n## {title}\n\n{method}\n\n{grid}")?;
        }
    }
    if !measured.waits.is_empty() {
        let (method, grid) = (
            waits::method(measured.wait_time_s),
            waits::grid(&measured.waits),
        );
        writeln!(
            text,
            "\n## Waiting for large collections\n\n{method}\n\n{grid}"
        )?;
    }
    Ok(())
}

/// A line per row and a column per server; `None` without rows.
fn grid(unit: &str, all: &[Figures], servers: &[&str], divisor: f64) -> Option<Grid> {
    let first = all.first()?;
    let mut grid = Grid::new([unit].into_iter().chain(servers.iter().copied()));
    let mut names: Vec<&str> = Vec::new();
    for row in all {
        if names.contains(&row.name) {
            continue;
        }
        names.push(row.name);
        let median = |server: &str| {
            let of = |it: &&Figures| it.name == row.name && it.server == server;
            let spread = Spread::of(all.iter().find(of)?.rounds.iter().copied());
            spread.map(|spread| spread.median / divisor)
        };
        let base = median(first.server);
        let cell = |server: &&str| match median(server) {
            Some(number) => format!("{number:.3} ({})", ratio(Some(number), base)),
            None => "-".to_owned(),
        };
        let cells = servers.iter().map(cell);
        grid.push([row.title.clone()].into_iter().chain(cells));
    }
    Some(grid)
}
