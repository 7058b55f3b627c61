//! Runs the measurement that the command line asks for.

use std::io::Write;

use respire_bench::error::Result;

use crate::cli::{Cli, Command};
use crate::{collections, growth, http, table};

/// Runs the command; returns `false` if it finished and found a server at fault.
///
/// # Errors
/// Any [`Error`](respire_bench::error::Error); nothing has been written then.
pub fn run(cli: Cli, out: &mut dyn Write) -> Result<bool> {
    match cli.command {
        Command::Table(args) => table::run(&args, out),
        Command::Growth(args) => growth::run(&args, out),
        Command::Collections(args) => collections::run(&args, out),
        Command::Http(args) => http::run(&args, out),
        Command::HttpServer(args) => http::serve(&args),
        Command::NullServer(args) => respire_bench::null::serve(&args, out),
    }
}
