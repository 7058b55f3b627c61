//! Removes what is due: keys that have expired, and elements that have.

use core::sync::atomic::Ordering;

use super::ShardMut;
use crate::database::bump;
use crate::entry::{Clock, Entry, EntryRef};
use crate::hash::{HashPart, Tag};
use crate::observe::{CHANGES, Cause, Effect, Event, Interest, STEPS, Unreported, WATCHED};
use crate::table::Bucket;
use crate::types::{Change, Recording, read_notes};

/// Elements that are looked at when a key is used; due ones beyond are only hidden. It takes less than a tenth
/// of a millisecond.
const USED_ELEMENTS: usize = 1 << 10;

/// Elements that are looked at when the deadline of a key has come up: a part of a large value.
const SWEPT_ELEMENTS: usize = 1 << 7;

impl ShardMut<'_> {
    /// Removes the key if it has expired, or else those of its elements that have. Due elements that a large value
    /// has beyond [`USED_ELEMENTS`] are absent from now on, and stay for the sweep.
    #[inline(always)]
    pub(crate) fn expire(&mut self, hash: u64, key: &[u8], now_ms: u64) {
        if self.side().timed.load(Ordering::Relaxed) > 0 {
            self.expire_key(hash, key, now_ms);
        }
    }

    #[inline(never)]
    fn expire_key(&mut self, hash: u64, key: &[u8], now_ms: u64) {
        let tag = Tag::new(hash);
        let found = self.table.find(hash, |entry| entry.is(tag, key));
        let Some(entry) = found.filter(|entry| entry.is_due(now_ms)) else {
            return;
        };
        if entry.is_expired(now_ms) {
            self.expire_where(hash, |entry| entry.is(tag, key));
        } else {
            self.expire_elements(hash, key, now_ms, USED_ELEMENTS);
        }
    }

    /// Removes the first key of a deadline if it has expired, or else some of its elements that have. Returns
    /// whether a key was removed, and when the next one of the deadline is due, if there is one.
    pub(crate) fn expire_part(&mut self, part: HashPart, now_ms: u64) -> (bool, Option<u64>) {
        let [first, second] = self.first_due(part);
        let Some(due) = first.filter(|at| *at <= now_ms) else {
            return (false, first);
        };
        let tag = part.tag();
        let is_due = |entry: &Entry| entry.tag() == tag && entry.due_at() == Some(due);
        for hash in part.table_hashes(self.table.buckets()) {
            let Some(entry) = self.table.find(hash, is_due) else {
                continue;
            };
            if entry.is_expired(now_ms) {
                return (self.expire_where(hash, is_due), second);
            }
            let (hash, key) = (self.hash_of(entry), entry.key().to_vec());
            let is_removed = self.expire_elements(hash, &key, now_ms, SWEPT_ELEMENTS);
            let entry = self.find(Bucket::UNKNOWN, hash, &key);
            let next = entry.and_then(Entry::due_at);
            return (is_removed, next.into_iter().chain(second).min());
        }
        (false, second)
    }

    /// Returns when the first two of the entries of a deadline are due.
    fn first_due(&self, part: HashPart) -> [Option<u64>; 2] {
        let (tag, mut first, mut second) = (part.tag(), u64::MAX, u64::MAX);
        for hash in part.table_hashes(self.table.buckets()) {
            for entry in self.table.met_by(hash) {
                if entry.tag() == tag
                    && let Some(at) = entry.due_at()
                {
                    (first, second) = (first.min(at), second.min(at.max(first)));
                }
            }
        }
        [first, second].map(|at| (at != u64::MAX).then_some(at))
    }

    fn expire_where(&mut self, hash: u64, wanted: impl Fn(&Entry) -> bool) -> bool {
        let Some((entry, change)) = self.take(hash, wanted) else {
            return false;
        };
        bump(&self.side().expired, 1);
        self.report_lost(entry.key(), Cause::Expiry, change);
        self.garbage().discard(entry);
        true
    }

    /// Removes due elements of a key until about `budget` have been looked at. Returns whether none was left, so
    /// that the key was removed.
    fn expire_elements(&mut self, hash: u64, key: &[u8], now_ms: u64, budget: usize) -> bool {
        let expire = |entry: &mut Entry| entry.expire_elements(now_ms, budget);
        let is_recorded = self.side().hooks.has(STEPS);
        let recording = is_recorded.then(|| Recording::of_any(usize::MAX)).flatten();
        let is_noted = recording.is_some();
        let modified = self.modify(Bucket::UNKNOWN, hash, key, expire);
        drop(recording);
        let Some(((any, is_empty), change)) = modified else {
            return false;
        };
        if !is_empty {
            if any {
                self.report_elements_lost(hash, key, is_noted, change);
            } else {
                change.hide();
            }
            return false;
        }
        change.hide();
        let tag = Tag::new(hash);
        if let Some((entry, change)) = self.take(hash, |entry| entry.is(tag, key)) {
            self.report_last_element_lost(key, change);
            self.garbage().discard(entry);
        }
        true
    }

    /// Reports that elements of a key have expired. It does not count as a change by a caller.
    fn report_elements_lost(&mut self, hash: u64, key: &[u8], is_noted: bool, _: Unreported) {
        if self.side().hooks.has(CHANGES) {
            self.touch(key);
            let clock = Clock::of_word(0);
            let tell = |change: Change<'_>| self.report_change(key, hash, clock, change);
            let told = if is_noted { read_notes(tell) } else { None };
            if told.is_none()
                && let Some(entry) = self.find(Bucket::UNKNOWN, hash, key)
            {
                let entry = EntryRef::new(entry, clock);
                let db = self.db.number;
                self.report(Effect::Written { db, key, entry });
            }
        }
        if self.side().hooks.has(Interest::EVENTS.bits()) {
            self.report_event(key, Event::ElementsExpired);
        }
    }

    /// Reports that the last elements of a key have expired, and the key was removed.
    fn report_last_element_lost(&mut self, key: &[u8], _: Unreported) {
        if self.side().hooks.has(WATCHED) {
            self.touch(key);
        }
        let (db, cause) = (self.db.number, Cause::Expiry);
        self.report(Effect::Removed { db, key, cause });
        if self.side().hooks.has(Interest::EVENTS.bits()) {
            self.report_event(key, Event::ElementsExpired);
            self.report_event(key, Event::Emptied);
        }
    }
}
