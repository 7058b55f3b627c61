//! The flags of the cores, which subcommands share.

use clap::Args;

/// The cores that a measurement uses: one for the servers, one for the load.
#[derive(Args, Clone, Copy, Debug)]
pub struct CoreArgs {
    /// Core of the servers.
    #[arg(
        long,
        value_name = "CORE",
        default_value_t = 0,
        help_heading = "Measurement"
    )]
    pub server_cpu: usize,
    /// Core of the load generator.
    #[arg(
        long,
        value_name = "CORE",
        default_value_t = 1,
        help_heading = "Measurement"
    )]
    pub load_cpu: usize,
}
