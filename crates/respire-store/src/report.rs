//! Reports of changes, to those who watch the key and to observers.

use crate::database::Database;
use crate::entry::Entry;
use crate::hooks::WATCHED;
use crate::observe::{Cause, Effect, Event, EventName, Interest};
use crate::prefetch::Bucket;
use crate::section::Held;
use crate::shard::{ShardMut, bump};
use crate::slot::{EntryRef, Slot};
use crate::unit::Unit;
use crate::value::Owned;
use crate::view::View;

/// The proof of a change that has not been reported. Only a report consumes it.
#[must_use = "a change must be reported to those who watch the key and to observers"]
pub(crate) struct Unreported(());

impl Unreported {
    /// Made where entries and tables are changed, and nowhere else.
    #[inline(always)]
    pub(crate) fn new() -> Unreported {
        Unreported(())
    }

    /// Both changes, to be reported as one.
    pub(crate) fn with(self, _earlier: Option<Unreported>) -> Unreported {
        self
    }

    /// There is nothing to report: no value, no expiry and no key is another.
    #[inline(always)]
    pub(crate) fn hide(self) {}
}

impl Slot<'_> {
    /// Says by a name what was done to the key, to [observers](crate::Observer) that want to know: after the
    /// change, which is reported by itself.
    ///
    /// ```
    /// use respire_store::{Config, Event, EventName, Expiry, Interest, Observer, Store};
    /// use std::sync::{Arc, Mutex};
    ///
    /// const STOCKED: EventName = EventName { class: 1, name: "stocked" };
    ///
    /// #[derive(Default)]
    /// struct Events(Mutex<Vec<Event>>);
    ///
    /// impl Observer for Events {
    ///     fn event(&self, _: u32, _: &[u8], event: Event) {
    ///         self.0.lock().unwrap().push(event);
    ///     }
    /// }
    ///
    /// let (store, events) = (Store::new(Config::default()), Arc::new(Events::default()));
    /// store.observe(events.clone(), Interest::EVENTS);
    /// store.view(0, 0).update(b"stock", |slot| {
    ///     slot.set(3, Expiry::Clear);
    ///     slot.event(STOCKED);
    /// });
    /// assert_eq!(*events.0.lock().unwrap(), [Event::Named(STOCKED)]);
    /// ```
    #[inline]
    pub fn event(&mut self, name: EventName) {
        self.report_event(Event::Named(name));
    }

    /// Says that the key is read and not only written: observers hear of it if there is no such key, as
    /// they do from [`View::read`].
    #[inline]
    pub fn looked_up(&mut self) {
        if self.shard.side().hooks.has(Interest::MISSES.bits()) && !self.exists() {
            self.report_event(Event::Missed);
        }
    }

    /// Says that the value just written is gone, because its expiry was not in the future: after the
    /// events of the write.
    pub fn expired_at_once(&mut self) {
        self.report_event(Event::Expired);
    }

    /// Says that the key, if it exists, is about to be written as if it were new: what is there counts as
    /// removed before. Observers hear of a key that does not exist without it.
    pub fn about_to_replace(&mut self) {
        if self.shard.side().hooks.has(Interest::ADDITIONS.bits()) && self.exists() {
            self.report_event(Event::Added);
        }
    }

    /// Puts a value under this key like [`Slot::put`], [as one that is new](Slot::about_to_replace).
    pub fn put_anew(&mut self, owned: Owned) {
        self.about_to_replace();
        self.put(owned);
    }

    /// Counts and reports that the key was written.
    #[inline]
    pub(crate) fn report_written(&mut self, _: Unreported) {
        let side = self.shard.side();
        bump(&side.changes, 1);
        if side.hooks.is_set() {
            self.observe_written(true);
        }
    }

    /// Reports to observers alone that the key was written: to all others it counts as unchanged.
    pub(crate) fn report_quietly(&mut self, _: Unreported) {
        if self.shard.side().hooks.is_set() {
            self.observe_written(false);
        }
    }

    /// Counts and reports that only the key's expiry was changed.
    #[inline]
    pub(crate) fn report_expiry(&mut self, expires_at: Option<u64>, _: Unreported) {
        let side = self.shard.side();
        bump(&side.changes, 1);
        if side.hooks.is_set() {
            self.observe_expiry(expires_at);
        }
    }

    #[inline]
    pub(crate) fn report_event(&self, event: Event) {
        if self.shard.side().hooks.has(event.interest().bits()) {
            self.shard.report_event(self.key, event);
        }
    }

    #[cold]
    #[inline(never)]
    fn observe_written(&mut self, counts: bool) {
        let (shard, key, hash) = (&mut self.shard, self.key, self.hash);
        if counts {
            shard.touch(key);
        }
        if !shard.is_observed() {
            return;
        }
        // An observer can keep a large value without a copy then.
        if let Some(((), change)) = shard.modify(Bucket::UNKNOWN, hash, key, Entry::share) {
            change.hide();
        }
        if let Some(entry) = shard.find(Bucket::UNKNOWN, hash, key) {
            let (db, entry) = (shard.db.number, EntryRef::new(entry, self.clock));
            shard.report(Effect::Written { db, key, entry });
        }
    }

    #[cold]
    #[inline(never)]
    fn observe_expiry(&self, expires_at: Option<u64>) {
        let (shard, key) = (&self.shard, self.key);
        shard.touch(key);
        let db = shard.db.number;
        shard.report(Effect::ExpirySet {
            db,
            key,
            expires_at,
        });
    }
}

