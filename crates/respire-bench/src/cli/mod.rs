//! The command line: subcommands and the flags of one run.

mod load;

pub use load::{LoadArgs, LoginArgs};

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Parser, Subcommand};

use crate::engine::Beside;
use crate::error::{Error, Result};
use crate::launch::words;
use crate::target::Target;

const EXAMPLES: &str = "\
Examples:
  respire-bench                                   SET, GET, DELETE of random keys on 127.0.0.1:6379
  respire-bench --clients 100 --requests 1000000 --key-length 32
  respire-bench --ratio 1:10 --pipeline 30 --data-size 256 --populate --test-time 10
  respire-bench --ratio 0:1 --rate 50000 --test-time 30 --hdr get.hlog --svg get
  respire-bench --ratio 0:1 --rate 20000 --test-time 10 --beside 'HGETALL large'
  respire-bench compare --populate --ratio 0:1 127.0.0.1:6379 new=127.0.0.1:6380
  respire-bench compare --server-cpu 0 --load-cpu 1 'exec:redis-server --port {port} --save \"\"' 127.0.0.1:6380";

/// A load generator for any server of the Redis protocol.
///
/// Without --ratio each request is the sequence SET, GET, DELETE of a random key, one command at a
/// time. Every reply is checked, values included. A load always ends: after --requests or
/// --test-time, whichever is first.
#[derive(Debug, Parser)]
#[command(name = "respire-bench", version, args_conflicts_with_subcommands = true, after_help = EXAMPLES)]
pub struct Cli {
    /// A command other than one run.
    #[command(subcommand)]
    pub command: Option<Command>,
    /// One run.
    #[command(flatten)]
    pub run: RunArgs,
}

/// The commands other than one run.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Run one load on several servers in interleaved rounds, and compare medians.
    Compare(CompareArgs),
    /// Serve fixed replies by counting bytes: the lower limit of the cost of any server under the
    /// same load.
    NullServer(NullServerArgs),
}

/// One run.
#[derive(Args, Debug)]
pub struct RunArgs {
    /// Name or address of the server.
    #[arg(long, default_value = "127.0.0.1", help_heading = "Server")]
    pub host: String,
    /// Port of the server.
    #[arg(short, long, default_value_t = 6379, help_heading = "Server")]
    pub port: u16,
    /// Unix socket of the server, instead of host and port.
    #[arg(short = 's', long, value_name = "PATH", help_heading = "Server")]
    pub unixsocket: Option<PathBuf>,
    /// How to log in.
    #[command(flatten)]
    pub login: LoginArgs,
    /// What to send.
    #[command(flatten)]
    pub load: LoadArgs,
    /// Cores of the load generator, such as 1 or 2,3.
    #[arg(
        long,
        value_name = "CORES",
        value_delimiter = ',',
        help_heading = "Load"
    )]
    pub load_cpu: Vec<usize>,
    /// Run this command beside the load, again and again, on a connection of its own; several run in
    /// turn. {n} becomes the number of earlier turns. The latencies are those of the load alone.
    #[arg(long, value_name = "COMMAND", help_heading = "Load")]
    pub beside: Vec<String>,
    /// Seconds to wait before each --beside command.
    #[arg(
        long,
        value_name = "SECONDS",
        default_value_t = 0.0,
        requires = "beside",
        help_heading = "Load"
    )]
    pub beside_pause: f64,
    /// Write all measurements as JSON.
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub json: Option<PathBuf>,
    /// Write an HDR interval log in nanoseconds, one tag per command.
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub hdr: Option<PathBuf>,
    /// Write PREFIX-latency.svg and PREFIX-throughput.svg.
    #[arg(long, value_name = "PREFIX", help_heading = "Output")]
    pub svg: Option<PathBuf>,
    /// Print no progress line. A terminal shows one otherwise.
    #[arg(short, long, help_heading = "Output")]
    pub quiet: bool,
}

impl RunArgs {
    /// The server's address.
    pub fn target(&self) -> Target {
        match &self.unixsocket {
            Some(path) => Target::Unix(path.clone()),
            None => Target::Tcp {
                host: self.host.clone(),
                port: self.port,
            },
        }
    }

