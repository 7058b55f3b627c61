//! Which tickets are kept, and the connections that wait for theirs.

use core::sync::atomic::{AtomicU64, Ordering};
use respire_engine::Wake;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The last ticket that is kept. While there is no log, all are.
pub(crate) struct Kept {
    ticket: AtomicU64,
    waiting: Mutex<Vec<Waiting>>,
}

struct Waiting {
    ticket: u64,
    wake: Arc<dyn Wake>,
}

impl Kept {
    pub(crate) fn new() -> Self {
        Self {
            ticket: AtomicU64::new(u64::MAX),
            waiting: Mutex::default(),
        }
    }

    /// Whether all changes up to this ticket are kept.
    pub(crate) fn has(&self, ticket: u64) -> bool {
        ticket <= self.ticket.load(Ordering::Acquire)
    }

    /// Says which ticket is the last one that is kept, and wakes those who waited for it.
    pub(crate) fn set(&self, ticket: u64) {
        if self.ticket.swap(ticket, Ordering::AcqRel) == ticket {
            return;
        }
        let mut waiting = self.lock();
        // Those who wait for less came first, mostly.
        let is_over = |waiting: &mut Waiting| waiting.ticket <= ticket;
        let over: Vec<Waiting> = waiting.extract_if(.., is_over).collect();
        drop(waiting);
        for waiting in over {
            waiting.wake.wake();
        }
    }

    /// Calls `wake` once this ticket is kept.
    pub(crate) fn wake_at(&self, ticket: u64, wake: Arc<dyn Wake>) {
        let mut waiting = self.lock();
        if self.has(ticket) {
            drop(waiting);
            return wake.wake();
        }
        waiting.push(Waiting { ticket, wake });
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Waiting>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Default)]
    struct Woken(AtomicU64);

    impl Wake for Woken {
        fn wake(&self) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    #[test]
    fn those_who_wait_are_woken_once_and_when_their_ticket_is_kept() {
        let (kept, woken) = (Kept::new(), Arc::new(Woken::default()));
        let count = || woken.0.load(Ordering::Relaxed);
        let wait = |ticket| kept.wake_at(ticket, Arc::clone(&woken) as Arc<dyn Wake>);
        wait(9);
        assert_eq!(count(), 1, "without a log all is kept");
        kept.set(3);
        wait(3);
        assert_eq!(count(), 2);
        wait(5);
        wait(4);
        assert!(!kept.has(4));
        kept.set(4);
        assert_eq!(count(), 3);
        kept.set(10);
        kept.set(10);
        assert_eq!(count(), 4);
    }
}
