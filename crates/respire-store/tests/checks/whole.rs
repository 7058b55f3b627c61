//! Operations on whole databases, and the checks of all databases.

use std::sync::Arc;

use respire_store::{Cause, Event, Freeing, Held, Interest, MemoryUse, Policy, ValueRef};

use super::edit::{Value, contents};
use super::log::{Databases, Keys, Silent};
use super::source::{DATABASES, KEYS, Source};
use super::world::{Cover, World};

/// Bytes that an entry takes of its table.
const SLOT_BYTES: usize = size_of::<usize>() * 2 + 1;

/// A bound of memory that is never reached.
const BYTES_MAX: u64 = 1 << 40;

impl World {
    pub(super) fn flush(
        &mut self,
        source: &mut Source<'_>,
        held: Option<&mut Held>,
        cover: &Cover,
    ) {
        let freeing = match source.byte() % 2 {
            0 => Freeing::AtOnce,
            _ => Freeing::InSteps,
        };
        let db = cover.db(source);
        let gone: Vec<u32> = match (source.byte() % 4, cover) {
            (0, Cover::Databases(databases)) => databases.clone(),
            (0, _) => (0..DATABASES).collect(),
            _ => vec![db],
        };
        let live = gone.iter().map(|db| self.live_keys(*db).count()).sum();
        let mut view = self.view(db, held);
        let flushed = match gone[..] {
            [db] => view.in_db(db).flush(freeing),
            _ => view.flush_all(freeing),
        };
        assert!(flushed >= live);
        for db in gone {
            self.model[db as usize].clear();
            self.touch(|place| place.0 == db);
            self.end_scan(|scanned| scanned == db);
        }
    }

    pub(super) fn swap(&mut self, a: u32, b: u32, held: Option<&mut Held>) {
        self.view(a, held).swap(a, b);
        self.model.swap(a as usize, b as usize);
        self.touch(|(db, _)| db == a || db == b);
        self.end_scan(|db| db == a || db == b);
    }

    pub(super) fn sweep(&mut self, source: &mut Source<'_>) {
        let budget = source.below(40);
        let before = (self.store.stats(), self.store.memory().pending_keys);
        let swept = self.store.sweep(self.now_ms, budget);
        let after = (self.store.stats(), self.store.memory().pending_keys);
        assert!(swept.expired <= budget);
        assert_eq!(
            after.0.expired_keys - before.0.expired_keys,
            swept.expired as u64
        );
        let freed = after.0.freed_later_keys - before.0.freed_later_keys;
        // Large values that expire in this sweep wait for the next one.
        assert!(after.1 as u64 + freed <= before.1 as u64 + swept.expired as u64);
        self.check_swept(swept);
    }

    fn check_swept(&self, swept: respire_store::Swept) {
        let raw = self.raw();
        let expiries = || raw.iter().flat_map(Keys::values).filter_map(|(_, at)| *at);
        if self.is_sweeping {
            let first = expiries().min().unwrap_or(u64::MAX);
            assert!(swept.next_ms.unwrap_or(u64::MAX) <= first);
            assert!(!swept.finished || first > self.now_ms);
        }
    }

    pub(super) fn make_room(&mut self, source: &mut Source<'_>) {
        let (policy, samples) = (source.policy(), u32::from(source.byte() % 8));
        let total = self.store.memory().total() as u64;
        let bytes = match source.byte() % 4 {
            0 => 1,
            1 => BYTES_MAX,
            _ => total.saturating_sub(u64::from(source.byte()) * 100).max(1),
        };
        self.store.set_max_memory(bytes, policy, samples);
        let (before, raw) = (self.store.stats(), self.raw());
        let has_room = self.store.make_room(self.now_ms);
        // A bound without room for a key is exceeded by an empty store, too.
        let is_within = (self.store.memory().total() as u64).max(64) <= bytes;
        assert!(!has_room || is_within);
        let mut evicted = 0;
        let left = self.raw();
        for ((was, is), keys) in raw.iter().zip(&left).zip(&mut self.model) {
            for (key, (_, expires_at)) in was.iter().filter(|(key, _)| !is.contains_key(*key)) {
                evicted += 1;
                assert!(expires_at.is_some() || !policy.is_volatile());
                keys.remove(key);
            }
        }
        assert_eq!(
            self.store.stats().evicted_keys - before.evicted_keys,
            evicted
        );
        if !has_room {
            let any_left = left.iter().flat_map(Keys::values);
            let mut may_go = any_left.filter(|(_, at)| at.is_some() || !policy.is_volatile());
            assert!(!is_within && (policy == Policy::NoEviction || may_go.next().is_none()));
        }
        self.touch(|_| evicted > 0);
        self.store.set_max_memory(0, policy, samples);
    }

    pub(super) fn set_rules(&mut self, source: &mut Source<'_>) {
        match source.byte() % 4 {
            0 => {
                self.is_sweeping = !self.is_sweeping;
                self.store.set_active_expiry(self.is_sweeping);
            }
            1 => self.store.set_max_memory(0, source.policy(), 5),
            _ => self
                .store
                .set_lfu(u16::from(source.byte()), u16::from(source.byte())),
        }
    }

    /// Changes the observer's interest while nothing is being changed; the store has these contents.
    pub(super) fn change_interest(&mut self, source: &mut Source<'_>, contents: Databases) {
        let interest = source.interest();
        self.log.begin(interest, contents);
        self.store.set_interest(self.log_id, interest);
        if source.byte().is_multiple_of(4) {
            self.silent = match self.silent.take() {
                Some(id) => {
                    self.store.unobserve(id);
                    None
                }
                None => Some(self.store.observe(Arc::new(Silent), source.interest())),
            };
        }
    }

