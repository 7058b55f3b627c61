//! Reports of changes, to those who watch the key and to observers.

use crate::database::Database;
use crate::entry::Entry;
use crate::hooks::WATCHED;
use crate::observe::{Cause, Effect, Event, EventName, Interest};
use crate::prefetch::Bucket;
use crate::shard::{ShardMut, bump};
use crate::slot::{EntryRef, Slot};
use crate::unit::Unit;

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

    /// Reports what a command says that it did.
    #[inline]
    pub(crate) fn report_named(&mut self, name: EventName) {
        if self.shard.side().hooks.has(Interest::EVENTS.bits()) {
            self.shard.report_event(self.key, Event::Named(name));
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
        let event = match cause {
            Cause::Expiry => Event::Expired,
            Cause::Eviction | Cause::Command => Event::Evicted,
        };
        if cause == Cause::Expiry {
            if self.side().hooks.has(WATCHED) {
                self.db.watches.touch_removed(key);
            }
        } else {
            self.touch(key);
        }
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
