//! Decides what to do with Redis's settings that Respire does not have, so that a server can start
//! with Redis's configuration file.
//!
//! A setting without effect is a warning if the server is no less safe without it. A setting that
//! affects safety, or decides which data a server has, is a mistake: the server must not start as
//! if it took effect.

use Weight::{Refused, Warned};

/// The result of a line with a setting of Redis's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// Respire already behaves as the line asks.
    Granted,
    /// It has no effect, and needs no warning of its own.
    Ignored,
    /// It has no effect, and this text warns the operator.
    Warned(&'static str),
    /// The server must not start with it.
    Refused(&'static str),
}

/// The result of `setting` with this value; `None` for settings that Redis does not know either,
/// and for Respire's own.
pub(crate) fn verdict(setting: &str, value: &str) -> Option<Verdict> {
    if let Some(note) = NOTES.iter().find(|note| note.setting == setting) {
        return Some(
            if note.off.iter().any(|off| off.eq_ignore_ascii_case(value)) {
                Verdict::Granted
            } else {
                match note.weight {
                    Warned(text) => Verdict::Warned(text),
                    Refused(text) => Verdict::Refused(text),
                }
            },
        );
    }
    if TLS.contains(&setting) {
        return Some(if value.is_empty() {
            Verdict::Granted
        } else {
            Verdict::Warned(NO_TLS)
        });
    }
    let is_known = NO_EFFECT.binary_search(&setting).is_ok();
    is_known.then_some(Verdict::Ignored)
}

/// All names that [`verdict`] knows.
pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    let notes = NOTES.iter().map(|note| note.setting);
    notes.chain(TLS.iter().chain(NO_EFFECT).copied())
}

