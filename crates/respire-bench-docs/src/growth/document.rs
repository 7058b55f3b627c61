//! Writes the results of `growth` as a part of a Markdown document, with plots.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use respire_bench::error::Result;
use respire_bench::launch::line;
use respire_bench::plot::latency;

use super::scaling::Scaling;
use super::{Measured, Part, connections, memory, pauses, workers};
use crate::machine::program_name;
use crate::plot::shares;

/// The part of the document. `stem` is the prefix of its plots' names.
pub(super) fn markdown(measured: &Measured, stem: &str) -> String {
    let mut text = String::new();
    write_all(measured, stem, &mut text).expect("a string takes any text");
    text
}

fn write_all(measured: &Measured, stem: &str, text: &mut String) -> std::fmt::Result {
    let setting = &measured.setting;
    writeln!(text, "\n# Growth\n")?;
    writeln!(
        text,
        "What a request costs as something grows. Servers on core {}, with one thread, the load generator on core {}; \
         {} rounds of {} s, interleaved; medians. CPU time is user and system time of the server's process; the number \
         in parentheses is its ratio to the smallest size's. Every reply is checked.\n",
        setting.server_cpu,
        setting.load_cpu,
        setting.rounds,
        setting.time.as_secs_f64()
    )?;
    let machine = &measured.machine;
    let revision = machine.revision.as_deref().unwrap_or("unknown");
    writeln!(text, "- Day: {}; revision {revision}", machine.day)?;
    for entrant in &setting.entrants {
        let line = program_name(&line(&entrant.words));
        writeln!(text, "- {}: `{line}`, {}", entrant.name, entrant.version)?;
    }
    writeln!(
        text,
        "- Made by: `respire-bench-docs growth --rounds {} --test-time {} --keys-max {} --connections-max {}`",
        setting.rounds,
        setting.time.as_secs_f64(),
        setting.keys_max,
        setting.connections_max
    )?;
    for part in &measured.parts {
        write_part(measured, part, stem, text)?;
    }
    Ok(())
}

fn write_part(measured: &Measured, part: &Part, stem: &str, text: &mut String) -> std::fmt::Result {
    let (beside_work, growing_tables) = pauses::methods(&measured.setting);
    match part {
        Part::Scaling(scaling) => {
            writeln!(text, "\n## {}\n\n{}\n", scaling.title, scaling.method)?;
            writeln!(text, "{}", scaling.grid())?;
            for left_out in &scaling.left_out {
                writeln!(text, "Left out: {left_out}.\n")?;
            }
            writeln!(
                text,
                "![{}]({stem}-growth-{}.svg)",
                scaling.title, scaling.name
            )
        }
        Part::BesideWork(all) => {
            let (grid, swept) = (pauses::grid(all), pauses::swept(all));
            writeln!(text, "\n## Expiry and flushing\n\n{beside_work}\n\n{grid}")?;
            writeln!(
                text,
                "Swept by the end of the load, of the keys due, in the worst round: {swept}.\n"
            )?;
            images(all.len(), stem, "work", text)
        }
        Part::GrowingTables(all) => {
            writeln!(
                text,
                "\n## Tables\n\n{growing_tables}\n\n{}",
                pauses::grid(all)
            )?;
            images(all.len(), stem, "tables", text)
        }
        Part::Memory(all) => {
            let method =
                "Resident memory that the process grew by, beyond the bytes of key and value.";
            write!(
                text,
                "\n## Memory of keys\n\n{method}\n\n{}",
                memory::grid(all)
            )
        }
        Part::Idle(all) => {
            let method = "Resident memory that the process grew by, for each connection that was answered once and \
                          says nothing since. The system's own is not in it.";
            let grid = connections::idle_grid(all);
            write!(text, "\n## Memory of connections\n\n{method}\n\n{grid}")
        }
        Part::Workers(all) => {
            let method = "One worker has the servers' core; two have both cores, and share the second with the load \
                          generator. So two can do twice as much less what the load generator takes, and their CPU time \
                          for each key shows what they take from each other. The first two loads cost the load generator \
                          little, since it sends the same bytes again and again; of the last it is the limit, and only \
                          the CPU time says something.";
            write!(text, "\n## Workers\n\n{method}\n\n{}", workers::grid(all))
        }
    }
}

fn images(count: usize, stem: &str, kind: &str, text: &mut String) -> std::fmt::Result {
    (1..=count).try_for_each(|nth| {
        writeln!(
            text,
            "![Latency by percentile]({stem}-growth-{kind}-{nth}-latency.svg)"
        )
    })
}

/// Writes the plots of all parts beside the document.
pub(super) fn plots(measured: &Measured, prefix: &Path) -> Result<()> {
    let beside = |kind: String| -> PathBuf {
        let mut path = prefix.as_os_str().to_owned();
        path.push(format!("-growth-{kind}"));
        path.into()
    };
    for part in &measured.parts {
        let (all, kind) = match part {
            Part::Scaling(scaling) => {
                plot_scaling(&beside(String::new()), scaling)?;
                continue;
            }
            Part::BesideWork(all) => (all, "work"),
            Part::GrowingTables(all) => (all, "tables"),
            Part::Memory(_) | Part::Idle(_) | Part::Workers(_) => continue,
        };
        for (index, pauses) in all.iter().enumerate() {
            let names: Vec<String> = pauses
                .waits
                .iter()
                .map(|waits| format!("{}: {}", pauses.server, waits.name))
                .collect();
            let curves = names.iter().zip(&pauses.waits);
            let curves: Vec<_> = curves
                .map(|(name, waits)| (name.as_str(), &*waits.quantiles_us))
                .collect();
            latency(&beside(format!("{kind}-{}", index + 1)), &curves)?;
        }
    }
    Ok(())
}

fn plot_scaling(prefix: &Path, scaling: &Scaling) -> Result<()> {
    let curves: Vec<_> = scaling
        .series
        .iter()
        .map(|series| (series.name.as_str(), series.shares()))
        .collect();
    let mut path = prefix.as_os_str().to_owned();
    path.push(format!("{}.svg", scaling.name));
    let caption = format!("CPU time per {}, of the smallest size's", scaling.cost_of);
    shares(Path::new(&path), &caption, scaling.sizes_of, &curves)
}
