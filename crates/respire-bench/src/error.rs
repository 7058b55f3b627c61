//! What can go wrong, in words that name the flag or the server concerned.

use std::io;

/// Why a run could not be made or cannot be trusted.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A flag's value, alone or beside the others, makes no sense.
    #[error("{flag}: {reason}")]
    Flag {
        /// The flag as it is typed.
        flag: &'static str,
        /// What is wrong with it, and what would be right.
        reason: String,
    },
    /// The system refused something.
    #[error("{what}: {source}")]
    Io {
        /// What was being done, and to what.
        what: String,
        /// The system's reason.
        source: io::Error,
    },
    /// The server answered what no request of ours asks for, or an error where there must be none.
    #[error("{server}: {reason}")]
    Server {
        /// Address of the server.
        server: String,
        /// What it did.
        reason: String,
    },
    /// A program that was started, or is needed, did not do its part.
    #[error("{program}: {reason}")]
    Program {
        /// Its command line.
        program: String,
        /// What happened.
        reason: String,
    },
}

/// The result of everything here.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// An error of a flag.
    pub fn flag(flag: &'static str, reason: impl Into<String>) -> Self {
        Self::Flag {
            flag,
            reason: reason.into(),
        }
    }

    /// For `map_err`: says what was being done.
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
