//! An observer that builds a copy of the store from the effects, and checks their order.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError, Weak};

use respire_store::{Cause, Effect, Event, Interest, Observer, Store, Ticket};

use super::edit::{Contents, contents};
use super::source::DATABASES;

/// The contents of a database, including expired keys that have not been removed.
pub(crate) type Keys = BTreeMap<Vec<u8>, Contents>;

pub(crate) type Databases = [Keys; DATABASES as usize];

#[derive(Default)]
pub(crate) struct Heard {
    interest: Interest,
    /// The contents when the observer was registered, with all effects applied.
    pub(crate) copy: Databases,
    /// Keys removed since this was last emptied, and the causes.
    pub(crate) removed: Vec<(u32, Vec<u8>, Cause)>,
    pub(crate) events: Vec<(u32, Vec<u8>, Event)>,
    /// The unit that has begun and has not ended.
    open: Option<u64>,
    /// The unit that ended last, if it was reported.
    last: Option<u64>,
    /// Units and events whose release has not been reported.
    unreleased: bool,
}

/// The observer.
pub(crate) struct Log {
    heard: Mutex<Heard>,
    store: Weak<Store>,
}

impl Log {
    pub(crate) fn new(store: Weak<Store>) -> Log {
        Log {
            heard: Mutex::default(),
            store,
        }
    }

    pub(crate) fn heard(&self) -> MutexGuard<'_, Heard> {
        self.heard.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Starts again with this interest, on a store with these contents.
    pub(crate) fn begin(&self, interest: Interest, copy: Databases) {
        *self.heard() = Heard {
            interest,
            copy,
            ..Heard::default()
        };
    }
}

impl Heard {
    pub(crate) fn has(&self, interest: Interest) -> bool {
        self.interest.has(interest)
    }

    /// Checks that every unit has ended and been released; no unit may be running.
    pub(crate) fn check_rest(&self) {
        assert_eq!((self.open, self.unreleased), (None, false));
    }
}

/// An observer that ignores its reports.
pub(crate) struct Silent;

impl Observer for Silent {}

impl Observer for Log {
    fn effect(&self, ticket: Ticket, effect: Effect<'_>) {
        let mut heard = self.heard();
        assert!(heard.has(Interest::EFFECTS));
        let open = *heard.open.get_or_insert(ticket.number());
        assert_eq!(open, ticket.number());
        assert!(heard.last.is_none_or(|last| last + 1 == open), "a gap");
        heard.unreleased = true;
        let at = |db: u32| db as usize;
        match effect {
            Effect::Written { db, key, entry } => {
                heard.copy[at(db)].insert(key.to_vec(), contents(entry));
            }
            Effect::Changed { .. } => panic!("the log did not ask for steps"),
            Effect::ExpirySet {
                db,
                key,
                expires_at,
            } => match heard.copy[at(db)].get_mut(key) {
                Some((_, expiry)) => *expiry = expires_at,
                None => panic!("an expiry of no key: {}", key.escape_ascii()),
            },
            Effect::Removed { db, key, cause } => {
                let was = heard.copy[at(db)].remove(key);
                assert!(was.is_some() || cause == Cause::Command);
                heard.removed.push((db, key.to_vec(), cause));
            }
            Effect::Flushed { db } => heard.copy[at(db)].clear(),
            Effect::Swapped { a, b } => heard.copy.swap(at(a), at(b)),
        }
    }

    fn ticket_renewed(&self, old: Ticket, new: Ticket) {
        let mut heard = self.heard();
        assert!(heard.has(Interest::EFFECTS));
        let open = heard.open.replace(new.number());
        assert!(open.is_none_or(|open| open == old.number()));
        assert!(new > old);
        heard.last = Some(new.number() - 1);
    }

    fn event(&self, db: u32, key: &[u8], event: Event) {
        let interest = match event {
            Event::Added => Interest::ADDITIONS,
            Event::Expired | Event::Evicted => Interest::LOSSES,
            Event::Missed => Interest::MISSES,
            Event::Named(_) | Event::Emptied | Event::ElementsExpired => Interest::EVENTS,
        };
        let mut heard = self.heard();
        assert!(heard.has(interest), "{event:?}");
        heard.unreleased = true;
        heard.events.push((db, key.to_vec(), event));
    }

    fn unit_ended(&self, ticket: Ticket) {
        let mut heard = self.heard();
        // While a cut is running, a unit may end without an effect.
        let open = heard.open.take().unwrap_or(ticket.number());
        assert_eq!(open, ticket.number());
        assert!(heard.last.is_none_or(|last| last + 1 == open), "a gap");
        heard.unreleased = true;
        heard.last = Some(ticket.number());
    }

    fn released(&self) {
        assert!(core::mem::take(&mut self.heard().unreleased));
        // This deadlocks if a shard is still locked.
        if let Some(store) = self.store.upgrade() {
            (0..DATABASES).for_each(|db| assert!(store.view(db, 0).len() <= store.len(db)));
        }
    }
}
