//! Writes the comparison as a part of a Markdown document, with its plot.

use std::fmt::Write as _;
use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use respire_bench::compare::{Grid, ratio};
use respire_bench::error::{Error, Result};
use respire_bench::stats::Spread;

use super::figures::{Measured, Outcome, Standing};
use super::reading::reading;
use crate::marks::replace_between;
use crate::plot::{self, Panel};

/// This command owns the text between these marks.
const MARKS: (&str, &str) = ("<!-- http -->", "<!-- /http -->");
/// The title of a new document.
const TITLE: &str = "# RESP instead of HTTP";

/// The existing document, or the frame of a new one.
///
/// # Errors
/// [`Error::Io`], or [`Error::Flag`] of `--out` for a document without the marks.
pub(super) fn read(path: &Path) -> Result<String> {
    let text = match fs::read_to_string(path) {
        Err(e) if e.kind() == ErrorKind::NotFound => {
            format!("{TITLE}\n\n{}{}\n", MARKS.0, MARKS.1)
        }
        read => read.map_err(Error::io(format!("--out {}", path.display())))?,
    };
    match replace_between(&text, MARKS, "") {
        Some(_) => Ok(text),
        None => {
            let reason = format!("{} has no {} … {}", path.display(), MARKS.0, MARKS.1);
            Err(Error::flag("--out", reason))
        }
    }
}

/// Writes the document, which [`read`] has returned, and its plot.
///
/// # Errors
/// [`Error::Io`].
pub(super) fn write(text: &str, measured: &Measured, path: &Path) -> Result<()> {
    let what = || Error::io(format!("--out {}", path.display()));
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(what())?;
    }
    let prefix = path.with_extension("");
    let stem = prefix.file_name().unwrap_or_default().to_string_lossy();
    let text = replace_between(text, MARKS, &block(measured, &stem));
    plot::panels(&prefix, "figures", &panels(&measured.outcomes))?;
    fs::write(path, text.expect("a document that was read has its marks")).map_err(what())
}

/// The text between the marks. `stem` is the prefix of the plot's name.
pub(super) fn block(measured: &Measured, stem: &str) -> String {
    let mut text = String::from(
        "\n<!-- Written by this command. Do not edit between its marks: it is replaced. -->\n\n",
    );
    head(measured, &mut text).expect("a string takes any text");
    text.push_str("## Reading\n\n");
    for paragraph in reading(measured) {
        writeln!(text, "{paragraph}\n").expect("a string takes any text");
    }
    text.push_str("## Figures\n\n");
    for outcome in &measured.outcomes {
        section(outcome, &mut text).expect("a string takes any text");
    }
    writeln!(text, "![All figures]({stem}-figures.svg)").expect("a string takes any text");
    text
}

fn head(measured: &Measured, text: &mut String) -> std::fmt::Result {
    let Measured {
        machine,
        call,
        callers,
        pool,
        rounds,
        test_time_s,
        server_cpu,
        load_cpu,
        reply_bytes,
        ..
    } = measured;
    writeln!(
        text,
        "`BENCH payload times` returns the payload, so many times: here `{:?}`, {} bytes, {} times, a reply of {reply_bytes} bytes. \
         One handler ([examples/bench_command.rs](../crates/respire/examples/bench_command.rs)) stands behind RESP, served by both flavours of \
         Respire, and behind HTTP/1.1, served by axum: GET with query parameters and a reply of text, and POST with JSON both \
         ways. {callers} callers each make a call, wait for its reply and make the next.\n",
        call.payload,
        call.payload.len(),
        call.times
    )?;
    writeln!(
        text,
        "- Servers are processes of their own with one worker thread on core {server_cpu}, the client has core {load_cpu}; where a \
         row says so, servers have a thread for every core (the mio flavour always has one), and share the cores with the client. \
         Servers and client are one program: one compiler, one build, one allocator (the system's).\n\
         - Loopback TCP, `TCP_NODELAY` on both sides, connections kept alive and made before the clock starts. The pool has {pool} \
         connections for RESP and HTTP alike; who waits longest has the next free one, and latency counts from the moment a caller \
         wants its call.\n\
         - The client is one thread for all: RESP is written and read with `resp-codec`, HTTP with hyper. *Replayed* is HTTP without \
         an HTTP client: request bytes prepared once, of the reply only the length looked for. It is the least an HTTP client could cost, \
         and can do what no common HTTP client offers: pipeline.\n\
         - Every reply is compared with the right one; a wrong one ends the measurement, and nothing is written.\n\
         - Bytes are those the client's sockets took and gave, heads included, TCP's own not. CPU time is user and system time of \
         the processes, so with the kernel's part of the network.\n\
         - Every row and server has {test_time_s} s in each of the rounds, {rounds} in all, which are interleaved; medians, with the \
         smallest and the greatest.\n"
    )?;
    let revision = machine.revision.as_deref().unwrap_or("unknown");
    let unknown = || "unknown".to_owned();
    let load = measured.load_average;
    let load = load.map_or_else(unknown, |load| format!("{load:.2}"));
    let niceness = measured.niceness;
    let niceness = niceness.map_or_else(unknown, |niceness| niceness.to_string());
    writeln!(
        text,
        "| | |\n|:--|:--|\n| machine | {}, {} cores, {} MiB; {} |\n| load average when it began; niceness | {load}; {niceness} |\n\
         | day, revision | {}, {revision} |\n| compiler | {} |\n| packages | {} |\n| made by | `{}` |\n",
        machine.processor,
        machine.cores,
        machine.memory_mib,
        machine.system,
        machine.day,
        measured.compiler.as_deref().unwrap_or("unknown"),
        packages(measured),
        measured.line
    )
}

