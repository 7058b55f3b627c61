//! From the command line to what is measured.

use std::io::Write;

use respire_bench::error::{Error, Result};

use crate::cli::{Cli, Command};
use crate::{growth, http, table};

/// Does what the command line says; `false` if it was done and found a server at fault.
///
/// # Errors
/// Any [`Error`]; nothing has been written then.
pub fn run(cli: Cli, out: &mut dyn Write) -> Result<bool> {
    match cli.command {
        Command::Table(args) => table::run(&args, out),
        Command::Growth(args) => growth::run(&args, out),
        Command::Http(args) => http::run(&args, out),
        Command::HttpServer(args) => http::serve(&args),
        Command::NullServer(args) => respire_bench::null::serve(&args, out),
    }
}

/// Prints a line at once.
///
/// # Errors
/// [`Error::Io`] of the standard output.
pub(crate) fn say(out: &mut dyn Write, line: &str) -> Result<()> {
    writeln!(out, "{line}")
        .and_then(|()| out.flush())
        .map_err(Error::io("standard output"))
}
