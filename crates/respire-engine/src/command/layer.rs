//! Layers, which run before and after each call of a command, and the other settings of a router.

use crate::{App, ArgList, Authenticator, ClientShared, Cx, Error, Extension, Limits, Spawn, Spec};
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// Code that runs around every call of every command: quotas, access rules, logs, traces.
///
/// The first layer added is the outermost: its `before` runs first and its `after` last. If
/// `before` refuses a call, neither the command nor the inner layers run; `after` then runs for the
/// layers whose `before` passed the call. A request that is refused before it reaches its command
/// (an unknown name, a wrong number of arguments, no password sent, memory used up) passes no
/// layer. The commands that `EXEC` runs pass the layers one by one, in addition to `EXEC` itself.
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
    /// Called before a command runs; `args` are the arguments after its name.
    ///
    /// # Errors
    /// The error that the client gets; the command does not run.
    fn before(&self, cx: &mut Cx<'_, A>, spec: &Spec, args: &ArgList<'_>) -> Result<(), Error> {
        let _ = (cx, spec, args);
        Ok(())
    }

    /// Called once for each call that `before` passed, when the call is answered or cancelled.
    /// `took` is the time since `before` was called, measured with the host's stopwatch. For a call
    /// that is answered later it runs until the turn that writes the answer, and for a cancelled
    /// call it is zero. A layer cannot change the reply here.
    fn after(&self, client: &ClientShared, spec: &Spec, took: Duration, end: End) {
        let _ = (client, spec, took, end);
    }
}

/// How a call ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// With any reply but an error.
    Ok,
    /// With an error: from the command, from a layer that refused the call, or because of a panic.
    Err,
    /// Without a reply: the client disconnected first.
    Cancelled,
}

/// The settings of a router besides its commands.
pub(crate) struct Setup<A: App> {
    pub(crate) layers: Vec<Arc<dyn Layer<A>>>,
    pub(crate) authenticator: Option<Arc<dyn Authenticator<A>>>,
    pub(crate) limits: Option<Limits>,
    pub(crate) spawn: Option<Arc<dyn Spawn>>,
    pub(crate) extensions: Vec<Arc<dyn Extension>>,
}

impl<A: App> Setup<A> {
    /// Whether all settings are the defaults.
    pub(crate) fn is_default(&self) -> bool {
        let Self {
            layers,
            authenticator,
            limits,
            spawn,
            extensions,
        } = self;
        let has_choices = authenticator.is_some() || limits.is_some() || spawn.is_some();
        layers.is_empty() && extensions.is_empty() && !has_choices
    }
}

impl<A: App> Default for Setup<A> {
    fn default() -> Self {
        Self {
            layers: Vec::new(),
            authenticator: None,
            limits: None,
            spawn: None,
            extensions: Vec::new(),
        }
    }
}

impl<A: App> fmt::Debug for Setup<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Setup")
            .field("layers", &self.layers.len())
            .field("has_authenticator", &self.authenticator.is_some())
            .field("limits", &self.limits)
            .field("extensions", &self.extensions.len())
            .finish()
    }
}
