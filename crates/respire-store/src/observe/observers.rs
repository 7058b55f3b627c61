//! The list of a store's observers, and the numbering of units.

use core::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::Arc;

use dashmap::RwLock;

use super::hooks::WHOLES;
use super::{CUT, Interest, Observer, ObserverId, Ticket};
use crate::entry::Generation;

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
    /// The last ticket.
    tickets: AtomicU64,
    /// The bits of the hook words that belong to cuts, for databases that are made. Changes under the lock.
    cut_bits: AtomicU32,
}

impl Observers {
    pub(crate) fn list(&self) -> Arc<[Registered]> {
        Arc::clone(&self.list.read())
    }

    pub(crate) fn next_ticket(&self) -> Ticket {
        Ticket(self.tickets.fetch_add(Ticket::STEP, Ordering::Relaxed) + Ticket::STEP)
    }

    /// Returns the last ticket; others may have been taken when it returns.
    pub(crate) fn last_ticket(&self) -> Ticket {
        Ticket(self.tickets.load(Ordering::Relaxed))
    }

    /// Makes all later tickets higher than this number. Returns the last ticket before them.
    pub(crate) fn raise_tickets(&self, last: u64) -> Ticket {
        let raised = |word: u64| {
            let ticket = Ticket(word);
            let step = last.saturating_sub(ticket.number());
            word + step * Ticket::STEP
        };
        let update = |word| Some(raised(word));
        let before = self
            .tickets
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, update);
        Ticket(before.map_or_else(|word| word, raised))
    }

    /// Changes the generation of all later tickets, and returns the last ticket before.
    pub(crate) fn change_generation(&self) -> Ticket {
        Ticket(
            self.tickets
                .fetch_xor(Ticket::GENERATION, Ordering::Relaxed),
        )
    }

    /// Databases that are made from now on have shards in which a cut is running.
    pub(crate) fn begin_cut(&self) {
        let _list = self.list.write();
        self.cut_bits.fetch_or(CUT, Ordering::Relaxed);
    }

    /// Databases that are made from now on have shards in which none is running.
    pub(crate) fn end_cut(&self, generation: Generation) {
        let _list = self.list.write();
        self.cut_bits.store(generation.bits(), Ordering::Relaxed);
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
        let interests = changed.iter().map(|registered| {
            let interest = registered.interest;
            let wholes = interest.has(Interest::EFFECTS) && !interest.has(Interest::CHANGES);
            interest.bits() | if wholes { WHOLES } else { 0 }
        });
        let bits = interests.fold(0, |all, bits| all | bits);
        *list = changed.into();
        // Under the lock, so that the bits are those of the last change.
        self.interests.store(bits, Ordering::Relaxed);
        tell(bits);
    }

    /// Calls `f` with the hook word of a new shard, which cannot change until `f` returns.
    pub(crate) fn with_hooks<R>(&self, f: impl FnOnce(u32) -> R) -> R {
        let _list = self.list.read();
        f(self.interests.load(Ordering::Relaxed) | self.cut_bits.load(Ordering::Relaxed))
    }
}
