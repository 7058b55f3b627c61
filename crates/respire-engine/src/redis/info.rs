//! `INFO`: information and statistics of the server, in sections.

use super::settings::shown_percent;
use super::{Rows, VERSION};
use crate::client::pubsub::Kind;
use crate::command::table::CommandStats;
use crate::{
    App, Arg, ArgKind, ArgList, Arity, Cx, Engine, Error, Flags, GateKind, Group, InfoWriter,
    Keyspace, Now,
};
use crate::{Reply, Row, Spec};
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

pub(super) fn add_to<A: App>(rows: Rows<'_, A>) -> Rows<'_, A> {
    rows.add(Row {
        spec: &INFO,
        run: info,
    })
}

static INFO: Spec = Spec {
    name: "info",
    summary: "Get information and statistics about the server",
    since: "1.0.0",
    group: Group::Server,
    arity: Arity::at_least(1),
    flags: Flags::LOADING.with(Flags::STALE),
    categories: &["dangerous"],
    args: &[Arg::new("section", ArgKind::String).optional().multiple()],
    tips: &[
        "nondeterministic_output",
        "request_policy:all_shards",
        "response_policy:special",
    ],
    history: &[(
        "7.0.0",
        "Added support for taking multiple section arguments.",
    )],
    examples: &[(
        "INFO cluster",
        "$30\r\n# Cluster\r\ncluster_enabled:0\r\n\r\n",
    )],
    ..Spec::EMPTY
};

/// A section: its title, whether it is shown by default, and the function that writes the engine's
/// lines.
struct Section<A: App> {
    title: &'static str,
    is_default: bool,
    write: fn(&Engine<A>, Now, &mut InfoWriter),
}

/// The sections in the order in which they are shown, regardless of the request's order.
fn sections<A: App>() -> [Section<A>; 13] {
    let section = |title, write| Section {
        title,
        is_default: true,
        write,
    };
    [
        section("Server", server),
        section("Clients", clients),
        section("Memory", |_, _, _| {}),
        section("Persistence", |_, _, _| {}),
        section("Stats", stats),
        section("Replication", replication),
        section("CPU", |_, _, _| {}),
        Section {
            title: "Commandstats",
            is_default: false,
            write: command_stats,
        },
        section("Errorstats", error_stats),
        Section {
            title: "Unknowncommands",
            is_default: false,
            write: unknown_commands,
        },
        Section {
            title: "Latencystats",
            is_default: false,
            write: latency_stats,
        },
        section("Cluster", |_, _, out| out.field("cluster_enabled", 0)),
        section("Keyspace", |_, _, _| {}),
    ]
}

/// Redis's order of the fields that engine, process and service write into the same section.
const ORDER: &[&str] = &[
    "redis_version",
    "respire_version",
    "redis_mode",
    "os",
    "arch_bits",
    "multiplexing_api",
    "process_id",
    "run_id",
    "tcp_port",
    "server_time_usec",
    "uptime_in_seconds",
    "uptime_in_days",
    "executable",
    "config_file",
    "io_threads_active",
    "used_memory",
    "used_memory_human",
    "used_memory_rss",
    "used_memory_rss_human",
    "used_memory_rss_startup",
    "used_memory_peak",
    "used_memory_peak_human",
    "used_memory_peak_perc",
    "used_memory_overhead",
    "used_memory_dataset",
    "used_memory_dataset_perc",
    "total_system_memory",
    "total_system_memory_human",
    "used_memory_lua",
    "used_memory_vm_eval",
    "used_memory_lua_human",
    "used_memory_scripts_eval",
    "number_of_cached_scripts",
    "number_of_functions",
    "number_of_libraries",
    "used_memory_vm_functions",
    "used_memory_vm_total",
    "used_memory_vm_total_human",
    "used_memory_functions",
    "used_memory_scripts",
    "used_memory_scripts_human",
    "maxmemory",
    "maxmemory_human",
    "maxmemory_policy",
    "mem_fragmentation_ratio",
    "mem_fragmentation_bytes",
    "mem_allocator",
    "lazyfree_pending_objects",
    "lazyfreed_objects",
    "loading",
    "async_loading",
    "current_cow_peak",
    "current_cow_size",
    "current_cow_size_age",
    "current_fork_perc",
    "current_save_keys_processed",
    "current_save_keys_total",
    "rdb_changes_since_last_save",
    "rdb_bgsave_in_progress",
    "rdb_last_save_time",
    "rdb_last_bgsave_status",
    "rdb_last_bgsave_time_sec",
    "rdb_current_bgsave_time_sec",
    "rdb_saves",
    "rdb_last_cow_size",
    "rdb_last_load_keys_expired",
    "rdb_last_load_keys_loaded",
    "aof_enabled",
    "aof_rewrite_in_progress",
    "aof_rewrite_scheduled",
    "aof_last_rewrite_time_sec",
    "aof_current_rewrite_time_sec",
    "aof_last_bgrewrite_status",
    "aof_rewrites",
    "aof_rewrites_consecutive_failures",
    "aof_last_write_status",
    "aof_last_cow_size",
    "module_fork_in_progress",
    "module_fork_last_cow_size",
    "aof_current_size",
    "aof_base_size",
    "aof_pending_rewrite",
    "aof_buffer_length",
    "aof_pending_bio_fsync",
    "aof_delayed_fsync",
    "loading_start_time",
    "loading_total_bytes",
    "loading_rdb_used_mem",
    "loading_loaded_bytes",
    "loading_loaded_perc",
    "loading_eta_seconds",
    "total_connections_received",
    "total_commands_processed",
    "instantaneous_ops_per_sec",
    "total_net_input_bytes",
    "total_net_output_bytes",
    "rejected_connections",
    "expired_keys",
    "evicted_keys",
    "evicted_scripts",
    "keyspace_hits",
    "keyspace_misses",
    "pubsub_channels",
    "pubsub_patterns",
    "pubsubshard_channels",
    "total_error_replies",
    "acl_access_denied_auth",
];

/// The sections that the client asked for.
struct Selection<'a> {
    names: ArgList<'a>,
    all: bool,
    default: bool,
}

