//! The flags of `respire-bench-docs table`.

use std::path::PathBuf;

use clap::Args;

/// Measure the project's table.
#[derive(Args, Debug)]
pub struct TableArgs {
    /// The respire-server to measure.
    #[arg(
        long,
        value_name = "PROGRAM",
        default_value = "respire-server",
        help_heading = "Servers"
    )]
    pub respire: String,
    /// The redis-server to compare with.
    #[arg(
        long,
        value_name = "PROGRAM",
        default_value = "redis-server",
        help_heading = "Servers"
    )]
    pub redis: String,
    /// Further servers, as NAME=COMMAND with {port} for the port.
    #[arg(long, value_name = "NAME=COMMAND", help_heading = "Servers")]
    pub also: Vec<String>,
    /// Measure only these rows, by name.
    #[arg(long, value_name = "ROW", help_heading = "Measurement")]
    pub row: Vec<String>,
    /// Number of rounds; in each, every server has its turn.
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
    /// Core of the servers.
    #[arg(
        long,
        value_name = "CORE",
        default_value = "0",
        help_heading = "Measurement"
    )]
    pub server_cpu: String,
    /// Core of the load generator.
    #[arg(
        long,
        value_name = "CORE",
        default_value_t = 1,
        help_heading = "Measurement"
    )]
    pub load_cpu: usize,
    /// The Markdown file. Plots are written beside it, with its name.
    #[arg(
        long,
        value_name = "FILE",
        default_value = "docs/benchmarks.md",
        help_heading = "Output"
    )]
    pub out: PathBuf,
    /// A Markdown file, in the current folder, that shows the summary between <!-- benchmarks -->
    /// and <!-- /benchmarks -->.
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub summary: Option<PathBuf>,
    /// Write all measurements as JSON.
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub json: Option<PathBuf>,
}
