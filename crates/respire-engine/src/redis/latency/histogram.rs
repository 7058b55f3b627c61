//! `LATENCY HISTOGRAM`: the distribution of the times of each command.

use crate::command::table::{CommandEntry, CommandTable};
use crate::observe::histogram::Counts;
use crate::{App, Arg, ArgKind, ArgList, Arity, Cx, Error, Flags, Group, Reply, Spec};

pub(super) static LATENCY_HISTOGRAM: Spec = Spec {
    name: "latency|histogram",
    summary: "Return the cumulative distribution of latencies of a subset of commands or all.",
    since: "7.0.0",
    complexity: "O(N) where N is the number of commands with latency information being retrieved.",
    group: Group::Server,
    arity: Arity::at_least(2),
    flags: Flags::ADMIN
        .with(Flags::NOSCRIPT)
        .with(Flags::LOADING)
        .with(Flags::STALE),
    args: &[Arg::new("command", ArgKind::String).optional().multiple()],
    tips: &[
        "nondeterministic_output",
        "request_policy:all_nodes",
        "response_policy:special",
    ],
    examples: &[("LATENCY HISTOGRAM nope", "*0\r\n")],
    ..Spec::EMPTY
};

pub(super) fn histogram<A: App>(
    cx: &mut Cx<'_, A>,
    args: ArgList<'_>,
    reply: &mut Reply<'_>,
) -> Result<(), Error> {
    let table = &cx.engine.table;
    let entries: Vec<&CommandEntry<A>> = if args.is_empty() {
        table.all().collect()
    } else {
        args.iter().flat_map(|name| named(table, name)).collect()
    };
    let timed: Vec<(&str, Counts)> = entries
        .into_iter()
        .filter_map(|entry| Some((entry.spec().name, entry.stats.times()?)))
        .collect();
    reply.map(timed.len());
    for (name, counts) in timed {
        reply.bulk(name);
        reply.map(2);
        reply.bulk("calls");
        reply.int(counts.total() as i64);
        reply.bulk("histogram_usec");
        let steps = steps(&counts);
        reply.map(steps.len());
        for (micros, calls) in steps {
            reply.int(micros as i64);
            reply.int(calls as i64);
        }
    }
    Ok(())
}

/// The command of this name; for a container, its subcommands.
fn named<'t, A: App>(table: &'t CommandTable<A>, name: &[u8]) -> Vec<&'t CommandEntry<A>> {
    match table.find_path(name).map(|at| table.entry(at)) {
        Some(entry) if entry.is_container() => table.subcommands(entry).collect(),
        Some(entry) => vec![entry],
        None => Vec::new(),
    }
}

/// The powers of two, in microseconds, whose cumulative count of calls is larger than the one
/// before, each with that count. Redis divides a power into 128 parts and reports the end of the
/// first part.
fn steps(counts: &Counts) -> Vec<(u64, u64)> {
    const FIRST: u32 = 10;
    const LAST: u32 = 36;
    let mut before = 0;
    let grown = |(_, calls): &(u32, u64)| std::mem::replace(&mut before, *calls) < *calls;
    counts
        .by_power(FIRST, LAST)
        .filter(grown)
        .map(|(power, calls)| (((1 << power) + (1 << (power - 7)) - 1) / 1000, calls))
        .collect()
}

#[cfg(test)]
mod tests {
    use crate::redis::testing::{Server, check};

    #[test]
    fn times_are_reported_in_the_steps_of_redis() {
        // The tests' stopwatch advances by 5 ms with each read.
        const SET: &str = "$3|set|*4|$5|calls|:2|$14|histogram_usec|*2|:8454|:2|";
        const GET: &str = "$3|get|*4|$5|calls|:1|$14|histogram_usec|*2|:8454|:1|";
        let mut line = Server::new().connect();
        line.ask("SET a 1\nSET a\nSET a 1 what\nGET a");
        assert_eq!(
            line.ask("LATENCY HISTOGRAM get nope SET"),
            format!("*4|{GET}{SET}")
        );
        assert_eq!(
            line.ask("LATENCY HISTOGRAM set set"),
            format!("*4|{SET}{SET}")
        );
        let all = line.ask("LATENCY HISTOGRAM");
        assert!(all.starts_with("*6|") && all.contains(SET), "{all}");
        assert!(
            all.contains("$17|latency|histogram|*4|$5|calls|:2|"),
            "{all}"
        );
        line.ask("HELLO 3");
        assert_eq!(
            line.ask("LATENCY HISTOGRAM get"),
            "%1|$3|get|%2|$5|calls|:1|$14|histogram_usec|%1|:8454|:1|"
        );
    }

    #[test]
    fn subcommands_are_found_by_name_or_by_container() {
        let mut line = Server::new().connect();
        line.ask("CONFIG GET x\nCONFIG SET timeout 0");
        let one = "$10|config|get|*4|$5|calls|:1|$14|histogram_usec|*2|:8454|:1|";
        let other = one.replace("get", "set");
        assert_eq!(
            line.ask("LATENCY HISTOGRAM CONFIG|GET"),
            format!("*2|{one}")
        );
        assert_eq!(
            line.ask("LATENCY HISTOGRAM config"),
            format!("*4|{one}{other}")
        );
        check(&[("LATENCY HISTOGRAM nope config|nope get|x |", "*0|")]);
    }

    #[test]
    fn times_are_recorded_only_while_tracking_is_on() {
        let mut line = Server::new().connect();
        line.ask("CONFIG SET latency-tracking no\nSET a 1");
        assert_eq!(line.ask("LATENCY HISTOGRAM set"), "*0|");
        line.ask("CONFIG SET latency-tracking YES\nSET a 1\nSET a 1");
        assert!(line.ask("LATENCY HISTOGRAM set").contains("|:2|"));
        line.ask("CONFIG RESETSTAT");
        assert_eq!(line.ask("LATENCY HISTOGRAM set"), "*0|");
    }

    #[test]
    fn calls_of_constant_cost_are_sampled() {
        let server = Server::new();
        let mut line = server.connect();
        for _ in 0..60 {
            line.ask(&["GET a"; 1_000].join("\n"));
        }
        let table = server.engine.commands();
        let get = table.entry(table.find_name(b"get").expect("a command of the tests"));
        let calls = get.stats.times().expect("timed").total();
        assert!((55_000..65_000).contains(&calls), "{calls}");
        assert_eq!((calls - 10_000) % 128, 0);
        let info = line.ask("INFO commandstats");
        assert!(info.contains("cmdstat_get:calls=60000,usec="), "{info}");
        line.ask("CONFIG RESETSTAT\nGET a");
        assert!(line.ask("LATENCY HISTOGRAM get").contains("|:1|"));
    }
}
