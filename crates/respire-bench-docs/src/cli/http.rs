//! The flags of `respire-bench-docs http`.

use std::path::PathBuf;

use clap::Args;
use serde::Serialize;

/// The default payload: characters that URLs, JSON or lines must escape.
pub(crate) const PAYLOAD: &str = "12345&?\"678,\n90";

/// Measure RESP and HTTP.
#[derive(Args, Clone, Debug)]
pub struct HttpArgs {
    /// Payload of a call; by default 12345&?"678, a line feed and 90, which URLs and JSON must
    /// escape.
    #[arg(long, value_name = "TEXT", default_value = PAYLOAD, hide_default_value = true, help_heading = "Call")]
    pub payload: String,
    /// How often the reply repeats the payload.
    #[arg(long, default_value_t = 100, help_heading = "Call")]
    pub times: u32,
    /// Callers, each with one call at a time, which is sent or waits for a connection.
    #[arg(long, default_value_t = 1000, help_heading = "Call")]
    pub callers: usize,
    /// Connections of a pool.
    #[arg(long, default_value_t = 100, help_heading = "Call")]
    pub pool: usize,
    /// Measure only these rows, by name.
    #[arg(long, value_name = "ROW", help_heading = "Measurement")]
    pub row: Vec<String>,
    /// Number of rounds; in each, every row and server has its turn.
    #[arg(long, default_value_t = 5, help_heading = "Measurement")]
    pub rounds: usize,
    /// Seconds of each turn.
    #[arg(
        long,
        value_name = "SECONDS",
        default_value_t = 1.0,
        help_heading = "Measurement"
    )]
    pub test_time: f64,
    /// Core of the servers with one thread.
    #[arg(
        long,
        value_name = "CORE",
        default_value_t = 0,
        help_heading = "Measurement"
    )]
    pub server_cpu: usize,
    /// Core of the clients, unless the servers have all cores.
    #[arg(
        long,
        value_name = "CORE",
        default_value_t = 1,
        help_heading = "Measurement"
    )]
    pub load_cpu: usize,
    /// The Markdown file; the text between <!-- http --> and <!-- /http --> is replaced. The plot
    /// is written beside it, with its name.
    #[arg(
        long,
        value_name = "FILE",
        default_value = "docs/resp-instead-of-http.md",
        help_heading = "Output"
    )]
    pub out: PathBuf,
    /// Write all measurements as JSON.
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub json: Option<PathBuf>,
}

/// A server that `respire-bench-docs http` starts.
#[derive(Args, Clone, Copy, Debug)]
pub struct HttpServerArgs {
    /// Which server to run.
    #[arg(long, help_heading = "Server")]
    pub service: Service,
    /// Port to listen on.
    #[arg(long, help_heading = "Server")]
    pub port: u16,
    /// Threads that serve.
    #[arg(long, help_heading = "Server")]
    pub threads: usize,
}

/// The server of the command.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum Service {
    /// RESP, the flavour on many threads.
    Tokio,
    /// RESP, the flavour on one thread.
    Mio,
    /// HTTP.
    Axum,
}

impl Service {
    /// Its name for `--service`.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Tokio => "tokio",
            Self::Mio => "mio",
            Self::Axum => "axum",
        }
    }
}
