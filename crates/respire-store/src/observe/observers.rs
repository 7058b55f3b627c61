//! The list of a store's observers, and the numbering of units.

use core::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::Arc;

use dashmap::RwLock;

use super::{Interest, Observer, ObserverId, Ticket};

/// A registered observer with its id and interest.
#[derive(Clone)]
pub(crate) struct Registered {
    pub(crate) id: ObserverId,
    pub(crate) interest: Interest,
    pub(crate) observer: Arc<dyn Observer>,
}

/// The observers of a store. The lock is a leaf: nothing is locked while it is held.
#[derive(Default)]
pub(crate) struct Observers {
    list: RwLock<Arc<[Registered]>>,
    /// The union of all observers' interests, as in every shard's hook word.
    interests: AtomicU32,
    observed: AtomicU64,
    tickets: AtomicU64,
}

impl Observers {
    pub(crate) fn list(&self) -> Arc<[Registered]> {
        Arc::clone(&self.list.read())
    }

    pub(crate) fn next_ticket(&self) -> Ticket {
        Ticket(self.tickets.fetch_add(1, Ordering::Relaxed) + 1)
    }

    /// Returns whether an observer has this interest.
    #[inline]
    pub(crate) fn have(&self, interest: Interest) -> bool {
        self.interests.load(Ordering::Relaxed) & interest.bits() != 0
    }

    /// Returns whether an observer has any interest.
    #[inline]
    pub(crate) fn is_any(&self) -> bool {
        self.interests.load(Ordering::Relaxed) != 0
    }

    /// Returns an id that no observer has had.
    pub(crate) fn new_id(&self) -> ObserverId {
        ObserverId(self.observed.fetch_add(1, Ordering::Relaxed))
    }

    /// Changes the list, and calls `tell` with the union of its interests.
    pub(crate) fn change(&self, change: impl FnOnce(&mut Vec<Registered>), tell: impl FnOnce(u32)) {
        let mut list = self.list.write();
        let mut changed = list.to_vec();
        change(&mut changed);
        let interests = changed.iter().map(|registered| registered.interest.bits());
        let bits = interests.fold(0, |all, bits| all | bits);
        *list = changed.into();
        // Under the lock, so that the bits are those of the last change.
        self.interests.store(bits, Ordering::Relaxed);
        tell(bits);
    }

    /// Calls `f` with the union of all interests, which cannot change until `f` returns.
    pub(crate) fn with_interests<R>(&self, f: impl FnOnce(u32) -> R) -> R {
        let _list = self.list.read();
        f(self.interests.load(Ordering::Relaxed))
    }
}
