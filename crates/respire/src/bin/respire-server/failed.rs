//! Why a server did not start.

use std::io;

/// Why there is no server.
#[derive(Debug)]
pub(crate) enum Failed {
    /// The configuration asks for what does not exist.
    Wrong(String),
    /// The system does not allow it.
    Start(io::Error),
}

impl From<io::Error> for Failed {
    fn from(error: io::Error) -> Self {
        Self::Start(error)
    }
}
