//! A unit: changes that become visible together, and are reported to observers as one.

use core::cell::{Cell, OnceCell, RefCell};
use core::mem::ManuallyDrop;
use std::collections::{HashSet, VecDeque};
use std::sync::Arc;

use super::{Effect, Event, Interest, Observers, Registered, Ticket};

/// The unit in which changes are reported. Most units never begin to run, because there is no observer or
/// no change.
///
/// It must outlive the locks of its shards: dropping it reports to observers that they are released.
#[derive(Default)]
pub(crate) struct Unit {
    /// Taken out by the unit's `drop`. `ManuallyDrop` avoids a second drop of the field, which keeps the
    /// code of units that never begin small.
    running: ManuallyDrop<OnceCell<Running>>,
}

/// The state of a unit that has reported something.
struct Running {
    /// The observers that were registered when the unit began.
    observers: Arc<[Registered]>,
    /// Taken at the first effect or, while a cut is running, before the first change.
    ticket: Cell<Option<Ticket>>,
    /// The section was widened after the ticket was taken, so units with higher tickets may have changed
    /// the shards that were added.
    is_ticket_old: Cell<bool>,
    /// The interests for which something was reported.
    reported: Cell<Interest>,
    /// The shards are about to be released, so no more changes may be reported.
    has_ended: Cell<bool>,
    /// The keys that were written and are waited for, in order, each once.
    ready: RefCell<VecDeque<Ready>>,
    /// The same keys, to find them.
    is_ready: RefCell<HashSet<(u32, Box<[u8]>)>>,
}

/// A key that was written and is waited for.
pub(crate) struct Ready {
    pub(crate) db: u32,
    pub(crate) key: Box<[u8]>,
    /// The time of the write, in unix milliseconds.
    pub(crate) now_ms: u64,
}

impl Ready {
    fn is_of(&self, other: &Ready) -> bool {
        self.db == other.db && self.key == other.key
    }
}

impl Unit {
    /// Reports an effect; all shards of the unit are locked.
    pub(crate) fn effect(&self, observers: &Observers, effect: Effect<'_>) {
        self.effect_as(observers, |_| effect);
    }

    /// Reports an effect as the state of its key, and by its steps to observers that want these; all shards of the unit
    /// are locked.
    pub(crate) fn change(&self, observers: &Observers, whole: Effect<'_>, steps: Effect<'_>) {
        let form = |interest: Interest| match interest.has(Interest::CHANGES) {
            true => steps,
            false => whole,
        };
        self.effect_as(observers, form);
    }