    /// Returns the contents of the store, including expired keys.
    pub(super) fn raw(&self) -> Databases {
        let mut raw = Databases::default();
        for (db, keys) in (0..).zip(&mut raw) {
            self.store.view(db, 0).for_each(|key, entry| {
                assert!(keys.insert(key.to_vec(), contents(entry)).is_none());
            });
        }
        raw
    }

    /// Checks what must hold between any two operations.
    pub(super) fn settle(&mut self) {
        let heard = &mut *self.log.heard();
        heard.check_rest();
        let losses = core::mem::take(&mut heard.removed).into_iter();
        let losses = losses.filter(|(_, _, cause)| *cause != Cause::Command);
        let losses: Vec<_> = losses
            .map(|(db, key, cause)| (db, key, cause == Cause::Expiry))
            .collect();
        let events = core::mem::take(&mut heard.events).into_iter();
        let events = events.filter_map(|(db, key, event)| match event {
            Event::Expired => Some((db, key, true)),
            Event::Evicted => Some((db, key, false)),
            _ => None,
        });
        if heard.has(Interest::LOSSES.with(Interest::EFFECTS)) {
            assert!(events.eq(losses), "each loss is an effect and an event");
        }
    }

    /// Compares the whole store with the model.
    pub(crate) fn check(&mut self) {
        let raw = self.raw();
        let (mut memory, mut keys) = (0, 0);
        for (db, raw) in (0..).zip(&raw) {
            let mut live = Keys::new();
            self.view(db, None).for_each(|key, entry| {
                live.insert(key.to_vec(), contents(entry));
            });
            assert!(live.iter().eq(self.live_keys(db)), "database {db}");
            self.view(db, None)
                .for_each(|key, entry| check_entry(self.now_ms, key, entry));
            self.store
                .view(db, 0)
                .for_each(|_, entry| memory += entry.memory());
            keys += raw.len();
            self.check_counts(db, raw);
        }
        let counted = self.store.memory();
        assert_eq!(memory, counted.dataset + counted.keys * SLOT_BYTES);
        assert_eq!(keys, counted.keys);
        let heard = self.log.heard();
        assert!(
            !heard.has(Interest::EFFECTS) || heard.copy == raw,
            "the observer's copy"
        );
        drop(heard);
        self.check_watches();
    }

    fn check_counts(&self, db: u32, raw: &Keys) {
        let expiries: Vec<u64> = raw.values().filter_map(|(_, at)| *at).collect();
        let lens = (
            self.store.len(db),
            self.store.expires_len(db),
            self.view(db, None).len(),
        );
        assert_eq!(lens, (raw.len(), expiries.len(), raw.len()));
        let left = expiries
            .iter()
            .map(|at| i128::from(*at) - i128::from(self.now_ms));
        let sum: i128 = left.sum();
        if sum.abs() < 1 << 63 {
            let average = sum.max(0).checked_div(expiries.len() as i128).unwrap_or(0);
            assert_eq!(i128::from(self.store.avg_ttl_ms(db, self.now_ms)), average);
        }
    }

    fn check_watches(&self) {
        for watched in &self.watches {
            let (is, was) = (self.live(watched.place), watched.was.as_ref());
            let is_dirty = watched.watch.is_dirty(self.now_ms);
            assert!(is_dirty || is == was, "{:?} missed a change", watched.watch);
            let is_over = was.is_some_and(|(_, at)| at.is_some_and(|at| at <= self.now_ms));
            assert!(
                !is_dirty || watched.is_touched || is_over,
                "{:?}",
                watched.watch
            );
        }
    }

    /// Removes the expired keys, then all keys, and checks that all memory is freed.
    pub(crate) fn finish(mut self) {
        self.finish_cut();
        self.check();
        self.store.set_active_expiry(true);
        self.is_sweeping = true;
        while !self.store.sweep(self.now_ms, 10).finished {}
        self.settle();
        self.check();
        assert!(
            self.raw().iter().eq(&(0..DATABASES)
                .map(|db| {
                    self.live_keys(db)
                        .map(|(key, is)| (key.clone(), is.clone()))
                        .collect()
                })
                .collect::<Vec<Keys>>())
        );
        assert_eq!(self.store.memory().pending_keys, 0);
        self.view(0, None).flush_all(Freeing::InSteps);
        while !self.store.sweep(self.now_ms, 1).finished {}
        assert_eq!(self.store.memory(), MemoryUse::default());
    }
}

/// Checks one entry.
fn check_entry(now_ms: u64, key: &[u8], entry: respire_store::EntryRef<'_>) {
    assert!(KEYS.iter().any(|known| known == key));
    let (value, expires_at) = contents(entry);
    assert!(expires_at.is_none_or(|at| at > now_ms && at < u64::MAX));
    let encoding = entry.encoding().name();
    match (value, entry.value()) {
        (Value::Stack(elements), ValueRef::Stack(_)) => {
            assert!(!elements.is_empty() && encoding == "stack")
        }
        (Value::String(bytes), ValueRef::String(string)) => {
            assert_eq!(
                (bytes.len(), encoding == "int"),
                (
                    string.len(),
                    matches!(string, respire_store::StringRef::Int(_))
                )
            );
        }
        (value, _) => panic!("{value:?}"),
    }
    assert_eq!(entry.owned().expires_at(), expires_at);
    let _ = (entry.idle_ms(now_ms), entry.freq(now_ms));
}
