//! The report of the commands that ran beside a load.

use std::fmt;

use serde::Serialize;

/// The commands that ran beside a load.
#[derive(Clone, Debug, Default, Serialize)]
pub struct BesideReport {
    /// Commands answered.
    pub commands: u64,
    /// Bytes of their replies.
    pub reply_bytes: u64,
    /// Milliseconds from sending a command to the end of its reply, on average.
    pub avg_ms: f64,
    /// The longest of these times.
    pub max_ms: f64,
    /// Error replies.
    pub errors: u64,
    /// The first error reply.
    pub first_error: Option<String>,
}

impl fmt::Display for BesideReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "beside it: {} commands, {:.1} ms on average, {:.1} ms at most, {} bytes of replies",
            self.commands, self.avg_ms, self.max_ms, self.reply_bytes
        )?;
        match &self.first_error {
            Some(error) => writeln!(f, "{} of them failed; the first: {error}", self.errors),
            None => Ok(()),
        }
    }
}
