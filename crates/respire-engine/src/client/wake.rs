//! The handle with which other threads wake a connection's driver.

/// Wakes the driver of one connection, from any thread, so that it polls the session again.
pub trait Wake: Send + Sync + 'static {
    /// Requests a poll soon. It may be called after the connection closed.
    fn wake(&self);

    /// Whether the driver closes the socket and drops the session at once when a poll returns
    /// [`CloseReason::Killed`](crate::session::CloseReason::Killed). The reply to `CLIENT KILL`
    /// then waits for that, for a second at most, because Redis closes a killed connection before
    /// it replies. With the default, `false`, the reply does not wait; requests that the killed
    /// connection sends later are not answered either.
    fn drops_killed(&self) -> bool {
        false
    }
}

/// Does nothing: for sessions that are polled regularly.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoWake;

impl Wake for NoWake {
    fn wake(&self) {}
}
