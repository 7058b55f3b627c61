//! How the driver of a connection is woken.

/// Wakes the driver of one connection, from any thread, so that it polls the session again.
pub trait Wake: Send + Sync + 'static {
    /// Asks for a poll, soon. May be called when the connection is gone.
    fn wake(&self);

    /// Whether the driver, when a poll says [`CloseReason::Killed`](crate::session::CloseReason::Killed), closes
    /// the socket and then drops the session, at once. The reply to `CLIENT KILL` then waits for that, for
    /// a second at most, as Redis closes a killed connection before it answers. By default `false`: the
    /// reply does not wait, and what the killed connection sends later is not answered, either.
    fn drops_killed(&self) -> bool {
        false
    }
}

/// Wakes nobody: for sessions that are polled anyway.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoWake;

impl Wake for NoWake {
    fn wake(&self) {}
}
