//! The command line: one subcommand per document, and the servers they start.

mod collections;
mod cores;
mod growth;
mod http;
mod table;

pub use collections::CollectionsArgs;
pub use cores::CoreArgs;
pub use growth::GrowthArgs;
pub(crate) use http::PAYLOAD;
pub use http::{HttpArgs, HttpServerArgs, Service};
pub use table::TableArgs;

use clap::{Parser, Subcommand};
use respire_bench::cli::NullServerArgs;

/// Writes the project's benchmark documents.
#[derive(Debug, Parser)]
#[command(name = "respire-bench-docs", version)]
pub struct Cli {
    /// The subcommand.
    #[command(subcommand)]
    pub command: Command,
}

/// The measurements, and the servers that they start.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Measure the project's benchmark table, and write it as Markdown.
    Table(TableArgs),
    /// Measure what a request costs as keys, connections, arguments and worker threads grow, and write it as Markdown.
    Growth(GrowthArgs),
    /// Measure commands on hashes, lists, sets and sorted sets, the memory of these, and how long others wait for
    /// commands on large ones, and write it as Markdown.
    Collections(CollectionsArgs),
    /// Measure one command behind RESP and behind HTTP, and write the comparison as Markdown.
    Http(HttpArgs),
    /// Serve the command that `http` measures; `http` starts this itself.
    #[command(hide = true)]
    HttpServer(HttpServerArgs),
    /// Serve as `respire-bench null-server` does; `table` and `growth` start this themselves.
    #[command(hide = true)]
    NullServer(NullServerArgs),
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;

    #[test]
    fn flags_are_declared_consistently() {
        Cli::command().debug_assert();
    }
}
