//! Observers: they receive every change, in order, before the change's locks are released.
//!
//! All changes leave the store through this module. Every change of an entry goes through
//! [`ShardMut`](crate::shard::ShardMut), which returns a proof of it (`Unreported`) that only a report
//! consumes. Changes of whole databases go through `view/whole.rs`.

mod hooks;
mod observers;
mod unit;
mod unreported;

use crate::entry::{EntryRef, Generation};
use crate::types::Change;

pub(crate) use hooks::{CHANGES, CUT, Hooks, STEPS, WAITED, WATCHED, WHOLES};
pub(crate) use observers::{Observers, Registered};
pub(crate) use unit::{Ready, Unit};
pub(crate) use unreported::Unreported;

/// A set of the reports that an observer wants. [`Interest::with`] joins two sets.
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
    /// The same as [`Interest::EFFECTS`], but an edit that changes a part of a value is told as [`Effect::Changed`].
    pub const CHANGES: Interest = Interest(Interest::EFFECTS.0 | STEPS);
    /// Keys that are new ([`Event::Added`]).
    pub const ADDITIONS: Interest = Interest(1 << 2);
    /// Keys that the store removes by itself ([`Event::Expired`], [`Event::Evicted`]).
    pub const LOSSES: Interest = Interest(1 << 3);
    /// The events that commands name ([`Event::Named`]), [`Event::Emptied`] and [`Event::ElementsExpired`].
    pub const EVENTS: Interest = Interest(1 << 4);
    /// Reads of absent keys ([`Event::Missed`]).
    pub const MISSES: Interest = Interest(1 << 5);

    /// Returns the union of both sets.
    #[must_use]
    pub const fn with(self, other: Interest) -> Interest {
        Interest(self.0 | other.0)
    }

    /// Returns whether the set includes all of `other`.
    #[must_use]
    pub const fn has(self, other: Interest) -> bool {
        self.0 & other.0 == other.0
    }

    /// Returns the bits that the set has in a shard's hook word.
    pub(crate) const fn bits(self) -> u32 {
        self.0
    }
}

/// A unit's place in the order of all units. If two units changed the same key, the one with the higher
/// ticket changed it later, and saw the other's change.
///
/// Tickets have no gaps while an observer wants [effects](Interest::EFFECTS): every ticket ends
/// ([`Observer::unit_ended`]) or is renewed ([`Observer::ticket_renewed`]).
///
/// A unit takes its ticket at its first change. If its section [widens](crate::Widener::widen) after that,
/// units with higher tickets may have changed the shards that it adds. Therefore its next change takes a
/// new ticket. The place of the unit, with all of its changes, is that of its last ticket.
///
/// While a [cut](crate::Store::cut) is running, a unit takes its ticket just before its first change. If that changes
/// nothing in the end, the ticket ends without an effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Ticket(u64);

impl Ticket {
    /// Returns the ticket as a number. A store's first ticket is 1.
    #[must_use]
    pub fn number(self) -> u64 {
        self.0 >> 1
    }

    /// Returns on which side of a [cut](crate::Store::cut) the unit lies: each cut changes this for all later tickets.
    ///
    /// So a reader of tickets in their order finds the place of a cut by itself, without waiting for the caller of
    /// [`Store::cut`](crate::Store::cut).
    #[must_use]
    pub fn is_of_odd_cut(self) -> bool {
        self.0 & Ticket::GENERATION != 0
    }

    /// The bit of the generation.
    const GENERATION: u64 = 1;

    /// The difference between two tickets in a row.
    const STEP: u64 = 2;

    /// Returns the generation of the unit.
    pub(crate) fn generation(self) -> Generation {
        Generation::of((self.0 as u32) << 31)
    }
}

/// Why a key was removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cause {
    /// A command, or another caller of the store, removed it.
    Command,
    /// It had expired.
    Expiry,
    /// It was evicted because memory ran out.
    Eviction,
}

