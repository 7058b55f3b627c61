//! The flags of `respire-bench-docs collections`.

use std::path::PathBuf;

use clap::Args;

use super::cores::CoreArgs;

/// Measure commands on collections.
#[derive(Args, Clone, Debug)]
pub struct CollectionsArgs {
    /// The respire-server to measure, in both flavours.
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
    /// A valkey-server to compare with as well.
    #[arg(long, value_name = "PROGRAM", help_heading = "Servers")]
    pub valkey: Option<String>,
    /// Measure only these rows, by name.
    #[arg(long, value_name = "ROW", help_heading = "Measurement")]
    pub row: Vec<String>,
    /// Number of rounds; in each, every server has its turn.
    #[arg(long, default_value_t = 3, help_heading = "Measurement")]
    pub rounds: usize,
    /// Seconds of each turn of a pipelined load.
    #[arg(
        long,
        value_name = "SECONDS",
        default_value_t = 0.5,
        help_heading = "Measurement"
    )]
    pub test_time: f64,
    /// Seconds of each load that waits for other commands.
    #[arg(
        long,
        value_name = "SECONDS",
        default_value_t = 4.0,
        help_heading = "Measurement"
    )]
    pub wait_time: f64,
    /// Elements of a large collection, and small collections: a power of ten.
    #[arg(long, default_value_t = 1_000_000, help_heading = "Measurement")]
    pub elements: u64,
    /// The cores.
    #[command(flatten)]
    pub cores: CoreArgs,
    /// The Markdown file, whose part between <!-- collections --> and <!-- /collections --> is replaced.
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
