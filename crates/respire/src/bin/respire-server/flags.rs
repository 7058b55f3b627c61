//! Defines the command-line flags, and converts them to the server's configuration.

use crate::logging::LogLevel;
use clap::builder::{OsStringValueParser, PossibleValuesParser, TypedValueParser};
use clap::parser::ValueSource;
use clap::{CommandFactory, FromArgMatches, Parser, ValueEnum};
use respire::engine::parse_memory;
use respire::net::tap::Tap;
use respire::net::{Config, Limits, ProtectedMode};
use respire::serve::Flavour;
use respire::store::Policy;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// A key-value server: any Redis client talks to it, in RESP2, RESP3 or a compact binary protocol.
#[derive(Parser, Clone, Debug)]
#[command(name = "respire-server", version, args_override_self = true, after_help = EXAMPLES)]
pub(crate) struct Flags {
    /// Addresses to listen on, separated by blanks; one after a '-' may be missing on this machine
    #[arg(
        long,
        alias = "bind",
        value_name = "ADDRESSES",
        default_value = "127.0.0.1 -::1"
    )]
    #[arg(help_heading = "Network", allow_hyphen_values = true)]
    host: String,

    /// TCP port; 0 means none
    #[arg(short, long, default_value_t = 6379, help_heading = "Network")]
    port: u16,

    /// Path of a Unix socket to listen on as well [default: none]
    #[arg(long, value_name = "PATH", help_heading = "Network")]
    #[arg(value_parser = OsStringValueParser::new().map(PathBuf::from))]
    unixsocket: Option<PathBuf>,

    /// Permissions of the Unix socket, in octal [default: what the umask leaves]
    #[arg(long, value_name = "MODE", value_parser = octal, help_heading = "Network")]
    unixsocketperm: Option<u32>,

    /// Connections that the system queues until the server accepts them
    #[arg(
        long,
        value_name = "COUNT",
        default_value_t = 1024,
        help_heading = "Network"
    )]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=65535))]
    tcp_backlog: u32,

    /// Probe peers that are silent for this many seconds; 0 means never
    #[arg(
        long,
        value_name = "SECONDS",
        default_value_t = 300,
        help_heading = "Network"
    )]
    #[arg(value_parser = clap::value_parser!(u32).range(0..=32767))]
    tcp_keepalive: u32,

    /// Close connections that are idle for this many seconds; 0 means never
    #[arg(
        long,
        value_name = "SECONDS",
        default_value_t = 0,
        help_heading = "Network"
    )]
    #[arg(value_parser = clap::value_parser!(u32).range(0..=i64::from(i32::MAX)))]
    pub(crate) timeout: u32,

    /// Connections served at a time
    #[arg(
        long,
        value_name = "COUNT",
        default_value_t = 10_000,
        help_heading = "Network"
    )]
    #[arg(value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) maxclients: u32,

    /// Password that clients must give [default: none]
    #[arg(long, value_name = "PASSWORD", help_heading = "Security")]
    #[arg(env = "RESPIRE_PASSWORD", hide_env_values = true)]
    pub(crate) requirepass: Option<String>,

    /// Without a password, refuse to serve other machines
    #[arg(
        long,
        value_name = "YES|NO",
        default_value = "yes",
        help_heading = "Security"
    )]
    #[arg(hide_possible_values = true)]
    protected_mode: YesNo,

    /// How connections are served: tokio uses many threads, mio one; replies are the same, but with
    /// one thread a long command holds up all others
    #[arg(long, default_value = Flavour::ALL[0].name(), help_heading = "Performance")]
    #[arg(value_parser = PossibleValuesParser::new(Flavour::ALL.iter().map(|f| f.name())))]
    flavour: String,

    /// Threads that serve connections, with tokio; by default one per processor
    #[arg(
        long,
        alias = "io-threads",
        value_name = "COUNT",
        help_heading = "Performance"
    )]
    #[arg(default_value_t = processors(), value_parser = clap::value_parser!(u32).range(1..=1024))]
    threads: u32,

    /// Network buffer of each thread: the most that one read takes
    #[arg(
        long,
        value_name = "BYTES",
        default_value = "64kb",
        help_heading = "Performance"
    )]
    #[arg(value_parser = buffer_bytes)]
    buffer: usize,

    /// Shards of each database, a power of two; more of them collide less and grow in smaller steps
    #[arg(
        long,
        value_name = "COUNT",
        default_value_t = 1024,
        help_heading = "Performance"
    )]
    #[arg(value_parser = shards)]
    pub(crate) shards: usize,

    /// Keys to allocate room for at the start, in database 0
    #[arg(long, value_name = "KEYS", default_value_t = 0, help_heading = "Data")]
    pub(crate) capacity: usize,

    /// Databases that SELECT chooses from
    #[arg(
        long,
        value_name = "COUNT",
        default_value_t = 16,
        help_heading = "Data"
    )]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=65_536))]
    pub(crate) databases: u32,

    /// Memory the data may take, such as 100mb; 0 means no limit
    #[arg(long, value_name = "BYTES", default_value = "0", help_heading = "Data")]
    #[arg(value_parser = memory)]
    pub(crate) maxmemory: u64,

    /// What to remove when that limit is reached
    #[arg(
        long,
        value_name = "POLICY",
        default_value = "noeviction",
        help_heading = "Data"
    )]
    #[arg(value_parser = PossibleValuesParser::new(Policy::ALL.map(Policy::name)))]
    pub(crate) maxmemory_policy: String,

    /// Keep every change in an append-only file, and load it at the next start
    #[arg(
        long,
        value_name = "YES|NO",
        default_value = "no",
        help_heading = "Durability"
    )]
    #[arg(hide_possible_values = true)]
    appendonly: YesNo,

    /// When changes must be on the disk: always before they are answered, everysec within a second,
    /// no when the system writes them
    #[arg(
        long,
        value_name = "POLICY",
        default_value = "everysec",
        help_heading = "Durability"
    )]
    #[arg(value_parser = PossibleValuesParser::new(["always", "everysec", "no"]))]
    appendfsync: String,

    /// Write a snapshot once SECONDS have passed with at least CHANGES changes, such as
    /// '3600 1 300 100', and load it at the next start [default: never]
    #[arg(long, value_name = "SECONDS CHANGES", num_args = 1.., help_heading = "Durability")]
    #[arg(action = clap::ArgAction::Set)]
    save: Vec<String>,

    /// Directory of the snapshot and of the append-only file's own directory
    #[arg(
        long,
        value_name = "PATH",
        default_value = ".",
        help_heading = "Durability"
    )]
    dir: String,

    /// Name of the snapshot
    #[arg(
        long,
        value_name = "NAME",
        default_value = "dump.rdb",
        help_heading = "Durability"
    )]
    dbfilename: String,

    /// Load this file first: a snapshot, or the single append-only file of an old server
    #[arg(long, value_name = "FILE", help_heading = "Durability")]
    #[arg(value_parser = OsStringValueParser::new().map(PathBuf::from))]
    pub(crate) load: Option<PathBuf>,

    /// How much to log: debug, verbose, notice, warning or nothing
    #[arg(
        long,
        alias = "loglevel",
        value_name = "LEVEL",
        default_value = "notice"
    )]
    #[arg(
        hide_possible_values = true,
        ignore_case = true,
        help_heading = "Operation"
    )]
    pub(crate) log_level: LogLevel,

    /// Seconds that a stopping server waits for commands to end and for clients to read their
    /// replies
    #[arg(
        long,
        value_name = "SECONDS",
        default_value_t = 10,
        help_heading = "Operation"
    )]
    #[arg(value_parser = clap::value_parser!(u32).range(0..=3600))]
    shutdown_timeout: u32,

    /// Address of the metrics for monitoring, at http://ADDRESS/metrics; a port alone means this
    /// machine [default: none]
    #[cfg(feature = "metrics")]
    #[arg(long, value_name = "ADDRESS", value_parser = address, help_heading = "Operation")]
    pub(crate) metrics: Option<String>,

    /// Address of the protocol explorer, at http://ADDRESS/, for everybody who can reach it; the
    /// page shows nothing of this server; a port alone means this machine [default: none]
    #[cfg(feature = "explorer")]
    #[arg(long, value_name = "ADDRESS", value_parser = address, help_heading = "Operation")]
    pub(crate) explorer: Option<String>,

    /// Show in the explorer what all clients send and receive, keys and values included, to every
    /// user of this machine; passwords are hidden, and other machines are refused
    #[cfg(feature = "explorer")]
    #[arg(
        long,
        value_name = "YES|NO",
        default_value = "no",
        default_missing_value = "yes"
    )]
    #[arg(num_args = 0..=1, require_equals = true, hide_possible_values = true)]
    #[arg(help_heading = "Operation")]
    explorer_tap: YesNo,

    /// Check Lua scripts and libraries of functions, and start no server; '-' is standard input.
    /// Mistakes are printed as FILE:LINE, and the exit code is 1 if there are any
    #[arg(long, value_name = "FILE", num_args = 1.., help_heading = "Operation")]
    #[arg(value_parser = OsStringValueParser::new().map(PathBuf::from))]
    check_script: Vec<PathBuf>,

    /// File of 'name value' lines, with the names of these flags or of CONFIG; flags override it;
    /// SIGHUP reloads it [default: none]
    #[arg(short, long, value_name = "FILE", help_heading = "Operation")]
    config: Option<PathBuf>,

    /// The same as --config; '-' is standard input
    #[arg(value_name = "FILE", conflicts_with = "config")]
    file: Option<PathBuf>,
}