/// One change, as the new state of a key or a database.
///
/// Applying the effects of all units to another store, in the order of their tickets, gives the same keys,
/// values and expiries. Apply them at the time 0, at which no key has expired: an expired key exists until
/// its own `Removed` effect.
#[derive(Debug, Clone, Copy)]
pub enum Effect<'e> {
    /// The key was written; `entry` has its value and expiry now. A large string can be kept without a
    /// copy ([`StringRef::Shared`](crate::StringRef::Shared)).
    Written {
        /// The database.
        db: u32,
        /// The key.
        key: &'e [u8],
        /// The key's value and expiry.
        entry: EntryRef<'e>,
    },
    /// The key's value was edited, and its expiry was not. Only observers with [`Interest::CHANGES`] receive it; they
    /// receive [`Effect::Written`] if the edit changed much of the value, or something that steps do not tell.
    Changed {
        /// The database.
        db: u32,
        /// The key. It may have been absent before.
        key: &'e [u8],
        /// What was done to the value.
        change: Change<'e>,
    },
    /// The key's expiry was changed, and its value was not.
    ExpirySet {
        /// The database.
        db: u32,
        /// The key.
        key: &'e [u8],
        /// When it expires, in unix milliseconds; `None` is never.
        expires_at: Option<u64>,
    },
    /// The key was removed. It may have been absent before.
    Removed {
        /// The database.
        db: u32,
        /// The key.
        key: &'e [u8],
        /// Why it was removed.
        cause: Cause,
    },
    /// All keys of the database were removed.
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

/// An event of a key, as in keyspace notifications.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event {
    /// The key was absent and is about to be added. It is reported before the event of the write.
    Added,
    /// The key was removed because it had expired.
    Expired,
    /// The key was removed because memory ran out.
    Evicted,
    /// The key was removed because an edit left its value without elements. It is reported after the edit's own
    /// event.
    Emptied,
    /// Elements of the key's value were removed because they had expired. If none was left, the key was removed as
    /// well, and [`Event::Emptied`] follows.
    ElementsExpired,
    /// A read did not find the key. It is reported after the look-up, so other events may come between.
    Missed,
    /// An event that a command names ([`Slot::event`](crate::Slot::event)).
    Named(EventName),
}

impl Event {
    pub(crate) fn interest(self) -> Interest {
        match self {
            Event::Added => Interest::ADDITIONS,
            Event::Expired | Event::Evicted => Interest::LOSSES,
            Event::Missed => Interest::MISSES,
            Event::Named(_) | Event::Emptied | Event::ElementsExpired => Interest::EVENTS,
        }
    }
}

/// The name of an event and its class. The store interprets neither.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EventName {
    /// The class, by which observers select events.
    pub class: u32,
    /// The name.
    pub name: &'static str,
}

/// Receives changes. [`Store::observe`](crate::Store::observe) registers an observer.
///
/// A *unit* is a set of changes that become visible together: those of one
/// [`View::update`](crate::View::update), one [`update_many`](crate::View::update_many), one
/// [`Section`](crate::Section), one step of the sweep in a shard, or one eviction.
///
/// [`effect`](Observer::effect), [`event`](Observer::event), [`ticket_renewed`](Observer::ticket_renewed) and
/// [`unit_ended`](Observer::unit_ended) are called while the unit's shards are locked, on the thread that changes them. So they must be
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
    /// Receives a change of the unit with this ticket. A unit's changes come in order.
    fn effect(&self, ticket: Ticket, effect: Effect<'_>) {
        let _ = (ticket, effect);
    }

    /// The unit that had the ticket `old` has the ticket `new` from now on. All of its effects belong to `new`,
    /// including those reported before. No unit has the place of `old`, and `old` does not end.
    ///
    /// This is called before the effect that needs the new ticket, and only for a
    /// [`WideningSection`](crate::WideningSection). The ticket of one unit may be renewed several times.
    fn ticket_renewed(&self, old: Ticket, new: Ticket) {
        let _ = (old, new);
    }

    /// Receives an event of a key. The events of one key come in order.
    fn event(&self, db: u32, key: &[u8], event: Event) {
        let _ = (db, key, event);
    }

    /// Called after all effects of a unit have been reported, also if it ended in a panic. Its shards are
    /// still locked. A unit without a change has no ticket and is not reported, except while a cut is running
    /// ([`Ticket`]).
    fn unit_ended(&self, ticket: Ticket) {
        let _ = ticket;
    }

    /// Called after a unit that was reported to this observer has released its shards. Do longer work
    /// here; it may use the store.
    fn released(&self) {}
}

/// Identifies an observer of a store ([`Store::observe`](crate::Store::observe)).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ObserverId(u64);

#[cfg(test)]
mod tests;
