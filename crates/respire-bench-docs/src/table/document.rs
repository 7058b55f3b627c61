//! Writes the benchmark table as a Markdown document.

use std::fmt::Write as _;
use std::path::Path;

use respire_bench::compare::{Grid, Standing, ratio, standings_grid};
use respire_bench::launch::line;

use super::{FLOOR, Measured, Outcome};
use crate::machine::program_name;
use crate::marks::replace_between;

/// CPU time per command of every server, by row, with its share of the first server's time.
pub(super) fn summary(measured: &Measured) -> Grid {
    let names = measured.entrants.iter().map(|entrant| entrant.name.clone());
    let mut table = Grid::new(["CPU µs/command".to_owned()].into_iter().chain(names));
    for outcome in &measured.outcomes {
        let first = outcome.standings.first().and_then(cpu);
        let cells = outcome
            .standings
            .iter()
            .map(|standing| match cpu(standing) {
                None => "-".to_owned(),
                Some(own) => format!("{own:.3} ({})", ratio(Some(own), first)),
            });
        table.push([outcome.row.title.to_owned()].into_iter().chain(cells));
    }
    table
}

fn cpu(standing: &Standing) -> Option<f64> {
    standing.cpu_us.map(|cpu| cpu.median)
}

/// The whole document. `stem` is the prefix of its plots' names.
pub(super) fn markdown(measured: &Measured, stem: &str) -> String {
    let mut text = String::new();
    head(measured, stem, &mut text).expect("a string takes any text");
    for outcome in &measured.outcomes {
        section(measured, outcome, stem, &mut text).expect("a string takes any text");
    }
    text
}

/// The marks around the summary in another document.
pub(super) const SUMMARY: (&str, &str) = ("<!-- benchmarks -->", "<!-- /benchmarks -->");

/// `text` with the summary and its plot between the marks; `None` without the marks. `out` is the
/// path of the whole document.
pub(super) fn with_summary(text: &str, measured: &Measured, out: &Path) -> Option<String> {
    let plot = format!("{}-cpu.svg", out.with_extension("").display());
    let block = format!(
        "\nMedian CPU time of the server per command, and its ratio to the first server's \
         ([how, and all numbers]({})):\n\n{}\n![CPU time per command]({plot})\n",
        out.display(),
        summary(measured)
    );
    replace_between(text, SUMMARY, &block)
}

fn head(measured: &Measured, stem: &str, text: &mut String) -> std::fmt::Result {
    let machine = &measured.machine;
    writeln!(
        text,
        "<!-- Written by `respire-bench-docs table`. Do not edit. -->\n"
    )?;
    writeln!(text, "# Benchmarks\n")?;
    writeln!(
        text,
        "Servers on core {}, the load generator on core {}, loopback TCP. {} rounds of {} s per server and row, \
         interleaved; medians, with the smallest and the greatest. CPU time is user and system time of the server's process, divided by the \
         commands answered. Every reply is checked, values included. The floor moves the same bytes, but parses and stores nothing. \
         In the repository, `cargo xtask bench` builds all that is measured here and writes this page anew.\n",
        measured.server_cpu, measured.load_cpu, measured.rounds, measured.test_time_s
    )?;
    writeln!(
        text,
        "- Machine: {}, {} cores, {} MiB; {}",
        machine.processor, machine.cores, machine.memory_mib, machine.system
    )?;
    let revision = machine.revision.as_deref().unwrap_or("unknown");
    writeln!(text, "- Day: {}; revision {revision}", machine.day)?;
    writeln!(
        text,
        "- Made by: `respire-bench-docs table --rounds {} --test-time {} --server-cpu {} --load-cpu {}`\n",
        measured.rounds, measured.test_time_s, measured.server_cpu, measured.load_cpu
    )?;
    let mut servers = Grid::new(["server", "command", "version"]);
    for entrant in &measured.entrants {
        servers.push([
            entrant.name.clone(),
            format!("`{}`", program_name(&line(&entrant.words))),
            entrant.version.clone(),
        ]);
    }
    writeln!(text, "{servers}\n## Summary\n")?;
    writeln!(
        text,
        "Median CPU time per command, and its ratio to the first server's.\n"
    )?;
    writeln!(
        text,
        "{}\n![CPU time per command]({stem}-cpu.svg)\n",
        summary(measured)
    )
}

