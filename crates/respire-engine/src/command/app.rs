//! What a service brings to the engine besides its commands.

use crate::{Error, InfoWriter, Keyspace, Metrics, NoKeys, Now, Publisher, Setting, Spec};
use std::time::Duration;

/// The state that commands work on, shared by all connections.
///
/// Two types must be chosen; the methods have defaults. A service without state is `()`. What keys need of the engine (transactions,
/// `WATCH`, databases, expiry) comes with [`App::Keys`].
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
    /// What is kept per connection; made anew for each.
    type Conn: Default + Send + 'static;

    /// Where the service's keys live: [`NoKeys`](crate::NoKeys) if it has none, `Kv` of
    /// `respire-commands` if it has that inside.
    type Keys: Keyspace<Self>;

    /// Called once, when the engine is made, with what publishes messages from anywhere.
    fn started(&self, publisher: &Publisher) {
        let _ = publisher;
    }

    /// Asked before every command, and before every request that `MULTI` queues: an error is the reply,
    /// and the command does not run.
    ///
    /// # Errors
    /// Whatever keeps the command from running.
    #[inline]
    fn admit(&self, spec: &Spec, now: Now) -> Result<(), Error> {
        let _ = (spec, now);
        Ok(())
    }

    /// Writes the service's own lines of an `INFO` section; `section` is lower case.
    fn info(&self, section: &str, now: Now, out: &mut InfoWriter) {
        let _ = (section, now, out);
    }

    /// The sections of `INFO` that the service has beyond the engine's.
    fn info_sections(&self) -> &'static [&'static str] {
        &[]
    }

    /// Writes the service's own numbers for monitoring. Asked at each scrape, from any thread.
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

    /// The service's rows for `CONFIG`. Asked once, when the engine is built.
    fn settings(self: &std::sync::Arc<Self>) -> Vec<Setting> {
        Vec::new()
    }

    /// Called when a connection's turn ends: the place to add up what `conn` counted.
    fn turn_ended(&self, conn: &mut Self::Conn) {
        let _ = conn;
    }

    /// Housekeeping in bounded steps, called by the driver; returns how long it may wait until the
    /// next call, or `None` when nothing needs doing by itself. Who has more to do than fits into a
    /// step that nobody notices returns zero: the next step comes when all that are ready had a turn.
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
