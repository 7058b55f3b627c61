//! The one trait that both flavours implement.

use crate::{Config, Listeners, Report, Shutdown};
use respire_engine::{App, Engine};
use std::io;
use std::sync::Arc;

/// A way to serve connections: which threads there are and how they wait.
///
/// Whatever implements this only accepts, reads, calls the session, writes, keeps time and closes;
/// it knows neither the protocol nor a command.
pub trait Server {
    /// The flavour's name, as `--flavour` takes it.
    const NAME: &'static str;

    /// Serves until `shutdown` is pressed and the connections have ended, or the grace time is over.
    /// Blocks the calling thread.
    ///
    /// # Errors
    /// When the system refuses what serving needs at all: threads, timers, readiness. Whatever
    /// happens to a single connection only ends that connection.
    fn serve<A: App>(
        self,
        listeners: Listeners,
        engine: Arc<Engine<A>>,
        config: Config,
        shutdown: Shutdown,
    ) -> io::Result<Report>;
}
