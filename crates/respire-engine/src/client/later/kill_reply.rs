//! The reply of `CLIENT KILL`, which waits until the killed connections are closed.

use super::Later;
use crate::client::ClientShared;
use std::sync::Arc;

/// Held by every killed connection until it is closed. When the last one drops it, the reply is
/// sent.
#[derive(Debug)]
pub(crate) struct KillReply(Later);

impl KillReply {
    pub(crate) fn new(later: Later) -> Arc<Self> {
        Arc::new(Self(later))
    }
}

impl Drop for KillReply {
    fn drop(&mut self) {
        self.0.send_fallback();
    }
}

/// The state of a `CLIENT KILL` whose reply is not sent yet.
#[derive(Debug, Default)]
pub(crate) struct PendingKill {
    /// The killed connections to wait for.
    pub(crate) killed: Vec<Arc<ClientShared>>,
    /// The connection that sent `CLIENT KILL` closes after the reply.
    pub(crate) is_last: bool,
}