impl<'a> Selection<'a> {
    fn new(names: ArgList<'a>) -> Self {
        let has = |word: &[u8]| names.iter().any(|name| name.eq_ignore_ascii_case(word));
        let all = has(b"all") || has(b"everything");
        Self {
            names,
            all,
            default: names.is_empty() || has(b"default"),
        }
    }

    fn has(&self, name: &str, is_default: bool) -> bool {
        let is = |word: &[u8]| word.eq_ignore_ascii_case(name.as_bytes());
        self.all || (self.default && is_default) || self.names.iter().any(is)
    }
}

fn info<A: App>(cx: &mut Cx<'_, A>, args: ArgList<'_>, reply: &mut Reply<'_>) -> Result<(), Error> {
    let (engine, now) = (cx.engine, cx.now);
    // Include the calls of this turn.
    engine.flush_tally(cx.client);
    let selection = Selection::new(args);
    let mut out = InfoWriter::default();
    let ours = sections::<A>();
    for section in &ours {
        if selection.has(section.title, section.is_default) {
            out.section(section.title);
            (section.write)(engine, now, &mut out);
            write_others(engine, &section.title.to_ascii_lowercase(), now, &mut out);
            if section.title == "Persistence" {
                out.keep_last();
                persistence(engine, &mut out);
            }
            out.arrange(ORDER);
        }
    }
    let of_keys = A::Keys::info_sections().iter();
    for name in engine.app().info_sections().iter().chain(of_keys) {
        let is_ours = ours
            .iter()
            .any(|section| section.title.eq_ignore_ascii_case(name));
        if !is_ours && selection.has(name, true) {
            out.section(&capitalised(name));
            write_others(engine, name, now, &mut out);
        }
    }
    reply.verbatim(*b"txt", out.text().as_bytes());
    Ok(())
}

/// The lines of the process and the service.
fn write_others<A: App>(engine: &Engine<A>, section: &str, now: Now, out: &mut InfoWriter) {
    engine.host.info(section, out);
    engine.app().info(section, now, out);
    A::Keys::info(engine.app(), section, now, out);
    for part in &engine.extensions {
        part.info(section, now, out);
    }
}

fn capitalised(name: &str) -> String {
    let (first, rest) = name.split_at(name.chars().next().map_or(0, char::len_utf8));
    first.to_ascii_uppercase() + rest
}

