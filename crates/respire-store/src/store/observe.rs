//! Registers, changes and removes observers.

use std::sync::Arc;

use super::Store;
use crate::database::Database;
use crate::observe::{Interest, Observer, ObserverId, Registered};

impl Store {
    /// Registers an observer: from now on it receives what is in `interest`. O(shards).
    ///
    /// Changes that other threads are making during the call may or may not be reported. To receive every
    /// change from a certain moment on, register and remove the observer inside a section of
    /// [everything](crate::Scope::Everything), when no other thread can change anything.
    pub fn observe(&self, observer: Arc<dyn Observer>, interest: Interest) -> ObserverId {
        let id = self.observers().new_id();
        self.change_observers(|list| {
            list.push(Registered {
                id,
                interest,
                observer,
            });
        });
        id
    }

    /// Makes the [number](crate::Ticket::number) of every later ticket higher than `last`, for an observer that goes on
    /// with the numbers of an earlier process. Returns the number of the last ticket before, which is higher than
    /// `last` if so many have been taken.
    ///
    /// ```
    /// use respire_store::{Config, Store};
    ///
    /// let store = Store::new(Config::default());
    /// assert_eq!(store.raise_tickets(7), 7);
    /// assert_eq!(store.raise_tickets(5), 7);
    /// ```
    pub fn raise_tickets(&self, last: u64) -> u64 {
        self.observers().raise_tickets(last).number()
    }

    /// Takes the ticket of a unit that changes no key, and which no observer hears of: for an observer that notes
    /// something else in its place among the changes. It must account for the ticket itself.
    pub fn take_ticket(&self) -> u64 {
        self.observers().next_ticket().number()
    }

    /// Replaces the interest of an observer. It does nothing if there is no such observer. O(shards).
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
        self.observers().change(change, |bits| {
            for side in self.existing().flat_map(Database::sides) {
                side.hooks.set_interests(bits);
            }
        });
    }
}