impl ShardMut<'_> {
    /// Counts and reports a key that a command removed.
    #[inline]
    pub(crate) fn report_removed(&mut self, key: &[u8], _: Unreported) {
        let side = self.side();
        bump(&side.changes, 1);
        if side.hooks.is_set() {
            self.observe_removed(key);
        }
    }

    /// Reports a key that the store removed by itself, and not as a change that somebody made.
    #[inline]
    pub(crate) fn report_lost(&mut self, key: &[u8], cause: Cause, _: Unreported) {
        if self.side().hooks.is_set() {
            self.observe_lost(key, cause);
        }
    }

    /// Reports a key that is about to be added.
    #[inline]
    pub(crate) fn report_added(&mut self, key: &[u8]) {
        if self.side().hooks.has(Interest::ADDITIONS.bits()) {
            self.report_event(key, Event::Added);
        }
    }

    #[cold]
    fn observe_removed(&self, key: &[u8]) {
        self.touch(key);
        let (db, cause) = (self.db.number, Cause::Command);
        self.report(Effect::Removed { db, key, cause });
    }

    #[cold]
    fn observe_lost(&self, key: &[u8], cause: Cause) {
        let event = if cause == Cause::Expiry {
            if self.side().hooks.has(WATCHED) {
                self.db.watches.touch_removed(key);
            }
            Event::Expired
        } else {
            self.touch(key);
            Event::Evicted
        };
        let db = self.db.number;
        self.report(Effect::Removed { db, key, cause });
        if self.side().hooks.has(Interest::LOSSES.bits()) {
            self.report_event(key, event);
        }
    }

    #[cold]
    #[inline(never)]
    fn report_event(&self, key: &[u8], event: Event) {
        let (observers, db) = (&self.db.observers, self.db.number);
        self.unit.event(observers, db, key, event);
    }

    fn report(&self, effect: Effect<'_>) {
        if self.is_observed() {
            self.unit.effect(&self.db.observers, effect);
        }
    }

    fn is_observed(&self) -> bool {
        self.side().hooks.has(Interest::EFFECTS.bits())
    }

    /// Tells those who watch the key that it has changed.
    fn touch(&self, key: &[u8]) {
        if self.side().hooks.has(WATCHED) {
            self.db.watches.touch(key);
        }
    }
}

impl View<'_> {
    /// Says by a name what was done to a key, like [`Slot::event`]: for those who have no slot of the key
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

impl Database {
    /// Whether observers want every change. All shards say the same.
    pub(crate) fn is_observed(&self) -> bool {
        self.side(0).hooks.has(Interest::EFFECTS.bits())
    }

    /// Reports a change of the whole database, all of whose shards are locked. Its watched keys have
    /// heard of it.
    pub(crate) fn report_whole(&self, unit: &Unit, effect: Effect<'_>, _: Unreported) {
        if self.is_observed() {
            unit.effect(&self.observers, effect);
        }
    }
}