    fn effect_as<'e>(&self, observers: &Observers, form: impl Fn(Interest) -> Effect<'e>) {
        let running = self.running(observers);
        debug_assert!(
            !running.has_ended.get(),
            "a unit that has ended changes nothing"
        );
        let ticket = running.ticket(observers);
        running.report(Interest::EFFECTS, |registered| {
            registered
                .observer
                .effect(ticket, form(registered.interest));
        });
    }

    /// Returns the unit's ticket before a change; all shards of the unit are locked.
    pub(crate) fn ticket(&self, observers: &Observers) -> Ticket {
        let running = self.running(observers);
        debug_assert!(
            !running.has_ended.get(),
            "a unit that has ended changes nothing"
        );
        running.ticket(observers)
    }

    /// Reports an event; the key's shard is locked.
    pub(crate) fn event(&self, observers: &Observers, db: u32, key: &[u8], event: Event) {
        self.running(observers)
            .report(event.interest(), |registered| {
                registered.observer.event(db, key, event);
            });
    }

    /// Notes a key that was written and is waited for; the key's shard is locked.
    pub(crate) fn ready(&self, observers: &Observers, ready: Ready) {
        let running = self.running(observers);
        debug_assert!(
            !running.has_ended.get(),
            "nobody would call the waiters of a unit that has ended"
        );
        let key = (ready.db, ready.key.clone());
        let mut queue = running.ready.borrow_mut();
        if running.is_ready.borrow_mut().insert(key) {
            queue.push_back(ready);
        } else if let Some(noted) = queue.iter_mut().find(|noted| noted.is_of(&ready)) {
            // A removal did not tell the time.
            noted.now_ms = noted.now_ms.max(ready.now_ms);
        }
    }

    /// Takes the key that was written first of those noted; `None` if there is none.
    #[inline]
    pub(crate) fn take_ready(&self) -> Option<Ready> {
        let running = self.running.get()?;
        let ready = running.ready.borrow_mut().pop_front()?;
        let key = (ready.db, ready.key);
        running.is_ready.borrow_mut().remove(&key);
        Some(Ready {
            db: key.0,
            key: key.1,
            now_ms: ready.now_ms,
        })
    }

    /// Shards were added to the unit's section.
    pub(crate) fn widened(&self) {
        if let Some(running) = self.running.get() {
            running.is_ticket_old.set(running.ticket.get().is_some());
        }
    }

    #[inline(always)]
    fn has_reported(&self) -> bool {
        self.running.get().is_some()
    }

    /// Returns a guard that reports the unit's end when it is dropped, also by a panic. It must be dropped
    /// before the unit's shards are released.
    #[inline(always)]
    pub(crate) fn ending(&self) -> Ending<'_> {
        Ending(self)
    }

    #[cold]
    fn end(&self) {
        let Some(running) = self.running.get() else {
            return;
        };
        running.has_ended.set(true);
        if let Some(ticket) = running.ticket.take() {
            running.each(Interest::EFFECTS, |registered| {
                registered.observer.unit_ended(ticket);
            });
        }
    }

    #[cold]
    fn released(&mut self) {
        if let Some(running) = self.running.take() {
            debug_assert!(running.ticket.get().is_none(), "each ticket ends");
            running.each(running.reported.get(), |registered| {
                registered.observer.released();
            });
        }
    }

    fn running(&self, observers: &Observers) -> &Running {
        self.running.get_or_init(|| Running {
            observers: observers.list(),
            ticket: Cell::new(None),
            is_ticket_old: Cell::new(false),
            reported: Cell::new(Interest::NONE),
            has_ended: Cell::new(false),
            ready: RefCell::default(),
            is_ready: RefCell::default(),
        })
    }
}

impl Running {
    fn ticket(&self, observers: &Observers) -> Ticket {
        match self.ticket.get() {
            Some(ticket) if !self.is_ticket_old.get() => ticket,
            old => self.take_ticket(observers, old),
        }
    }

    /// Takes a ticket, which replaces the old one if there is one.
    fn take_ticket(&self, observers: &Observers, old: Option<Ticket>) -> Ticket {
        let new = observers.next_ticket();
        // Its end is reported, even if no effect is.
        self.reported
            .set(self.reported.get().with(Interest::EFFECTS));
        self.ticket.set(Some(new));
        self.is_ticket_old.set(false);
        if let Some(old) = old {
            self.each(Interest::EFFECTS, |registered| {
                registered.observer.ticket_renewed(old, new);
            });
        }
        new
    }

    fn report(&self, interest: Interest, f: impl FnMut(&Registered)) {
        self.reported.set(self.reported.get().with(interest));
        self.each(interest, f);
    }

    /// Calls `f` with each observer that has at least one of these interests.
    fn each(&self, interests: Interest, f: impl FnMut(&Registered)) {
        let bits = interests.bits();
        let interested = |registered: &&Registered| registered.interest.bits() & bits != 0;
        self.observers.iter().filter(interested).for_each(f);
    }
}

/// Ends a unit ([`Unit::ending`]).
pub(crate) struct Ending<'u>(&'u Unit);

impl Drop for Ending<'_> {
    #[inline(always)]
    fn drop(&mut self) {
        if self.0.has_reported() {
            self.0.end();
        }
    }
}

impl Drop for Unit {
    #[inline(always)]
    fn drop(&mut self) {
        if self.has_reported() {
            self.released();
        }
    }
}