fn server<A: App>(engine: &Engine<A>, now: Now, out: &mut InfoWriter) {
    let up_s = now
        .monotonic_us()
        .saturating_sub(engine.started.monotonic_us())
        / 1_000_000;
    out.field("redis_version", VERSION);
    out.field("respire_version", env!("CARGO_PKG_VERSION"));
    out.field("redis_mode", "standalone");
    out.field("arch_bits", usize::BITS);
    out.field("run_id", engine.run_id());
    out.field("server_time_usec", now.unix_us());
    out.field("uptime_in_seconds", up_s);
    out.field("uptime_in_days", up_s / (24 * 60 * 60));
}

fn clients<A: App>(engine: &Engine<A>, _: Now, out: &mut InfoWriter) {
    let clients = engine.clients.snapshot();
    let most = |bytes: fn(&crate::ClientShared) -> &AtomicU64| {
        clients
            .iter()
            .map(|client| bytes(client).load(Relaxed))
            .max()
            .unwrap_or(0)
    };
    out.field("connected_clients", clients.len());
    out.field("cluster_connections", 0);
    out.field("maxclients", engine.tunables.clients_max());
    out.field(
        "client_recent_max_input_buffer",
        most(|client| &client.input_bytes),
    );
    out.field(
        "client_recent_max_output_buffer",
        most(|client| &client.output_bytes),
    );
    let blocked = clients
        .iter()
        .filter(|client| client.is_paused.load(Relaxed) || client.is_blocked())
        .count();
    out.field("blocked_clients", blocked);
    out.field("tracking_clients", 0);
    out.field("clients_in_timeout_table", 0);
}

/// What no other part of the server has written: there is nothing that keeps the data set.
fn persistence<A: App>(engine: &Engine<A>, out: &mut InfoWriter) {
    let is_loading = engine.gates.is_closed(GateKind::Loading);
    out.default_field("loading", u8::from(is_loading));
    for name in [
        "async_loading",
        "rdb_bgsave_in_progress",
        "aof_enabled",
        "aof_rewrite_in_progress",
    ] {
        out.default_field(name, 0);
    }
}

fn stats<A: App>(engine: &Engine<A>, _: Now, out: &mut InfoWriter) {
    let stats = &engine.stats;
    for (name, counter) in [
        ("total_connections_received", &stats.connections),
        ("total_commands_processed", &stats.commands),
        ("instantaneous_ops_per_sec", &stats.ops_per_second),
        ("total_net_input_bytes", &stats.input_bytes),
        ("total_net_output_bytes", &stats.output_bytes),
        ("rejected_connections", &stats.rejected_connections),
        ("protocol_errors", &stats.protocol_errors),
        ("total_error_replies", &stats.error_replies),
        ("acl_access_denied_auth", &stats.auth_denied),
    ] {
        out.field(name, counter.load(Relaxed));
    }
    out.field("unknown_commands", engine.unknowns.total());
    let panics = engine
        .table
        .all()
        .map(|entry| entry.stats.panics.load(Relaxed));
    out.field("command_panics", panics.sum::<u64>());
    for (name, kind) in [
        ("pubsub_channels", Kind::Channel),
        ("pubsub_patterns", Kind::Pattern),
    ] {
        out.field(name, engine.pubsub.len(kind));
    }
}

fn replication<A: App>(engine: &Engine<A>, _: Now, out: &mut InfoWriter) {
    out.field("role", "master");
    out.field("connected_slaves", 0);
    out.field("master_failover_state", "no-failover");
    out.field("master_replid", engine.run_id());
    out.field("master_repl_offset", 0);
}

/// One line for each command that was called or refused.
fn command_stats<A: App>(engine: &Engine<A>, _: Now, out: &mut InfoWriter) {
    for entry in engine.table.all() {
        let CommandStats {
            calls,
            nanos,
            rejected,
            failed,
            ..
        } = &entry.stats;
        let [calls, nanos, rejected, failed] =
            [calls, nanos, rejected, failed].map(|counter| counter.load(Relaxed));
        if calls + rejected + failed == 0 {
            continue;
        }
        let per_call = if calls == 0 {
            0.0
        } else {
            nanos as f64 / 1000.0 / calls as f64
        };
        out.field(
            &format!("cmdstat_{}", entry.spec().name),
            format_args!(
                "calls={calls},usec={},usec_per_call={per_call:.2},\
                 rejected_calls={rejected},failed_calls={failed}",
                nanos / 1000
            ),
        );
    }
}

