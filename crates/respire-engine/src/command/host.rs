//! What the process around the engine does for it: the few things that are not bytes and time.

use crate::{Denied, InfoWriter, Metrics, Unknown};

/// The process that runs the engine. Every method has a default, for hosts that cannot do it.
pub trait Host: Send + Sync + 'static {
    /// A stopwatch in nanoseconds, read around commands, for what is told of their times, the slow
    /// log and the latency monitor. The default stands still, so that nothing is ever slow.
    fn stopwatch_ns(&self) -> u64 {
        0
    }

    /// Stops the server in an orderly way, soon. Returns `false` where that cannot be.
    fn shutdown(&self) -> bool {
        false
    }

    /// Writes the values of `CONFIG` back to the file the server was started with.
    ///
    /// # Errors
    /// The reason why not, as the client is told.
    fn rewrite_config(&self, settings: &[(&'static str, String)]) -> Result<(), String> {
        let _ = settings;
        Err("The server is running without a config file".to_owned())
    }

    /// Told of a command, or a layer around it, that panicked with this text: a defect to be logged.
    /// Its client has been answered an error.
    fn panicked(&self, command: &str, text: &str) {
        let _ = (command, text);
    }

    /// Told of wrong passwords, to be logged: of the first, and of those since then once a minute at
    /// most. Comes from [`Engine::tick`](crate::Engine::tick).
    fn denied(&self, denied: Denied<'_>) {
        let _ = denied;
    }

    /// Told of a command that a client asked for and that is not there, to be logged: once for each
    /// name, and of a limited number of names.
    fn unknown_command(&self, unknown: Unknown<'_>) {
        let _ = unknown;
    }

    /// Writes the process's own lines of an `INFO` section (lower case): process id, port, memory.
    fn info(&self, section: &str, out: &mut InfoWriter) {
        let _ = (section, out);
    }

    /// Writes the process's own numbers for monitoring.
    fn metrics(&self, out: &mut Metrics) {
        let _ = out;
    }
}

/// A host that can do nothing: for tests, pages and embedders without a process of their own.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoHost;

impl Host for NoHost {}