const EXAMPLES: &str = "\
Examples:
  respire-server
  respire-server --port 7000 --flavour mio
  respire-server /etc/redis/redis.conf --port 7000
  RESPIRE_PASSWORD=secret respire-server --host 0.0.0.0 --maxmemory 1gb --maxmemory-policy allkeys-lru
  respire-server --port 0 --unixsocket /run/respire.sock --config /etc/respire.conf
  respire-server --appendonly yes --dir /var/lib/respire
  respire-server --load dump.rdb --save '3600 1 300 100'
  respire-server --metrics 9121
  respire-server --explorer 8123 --explorer-tap
  respire-server --check-script lock.lua limits.lua
  respire-server check /var/lib/respire        (files after a crash; 'check --help')

Then: redis-cli -p 6379";

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum YesNo {
    Yes,
    No,
}

/// Parses the flags (without the program's name), and returns the long names of those that were
/// given, here or in the environment.
pub(crate) fn parse(arguments: &[OsString]) -> Result<(Flags, Vec<String>), clap::Error> {
    let name = OsString::from("respire-server");
    let words = std::iter::once(&name).chain(arguments);
    let matches = Flags::command().try_get_matches_from(words)?;
    let is_given = |id: &&clap::Id| {
        let source = matches.value_source(id.as_str());
        matches!(
            source,
            Some(ValueSource::CommandLine | ValueSource::EnvVariable)
        )
    };
    let given = matches.ids().filter(is_given);
    let given = given.map(|id| id.as_str().replace('_', "-")).collect();
    Ok((Flags::from_arg_matches(&matches)?, given))
}

