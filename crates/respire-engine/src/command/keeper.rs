//! What keeps the data set when a server is told to stop.

use crate::{Error, Host, IntoReply, Later, Reply};
use std::fmt;
use std::sync::Arc;

/// Keeps the data set: `SHUTDOWN` asks it before the server stops.
///
/// ```
/// use respire_engine::{Engine, Keeper, Now, Options, Router, ShutdownCall, ShutdownOptions};
/// use std::sync::Arc;
/// use std::time::Duration;
///
/// struct Saves;
/// impl Keeper for Saves {
///     fn before_shutdown(&self, options: ShutdownOptions, call: ShutdownCall) {
///         let can_save = options.save != Some(true);
///         if can_save || options.force { call.stop() } else { call.fail() }
///     }
/// }
/// let now = Now::new(Duration::ZERO, Duration::ZERO);
/// let engine = Engine::new(Router::new(()), Options::default(), now);
/// engine.set_keeper(Arc::new(Saves));
/// ```
pub trait Keeper: Send + Sync + 'static {
    /// Called by `SHUTDOWN`, within a connection's turn: it must not wait. `call` is to be ended then or
    /// later, on any thread. Another `SHUTDOWN` may come meanwhile.
    fn before_shutdown(&self, options: ShutdownOptions, call: ShutdownCall);

    /// Called by `SHUTDOWN ABORT`: [fails](ShutdownCall::fail) the calls that have not ended. Returns
    /// whether there were any.
    fn abort_shutdown(&self) -> bool {
        false
    }
}

/// The words of `SHUTDOWN`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ShutdownOptions {
    /// `SAVE` or `NOSAVE`; `None` leaves the choice to the settings.
    pub save: Option<bool>,
    /// `NOW`: does not wait for replicas.
    pub now: bool,
    /// `FORCE`: the server stops whatever fails.
    pub force: bool,
}

/// A `SHUTDOWN` that waits for a [`Keeper`]. If it is dropped, the server does not stop, and the client
/// gets an error.
pub struct ShutdownCall {
    later: Option<Later>,
    host: Arc<dyn Host>,
}

impl ShutdownCall {
    pub(crate) fn new(later: Later, host: &Arc<dyn Host>) -> Self {
        Self {
            later: Some(later),
            host: Arc::clone(host),
        }
    }

    /// Stops the server. The client gets no reply, as its connection closes.
    pub fn stop(mut self) {
        if self.host.shutdown()
            && let Some(later) = self.later.take()
        {
            later.reply(Silence);
        }
    }

    /// Does not stop the server. The client gets the error that refers to the log.
    pub fn fail(self) {}
}

impl Drop for ShutdownCall {
    fn drop(&mut self) {
        if let Some(later) = self.later.take() {
            later.reply(NOT_STOPPED);
        }
    }
}

impl fmt::Debug for ShutdownCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ShutdownCall")
            .field("later", &self.later)
            .finish_non_exhaustive()
    }
}

/// The error of a `SHUTDOWN` after which the server goes on.
pub(crate) const NOT_STOPPED: Error = Error::fixed("ERR Errors trying to SHUTDOWN. Check logs.");

/// No reply at all.
struct Silence;

impl IntoReply for Silence {
    fn into_reply(self, _: &mut Reply<'_>) {}
}
