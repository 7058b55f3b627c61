//! `LATENCY LATEST` `HISTORY` `RESET` `DOCTOR` `GRAPH`: reports when and why the server was slow.

mod histogram;

use super::Rows;
use super::help::{boxed, help, needs_subcommand};
use super::sparkline::{Sample, sparkline};
use crate::observe::latency::Spikes;
use crate::{App, Arg, ArgKind, ArgList, Arity, Cx, Error, Flags, Group, Reply, Row, Spec};
use std::fmt::Write;
use std::sync::atomic::Ordering;

pub(super) fn add_to<A: App>(rows: Rows<'_, A>) -> Rows<'_, A> {
    rows.container(
        Row {
            spec: &LATENCY,
            run: needs_subcommand,
        },
        boxed([
            (&LATENCY_DOCTOR, doctor),
            (&LATENCY_GRAPH, graph),
            (&LATENCY_HELP, latency_help),
            (&histogram::LATENCY_HISTOGRAM, histogram::histogram),
            (&LATENCY_HISTORY, history),
            (&LATENCY_LATEST, latest),
            (&LATENCY_RESET, reset),
        ]),
    )
}

static LATENCY: Spec = Spec {
    name: "latency",
    summary: "A container for latency diagnostics commands",
    since: "2.8.13",
    complexity: "Depends on subcommand.",
    group: Group::Server,
    arity: Arity::at_least(2),
    ..Spec::EMPTY
};

static LATENCY_DOCTOR: Spec = Spec {
    name: "latency|doctor",
    summary: "Return a human readable latency analysis report.",
    since: "2.8.13",
    group: Group::Server,
    arity: Arity::exactly(2),
    flags: Flags::ADMIN
        .with(Flags::NOSCRIPT)
        .with(Flags::LOADING)
        .with(Flags::STALE),
    tips: &[
        "nondeterministic_output",
        "request_policy:all_nodes",
        "response_policy:special",
    ],
    ..Spec::EMPTY
};

static LATENCY_GRAPH: Spec = Spec {
    name: "latency|graph",
    summary: "Return a latency graph for the event.",
    since: "2.8.13",
    group: Group::Server,
    arity: Arity::exactly(3),
    flags: Flags::ADMIN
        .with(Flags::NOSCRIPT)
        .with(Flags::LOADING)
        .with(Flags::STALE),
    args: &[Arg::new("event", ArgKind::String)],
    tips: &[
        "nondeterministic_output",
        "request_policy:all_nodes",
        "response_policy:special",
    ],
    examples: &[(
        "LATENCY GRAPH command",
        "-ERR No samples available for event 'command'\r\n",
    )],
    ..Spec::EMPTY
};

static LATENCY_HELP: Spec = Spec {
    name: "latency|help",
    summary: "Show helpful text about the different subcommands.",
    since: "2.8.13",
    group: Group::Server,
    arity: Arity::exactly(2),
    flags: Flags::LOADING.with(Flags::STALE),
    ..Spec::EMPTY
};

static LATENCY_HISTORY: Spec = Spec {
    name: "latency|history",
    summary: "Return timestamp-latency samples for the event.",
    since: "2.8.13",
    group: Group::Server,
    arity: Arity::exactly(3),
    flags: Flags::ADMIN
        .with(Flags::NOSCRIPT)
        .with(Flags::LOADING)
        .with(Flags::STALE),
    args: &[Arg::new("event", ArgKind::String)],
    tips: &[
        "nondeterministic_output",
        "request_policy:all_nodes",
        "response_policy:special",
    ],
    examples: &[("LATENCY HISTORY command", "*0\r\n")],
    ..Spec::EMPTY
};

static LATENCY_LATEST: Spec = Spec {
    name: "latency|latest",
    summary: "Return the latest latency samples for all events.",
    since: "2.8.13",
    group: Group::Server,
    arity: Arity::exactly(2),
    flags: Flags::ADMIN
        .with(Flags::NOSCRIPT)
        .with(Flags::LOADING)
        .with(Flags::STALE),
    tips: &[
        "nondeterministic_output",
        "request_policy:all_nodes",
        "response_policy:special",
    ],
    examples: &[("LATENCY LATEST", "*0\r\n")],
    ..Spec::EMPTY
};

static LATENCY_RESET: Spec = Spec {
    name: "latency|reset",
    summary: "Reset latency data for one or more events.",
    since: "2.8.13",
    group: Group::Server,
    arity: Arity::at_least(2),
    flags: Flags::ADMIN
        .with(Flags::NOSCRIPT)
        .with(Flags::LOADING)
        .with(Flags::STALE),
    args: &[Arg::new("event", ArgKind::String).optional().multiple()],
    tips: &["request_policy:all_nodes", "response_policy:all_succeeded"],
    examples: &[("LATENCY RESET", ":0\r\n")],
    ..Spec::EMPTY
};

const HELP: &[&str] = &[
    "DOCTOR",
    "    Return a human readable latency analysis report.",
    "GRAPH <event>",
    "    Return an ASCII latency graph for the <event> class.",
    "HISTORY <event>",
    "    Return time-latency samples for the <event> class.",
    "LATEST",
    "    Return the latest latency samples for all events.",
    "RESET [<event> ...]",
    "    Reset latency data of one or more <event> classes.",
    "    (default: reset all data for all event classes)",
    "HISTOGRAM [COMMAND ...]",
    "    Return a cumulative distribution of latencies in the format of a histogram for the specified command names.",
    "    If no commands are specified then all histograms are replied.",
];

fn latest<A: App>(cx: &mut Cx<'_, A>, _: ArgList<'_>, reply: &mut Reply<'_>) -> Result<(), Error> {
    let events = cx.engine.latency.events();
    reply.array(events.len());
    for (event, spikes) in events {
        let (unix_s, ms) = spikes
            .samples
            .back()
            .map_or((0, 0), |last| (last.unix_s, last.ms));
        reply.array(4);
        reply.bulk(event);
        reply.int(unix_s as i64);
        reply.int(ms as i64);
        reply.int(spikes.worst_ms as i64);
    }
    Ok(())
}

fn history<A: App>(
    cx: &mut Cx<'_, A>,
    args: ArgList<'_>,
    reply: &mut Reply<'_>,
) -> Result<(), Error> {
    let spikes = cx.engine.latency.find(&args[0]).unwrap_or_default();
    reply.array(spikes.samples.len());
    for spike in spikes.samples {
        reply.array(2);
        reply.int(spike.unix_s as i64);
        reply.int(spike.ms as i64);
    }
    Ok(())
}

fn reset<A: App>(
    cx: &mut Cx<'_, A>,
    args: ArgList<'_>,
    reply: &mut Reply<'_>,
) -> Result<(), Error> {
    let latency = &cx.engine.latency;
    let forgotten = if args.is_empty() {
        latency.reset(None)
    } else {
        args.iter().map(|event| latency.reset(Some(event))).sum()
    };
    reply.int(forgotten as i64);
    Ok(())
}

fn graph<A: App>(
    cx: &mut Cx<'_, A>,
    args: ArgList<'_>,
    reply: &mut Reply<'_>,
) -> Result<(), Error> {
    let event = String::from_utf8_lossy(&args[0]);
    let spikes = cx
        .engine
        .latency
        .find(&args[0])
        .ok_or_else(|| Error::quoting("ERR No samples available for event '", &args[0], "'"))?;
    let now_s = cx.now.unix_ms() / 1000;
    let samples: Vec<Sample> = spikes
        .samples
        .iter()
        .map(|spike| Sample {
            value: spike.ms,
            label: ago(now_s.saturating_sub(spike.unix_s)),
        })
        .collect();
    let values = || samples.iter().map(|sample| sample.value);
    let (high, low) = (values().max().unwrap_or(0), values().min().unwrap_or(0));
    let (worst, rule) = (spikes.worst_ms, "-".repeat(80));
    let drawing = sparkline(&samples);
    let text = format!(
        "{event} - high {high} ms, low {low} ms (all time high {worst} ms)\n{rule}\n{drawing}"
    );
    reply.verbatim(*b"txt", text.as_bytes());
    Ok(())
}

/// A time difference, in the largest unit that fits.
fn ago(seconds: u64) -> String {
    match seconds {
        0..60 => format!("{seconds}s"),
        60..3600 => format!("{}m", seconds / 60),
        3600..86_400 => format!("{}h", seconds / 3600),
        _ => format!("{}d", seconds / 86_400),
    }
}

fn doctor<A: App>(cx: &mut Cx<'_, A>, _: ArgList<'_>, reply: &mut Reply<'_>) -> Result<(), Error> {
    let threshold_ms = cx
        .engine
        .tunables
        .latency_threshold_ms
        .load(Ordering::Relaxed);
    let report = report(
        &cx.engine.latency.events(),
        threshold_ms,
        cx.now.unix_ms() / 1000,
    );
    reply.verbatim(*b"txt", report.as_bytes());
    Ok(())
}

/// Describes the latency spikes in plain text.
fn report(events: &[(&'static str, Spikes)], threshold_ms: u64, now_s: u64) -> String {
    if events.is_empty() && threshold_ms == 0 {
        return "Latency monitoring is off. Switch it on with CONFIG SET \
                latency-monitor-threshold <milliseconds>.\n"
            .to_owned();
    }
    if events.is_empty() {
        return format!("No command took {threshold_ms} ms or longer since the last reset.\n");
    }
    let mut report = String::new();
    for (event, spikes) in events {
        let count = spikes.samples.len().max(1) as u64;
        let sum: u64 = spikes.samples.iter().map(|spike| spike.ms).sum();
        let since = spikes
            .samples
            .front()
            .map_or(0, |spike| now_s.saturating_sub(spike.unix_s));
        writeln!(
            report,
            "{event}: {count} latency spikes in the last {since} s (average {} ms, worst ever {} \
             ms).",
            sum / count,
            spikes.worst_ms,
        )
        .expect("writing to a String cannot fail");
    }
    report.push_str("SLOWLOG GET shows which requests these were.\n");
    report
}

fn latency_help<A: App>(
    _: &mut Cx<'_, A>,
    _: ArgList<'_>,
    reply: &mut Reply<'_>,
) -> Result<(), Error> {
    help(&LATENCY, HELP, reply);
    Ok(())
}

#[cfg(test)]
mod tests {
    use crate::redis::testing::Server;
    use std::time::Duration;

    #[test]
    fn spikes_over_the_threshold_are_recorded() {
        let mut line = Server::new().connect();
        line.ask("SET a 1\nCONFIG SET latency-monitor-threshold 5\nSET a 1");
        line.pass(Duration::from_secs(1));
        line.ask("SET a 1");
        assert_eq!(
            line.ask("LATENCY LATEST"),
            "*1|*4|$7|command|:1700000001|:5|:5|"
        );
        assert_eq!(
            line.ask("LATENCY HISTORY COMMAND"),
            "*2|*2|:1700000000|:5|*2|:1700000001|:5|"
        );
        assert_eq!(line.ask("LATENCY HISTORY nope"), "*0|");
        assert!(
            line.ask("LATENCY DOCTOR")
                .contains("command: 2 latency spikes in the last 1 s")
        );
    }

    #[test]
    fn graph_draws_the_spikes_of_an_event() {
        let mut line = Server::new().connect();
        assert_eq!(
            line.ask("LATENCY GRAPH x"),
            "-ERR No samples available for event 'x'|"
        );
        line.ask("CONFIG SET latency-monitor-threshold 5\nSET a 1");
        line.pass(Duration::from_secs(120));
        let expected = "command - high 5 ms, low 5 ms (all time high 5 ms)\n";
        let graph = line.ask("LATENCY GRAPH command");
        assert!(graph.contains(expected), "{graph}");
        assert!(graph.ends_with("-\n \n \n \n_\n \n2\nm\n|"), "{graph}");
    }

    #[test]
    fn reset_returns_the_number_of_cleared_events() {
        let mut line = Server::new().connect();
        line.ask("CONFIG SET latency-monitor-threshold 5\nSET a 1");
        line.ask("CONFIG SET latency-monitor-threshold 6");
        assert_eq!(
            line.ask("LATENCY RESET nope other\nLATENCY RESET command"),
            ":0|:1|"
        );
        assert_eq!(line.ask("LATENCY RESET\nLATENCY LATEST"), ":0|*0|");
        assert!(
            line.ask("LATENCY DOCTOR")
                .contains("No command took 6 ms or longer")
        );
    }

    #[test]
    fn doctor_reports_that_monitoring_is_off() {
        let mut line = Server::new().connect();
        assert!(
            line.ask("LATENCY DOCTOR")
                .contains("Latency monitoring is off.")
        );
    }
}
