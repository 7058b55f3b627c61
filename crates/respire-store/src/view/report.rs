//! Reports of what a view finds, and of what commands say by a name.

use super::View;
use crate::observe::{Event, EventName, Interest, Unit};
use crate::store::Held;

impl View<'_> {
    /// Says by a name what was done to a key, like [`Slot::event`](crate::Slot::event): for those who have no slot of the key
    /// when its event is due.
    pub fn event(&mut self, key: &[u8], name: EventName) {
        if self.store.observers().have(Interest::EVENTS) {
            self.update(key, |slot| slot.event(name));
        }
    }

    /// Reports that a read found no such key.
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
