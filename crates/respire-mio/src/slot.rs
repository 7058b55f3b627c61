//! The place of a connection in the reactor.

use crate::{Cause, Registered};
use mio::event::Event;
use respire_engine::App;

/// A connection's place. The connection is taken out of it for each turn, so that other connections
/// can be served during a turn.
pub(crate) struct Slot<A: App> {
    pub(crate) generation: u32,
    /// Whether it is in the list of those that have more to do.
    pub(crate) is_queued: bool,
    /// The deadline in the set. It may be earlier than the connection's own: a deadline that moves
    /// away is checked when it passes, instead of being moved with every request.
    pub(crate) armed_us: Option<u64>,
    /// Boxed: a slab that grows moves its entries and frees the old room, which should stay small.
    entry: Option<Box<Registered<A>>>,
    /// Whether its input was read ahead, so that this input comes first.
    is_reserved: bool,
    missed: Missed,
}

/// Why a connection should have been driven while it was being driven, or was reserved.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Missed {
    pub(crate) is_ready: bool,
    pub(crate) is_woken: bool,
}

impl<A: App> Slot<A> {
    pub(crate) fn new(generation: u32, entry: Box<Registered<A>>) -> Self {
        Self {
            generation,
            is_queued: false,
            armed_us: None,
            entry: Some(entry),
            is_reserved: false,
            missed: Missed::default(),
        }
    }

    /// Stores the readiness from an event. Returns whether the connection can be driven.
    pub(crate) fn note_event(&mut self, event: &Event) -> bool {
        match &mut self.entry {
            Some(entry) => entry.socket.note_event(event),
            None => self.missed.is_ready = true,
        }
        self.entry.is_some()
    }

    /// The connection, unless it is being driven.
    pub(crate) fn entry(&mut self) -> Option<&mut Registered<A>> {
        self.entry.as_deref_mut().filter(|_| !self.is_reserved)
    }

    /// Has the connection wait until what was read ahead is driven.
    pub(crate) fn reserve(&mut self) {
        self.is_reserved = true;
    }

    /// The connection while its input is read ahead.
    pub(crate) fn reserved(&mut self) -> Option<&mut Registered<A>> {
        self.entry.as_deref_mut()
    }

    /// Takes the connection out, to be driven for this cause. `None` if it must not be driven now:
    /// then the cause is noted.
    pub(crate) fn take_out(&mut self, cause: &Cause<'_, A>) -> Option<Box<Registered<A>>> {
        let is_next = !self.is_reserved || matches!(cause, Cause::Arrived(_));
        if is_next && let Some(entry) = self.entry.take() {
            self.is_reserved = false;
            return Some(entry);
        }
        match cause {
            Cause::Ready | Cause::Arrived(_) => self.missed.is_ready = true,
            Cause::Wake => self.missed.is_woken = true,
            // The deadline is armed again after the turn.
            Cause::Deadline => {}
        }
        None
    }

    /// Puts the connection back. Returns what it missed meanwhile.
    pub(crate) fn put_back(&mut self, mut entry: Box<Registered<A>>) -> Missed {
        let missed = std::mem::take(&mut self.missed);
        if missed.is_ready {
            entry.socket.note_any();
        }
        self.entry = Some(entry);
        missed
    }
}