/// The long name of the flag that a key of the file sets.
pub(crate) fn flag_of(key: &str) -> Option<String> {
    let command = Flags::command();
    let mut flags = command.get_arguments();
    let flag = flags.find(|flag| {
        let aliases = flag.get_all_aliases().unwrap_or_default();
        flag.get_long() == Some(key) || aliases.contains(&key)
    });
    flag.and_then(clap::Arg::get_long).map(str::to_owned)
}

/// The names and aliases of all flags.
pub(crate) fn names() -> Vec<String> {
    let command = Flags::command();
    let of_flag = |flag: &clap::Arg| {
        let aliases = flag.get_all_aliases().unwrap_or_default();
        let names = flag.get_long().into_iter().chain(aliases);
        names.map(str::to_owned).collect::<Vec<_>>()
    };
    command.get_arguments().flat_map(of_flag).collect()
}

/// Flags that have another name in `CONFIG`, each with that name, which is the flag's alias.
pub(crate) fn aliases() -> Vec<(String, &'static str)> {
    [
        ("host", "bind"),
        ("threads", "io-threads"),
        ("log-level", "loglevel"),
    ]
    .map(|(flag, setting)| (flag.to_owned(), setting))
    .into()
}

impl Flags {
    /// The flags without arguments and with an empty environment.
    pub(crate) fn defaults() -> Self {
        let flags = Self::try_parse_from(["respire-server"]);
        let flags = flags.expect("no flag is required, and every default is valid");
        Self {
            requirepass: None,
            ..flags
        }
    }

    /// The path of the configuration file, if there is one.
    pub(crate) fn config(&self) -> Option<&Path> {
        self.config.as_deref().or(self.file.as_deref())
    }

    /// The scripts to check in place of starting a server.
    pub(crate) fn scripts_to_check(&self) -> &[PathBuf] {
        &self.check_script
    }

