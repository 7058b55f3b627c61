//! Reports of what is done to a key, and of what commands say by a name.

use super::Slot;
use crate::database::bump;
use crate::entry::{Entry, EntryRef, Owned};
use crate::observe::{CHANGES, Effect, Event, EventName, Interest, Unreported};
use crate::table::Bucket;

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
    /// they do from [`View::read`](crate::View::read).
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
        debug_assert!(
            self.shard.is_hooked(self.key),
            "a watcher would not hear of it"
        );
        let side = self.shard.side();
        bump(&side.changes, 1);
        if side.hooks.has(CHANGES) {
            self.observe_written(true);
        }
    }

    /// Reports to observers alone that the key was written: to all others it counts as unchanged.
    pub(crate) fn report_quietly(&mut self, _: Unreported) {
        if self.shard.side().hooks.has(CHANGES) {
            self.observe_written(false);
        }
    }

    /// Counts and reports that only the key's expiry was changed.
    #[inline]
    pub(crate) fn report_expiry(&mut self, expires_at: Option<u64>, _: Unreported) {
        debug_assert!(
            self.shard.is_hooked(self.key),
            "a watcher would not hear of it"
        );
        let side = self.shard.side();
        bump(&side.changes, 1);
        if side.hooks.has(CHANGES) {
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
