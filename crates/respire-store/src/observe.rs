//! Observers: they hear of every change, in order, before its locks are released.
//!
//! This is the one seam where changes leave the store. Every change of an entry goes through
//! [`ShardMut`](crate::shard::ShardMut), which hands out a proof of it (`Unreported`) that only a report
//! consumes; a change of whole databases goes through `whole.rs`.

use core::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::Arc;

use dashmap::RwLock;

use crate::database::Database;
use crate::slot::EntryRef;
use crate::store::Store;

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

/// Hears of changes. Registered with [`Store::observe`].
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

/// Names an observer of a store ([`Store::observe`]).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ObserverId(u64);

/// An observer and what it wants to hear of.
#[derive(Clone)]
pub(crate) struct Registered {
    id: ObserverId,
    pub(crate) interest: Interest,
    pub(crate) observer: Arc<dyn Observer>,
}

/// The observers of a store. The lock is a leaf: nothing is locked while it is held.
#[derive(Default)]
pub(crate) struct Observers {
    list: RwLock<Arc<[Registered]>>,
    /// The interests of all in the list, as in every shard's hook word.
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

    /// Whether anyone has this interest.
    #[inline]
    pub(crate) fn have(&self, interest: Interest) -> bool {
        self.interests.load(Ordering::Relaxed) & interest.bits() != 0
    }

    /// Whether anyone has any.
    #[inline]
    pub(crate) fn is_any(&self) -> bool {
        self.interests.load(Ordering::Relaxed) != 0
    }

    /// Gives the bits of all interests to `f`; until it returns, they stay as they are.
    pub(crate) fn with_interests<R>(&self, f: impl FnOnce(u32) -> R) -> R {
        let _list = self.list.read();
        f(self.interests.load(Ordering::Relaxed))
    }
}

impl Store {
    /// Reports to `observer`, from now on, what it is interested in. O(shards).
    ///
    /// Threads that are changing keys at this moment may or may not be heard. An observer that wants
    /// every change from a certain moment on is registered, and removed, inside a section of
    /// [everything](crate::Scope::Everything), as nobody is changing anything then.
    pub fn observe(&self, observer: Arc<dyn Observer>, interest: Interest) -> ObserverId {
        let observers = self.observers();
        let id = ObserverId(observers.observed.fetch_add(1, Ordering::Relaxed));
        self.change_observers(|list| {
            list.push(Registered {
                id,
                interest,
                observer,
            });
        });
        id
    }

    /// Changes what an observer wants to hear of. O(shards). Nothing happens if there is no such
    /// observer.
    pub fn set_interest(&self, id: ObserverId, interest: Interest) {
        self.change_observers(|list| {
            for registered in list {
                if registered.id == id {
                    registered.interest = interest;
                }
            }
        });
    }

    /// Removes an observer; a unit that began before may still be reported to it. O(shards).
    pub fn unobserve(&self, id: ObserverId) {
        self.change_observers(|list| list.retain(|registered| registered.id != id));
    }

    fn change_observers(&self, change: impl FnOnce(&mut Vec<Registered>)) {
        let mut list = self.observers().list.write();
        let mut changed = list.to_vec();
        change(&mut changed);
        let bits = changed
            .iter()
            .fold(0, |bits, registered| bits | registered.interest.bits());
        *list = changed.into();
        // Under the lock, so that the bits are those of the last change.
        self.observers().interests.store(bits, Ordering::Relaxed);
        for side in self.existing().flat_map(Database::sides) {
            side.hooks.set_interests(bits);
        }
    }
}

#[cfg(test)]
mod tests;
