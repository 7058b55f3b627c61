//! What goes around commands: layers before and after each call, who may come in, the limits.

use crate::{App, ArgList, Authenticator, ClientShared, Cx, Error, Limits, Spawn, Spec};
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// Something done around every call of every command: quotas, access rules, logs, traces.
///
/// The layer that was added first is the outermost: its `before` comes first and its `after` last.
/// A call whose `before` refused runs neither the command nor the layers inside; `after` is then
/// called for the layers that had let it pass. A request that is refused before it reaches its
/// command (an unknown name, a wrong number of arguments, no password given, memory used up) passes
/// no layer. The commands that `EXEC` runs pass the layers one by one, besides `EXEC` itself.
///
/// ```
/// use respire_engine::{ArgList, ClientShared, Cx, End, Error, Flags, Layer, Router, Spec};
/// use std::sync::atomic::{AtomicU64, Ordering};
/// use std::time::Duration;
///
/// #[derive(Default)]
/// struct ReadOnly {
///     failures: AtomicU64,
/// }
/// impl Layer<()> for ReadOnly {
///     fn before(
///         &self,
///         _: &mut Cx<'_, ()>,
///         spec: &Spec,
///         _: &ArgList<'_>,
///     ) -> Result<(), Error> {
///         if spec.flags.has(Flags::WRITE) {
///             return Err(Error::fixed("READONLY this service only reads"));
///         }
///         Ok(())
///     }
///
///     fn after(&self, _: &ClientShared, _: &Spec, _took: Duration, end: End) {
///         if end == End::Err {
///             self.failures.fetch_add(1, Ordering::Relaxed);
///         }
///     }
/// }
/// let router = Router::new(()).layer(ReadOnly::default());
/// ```
pub trait Layer<A: App>: Send + Sync + 'static {
    /// Called before a command runs; `args` are those after its name.
    ///
    /// # Errors
    /// What the client is answered instead of running the command.
    fn before(&self, cx: &mut Cx<'_, A>, spec: &Spec, args: &ArgList<'_>) -> Result<(), Error> {
        let _ = (cx, spec, args);
        Ok(())
    }

    /// Called once for each call that `before` let pass, when it is answered, or when its answer
    /// is no longer wanted. `took` is the time from then to now, as the host's stopwatch tells; of a
    /// call that is answered later, to the turn that writes the answer, and zero of one that is
    /// cancelled. Nothing it does reaches the client.
    fn after(&self, who: &ClientShared, spec: &Spec, took: Duration, end: End) {
        let _ = (who, spec, took, end);
    }
}

/// How a call ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// Answered with anything but an error.
    Ok,
    /// Answered with an error, or refused by a layer, or the command panicked.
    Err,
    /// Not answered: the client went away before.
    Cancelled,
}

/// What a router holds besides its commands.
pub(crate) struct Setup<A: App> {
    pub(crate) layers: Vec<Arc<dyn Layer<A>>>,
    pub(crate) authenticator: Option<Arc<dyn Authenticator<A>>>,
    pub(crate) limits: Option<Limits>,
    pub(crate) spawn: Option<Arc<dyn Spawn>>,
}

impl<A: App> Setup<A> {
    /// Whether nothing was set up.
    pub(crate) fn is_default(&self) -> bool {
        let Self {
            layers,
            authenticator,
            limits,
            spawn,
        } = self;
        let has_choices = authenticator.is_some() || limits.is_some() || spawn.is_some();
        layers.is_empty() && !has_choices
    }
}

impl<A: App> Default for Setup<A> {
    fn default() -> Self {
        Self {
            layers: Vec::new(),
            authenticator: None,
            limits: None,
            spawn: None,
        }
    }
}

impl<A: App> fmt::Debug for Setup<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Setup")
            .field("layers", &self.layers.len())
            .field("has_authenticator", &self.authenticator.is_some())
            .field("limits", &self.limits)
            .finish()
    }
}
