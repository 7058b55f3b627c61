//! Observers: they hear of every change, in order, before its locks are released.
//!
//! This is the one seam where changes leave the store. Every change of an entry goes through
//! [`ShardMut`](crate::shard::ShardMut), which hands out a proof of it (`Unreported`) that only a report
//! consumes; a change of whole databases goes through `view/whole.rs`.

mod hooks;
mod observers;
mod unit;
mod unreported;

use crate::entry::EntryRef;

pub(crate) use hooks::{CHANGES, Hooks, WATCHED};
pub(crate) use observers::{Observers, Registered};
pub(crate) use unit::Unit;
pub(crate) use unreported::Unreported;

/// What an observer wants to hear of; sets of it are made with [`Interest::with`].
///
/// ```
/// use respire_store::Interest;
///
/// let interest = Interest::LOSSES.with(Interest::EVENTS);
/// assert!(interest.has(Interest::EVENTS) && !interest.has(Interest::EFFECTS));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Interest(u32);

impl Interest {
    /// Nothing.
    pub const NONE: Interest = Interest(0);
    /// Every change ([`Observer::effect`]), in units ([`Observer::unit_ended`]).
    pub const EFFECTS: Interest = Interest(1 << 1);
    /// Keys that are new ([`Event::Added`]).
    pub const ADDITIONS: Interest = Interest(1 << 2);
    /// Keys that the store removes by itself ([`Event::Expired`], [`Event::Evicted`]).
    pub const LOSSES: Interest = Interest(1 << 3);
    /// What commands say about the changes they make ([`Event::Named`], [`Event::Emptied`]).
    pub const EVENTS: Interest = Interest(1 << 4);
    /// Keys that are read and are not there ([`Event::Missed`]).
    pub const MISSES: Interest = Interest(1 << 5);

    /// Both of them.
    #[must_use]
    pub const fn with(self, other: Interest) -> Interest {
        Interest(self.0 | other.0)
    }

    /// Whether all of `other` is in it.
    #[must_use]
    pub const fn has(self, other: Interest) -> bool {
        self.0 & other.0 == other.0
    }

    /// The bits, as they stand in a shard's hook word.
    pub(crate) const fn bits(self) -> u32 {
        self.0
    }
}

/// The place of a unit among all units: a unit with a higher ticket changed the keys that both changed
/// later, and found what the other had written.
///
/// Tickets have no gaps while an observer wants [effects](Interest::EFFECTS): each one ends
/// ([`Observer::unit_ended`]).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Ticket(u64);

impl Ticket {
    /// The ticket as a number; the first of a store is 1.
    #[must_use]
    pub fn number(self) -> u64 {
        self.0
    }
}

/// Why a key was removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cause {
    /// Somebody asked for it.
    Command,
    /// Its time had come.
    Expiry,
    /// Memory ran out.
    Eviction,
}

/// One change, as the state it left behind.
///
/// Whoever applies the effects of all units in the order of their tickets has the same keys, values and
/// expiries. Keys whose time has come are there until they are removed: apply effects at the time 0,
/// when none is due.
#[derive(Debug, Clone, Copy)]
pub enum Effect<'e> {
    /// The key has a new value; this is its value and expiry now. A large string can be kept without a
    /// copy ([`StringRef::Shared`](crate::StringRef::Shared)).
    Written {
        /// The database.
        db: u32,
        /// The key.
        key: &'e [u8],
        /// What it holds.
        entry: EntryRef<'e>,
    },
    /// The key has another expiry and the same value.
    ExpirySet {
        /// The database.
        db: u32,
        /// The key.
        key: &'e [u8],
        /// When it expires, in unix milliseconds; `None` is never.
        expires_at: Option<u64>,
    },
    /// The key is absent. It may have been absent before.
    Removed {
        /// The database.
        db: u32,
        /// The key.
        key: &'e [u8],
        /// Why it was removed.
        cause: Cause,
    },
    /// The database has no keys.
    Flushed {
        /// The database.
        db: u32,
    },
    /// Two databases have exchanged their keys.
    Swapped {
        /// One of them.
        a: u32,
        /// The other.
        b: u32,
    },
}

/// Something that happened to a key, by its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event {
    /// There is a key where there was none. Comes before the event that says what was written.
    Added,
    /// The key was removed because its time had come.
    Expired,
    /// The key was removed because memory ran out.
    Evicted,
    /// The key was removed because its value has no elements left. Comes after the event that says what was done
    /// to the value.
    Emptied,
    /// The key was read, and there is none. It is reported after the look-up, so other events may have
    /// come between.
    Missed,
    /// What a command says it did ([`Slot::event`](crate::Slot::event)).
    Named(EventName),
}

impl Event {
    pub(crate) fn interest(self) -> Interest {
        match self {
            Event::Added => Interest::ADDITIONS,
            Event::Expired | Event::Evicted => Interest::LOSSES,
            Event::Missed => Interest::MISSES,
            Event::Named(_) | Event::Emptied => Interest::EVENTS,
        }
    }
}

/// The name of an event and the class it belongs to, which the store does not look at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EventName {
    /// A number for observers to choose by.
    pub class: u32,
    /// The name.
    pub name: &'static str,
}

/// Hears of changes. Registered with [`Store::observe`](crate::Store::observe).
///
/// A *unit* is what nobody sees half done: one [`View::update`](crate::View::update), one
/// [`update_many`](crate::View::update_many), one [`Section`](crate::Section) with all that happens in
/// it, one look of the sweep at a shard, one eviction.
///
/// [`effect`](Observer::effect), [`event`](Observer::event) and [`unit_ended`](Observer::unit_ended)
/// are called while the unit's shards are locked, on the thread that changes them. So they must be
/// quick, must not use the store and must not panic.
///
/// ```
/// use respire_store::{Config, Effect, Expiry, Interest, Observer, Store, Ticket};
/// use std::sync::{Arc, Mutex};
///
/// #[derive(Default)]
/// struct Keys(Mutex<Vec<Vec<u8>>>);
///
/// impl Observer for Keys {
///     fn effect(&self, _: Ticket, effect: Effect<'_>) {
///         if let Effect::Written { key, .. } = effect {
///             self.0.lock().unwrap().push(key.to_vec());
///         }
///     }
/// }
///
/// let (store, keys) = (Store::new(Config::default()), Arc::new(Keys::default()));
/// let id = store.observe(keys.clone(), Interest::EFFECTS);
/// store.view(0, 0).update(b"a", |slot| slot.set(b"1", Expiry::Clear));
/// store.unobserve(id);
/// store.view(0, 0).update(b"b", |slot| slot.set(b"1", Expiry::Clear));
/// assert_eq!(*keys.0.lock().unwrap(), [b"a"]);
/// ```
pub trait Observer: Send + Sync {
    /// A change of the unit that has this ticket; those of a unit come in order.
    fn effect(&self, ticket: Ticket, effect: Effect<'_>) {
        let _ = (ticket, effect);
    }

    /// Something happened to a key; for each key in order.
    fn event(&self, db: u32, key: &[u8], event: Event) {
        let _ = (db, key, event);
    }

    /// All effects of a unit have been reported, also if it ended in a panic. Its shards are still
    /// locked. A unit without a change has no ticket and is not reported.
    fn unit_ended(&self, ticket: Ticket) {
        let _ = ticket;
    }

    /// The shards of a unit that was reported to this observer have been released: the time to do what
    /// takes longer. It may use the store.
    fn released(&self) {}
}

/// Names an observer of a store ([`Store::observe`](crate::Store::observe)).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ObserverId(u64);

#[cfg(test)]
mod tests;