    /// What to run beside the load, if anything.
    ///
    /// # Errors
    /// [`Error::Program`] for a command that cannot be split into words, [`Error::Flag`] for an invalid pause.
    pub fn beside(&self) -> Result<Option<Beside>> {
        if self.beside.is_empty() {
            return Ok(None);
        }
        let pause = Duration::try_from_secs_f64(self.beside_pause)
            .map_err(|e| Error::flag("--beside-pause", e.to_string()))?;
        Ok(Some(Beside {
            commands: self
                .beside
                .iter()
                .map(|line| words(line))
                .collect::<Result<_>>()?,
            pause,
        }))
    }
}

/// A comparison of several servers.
#[derive(Args, Debug)]
pub struct CompareArgs {
    /// Servers; the others are compared with the first: [NAME=]HOST:PORT, [NAME=]unix:PATH, or
    /// [NAME=]exec:COMMAND to start one, with {port} for its port.
    #[arg(required = true, num_args = 2.., value_name = "SERVER")]
    pub servers: Vec<String>,
    /// How to log in, on every server.
    #[command(flatten)]
    pub login: LoginArgs,
    /// What to send to each.
    #[command(flatten)]
    pub load: LoadArgs,
    /// The settings of the rounds.
    #[command(flatten)]
    pub rounds: RoundArgs,
    /// Process of a server, for its CPU time and memory, if INFO does not show it.
    #[arg(long, value_name = "NAME=PID", help_heading = "Comparison")]
    pub pid: Vec<String>,
    /// Write all measurements as JSON.
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub json: Option<PathBuf>,
    /// Write PREFIX-latency.svg and PREFIX-throughput.svg.
    #[arg(long, value_name = "PREFIX", help_heading = "Output")]
    pub svg: Option<PathBuf>,
}

/// The settings of the rounds.
#[derive(Args, Clone, Debug)]
pub struct RoundArgs {
    /// Number of rounds; in each, every server has its turn.
    #[arg(long, default_value_t = 5, help_heading = "Comparison")]
    pub rounds: usize,
    /// Cores of the servers that this program starts.
    #[arg(long, value_name = "CORES", help_heading = "Comparison")]
    pub server_cpu: Option<String>,
    /// Cores of the load generator, such as 1 or 2,3.
    #[arg(
        long,
        value_name = "CORES",
        value_delimiter = ',',
        help_heading = "Comparison"
    )]
    pub load_cpu: Vec<usize>,
}

/// The null server.
#[derive(Args, Debug)]
pub struct NullServerArgs {
    /// Port to listen on; 0 means any free port.
    #[arg(short, long, default_value_t = 0, help_heading = "Server")]
    pub port: u16,
    /// The load it serves: the sizes of requests and replies follow from it.
    #[command(flatten)]
    pub load: LoadArgs,
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;

    #[test]
    fn flags_are_declared_consistently() {
        Cli::command().debug_assert();
    }

    #[test]
    fn every_flag_of_a_run_has_a_heading() {
        for arg in Cli::command().get_arguments() {
            let name = arg.get_id().as_str();
            let heading = arg.get_help_heading();
            assert!(
                heading.is_some() || ["help", "version"].contains(&name),
                "{name}"
            );
        }
    }

    #[test]
    fn commands_beside_a_load_are_split_like_a_shell_does() {
        let flags = ["--beside", "DEL key:{n}", "--beside", "SET 'a b' 1"];
        let run = Cli::parse_from(["respire-bench"].iter().chain(&flags)).run;
        let beside = run.beside().unwrap().unwrap();
        assert_eq!(
            beside.commands,
            [vec!["DEL", "key:{n}"], vec!["SET", "a b", "1"]]
        );
        let run = Cli::parse_from(["respire-bench", "--beside", "x", "--beside-pause=-1"]).run;
        let error = run.beside().unwrap_err().to_string();
        assert!(error.starts_with("--beside-pause: "), "{error}");
    }

    #[test]
    fn unix_socket_overrides_host_and_port() {
        let cli = Cli::parse_from(["respire-bench", "--unixsocket", "/run/r.sock"]);
        assert_eq!(cli.run.target().to_string(), "unix:/run/r.sock");
        let cli = Cli::parse_from(["respire-bench", "-p", "7"]);
        assert_eq!(cli.run.target().to_string(), "127.0.0.1:7");
    }
}
