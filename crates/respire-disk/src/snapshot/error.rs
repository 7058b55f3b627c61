//! Why a snapshot was not written.

use core::fmt;
use std::io;

use respire_rdb::file::Fault;
use respire_store::CutRunning;

/// Why a snapshot was not written. The former file is still there.
#[derive(Debug)]
pub enum SaveError {
    /// Another one is being written.
    Running,
    /// It was stopped.
    Stopped,
    /// An operation on a file failed.
    Io {
        /// What was attempted, such as `rename`.
        what: &'static str,
        /// Why it failed.
        error: io::Error,
    },
    /// The file did not read back as it was written.
    Damaged(Fault),
}

impl SaveError {
    /// Returns a function that makes the error of an operation.
    pub(super) fn io(what: &'static str) -> impl FnOnce(io::Error) -> SaveError {
        move |error| SaveError::Io { what, error }
    }
}

impl fmt::Display for SaveError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SaveError::Running => f.write_str("another snapshot is being written"),
            SaveError::Stopped => f.write_str("it was stopped"),
            SaveError::Io { what, error } => write!(f, "cannot {what} the file: {error}"),
            SaveError::Damaged(fault) => write!(f, "the file is not what was written: {fault}"),
        }
    }
}

impl core::error::Error for SaveError {
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        match self {
            SaveError::Io { error, .. } => Some(error),
            SaveError::Running | SaveError::Stopped | SaveError::Damaged(_) => None,
        }
    }
}

impl From<CutRunning> for SaveError {
    fn from(_: CutRunning) -> SaveError {
        SaveError::Running
    }
}
