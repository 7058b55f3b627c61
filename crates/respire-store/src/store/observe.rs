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