    /// The settings of durability, by name.
    pub(crate) fn durability(&self) -> [(&'static str, String); 5] {
        let appendonly = if self.appendonly == YesNo::Yes {
            "yes"
        } else {
            "no"
        };
        [
            ("appendonly", appendonly.to_owned()),
            ("appendfsync", self.appendfsync.clone()),
            ("save", self.save.join(" ").trim().to_owned()),
            ("dir", self.dir.clone()),
            ("dbfilename", self.dbfilename.clone()),
        ]
    }

    /// The chosen flavour.
    pub(crate) fn flavour(&self) -> Flavour {
        let chosen = Flavour::ALL
            .iter()
            .find(|flavour| flavour.name() == self.flavour);
        chosen.copied().unwrap_or_default()
    }

    /// The flags of these arguments, which begin with the program's name.
    #[cfg(all(test, feature = "explorer"))]
    pub(crate) fn of(arguments: impl Iterator<Item = String>) -> Self {
        Self::try_parse_from(arguments).expect("the flags are right")
    }

    /// Whether the explorer shows the traffic.
    #[cfg(feature = "explorer")]
    pub(crate) fn has_explorer_tap(&self) -> bool {
        self.explorer_tap == YesNo::Yes
    }

    /// The configuration for the drivers.
    pub(crate) fn to_config(&self) -> Config {
        let hosts = self.host.split([' ', ',']).filter(|host| !host.is_empty());
        Config {
            hosts: hosts.map(str::to_owned).collect(),
            port: self.port,
            unix_socket: self
                .unixsocket
                .clone()
                .filter(|path| !path.as_os_str().is_empty()),
            unix_socket_mode: self.unixsocketperm.filter(|mode| *mode != 0),
            backlog: self.tcp_backlog,
            keepalive_s: self.tcp_keepalive,
            threads: self.flavour().threads(self.threads as usize),
            protected_mode: ProtectedMode::new(self.protected_mode == YesNo::Yes),
            limits: Limits {
                buffer_bytes: self.buffer,
                shutdown_grace_ms: self.shutdown_timeout * 1000,
                ..Limits::DEFAULT
            },
            tap: Tap::default(),
        }
    }
}

fn processors() -> u32 {
    std::thread::available_parallelism().map_or(1, |count| u32::try_from(count.get()).unwrap_or(1))
}

fn memory(text: &str) -> Result<u64, String> {
    parse_memory(text).ok_or_else(|| "expected bytes, such as 512, 64kb, 100mb or 1gb".to_owned())
}

fn buffer_bytes(text: &str) -> Result<usize, String> {
    let bytes = memory(text)?;
    let row = Limits::ROWS.iter().find(|row| row.name == "buffer");
    let (min, max) = row.map_or((0, u64::MAX), |row| (row.min, row.max));
    if (min..=max).contains(&bytes) {
        Ok(usize::try_from(bytes).unwrap_or(usize::MAX))
    } else {
        Err(format!("expected between {min} and {max} bytes"))
    }
}

fn shards(text: &str) -> Result<usize, String> {
    match text.parse::<usize>() {
        Ok(count) if count.is_power_of_two() && (2..=SHARDS_MAX).contains(&count) => Ok(count),
        _ => Err(format!("expected a power of two from 2 to {SHARDS_MAX}")),
    }
}

/// With more, the shards themselves would take more memory than a small data set.
const SHARDS_MAX: usize = 1 << 16;

/// An address with a port, or none. Everybody who can reach it can read, so this machine is the
/// default.
#[cfg(any(feature = "explorer", feature = "metrics"))]
fn address(text: &str) -> Result<String, String> {
    let address = match text.parse::<u16>() {
        Ok(port) => format!("127.0.0.1:{port}"),
        Err(_) => text.to_owned(),
    };
    let has_port = address
        .rsplit_once(':')
        .is_some_and(|(host, port)| !host.is_empty() && port.parse::<u16>().is_ok());
    if has_port || address.is_empty() {
        Ok(address)
    } else {
        Err("expected an address with a port, such as 127.0.0.1:9121, or a port".to_owned())
    }
}

fn octal(text: &str) -> Result<u32, String> {
    match u32::from_str_radix(text, 8) {
        Ok(mode) if mode <= 0o777 => Ok(mode),
        _ => Err("expected an octal mode from 0 to 777".to_owned()),
    }
}

#[cfg(test)]
mod tests;
