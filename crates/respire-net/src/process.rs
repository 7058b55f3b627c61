//! The process as the engine's host: its facts for `INFO`, its shutdown and its configuration file.

use crate::throttle::Throttle;
use crate::{Config, ConfigFile, Shutdown, clock};
use nix::sys::resource::{Resource, UsageWho, getrlimit, getrusage, setrlimit};
use nix::sys::time::TimeValLike;
use respire_engine::{Denied, Host, InfoWriter, Metrics, Unknown};
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The process around the engine.
#[derive(Debug)]
pub struct Process {
    facts: Facts,
    shutdown: Shutdown,
    /// Locked while `CONFIG REWRITE` writes, so that two rewrites do not interleave.
    file: Mutex<Option<ConfigFile>>,
    /// The memory of the process before it had any data.
    start_bytes: Option<u64>,
}

/// Facts that do not change while the process runs.
#[derive(Clone, Debug, Default)]
pub struct Facts {
    /// The flavour's name.
    pub flavour: &'static str,
    /// The allocator's name.
    pub allocator: &'static str,
    /// Threads that serve connections.
    pub threads: usize,
    /// The TCP port, or 0.
    pub port: u16,
    /// Where the server listens, for people to read.
    pub listens: String,
}

impl Process {
    /// The process with the facts of its start. Call this while the store is empty: the memory used
    /// now counts as the memory used without data.
    #[must_use]
    pub fn new(facts: Facts, shutdown: Shutdown, file: Option<ConfigFile>) -> Self {
        Self {
            facts,
            shutdown,
            file: Mutex::new(file),
            start_bytes: resident_bytes(),
        }
    }

    /// Sets the default values of the settings, so that `CONFIG REWRITE` adds only values that
    /// differ.
    pub fn set_defaults(&self, defaults: Vec<(String, String)>) {
        if let Some(file) = &mut *self.file() {
            file.set_defaults(defaults);
        }
    }

    /// The path of the configuration file, if there is one.
    #[must_use]
    pub fn config_file(&self) -> Option<PathBuf> {
        self.file().as_ref().map(|file| file.path().to_owned())
    }

    fn file(&self) -> MutexGuard<'_, Option<ConfigFile>> {
        self.file.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn server(&self, out: &mut InfoWriter) {
        out.field("os", os_name());
        out.field("multiplexing_api", self.facts.flavour);
        out.field("process_id", std::process::id());
        out.field("tcp_port", self.facts.port);
        out.field("io_threads_active", self.facts.threads);
        out.field(
            "executable",
            path_text(std::env::current_exe().ok().as_deref()),
        );
        out.field("config_file", path_text(self.config_file().as_deref()));
        out.field("listeners", &self.facts.listens);
    }

    fn memory(&self, out: &mut InfoWriter) {
        if let Some(bytes) = resident_bytes() {
            out.bytes("used_memory_rss", bytes);
        }
        if let Some(bytes) = self.start_bytes {
            out.field("used_memory_rss_startup", bytes);
        }
        if let Some(bytes) = total_memory_bytes() {
            out.bytes("total_system_memory", bytes);
        }
        out.field("mem_allocator", self.facts.allocator);
    }
}

impl Host for Process {
    fn stopwatch_ns(&self) -> u64 {
        clock::monotonic_ns()
    }

    fn shutdown(&self) -> bool {
        tracing::info!("SHUTDOWN received, stopping");
        self.shutdown.request();
        true
    }

    fn is_stopping(&self) -> bool {
        self.shutdown.is_requested()
    }

    fn log(&self, level: u8, text: &str) {
        match level {
            0 => tracing::debug!("a script: {text}"),
            1 | 2 => tracing::info!("a script: {text}"),
            _ => tracing::warn!("a script: {text}"),
        }
    }