fn section(
    measured: &Measured,
    outcome: &Outcome,
    stem: &str,
    text: &mut String,
) -> std::fmt::Result {
    let row = &outcome.row;
    writeln!(text, "## {}\n", row.title)?;
    writeln!(
        text,
        "`--clients={} {} --populate --test-time={}`\n",
        row.clients,
        row.workload.flags().join(" "),
        measured.test_time_s
    )?;
    writeln!(text, "{}", standings_grid(&outcome.standings))?;
    if let Some(floor) = outcome
        .standings
        .iter()
        .find(|s| s.name == FLOOR)
        .and_then(cpu)
    {
        let ratios = outcome
            .standings
            .iter()
            .filter(|s| s.name != FLOOR)
            .map(|standing| format!("{} {}", standing.name, ratio(cpu(standing), Some(floor))));
        writeln!(
            text,
            "CPU time per command over the floor's: {}.\n",
            ratios.collect::<Vec<_>>().join("; ")
        )?;
    }
    let payload = (row.workload.key_length + row.workload.data_size) as f64;
    let keys = row.workload.key_space as f64;
    let memory = outcome
        .standings
        .iter()
        .filter(|standing| !standing.is_floor);
    let memory = memory.filter_map(|standing| {
        let grown = standing.rss?.saturating_sub(standing.rss_idle?) as f64;
        let over = grown / keys - payload;
        Some(format!("{} {over:.1} B", standing.name))
    });
    writeln!(
        text,
        "Resident memory per key beyond the bytes of key and value, after all rounds: {}.\n",
        memory.collect::<Vec<_>>().join("; ")
    )?;
    let missed: Vec<String> = outcome
        .standings
        .iter()
        .filter(|standing| standing.misses + standing.wrong > 0)
        .map(|s| format!("{}: {} misses, {} wrong replies", s.name, s.misses, s.wrong))
        .collect();
    if !missed.is_empty() {
        writeln!(text, "Not what was asked for: {}.\n", missed.join("; "))?;
    }
    writeln!(
        text,
        "![Latency by percentile]({stem}-{}-latency.svg)\n",
        row.name
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::Machine;
    use crate::table::{Entrant, rows};
    use respire_bench::compare::Sample;
    use respire_bench::stats::Spread;
    use respire_bench::workload::Protocol;

    fn standing(name: &str, cpu_us: f64) -> Standing {
        let spread = |value| Spread::of([value]).unwrap();
        let sample = Sample {
            per_second: 1e6,
            p50_us: 10.0,
            p99_us: 20.0,
            cpu_us: Some(cpu_us),
            load_share: 0.5,
        };
        Standing {
            name: name.to_owned(),
            line: None,
            is_floor: name == FLOOR,
            samples: vec![sample],
            per_second: spread(1e6),
            p50_us: spread(10.0),
            p99_us: spread(20.0),
            cpu_us: Some(spread(cpu_us)),
            load_share: spread(0.5),
            rss_idle: Some(3 << 20),
            rss: Some((3 << 20) + 69_000_000),
            misses: 0,
            wrong: 0,
            first_complaint: None,
            quantiles_us: Vec::new(),
            moments: Vec::new(),
        }
    }

    fn measured() -> Measured {
        let entrant = |name: &str, program: &str| Entrant {
            name: name.to_owned(),
            words: vec![program.to_owned(), "--save".to_owned(), String::new()],
            protocol: Protocol::Resp2,
            version: "v1".to_owned(),
        };
        Measured {
            machine: Machine::this(),
            server_cpu: "0".to_owned(),
            load_cpu: 1,
            rounds: 5,
            test_time_s: 3.0,
            entrants: vec![
                entrant("redis", "/opt/redis-server"),
                entrant(FLOOR, "bench"),
            ],
            outcomes: vec![Outcome {
                row: rows().next().unwrap(),
                standings: vec![standing("redis", 0.8), standing(FLOOR, 0.1)],
            }],
        }
    }

    #[test]
    fn summary_replaces_the_text_between_the_marks() {
        let text = "a\n<!-- benchmarks -->\nold\n<!-- /benchmarks -->\nb\n";
        let new = with_summary(text, &measured(), Path::new("docs/benchmarks.md")).unwrap();
        assert!(new.starts_with("a\n<!-- benchmarks -->\n"), "{new}");
        assert!(new.ends_with("<!-- /benchmarks -->\nb\n"), "{new}");
        assert!(new.contains("0.100 (0.12x)") && new.contains("(docs/benchmarks-cpu.svg)"));
        assert!(!new.contains("old"));
        assert_eq!(
            with_summary("nothing", &measured(), Path::new("x.md")),
            None
        );
    }

    #[test]
    fn document_has_ratios_commands_and_plots() {
        let measured = measured();
        let text = markdown(&measured, "benchmarks");
        for part in [
            "0.100 (0.12x)",
            "`redis-server --save ''`",
            "redis 8.00x.",
            "redis 50.0 B.",
            "benchmarks-get-pipelined-latency.svg",
            "--clients=20 --pipeline=64 --data-size=3",
        ] {
            assert!(text.contains(part), "{part} in {text}");
        }
        assert!(!text.contains("/opt/"));
    }
}
