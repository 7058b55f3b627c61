//! The reasons why the server could not start.

use std::io;

/// Why the server could not start.
#[derive(Debug)]
pub(crate) enum Failed {
    /// The configuration is invalid.
    Wrong(String),
    /// The system refused a resource.
    Start(io::Error),
}

impl From<io::Error> for Failed {
    fn from(error: io::Error) -> Self {
        Self::Start(error)
    }
}
