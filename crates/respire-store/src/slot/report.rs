//! Reports of a slot to watches and observers: changes of its key, and events that commands name.

use super::{Parts, Slot};
use crate::database::bump;
use crate::entry::{Entry, EntryRef, Owned};
use crate::observe::{CHANGES, Effect, Event, EventName, Interest, STEPS, Unreported, WHOLES};
use crate::table::Bucket;
use crate::types::{Change, StringRef, read_notes};

/// Who learns of a change of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Audience {
    /// Observers, watches of the key, and those who wait for it.
    All,
    /// Observers and those who wait for the key.
    AllButWatches,
    /// Observers.
    Observers,
}

impl Slot<'_> {
    /// Reports a named event of the key to [observers](crate::Observer) that want events. Call it after the
    /// change, which is reported separately. It costs one test if no observer wants events.
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

    /// Reports [`Event::Missed`] if the key does not exist, as [`View::read`](crate::View::read) does. Call it
    /// if a command reads the key as well as writing it.
    #[inline]
    pub fn looked_up(&mut self) {
        if self.shard.side().hooks.has(Interest::MISSES.bits()) && !self.exists() {
            self.report_event(Event::Missed);
        }
    }

    /// Reports [`Event::Expired`] for a value that was removed as it was written, because its expiry was not
    /// in the future. Call it after the events of the write.
    pub fn expired_at_once(&mut self) {
        self.report_event(Event::Expired);
    }

    /// Reports [`Event::Added`] if the key exists, for a command whose write replaces it as if it were removed
    /// and added. Call it before the write. The write itself reports the event for an absent key.
    pub fn about_to_replace(&mut self) {
        if self.shard.side().hooks.has(Interest::ADDITIONS.bits()) && self.exists() {
            self.report_event(Event::Added);
        }
    }

    /// Writes a value like [`Slot::put`], and reports the key as added even if it existed
    /// ([`Slot::about_to_replace`]).
    pub fn put_anew(&mut self, owned: Owned) {
        self.about_to_replace();
        self.put(owned);
    }

    /// Counts and reports that the key was written.
    #[inline]
    pub(crate) fn report_written(&mut self, change: Unreported) {
        self.report_written_to(Audience::All, change);
    }

    #[inline]
    fn report_written_to(&mut self, audience: Audience, _: Unreported) {
        debug_assert!(
            self.shard.is_hooked(self.key),
            "a watch of the key would miss the change"
        );
        let side = self.shard.side();
        bump(&side.changes, 1);
        if side.hooks.has(CHANGES) {
            self.observe_written(audience);
        }
    }

    /// Returns whether an observer wants the steps of edits.
    #[inline]
    pub(crate) fn is_recorded(&self) -> bool {
        self.shard.side().hooks.has(STEPS)
    }

    /// Counts and reports that the key's value was edited. If the edit was noted, its steps are told to observers that
    /// want them.
    #[inline]
    pub(crate) fn report_edited(&mut self, change: Unreported, is_noted: bool, audience: Audience) {
        if is_noted {
            self.report_steps(audience, change);
        } else {
            self.report_written_to(audience, change);
        }
    }

    #[cold]
    #[inline(never)]
    fn report_steps(&mut self, audience: Audience, _: Unreported) {
        bump(&self.shard.side().changes, 1);
        self.alert(audience);
        let (key, hash, clock) = (self.key, self.hash, self.clock);
        let told = read_notes(|change| self.shard.report_change(key, hash, clock, change));
        if told.is_none() {
            self.tell_written();
        }
    }

    /// Counts and reports that parts of a string were written, which had this length before. A value of another type had
    /// the length 0.
    #[cold]
    #[inline(never)]
    pub(crate) fn report_parts(&mut self, length: usize, parts: &Parts, change: Unreported) {
        let string = self.get().and_then(|entry| entry.string().ok());
        let now = string.map_or(0, StringRef::len);
        let Some(steps) = parts.steps(length, now) else {
            return self.report_written(change);
        };
        let (shard, key, hash) = (&mut self.shard, self.key, self.hash);
        bump(&shard.side().changes, 1);
        shard.touch(key);
        shard.note_ready(key, self.now_ms);
        if shard.side().hooks.has(WHOLES)
            && let Some(((), change)) = shard.modify(Bucket::UNKNOWN, hash, key, Entry::share)
        {
            change.hide();
        }
        let Some(entry) = shard.find(Bucket::UNKNOWN, hash, key) else {
            return;
        };
        let (mut digits, string) = ([0; 20], entry.string());
        let bytes = string.map_or(&b""[..], |it| it.as_bytes(&mut digits));
        let (db, entry) = (shard.db.number, EntryRef::new(entry, self.clock));
        let change = Change::new(&steps, bytes);
        let (whole, steps) = (
            Effect::Written { db, key, entry },
            Effect::Changed { db, key, change },
        );
        shard.unit.change(&shard.db.observers, whole, steps);
    }

    /// Reports to observers that the key was written, but neither counts the change nor makes watches dirty.
    pub(crate) fn report_quietly(&mut self, _: Unreported) {
        if self.shard.side().hooks.has(CHANGES) {
            self.observe_written(Audience::Observers);
        }
    }

    /// Counts and reports that only the key's expiry was changed.
    #[inline]
    pub(crate) fn report_expiry(&mut self, expires_at: Option<u64>, _: Unreported) {
        debug_assert!(
            self.shard.is_hooked(self.key),
            "a watch of the key would miss the change"
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
    fn observe_written(&mut self, audience: Audience) {
        self.alert(audience);
        self.tell_written();
    }

    /// Makes the key's watches dirty, and notes that the key is ready for those who wait for it.
    fn alert(&self, audience: Audience) {
        if audience == Audience::All {
            self.shard.touch(self.key);
        }
        if audience != Audience::Observers {
            self.shard.note_ready(self.key, self.now_ms);
        }
    }

    /// Tells observers that the key was written.
    fn tell_written(&mut self) {
        let (shard, key, hash) = (&mut self.shard, self.key, self.hash);
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