fn packages(measured: &Measured) -> String {
    let packages = measured.packages.iter();
    let packages = packages.map(|(name, version)| format!("{name} {version}"));
    let own = format!("respire {}", env!("CARGO_PKG_VERSION"));
    let all: Vec<String> = [own].into_iter().chain(packages).collect();
    all.join(", ")
}

fn section(outcome: &Outcome, text: &mut String) -> std::fmt::Result {
    let row = &outcome.row;
    let grid = outcome.grid();
    writeln!(text, "### {}: {}\n\n{grid}", row.name, row.title)?;
    if row.depth > 1 {
        writeln!(
            text,
            "No common HTTP client pipelines, so HTTP takes part with replayed bytes only.\n"
        )?;
    }
    Ok(())
}

impl Outcome {
    /// The figures of all entrants, each compared with the first.
    pub(super) fn grid(&self) -> Grid {
        let mut grid = Grid::new([
            "",
            "calls/s",
            "(min..max)",
            "ratio",
            "p50 ms",
            "p99 ms",
            "server CPU µs/call",
            "(min..max)",
            "ratio",
            "server busy",
            "client CPU µs/call",
            "client busy",
            "bytes out",
            "bytes in",
        ]);
        let first = &self.standings[0];
        let ms = |us: Spread| format!("{:.2}", us.median / 1e3);
        let missing = || "-".to_owned();
        for standing in &self.standings {
            let rate = standing.per_second;
            let cpu = standing.server_cpu_us;
            grid.push([
                name(standing),
                format!("{:.0}", rate.median),
                format!("{:.0}..{:.0}", rate.min, rate.max),
                ratio(Some(rate.median), Some(first.per_second.median)),
                ms(standing.p50_us),
                ms(standing.p99_us),
                cpu.map_or_else(missing, |cpu| format!("{:.2}", cpu.median)),
                cpu.map_or_else(missing, |cpu| format!("{:.2}..{:.2}", cpu.min, cpu.max)),
                ratio(
                    cpu.map(|cpu| cpu.median),
                    first.server_cpu_us.map(|cpu| cpu.median),
                ),
                cpu.map_or_else(missing, |cpu| {
                    format!("{:.0} %", cpu.median * rate.median / 1e4)
                }),
                format!("{:.2}", standing.client_cpu_us.median),
                format!("{:.0} %", 100.0 * standing.client_share.median),
                format!("{:.0}", standing.bytes_sent.median),
                format!("{:.0}", standing.bytes_received.median),
            ]);
        }
        grid
    }
}

/// Its name, with its number of threads if it has several.
fn name(standing: &Standing) -> String {
    match standing.threads {
        1 => standing.entrant.name.to_owned(),
        threads => format!("{}, {threads} threads", standing.entrant.name),
    }
}

/// A number of a standing, for the bars of a plot.
type Number = fn(&Standing) -> f64;

fn panels(outcomes: &[Outcome]) -> Vec<Panel<'_>> {
    let numbers: [(&str, Number); 5] = [
        ("Thousand calls per second", |s| s.per_second.median / 1e3),
        ("p50 latency, ms", |s| s.p50_us.median / 1e3),
        ("p99 latency, ms", |s| s.p99_us.median / 1e3),
        ("Server CPU per call, µs", |s| {
            s.server_cpu_us.map_or(0.0, |cpu| cpu.median)
        }),
        ("Bytes on the wire per call, both directions", |s| {
            s.bytes_sent.median + s.bytes_received.median
        }),
    ];
    let panel = |(caption, number): (&'static str, Number)| Panel {
        caption,
        groups: outcomes
            .iter()
            .map(|outcome| {
                let bars = outcome.standings.iter();
                let bars = bars.map(|standing| (standing.entrant.name, number(standing)));
                (outcome.row.name, bars.collect())
            })
            .collect(),
    };
    numbers.into_iter().map(panel).collect()
}
