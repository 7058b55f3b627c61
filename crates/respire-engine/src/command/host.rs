//! The interface to the process that runs the engine: clock, shutdown, configuration file, logs.

use crate::{Denied, InfoWriter, Metrics, Unknown};

/// The process that runs the engine. Every method has a default, for hosts that cannot do it.
pub trait Host: Send + Sync + 'static {
    /// A stopwatch in nanoseconds. It is read around commands, for their statistics, the slow log
    /// and the latency monitor. The default always returns the same value, so that no command
    /// counts as slow.
    fn stopwatch_ns(&self) -> u64 {
        0
    }

    /// Requests an orderly shutdown of the server. Returns `false` if the host cannot do that.
    fn shutdown(&self) -> bool {
        false
    }

    /// Whether a shutdown was requested, so that long calls should end.
    fn is_stopping(&self) -> bool {
        false
    }

    /// Writes a line to the log, at a level from 0 (debug) to 3 (warning).
    fn log(&self, level: u8, text: &str) {
        let _ = (level, text);
    }

    /// Writes the values of `CONFIG` to the file that the server was started with.
    ///
    /// # Errors
    /// A text for the client that says why it failed.
    fn rewrite_config(&self, settings: &[(&'static str, String)]) -> Result<(), String> {
        let _ = settings;
        Err("The server is running without a config file".to_owned())
    }

    /// Called when a command, or a layer around it, panicked with this text: a defect to log. The
    /// client gets an error reply.
    fn panicked(&self, command: &str, text: &str) {
        let _ = (command, text);
    }

    /// Called when clients sent wrong passwords, for the log: for the first one, and then at most
    /// once a minute for all since. [`Engine::tick`](crate::Engine::tick) calls it.
    fn denied(&self, denied: Denied<'_>) {
        let _ = denied;
    }

    /// Called when a client sent the name of an unknown command, for the log: once for each name,
    /// and for a limited number of names.
    fn unknown_command(&self, unknown: Unknown<'_>) {
        let _ = unknown;
    }

    /// Writes the process's own lines of an `INFO` section (lower case): process id, port, memory.
    fn info(&self, section: &str, out: &mut InfoWriter) {
        let _ = (section, out);
    }

    /// Writes the process's own metrics for monitoring.
    fn metrics(&self, out: &mut Metrics) {
        let _ = out;
    }
}

/// A host without any function: for tests, web pages and embedders without a process of their own.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoHost;

impl Host for NoHost {}
