//! Reports of a view to observers: named events, and keys that a read did not find.

use super::View;
use crate::observe::{Event, EventName, Interest, Unit};
use crate::store::Held;

impl View<'_> {
    /// Reports a named event of a key to observers, like [`Slot::event`](crate::Slot::event), for callers that
    /// have no slot of the key. It takes the key's shard lock only if an observer wants events.
    ///
    /// # Panics
    ///
    /// If the view is inside a section that does not cover the key.
    pub fn event(&mut self, key: &[u8], name: EventName) {
        if self.store.observers().have(Interest::EVENTS) {
            self.update(key, |slot| slot.event(name));
        }
    }

    /// Reports that a read did not find the key.
    #[inline]
    pub(crate) fn missed(&mut self, key: &[u8]) {
        if self.store.observers().have(Interest::MISSES) {
            self.report_missed(key);
        }
    }

    #[cold]
    fn report_missed(&mut self, key: &[u8]) {
        let own = Unit::default();
        let unit = self.held.as_deref().map_or(&own, Held::unit);
        unit.event(self.store.observers(), self.db, key, Event::Missed);
    }
}
