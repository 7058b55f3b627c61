//! Reports changes to watches and observers.

use super::ShardMut;
use crate::database::bump;
use crate::entry::{Clock, Entry, EntryRef};
use crate::observe::{
    CHANGES, Cause, Effect, Event, Interest, Ready, Unreported, WAITED, WATCHED, WHOLES,
};
use crate::table::Bucket;
use crate::types::Change;

impl ShardMut<'_> {
    /// Returns whether the hook word says so if the key is watched. For debug assertions.
    pub(crate) fn is_hooked(&self, key: &[u8]) -> bool {
        self.side().hooks.has(WATCHED) || !self.db.watches.is_watched(key)
    }

    /// Counts and reports a key that a command removed.
    #[inline]
    pub(crate) fn report_removed(&mut self, key: &[u8], _: Unreported) {
        debug_assert!(
            self.is_hooked(key),
            "a watch of the key would miss the change"
        );
        let side = self.side();
        bump(&side.changes, 1);
        if side.hooks.has(CHANGES) {
            self.observe_removed(key);
        }
    }

    /// Reports a key that expired or was evicted. It does not count as a change by a caller.
    #[inline]
    pub(crate) fn report_lost(&mut self, key: &[u8], cause: Cause, _: Unreported) {
        debug_assert!(
            self.is_hooked(key),
            "a watch of the key would miss the change"
        );
        if self.side().hooks.has(CHANGES | Interest::LOSSES.bits()) {
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

    /// Notes that the key was removed, for those who wait for it and want to know.
    fn note_lost(&self, key: &[u8]) {
        if self.side().hooks.has(WAITED) && self.db.waiters.is_loss_seen(key) {
            let ready = Ready {
                db: self.db.number,
                key: key.into(),
                // A write in the same unit tells the time.
                now_ms: 0,
            };
            self.unit.ready(&self.db.observers, ready);
        }
    }

    #[cold]
    fn observe_removed(&self, key: &[u8]) {
        self.note_lost(key);
        self.touch(key);
        let (db, cause) = (self.db.number, Cause::Command);
        self.report(Effect::Removed { db, key, cause });
    }

    #[cold]
    fn observe_lost(&self, key: &[u8], cause: Cause) {
        self.note_lost(key);
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
    pub(crate) fn report_event(&self, key: &[u8], event: Event) {
        let (observers, db) = (&self.db.observers, self.db.number);
        self.unit.event(observers, db, key, event);
    }

    pub(crate) fn report(&self, effect: Effect<'_>) {
        if self.is_observed() {
            self.unit.effect(&self.db.observers, effect);
        }
    }

    /// Reports that a key's value was edited: by these steps, or as a whole to observers that do not want steps.
    pub(crate) fn report_change(
        &mut self,
        key: &[u8],
        hash: u64,
        clock: Clock,
        change: Change<'_>,
    ) {
        let db = self.db.number;
        let steps = Effect::Changed { db, key, change };
        if !self.side().hooks.has(WHOLES) {
            return self.report(steps);
        }
        // An observer can keep a large value without a copy then.
        if let Some(((), change)) = self.modify(Bucket::UNKNOWN, hash, key, Entry::share) {
            change.hide();
        }
        if let Some(entry) = self.find(Bucket::UNKNOWN, hash, key) {
            let entry = EntryRef::new(entry, clock);
            let whole = Effect::Written { db, key, entry };
            self.unit.change(&self.db.observers, whole, steps);
        }
    }

    pub(crate) fn is_observed(&self) -> bool {
        self.side().hooks.has(Interest::EFFECTS.bits())
    }

    /// Notes that the key was written, for those who wait for it.
    pub(crate) fn note_ready(&self, key: &[u8], now_ms: u64) {
        if self.side().hooks.has(WAITED) && self.db.waiters.is_waited(key) {
            let ready = Ready {
                db: self.db.number,
                key: key.into(),
                now_ms,
            };
            self.unit.ready(&self.db.observers, ready);
        }
    }

    /// Makes the key's watches dirty.
    pub(crate) fn touch(&self, key: &[u8]) {
        if self.side().hooks.has(WATCHED) {
            self.db.watches.touch(key);
        }
    }
}