    fn rewrite_config(&self, settings: &[(&'static str, String)]) -> Result<(), String> {
        let file = self.file();
        let Some(file) = &*file else {
            return Err("The server is running without a config file".to_owned());
        };
        file.rewrite(settings).map_err(|error| {
            tracing::warn!("CONFIG REWRITE failed: {error}");
            format!("Rewriting config file: {error}")
        })
    }

    fn panicked(&self, command: &str, text: &str) {
        static PANICS: Throttle = Throttle::new();
        if let Some(held_back) = PANICS.pass(clock::now()) {
            tracing::error!("the command '{command}' panicked: {text}{held_back}");
        }
    }

    fn denied(&self, denied: Denied<'_>) {
        let Denied {
            count,
            peers,
            latest,
            ..
        } = denied;
        if count == 1 {
            tracing::warn!("a wrong password came from {latest}");
        } else {
            let addresses = if peers == 1 { "address" } else { "addresses" };
            tracing::warn!(
                "{count} wrong passwords came from {peers} {addresses}, the latest from {latest}; \
                 further attempts from there are slowed down"
            );
        }
    }

    fn unknown_command(&self, unknown: Unknown<'_>) {
        let Unknown {
            name,
            peer,
            is_last,
            ..
        } = unknown;
        tracing::warn!(
            "{peer} asked for the command '{name}', which this server does not have; INFO \
             unknowncommands counts further requests"
        );
        if is_last {
            tracing::warn!("so many commands were unknown that no further names are kept");
        }
    }

    fn metrics(&self, out: &mut Metrics) {
        let flavour = [("flavour", self.facts.flavour)];
        let name = "respire_threads";
        let threads = self.facts.threads as f64;
        out.gauge(name, "Threads that serve.", &flavour, threads);
        if let Ok(usage) = getrusage(UsageWho::RUSAGE_SELF) {
            let times = [usage.user_time(), usage.system_time()];
            let us: i64 = times.iter().map(TimeValLike::num_microseconds).sum();
            let (name, help) = ("process_cpu_seconds", "Processor time used.");
            out.sum(name, help, &[], us as f64 / 1e6);
        }
        if let Some(bytes) = resident_bytes() {
            let (name, help) = ("process_resident_memory_bytes", "Memory of the process.");
            out.gauge(name, help, &[], bytes as f64);
        }
    }

    fn info(&self, section: &str, out: &mut InfoWriter) {
        match section {
            "server" => self.server(out),
            "memory" => self.memory(out),
            "cpu" => cpu(out),
            _ => {}
        }
    }
}

fn cpu(out: &mut InfoWriter) {
    let rows = [
        ("used_cpu_sys", "used_cpu_user", UsageWho::RUSAGE_SELF),
        (
            "used_cpu_sys_children",
            "used_cpu_user_children",
            UsageWho::RUSAGE_CHILDREN,
        ),
    ];
    for (system, user, who) in rows {
        if let Ok(usage) = getrusage(who) {
            out.field(system, Seconds(usage.system_time().num_microseconds()));
            out.field(user, Seconds(usage.user_time().num_microseconds()));
        }
    }
}

/// A time in microseconds, shown in seconds.
struct Seconds(i64);

impl std::fmt::Display for Seconds {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}.{:06}", self.0 / 1_000_000, self.0 % 1_000_000)
    }
}

fn os_name() -> String {
    nix::sys::utsname::uname().map_or_else(
        |_| std::env::consts::OS.to_owned(),
        |name| {
            let part = |text: &std::ffi::OsStr| text.to_string_lossy().into_owned();
            format!(
                "{} {} {}",
                part(name.sysname()),
                part(name.release()),
                part(name.machine())
            )
        },
    )
}

fn path_text(path: Option<&std::path::Path>) -> String {
    path.map(|path| path.display().to_string())
        .unwrap_or_default()
}

/// The resident set size on Linux; `None` elsewhere.
#[must_use]
pub fn resident_bytes() -> Option<u64> {
    field_kib("/proc/self/status", "VmRSS:")
}

/// The memory of the machine on Linux; `None` elsewhere.
#[must_use]
pub fn total_memory_bytes() -> Option<u64> {
    field_kib("/proc/meminfo", "MemTotal:")
}

/// The value of a line such as `VmRSS:     1234 kB`, in bytes.
fn field_kib(path: &str, name: &str) -> Option<u64> {
    let text = std::fs::read_to_string(path).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    line.split_whitespace()
        .next()?
        .parse::<u64>()
        .ok()?
        .checked_mul(1024)
}

/// Descriptors that the server needs besides those of its connections. Redis reserves the same
/// number.
const RESERVED_DESCRIPTORS: u64 = 32;

