//! Prints the progress of a measurement.

use std::io::Write;

use respire_bench::error::{Error, Result};

/// Prints a line and flushes it.
///
/// # Errors
/// [`Error::Io`] of standard output.
pub(crate) fn say(out: &mut dyn Write, line: &str) -> Result<()> {
    writeln!(out, "{line}")
        .and_then(|()| out.flush())
        .map_err(Error::io("standard output"))
}
