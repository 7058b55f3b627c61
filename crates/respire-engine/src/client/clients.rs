//! The registry of open connections.

use crate::client::{ClientShared, Peer};
use crate::{Now, Wake};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

/// All open connections by id. Only opening, closing and `CLIENT` commands lock it.
#[derive(Debug, Default)]
pub struct Clients {
    open: Mutex<BTreeMap<u64, Arc<ClientShared>>>,
    last_id: AtomicU64,
}

impl Clients {
    /// The number of open connections.
    #[must_use]
    pub fn len(&self) -> usize {
        self.lock().len()
    }

    /// Whether no connection is open.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.lock().is_empty()
    }

    /// A snapshot, oldest connection first. O(n).
    #[must_use]
    pub fn snapshot(&self) -> Vec<Arc<ClientShared>> {
        self.lock().values().cloned().collect()
    }

    /// The connection with this id, if it is open.
    #[must_use]
    pub fn find(&self, id: u64) -> Option<Arc<ClientShared>> {
        self.lock().get(&id).cloned()
    }

    /// Adds a connection, unless `clients_max` connections are open.
    pub(crate) fn open(
        &self,
        peer: Peer,
        now: Now,
        waker: Box<dyn Wake>,
        clients_max: u32,
    ) -> Option<Arc<ClientShared>> {
        let mut open = self.lock();
        if open.len() >= clients_max as usize {
            return None;
        }
        let id = self.last_id.fetch_add(1, Ordering::Relaxed) + 1;
        let shared = Arc::new(ClientShared::new(id, peer, now, waker));
        open.insert(id, Arc::clone(&shared));
        Some(shared)
    }

    pub(crate) fn close(&self, id: u64) {
        self.lock().remove(&id);
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<u64, Arc<ClientShared>>> {
        self.open
            .lock()
            .unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}
