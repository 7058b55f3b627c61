//! What a killed connection keeps until it has ended, so that `CLIENT KILL` can be answered then.

use super::Later;
use crate::client::ClientShared;
use std::sync::Arc;

/// Kept by every killed connection until it has ended: the last to drop it has the reply sent.
#[derive(Debug)]
pub(crate) struct Farewell(Later);

impl Farewell {
    pub(crate) fn new(later: Later) -> Arc<Self> {
        Arc::new(Self(later))
    }
}

impl Drop for Farewell {
    fn drop(&mut self) {
        self.0.hasten();
    }
}

/// What `CLIENT KILL` leaves to be waited for.
#[derive(Debug, Default)]
pub(crate) struct Parting {
    /// The connections that were killed, and are waited for.
    pub(crate) killed: Vec<Arc<ClientShared>>,
    /// The reply that is left for later is the connection's own last.
    pub(crate) is_last: bool,
}
