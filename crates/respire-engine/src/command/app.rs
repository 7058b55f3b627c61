//! The trait that a service implements to run on the engine.

use crate::{Error, InfoWriter, Keyspace, Metrics, NoKeys, Now, Publisher, Setting, Spec};
use std::time::Duration;

/// The state that commands work on, shared by all connections.
///
/// Two types must be chosen; the methods have defaults. A service without state is `()`. Functions
/// that the engine needs for keys (transactions, `WATCH`, databases, expiry) are in [`App::Keys`].
///
/// ```
/// use respire_engine::{App, NoKeys};
///
/// struct Counter(std::sync::atomic::AtomicU64);
/// impl App for Counter {
///     type Conn = ();
///     type Keys = NoKeys;
/// }
/// ```
pub trait App: Sized + Send + Sync + 'static {
    /// State kept per connection; a default one is created for each.
    type Conn: Default + Send + 'static;

    /// The service's keyspace: [`NoKeys`](crate::NoKeys) if it has no keys, `Kv` of
    /// `respire-commands` if it contains that.
    type Keys: Keyspace<Self>;

    /// Called once, when the engine is created, with a handle that publishes messages from any
    /// thread.
    fn started(&self, publisher: &Publisher) {
        let _ = publisher;
    }

    /// Called before every command, and before every request that `MULTI` queues. An error becomes
    /// the reply, and the command does not run.
    ///
    /// # Errors
    /// If the command must not run now.
    #[inline]
    fn admit(&self, spec: &Spec, now: Now) -> Result<(), Error> {
        let _ = (spec, now);
        Ok(())
    }

    /// Writes the service's own lines of an `INFO` section; `section` is lower case.
    fn info(&self, section: &str, now: Now, out: &mut InfoWriter) {
        let _ = (section, now, out);
    }

    /// The names of the `INFO` sections that the service has in addition to the engine's.
    fn info_sections(&self) -> &'static [&'static str] {
        &[]
    }

    /// Writes the service's own metrics for monitoring. Called at each scrape, from any thread.
    ///
    /// ```
    /// use respire_engine::{App, Metrics, NoKeys, Now};
    /// use std::sync::atomic::{AtomicU64, Ordering};
    ///
    /// struct Limiter {
    ///     refusals: AtomicU64,
    /// }
    /// impl App for Limiter {
    ///     type Conn = ();
    ///     type Keys = NoKeys;
    ///
    ///     fn metrics(&self, _: Now, out: &mut Metrics) {
    ///         let refusals = self.refusals.load(Ordering::Relaxed);
    ///         out.counter("limiter_refusals", "Requests over the limit.", &[], refusals);
    ///     }
    /// }
    /// ```
    fn metrics(&self, now: Now, out: &mut Metrics) {
        let _ = (now, out);
    }

    /// The service's rows for `CONFIG`. Called once, when the engine is built.
    fn settings(self: &std::sync::Arc<Self>) -> Vec<Setting> {
        Vec::new()
    }

    /// Called when a connection's turn ends, to add the counts in `conn` to shared counters.
    fn turn_ended(&self, conn: &mut Self::Conn) {
        let _ = conn;
    }

    /// Does housekeeping in short steps; the driver calls it. Returns how long the driver may wait
    /// until the next call, or `None` if no work is due at a certain time. Return zero to be called
    /// again as soon as every ready connection has had a turn.
    fn tick(&self, now: Now) -> Option<Duration> {
        let _ = now;
        None
    }

    /// `CONFIG RESETSTAT`: sets the service's counters back to zero.
    fn reset_stats(&self) {}
}

/// A service without state.
impl App for () {
    type Conn = ();
    type Keys = NoKeys;
}
