//! What a service brings to the engine besides its commands.

use crate::{Error, InfoWriter, Metrics, Now, Setting, Spec};
use std::any::Any;
use std::time::Duration;

/// The state that commands work on, shared by all connections.
///
/// Only [`App::Conn`] must be chosen; the other methods have defaults that suit a service without
/// keys, databases or memory limits.
///
/// ```
/// use respire_engine::App;
///
/// struct Counter(std::sync::atomic::AtomicU64);
/// impl App for Counter {
///     type Conn = ();
/// }
/// ```
pub trait App: Send + Sync + 'static {
    /// What is kept per connection; made anew for each.
    type Conn: Default + Send + 'static;

    /// How many databases `SELECT` may choose from; at least 1.
    fn databases(&self) -> u32 {
        1
    }

    /// Asked before every command that is [guarded](App::guards): an error is the reply, and the
    /// command does not run.
    ///
    /// # Errors
    /// Whatever keeps the command from running, such as memory that is used up.
    fn admit(&self, spec: &Spec, now: Now) -> Result<(), Error> {
        let _ = (spec, now);
        Ok(())
    }

    /// Whether [`App::admit`] may have anything against a command outside a transaction; asked once
    /// for each command, when the engine is made.
    fn guards(&self, spec: &Spec) -> bool {
        let _ = spec;
        true
    }

    /// Whether it is worth telling, at present, which keys are about to be used
    /// ([`App::expect_key`]): where they lie in memory that is far away.
    fn looks_ahead(&self) -> bool {
        false
    }

    /// A request that will soon run names this key first: the time to begin to load where it is
    /// looked for. Only a hint: the request may be refused, or work on another database. What is
    /// returned, such as the key's hash, is given to the command
    /// ([`Cx::foreseen`](crate::Cx::foreseen)).
    fn expect_key(&self, db: u32, key: &[u8]) -> u64 {
        let _ = (db, key);
        0
    }

    /// Called with what [`App::expect_key`] returned, when that was called for some other requests,
    /// too: the time to begin to load what the key holds. What is returned, such as where that was
    /// found, is given to the command as well.
    fn expect_entry(&self, db: u32, expected: u64) -> u64 {
        let _ = (db, expected);
        0
    }

    /// Runs `body` so that no other connection sees any of its effects before all of them.
    ///
    /// `body` gets what the commands in it need to work inside the section, as
    /// [`Cx::held`](crate::Cx::held); the default has nothing to lock.
    fn atomically(&self, scope: &Scope<'_>, now: Now, body: &mut dyn FnMut(&mut dyn Any)) {
        let _ = (scope, now);
        body(&mut ());
    }

    /// Begins to watch a key, for `WATCH`; the default never sees a change.
    fn watch(&self, db: u32, key: &[u8], now: Now) -> Box<dyn Watch> {
        let _ = (db, key, now);
        Box::new(NeverChanged)
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
    /// use respire_engine::{App, Metrics, Now};
    /// use std::sync::atomic::{AtomicU64, Ordering};
    ///
    /// struct Limiter {
    ///     refusals: AtomicU64,
    /// }
    /// impl App for Limiter {
    ///     type Conn = ();
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
    fn settings(self: &std::sync::Arc<Self>) -> Vec<Setting>
    where
        Self: Sized,
    {
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

/// What an atomic section covers.
#[derive(Clone, Copy, Debug)]
pub enum Scope<'a> {
    /// These keys, each with its database.
    Keys(&'a [(u32, &'a [u8])]),
    /// Every key of every database.
    Everything,
}

/// A watched key. Dropping it ends the watch.
pub trait Watch: Send {
    /// Whether the key was changed since the watch began, or has expired by `now`.
    fn is_dirty(&self, now: Now) -> bool;
}

struct NeverChanged;

impl Watch for NeverChanged {
    fn is_dirty(&self, _now: Now) -> bool {
        false
    }
}
