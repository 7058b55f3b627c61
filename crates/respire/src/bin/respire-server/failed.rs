//! The reasons why the server could not start.

use respire::disk::{self, Refused};
use std::io::{self, Write};
use std::process::ExitCode;

/// Why the server could not start.
#[derive(Debug)]
pub(crate) enum Failed {
    /// The configuration is invalid.
    Wrong(String),
    /// The system refused a resource.
    Start(io::Error),
    /// The data on disk is not loaded.
    Data(Refused),
}

impl From<io::Error> for Failed {
    fn from(error: io::Error) -> Self {
        Self::Start(error)
    }
}

impl From<disk::Failed> for Failed {
    fn from(failed: disk::Failed) -> Self {
        match failed {
            disk::Failed::Refused(refused) => Self::Data(refused),
            disk::Failed::Io(error) => Self::Start(error),
        }
    }
}

/// Writes why to standard error. Returns the exit code.
pub(crate) fn fail(why: &str, code: u8) -> ExitCode {
    // If standard error is closed, only the code tells.
    let _ = writeln!(io::stderr(), "respire-server: {why}");
    ExitCode::from(code)
}
