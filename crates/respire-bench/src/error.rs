//! The errors of the crate. Each names the flag or the server concerned.

use std::io;

/// Why a run failed or its results are unusable.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A flag's value is invalid, alone or with the others.
    #[error("{flag}: {reason}")]
    Flag {
        /// The flag as it is typed.
        flag: &'static str,
        /// What is wrong with it, and which values are valid.
        reason: String,
    },
    /// The system reported an error.
    #[error("{what}: {source}")]
    Io {
        /// The operation, and its object.
        what: String,
        /// The system's error.
        source: io::Error,
    },
    /// The server sent a reply that fits no request, or an error reply where none is allowed.
    #[error("{server}: {reason}")]
    Server {
        /// Address of the server.
        server: String,
        /// What it did.
        reason: String,
    },
    /// A program that was started, or is needed, failed.
    #[error("{program}: {reason}")]
    Program {
        /// Its command line.
        program: String,
        /// What happened.
        reason: String,
    },
}

/// A result with this crate's error.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// An error of a flag.
    pub fn flag(flag: &'static str, reason: impl Into<String>) -> Self {
        Self::Flag {
            flag,
            reason: reason.into(),
        }
    }

    /// For `map_err`: adds the operation to the error.
    pub fn io(what: impl Into<String>) -> impl FnOnce(io::Error) -> Self {
        let what = what.into();
        move |source| Self::Io { what, source }
    }

    /// An error of a server.
    pub fn server(server: impl Into<String>, reason: impl Into<String>) -> Self {
        Self::Server {
            server: server.into(),
            reason: reason.into(),
        }
    }

    /// An error of a program.
    pub fn program(program: impl Into<String>, reason: impl Into<String>) -> Self {
        Self::Program {
            program: program.into(),
            reason: reason.into(),
        }
    }
}