/// One line for each command that was timed.
fn latency_stats<A: App>(engine: &Engine<A>, _: Now, out: &mut InfoWriter) {
    let percentiles = engine.tunables.percentiles();
    for entry in engine.table.all() {
        let Some(times) = entry.stats.times() else {
            continue;
        };
        let values: Vec<String> = percentiles
            .iter()
            .map(|percent| {
                let micros = times.percentile(*percent) as f64 / 1000.0;
                format!("p{}={micros:.3}", shown_percent(*percent))
            })
            .collect();
        let name = entry.spec().name;
        out.field(
            &format!("latency_percentiles_usec_{name}"),
            values.join(","),
        );
    }
}

/// One line for each error code word that was sent.
fn error_stats<A: App>(engine: &Engine<A>, _: Now, out: &mut InfoWriter) {
    for (code, count) in engine.stats.errors() {
        // Scripts choose codes, and these bytes would end the field's name.
        let code = code.replace(['#', ':'], "_");
        out.field(&format!("errorstat_{code}"), format_args!("count={count}"));
    }
}

/// One line for each unknown command name that was sent.
fn unknown_commands<A: App>(engine: &Engine<A>, _: Now, out: &mut InfoWriter) {
    for (name, count) in engine.unknowns.names() {
        out.field(&format!("unknowncmd_{name}"), format_args!("count={count}"));
    }
}

#[cfg(test)]
mod tests {
    use crate::redis::testing::{Line, Server};
    use crate::{Extension, Gate, InfoWriter, Now, Setting};
    use std::sync::Arc;

    /// Persistence, as a crate above the engine adds it.
    struct Disk;

    impl Extension for Disk {
        fn info(&self, section: &str, _: Now, out: &mut InfoWriter) {
            if section == "persistence" {
                out.field("aof_current_size", 88);
                out.field("rdb_changes_since_last_save", 5);
                out.field("aof_enabled", 1);
            }
        }

        fn settings(self: Arc<Self>) -> Vec<Setting> {
            let set = |_: &str| Ok(());
            vec![Setting::mutable("appendonly", || "yes".to_owned(), set)]
        }
    }

    #[test]
    fn extension_replaces_fields_and_settings_of_a_server_without_persistence() {
        let mut plain = Server::new().connect();
        assert_eq!(
            plain.ask("INFO persistence"),
            "$111|# Persistence|loading:0|async_loading:0|rdb_bgsave_in_progress:0|aof_enabled:0|\
             aof_rewrite_in_progress:0||"
        );
        let server = Server::with(|router| router.extension(Disk));
        let mut line = server.connect();
        assert_eq!(
            line.ask("CONFIG GET appendonly"),
            "*2|$10|appendonly|$3|yes|"
        );
        server.engine.close_gate(Gate::Loading);
        let info = line.ask("INFO persistence");
        let (_, fields) = info.split_once('|').expect("it has a length");
        assert_eq!(
            fields,
            "# Persistence|loading:1|async_loading:0|rdb_changes_since_last_save:5|\
             rdb_bgsave_in_progress:0|aof_enabled:1|aof_rewrite_in_progress:0|aof_current_size:88||"
        );
    }

    #[test]
    fn last_of_several_fields_with_one_name_stays() {
        let mut out = InfoWriter::default();
        out.section("One");
        for (name, value) in [("a", 1), ("b", 2), ("a", 3)] {
            out.field(name, value);
        }
        out.keep_last();
        assert_eq!(out.text(), "# One\r\nb:2\r\na:3\r\n");
    }

    fn titles(line: &mut Line, sections: &str) -> String {
        let info = line.ask(&format!("INFO {sections}"));
        info.split('|')
            .filter_map(|text| text.strip_prefix("# "))
            .collect::<Vec<_>>()
            .join(" ")
    }

    #[test]
    fn sections_have_a_fixed_order() {
        let mut line = Server::new().connect();
        let default = "Server Clients Memory Persistence Stats Replication CPU Errorstats Cluster \
                       Keyspace Cells";
        assert_eq!(titles(&mut line, ""), default);
        assert_eq!(titles(&mut line, "default"), default);
        assert_eq!(
            titles(&mut line, "all"),
            default.replace(
                "CPU Errorstats",
                "CPU Commandstats Errorstats Unknowncommands Latencystats"
            )
        );
        assert_eq!(
            titles(&mut line, "keyspace SERVER nope cells"),
            "Server Keyspace Cells"
        );
        assert_eq!(line.ask("INFO nope"), "$0||");
    }