#[derive(Clone, Copy)]
enum Weight {
    Warned(&'static str),
    Refused(&'static str),
}

struct Note {
    setting: &'static str,
    /// Values that ask for Respire's behaviour.
    off: &'static [&'static str],
    weight: Weight,
}

const fn note(setting: &'static str, off: &'static [&'static str], weight: Weight) -> Note {
    Note {
        setting,
        off,
        weight,
    }
}

const NO_TLS: &str = "no effect, as there is no TLS here";
const NO_REPLICATION: &str = "no effect, as there is no replication here";
const NO_REPLICAS: &str = "writes are accepted nevertheless, as there are no replicas here";
const ONE_USER: &str = "there is no user but 'default', whose password 'requirepass' sets: the \
                        permissions of other users would not hold";
const NO_REPLICA: &str = "there is no replication: this would be an empty server of its own, \
                          which takes writes";

/// Settings whose missing effect an operator must know.
const NOTES: &[Note] = &[
    note("aclfile", &[""], Refused(ONE_USER)),
    note(
        "cluster-enabled",
        &["no"],
        Refused("there is no cluster: this would be a server of its own, with all keys"),
    ),
    note(
        "daemonize",
        &["no"],
        Warned(
            "the server stays in the foreground; a service manager or '&' runs it in the background",
        ),
    ),
    note(
        "include",
        &[],
        Refused("no other file is read: put its lines into this one"),
    ),
    note(
        "loadmodule",
        &[],
        Refused("there are no modules: the commands of this one would be missing"),
    ),
    note(
        "logfile",
        &[""],
        Warned("the log goes to standard error; redirect it to have it in a file"),
    ),
    note("masterauth", &[""], Warned(NO_REPLICATION)),
    note("masteruser", &[""], Warned(NO_REPLICATION)),
    note(
        "maxmemory-clients",
        &["0"],
        Warned("the memory of each connection has bounds of its own (docs/LIMITS.md)"),
    ),
    note("min-replicas-to-write", &["0"], Warned(NO_REPLICAS)),
    note("min-slaves-to-write", &["0"], Warned(NO_REPLICAS)),
    note(
        "pidfile",
        &[""],
        Warned("no such file is written; the log tells the process id"),
    ),
    note(
        "rename-command",
        &[],
        Refused("commands cannot be renamed or taken away: this one would stay in reach"),
    ),
    note("replicaof", &["", "no one"], Refused(NO_REPLICA)),
    note("slaveof", &["", "no one"], Refused(NO_REPLICA)),
    note(
        "supervised",
        &["no"],
        Warned("the service manager is not notified; with systemd, Type=exec needs no notice"),
    ),
    note(
        "syslog-enabled",
        &["no"],
        Warned("the log goes to standard error, and not to the system's log"),
    ),
    note(
        "tls-port",
        &["0"],
        Refused("there is no TLS: nothing can listen there; let a proxy such as stunnel do it"),
    ),
    note("user", &[], Refused(ONE_USER)),
];

/// The TLS settings, which share one warning.
const TLS: &[&str] = &[
    "tls-auth-clients",
    "tls-ca-cert-dir",
    "tls-ca-cert-file",
    "tls-cert-file",
    "tls-ciphers",
    "tls-ciphersuites",
    "tls-client-cert-file",
    "tls-client-key-file",
    "tls-client-key-file-pass",
    "tls-cluster",
    "tls-dh-params-file",
    "tls-key-file",
    "tls-key-file-pass",
    "tls-prefer-server-ciphers",
    "tls-protocols",
    "tls-replication",
    "tls-session-cache-size",
    "tls-session-cache-timeout",
    "tls-session-caching",
];

/// The other settings of Redis 7.0, and some later ones, which need no warning: they concern
/// features that Respire does not have (replicas, encodings) or configures in other
/// ways (buffers, threads, the pace of background work). Sorted.
const NO_EFFECT: &[&str] = &[
    "acl-pubsub-default",
    "acllog-max-len",
    "active-defrag-cycle-max",
    "active-defrag-cycle-min",
    "active-defrag-ignore-bytes",
    "active-defrag-max-scan-fields",
    "active-defrag-threshold-lower",
    "active-defrag-threshold-upper",
    "active-expire-effort",
    "activedefrag",
    "activerehashing",
    "always-show-logo",
    "aof-disable-auto-gc",
    "aof-rewrite-incremental-fsync",
    "aof_rewrite_cpulist",
    "bgsave_cpulist",
    "bind-source-addr",
    "bio_cpulist",
    "client-output-buffer-limit",
    "client-query-buffer-limit",
    "cluster-allow-pubsubshard-when-down",
    "cluster-allow-reads-when-down",
    "cluster-allow-replica-migration",
    "cluster-announce-bus-port",
    "cluster-announce-hostname",
    "cluster-announce-human-nodename",
    "cluster-announce-ip",
    "cluster-announce-port",
    "cluster-announce-tls-port",
    "cluster-config-file",
    "cluster-link-sendbuf-limit",
    "cluster-migration-barrier",
    "cluster-node-timeout",
    "cluster-port",
    "cluster-preferred-endpoint-type",
    "cluster-replica-no-failover",
    "cluster-replica-validity-factor",
    "cluster-require-full-coverage",
    "cluster-slave-no-failover",
    "cluster-slave-validity-factor",
    "crash-log-enabled",
    "crash-memcheck-enabled",
    "disable-thp",
    "dynamic-hz",
    "enable-debug-command",
    "enable-module-command",
    "enable-protected-configs",
    "gopher-enabled",
    "hide-user-data-from-log",
    "hz",
    "ignore-warnings",
    "io-threads-do-reads",
    "jemalloc-bg-thread",
    "lazyfree-lazy-eviction",
    "lazyfree-lazy-expire",
    "lazyfree-lazy-server-del",
    "lazyfree-lazy-user-del",
    "list-max-ziplist-entries",
    "list-max-ziplist-value",
    "locale-collate",
    "max-new-connections-per-cycle",
    "max-new-tls-connections-per-cycle",
    "maxmemory-eviction-tenacity",
    "min-replicas-max-lag",
    "min-slaves-max-lag",
    "oom-score-adj",
    "oom-score-adj-values",
    "proc-title-template",
    "propagation-error-behavior",
    "rdb-del-sync-files",
    "rdb-save-incremental-fsync",
    "repl-backlog-size",
    "repl-backlog-ttl",
    "repl-disable-tcp-nodelay",
    "repl-diskless-load",
    "repl-diskless-sync",
    "repl-diskless-sync-delay",
    "repl-diskless-sync-max-replicas",
    "repl-ping-replica-period",
    "repl-ping-slave-period",
    "repl-timeout",
    "replica-announce-ip",
    "replica-announce-port",
    "replica-announced",
    "replica-ignore-disk-write-errors",
    "replica-ignore-maxmemory",
    "replica-lazy-flush",
    "replica-priority",
    "replica-read-only",
    "replica-serve-stale-data",
    "sanitize-dump-payload",
    "server_cpulist",
    "set-max-listpack-entries",
    "set-max-listpack-value",
    "set-proc-title",
    "shutdown-on-sigint",
    "shutdown-on-sigterm",
    "slave-announce-ip",
    "slave-announce-port",
    "slave-ignore-maxmemory",
    "slave-lazy-flush",
    "slave-priority",
    "slave-read-only",
    "slave-serve-stale-data",
    "socket-mark-id",
    "syslog-facility",
    "syslog-ident",
    "tracking-table-max-keys",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_setting_is_in_one_table_and_tables_are_sorted() {
        assert!(NO_EFFECT.is_sorted());
        assert!(NOTES.is_sorted_by_key(|note| note.setting));
        let mut all: Vec<_> = names().collect();
        all.sort_unstable();
        let count = all.len();
        all.dedup();
        assert_eq!(all.len(), count);
    }

    #[test]
    fn values_that_match_respires_behaviour_are_accepted() {
        for (setting, value) in [
            ("replicaof", "no one"),
            ("slaveof", ""),
            ("tls-port", "0"),
            ("tls-key-file", ""),
            ("cluster-enabled", "no"),
            ("logfile", ""),
        ] {
            assert_eq!(verdict(setting, value), Some(Verdict::Granted), "{setting}");
        }
    }

    #[test]
    fn settings_that_affect_safety_are_refused_and_others_warn() {
        for setting in [
            "aclfile",
            "cluster-enabled",
            "include",
            "loadmodule",
            "rename-command",
            "replicaof",
            "slaveof",
            "tls-port",
            "user",
        ] {
            let is_refused = matches!(verdict(setting, "x"), Some(Verdict::Refused(_)));
            assert!(is_refused, "{setting}");
        }
        assert_eq!(verdict("tls-cert-file", "x"), Some(Verdict::Warned(NO_TLS)));
        assert_eq!(verdict("hz", "10"), Some(Verdict::Ignored));
        assert_eq!(verdict("port", "1"), None);
        assert_eq!(verdict("prot", "1"), None);
    }
}
