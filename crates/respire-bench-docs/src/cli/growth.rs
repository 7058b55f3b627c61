//! The flags of `respire-bench-docs growth`.

use std::path::PathBuf;

use clap::Args;

use super::cores::CoreArgs;

/// Measure how costs grow.
#[derive(Args, Clone, Debug)]
pub struct GrowthArgs {
    /// The respire-server to measure, in both flavours.
    #[arg(
        long,
        value_name = "PROGRAM",
        default_value = "respire-server",
        help_heading = "Servers"
    )]
    pub respire: String,
    /// Servers to measure instead, as NAME=COMMAND with {port} for the port, and {threads} for the
    /// number of threads.
    #[arg(long, value_name = "NAME=COMMAND", help_heading = "Servers")]
    pub server: Vec<String>,
    /// Measure only these parts, by name.
    #[arg(long, value_name = "PART", help_heading = "Measurement")]
    pub part: Vec<String>,
    /// Number of rounds; in each, every server and size has its turn.
    #[arg(long, default_value_t = 3, help_heading = "Measurement")]
    pub rounds: usize,
    /// Seconds of each turn.
    #[arg(
        long,
        value_name = "SECONDS",
        default_value_t = 0.4,
        help_heading = "Measurement"
    )]
    pub test_time: f64,
    /// Greatest number of keys in a server; measurements that do not vary it use a tenth of it.
    #[arg(
        long,
        value_name = "KEYS",
        default_value_t = 10_000_000,
        help_heading = "Measurement"
    )]
    pub keys_max: u64,
    /// Greatest number of connections.
    #[arg(
        long,
        value_name = "CONNECTIONS",
        default_value_t = 10_000,
        help_heading = "Measurement"
    )]
    pub connections_max: usize,
    /// The cores.
    #[command(flatten)]
    pub cores: CoreArgs,
    /// The Markdown file. The result replaces the text between <!-- growth --> and <!-- /growth
    /// -->; a missing file is created. Plots are written beside it, with its name.
    #[arg(
        long,
        value_name = "FILE",
        default_value = "docs/benchmarks.md",
        help_heading = "Output"
    )]
    pub out: PathBuf,
    /// Write all measurements as JSON.
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub json: Option<PathBuf>,
}
