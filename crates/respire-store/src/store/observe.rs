//! Observers: how they are registered, changed and removed.

use std::sync::Arc;

use super::Store;
use crate::database::Database;
use crate::observe::{Interest, Observer, ObserverId, Registered};

impl Store {
    /// Reports to `observer`, from now on, what it is interested in. O(shards).
    ///
    /// Threads that are changing keys at this moment may or may not be heard. An observer that wants
    /// every change from a certain moment on is registered, and removed, inside a section of
    /// [everything](crate::Scope::Everything), as nobody is changing anything then.
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
        self.observers().change(change, |bits| {
            for side in self.existing().flat_map(Database::sides) {
                side.hooks.set_interests(bits);
            }
        });
    }
}