/// Raises the process's limit of open descriptors as far as needed and allowed; returns how many
/// connections it allows, at most `clients_max`.
#[must_use]
pub fn raise_descriptor_limit(clients_max: u32) -> u32 {
    let wanted = u64::from(clients_max) + RESERVED_DESCRIPTORS;
    let Ok((soft, hard)) = getrlimit(Resource::RLIMIT_NOFILE) else {
        return clients_max;
    };
    if soft >= wanted {
        return clients_max;
    }
    let raised = [(wanted, hard.max(wanted)), (hard.min(wanted), hard)]
        .into_iter()
        .find(|(soft, hard)| setrlimit(Resource::RLIMIT_NOFILE, *soft, *hard).is_ok());
    let limit = raised.map_or(soft, |(soft, _)| soft);
    if limit >= wanted {
        return clients_max;
    }
    let possible = u32::try_from(limit.saturating_sub(RESERVED_DESCRIPTORS)).unwrap_or(u32::MAX);
    let possible = possible.max(1);
    tracing::warn!(
        "maxclients {clients_max} needs {wanted} descriptors and the limit is {limit}: maxclients is \
         now {possible}; raise it with 'ulimit -n'"
    );
    possible
}

/// The `CONFIG` settings of a server's configuration.
#[must_use]
pub fn settings(config: &Config) -> Vec<respire_engine::Setting> {
    use respire_engine::Setting;

    let fixed = |name, value: String| Setting::read_only(name, move || value.clone());
    let unix_socket = path_text(config.unix_socket.as_deref());
    let mode = config
        .unix_socket_mode
        .map_or_else(|| "0".to_owned(), |mode| format!("{mode:o}"));
    let (read, write) = (config.protected_mode.clone(), config.protected_mode.clone());
    vec![
        fixed("bind", config.hosts.join(" ")),
        fixed("port", config.port.to_string()),
        fixed("unixsocket", unix_socket),
        fixed("unixsocketperm", mode),
        fixed("tcp-backlog", config.backlog.to_string()),
        fixed("tcp-keepalive", config.keepalive_s.to_string()),
        fixed("io-threads", config.threads.to_string()),
        Setting::mutable(
            "protected-mode",
            move || if read.is_on() { "yes" } else { "no" }.to_owned(),
            move |text| {
                match text.to_ascii_lowercase().as_str() {
                    "yes" => write.set(true),
                    "no" => write.set(false),
                    _ => return Err("argument must be 'yes' or 'no'".to_owned()),
                }
                Ok(())
            },
        ),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn process() -> Process {
        let facts = Facts {
            flavour: "tokio",
            port: 7000,
            ..Facts::default()
        };
        Process::new(facts, Shutdown::new(), None)
    }

    fn info(section: &str) -> String {
        let mut out = InfoWriter::default();
        process().info(section, &mut out);
        out.text().to_owned()
    }

    #[test]
    fn info_describes_the_process() {
        let server = info("server");
        assert!(
            server.contains(&format!("process_id:{}\r\n", std::process::id())),
            "{server}"
        );
        assert!(
            server.contains("multiplexing_api:tokio\r\n") && server.contains("tcp_port:7000\r\n")
        );
        assert!(info("cpu").contains("used_cpu_user:"));
        assert_eq!(info("keyspace"), "");
        #[cfg(target_os = "linux")]
        assert!(info("memory").contains("used_memory_rss_human:"));
    }

    #[test]
    fn metrics_describe_the_process() {
        let mut out = Metrics::default();
        process().metrics(&mut out);
        let names: Vec<_> = out
            .families()
            .iter()
            .map(|family| &family.name[..])
            .collect();
        assert!(names.contains(&"process_cpu_seconds"), "{names:?}");
        #[cfg(target_os = "linux")]
        assert!(
            names.contains(&"process_resident_memory_bytes"),
            "{names:?}"
        );
    }

    #[test]
    fn shutdown_command_requests_a_shutdown() {
        let process = process();
        assert!(Host::shutdown(&process));
        assert!(process.shutdown.is_requested());
    }

    #[test]
    fn rewrite_without_a_file_fails_with_rediss_error() {
        let refused = process().rewrite_config(&[]);
        assert_eq!(
            refused,
            Err("The server is running without a config file".to_owned())
        );
    }

    #[test]
    fn seconds_are_shown_with_microseconds() {
        assert_eq!(Seconds(1_000_050).to_string(), "1.000050");
    }

    #[test]
    fn descriptor_limit_allows_a_few_connections() {
        assert_eq!(raise_descriptor_limit(8), 8);
    }

    #[test]
    fn config_set_switches_protected_mode() {
        let config = Config::default();
        let settings = settings(&config);
        let row = settings
            .iter()
            .find(|row| row.name() == "protected-mode")
            .unwrap();
        assert_eq!(row.get(), "yes");
        assert_eq!(row.set("no"), Ok(()));
        assert!(!config.protected_mode.is_on());
        assert!(row.set("maybe").is_err());
    }
}