    #[test]
    fn process_and_service_add_their_lines() {
        let mut line = Server::new().connect();
        assert_eq!(line.ask("INFO cpu"), "$23|# CPU|used_cpu_sys:1||");
        assert_eq!(line.ask("INFO cells"), "$18|# Cells|cells:7||");
        let info = line.ask("INFO keyspace cluster");
        assert!(
            info.ends_with("# Cluster|cluster_enabled:0||# Keyspace|db0:keys=1||"),
            "{info}"
        );
    }

    #[test]
    fn info_has_the_fields_that_client_libraries_read() {
        let mut line = Server::new().connect();
        let info = line.ask("INFO");
        for field in [
            "redis_version:7.0.15|",
            "redis_mode:standalone|",
            "run_id:0000000000000000000000000000000000000000|",
            "uptime_in_seconds:0|",
            "connected_clients:1|",
            "loading:0|",
            "role:master|",
        ] {
            assert!(info.contains(field), "{field} is not in {info}");
        }
    }

    #[test]
    fn calls_and_errors_are_counted_by_name() {
        let mut line = Server::new().connect();
        line.ask("GET a\nGET b\nGET\nSET a 1 what\nSELECT x\nnope");
        let info = line.ask("INFO commandstats errorstats stats");
        for field in [
            "cmdstat_get:calls=2,usec=10000,usec_per_call=5000.00,rejected_calls=1,failed_calls=0|",
            "cmdstat_set:calls=1,usec=5000,usec_per_call=5000.00,rejected_calls=0,failed_calls=1|",
            "errorstat_ERR:count=4|",
            "total_error_replies:4|",
            "total_commands_processed:4|",
        ] {
            assert!(info.contains(field), "{field} is not in {info}");
        }
    }

    #[test]
    fn unknown_commands_are_counted_by_name_and_reported_once() {
        let server = Server::new();
        let mut line = server.connect();
        line.ask("LPUSH a 1\nlpush b 2\nCLIENT Tracking on\nGET\n\"a\\nb: c\"");
        let info = line.ask("INFO stats unknowncommands");
        assert!(info.contains("unknown_commands:4|"), "{info}");
        assert!(
            info.ends_with(
                "# Unknowncommands|unknowncmd_a\\x0ab\\x3a\\x20c:count=1|\
                 unknowncmd_client|tracking:count=1|unknowncmd_lpush:count=2||"
            ),
            "{info}"
        );
        assert_eq!(
            server.process.take_reports(),
            [
                "lpush from 10.0.0.1:5",
                "client|tracking from 10.0.0.1:5",
                "a\\x0ab\\x3a\\x20c from 10.0.0.1:5"
            ]
        );
        line.ask("CONFIG RESETSTAT");
        assert_eq!(line.ask("INFO unknowncommands"), "$19|# Unknowncommands||");
    }

    #[test]
    fn unknown_names_of_unauthenticated_clients_are_not_stored() {
        let server = Server::new();
        server.engine.tunables().set_password(b"pw");
        let mut line = server.connect();
        line.ask("NOPE\nAUTH pw\nNOPE2");
        let info = line.ask("INFO stats unknowncommands");
        assert!(info.contains("unknown_commands:2|"), "{info}");
        assert!(info.ends_with("s|unknowncmd_nope2:count=1||"), "{info}");
    }

    #[test]
    fn latencystats_uses_the_configured_percentiles() {
        let mut line = Server::new().connect();
        line.ask("GET a");
        assert_eq!(
            line.ask("INFO latencystats"),
            "$87|# Latencystats|latency_percentiles_usec_get:p50=5242.879,p99=5242.879,\
             p99.9=5242.879||"
        );
        line.ask("CONFIG SET latency-tracking-info-percentiles \"0 12.5\"");
        let info = line.ask("INFO latencystats");
        assert!(info.contains("_get:p0=5242.879,p12.5=5242.879|"), "{info}");
    }

    #[test]
    fn errors_are_counted_by_code_in_every_protocol() {
        let server = Server::new();
        let mut line = server.connect();
        line.ask("HELLO 9\nHELLO 3 AUTH a b\nMULTI\nHELLO 9\nEXEC");
        let info = line.ask("INFO errorstats");
        assert!(
            info.contains("errorstat_NOPROTO:count=2|errorstat_WRONGPASS:count=1|"),
            "{info}"
        );
    }
}
