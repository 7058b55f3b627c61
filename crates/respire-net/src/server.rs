//! The trait that both flavours implement.

use crate::{Config, Listeners, Report, Shutdown};
use respire_engine::{App, Engine};
use std::io;
use std::sync::Arc;

/// A way to serve connections: its threads, and how they wait.
///
/// An implementation only accepts, reads, calls the session, writes, keeps time and closes. It
/// knows no protocol and no command.
pub trait Server {
    /// The flavour's name, as `--flavour` takes it.
    const NAME: &'static str;

    /// Serves until `shutdown` is requested and the connections have ended, or the grace time is
    /// over. Blocks the calling thread.
    ///
    /// # Errors
    /// When the system refuses a resource that serving needs: threads, timers, readiness. An error
    /// of a single connection only ends that connection.
    fn serve<A: App>(
        self,
        listeners: Listeners,
        engine: Arc<Engine<A>>,
        config: Config,
        shutdown: Shutdown,
    ) -> io::Result<Report>;
}
