//! The slot: one key under its shard's write lock, for reading, writing and removing it.

mod edit;
mod parts;
mod report;
mod wait;

use core::fmt;
use core::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use crate::database::QUEUED_BYTES_MIN;
use crate::entry::{Access, Clock, Entry, EntryRef, Expiry, NEVER, Owned};
use crate::hash::{Tag, hash_key};
use crate::observe::Unreported;
use crate::shard::ShardMut;
use crate::table::Bucket;
use crate::types::NewValue;

pub use edit::Edited;
use parts::{Before, Parts};

/// One key under its shard's write lock, for reading, writing and removing it.
/// [`View::update`](crate::View::update) makes one. An expired key is absent.
///
/// ```
/// use respire_store::{Config, Expiry, Store};
///
/// let store = Store::new(Config::default());
/// let count = store.view(0, 0).update(b"counter", |slot| {
///     let count = slot.get().and_then(|entry| entry.value().as_string()?.to_int()).unwrap_or(0) + 1;
///     slot.set(count, Expiry::Keep);
///     count
/// });
/// assert_eq!(count, 1);
/// ```
pub struct Slot<'e> {
    pub(crate) shard: ShardMut<'e>,
    pub(crate) key: &'e [u8],
    pub(crate) hash: u64,
    /// The bucket to look at first.
    pub(crate) bucket: Bucket,
    pub(crate) now_ms: u64,
    /// The time of accesses.
    pub(crate) clock_ms: u64,
    pub(crate) clock: Clock,
}

impl Slot<'_> {
    /// Returns the key.
    #[must_use]
    pub fn key(&self) -> &[u8] {
        self.key
    }

    /// Returns the key's entry, or `None` if the key does not exist.
    #[must_use]
    #[inline]
    pub fn get(&self) -> Option<EntryRef<'_>> {
        self.shard
            .find(self.bucket, self.hash, self.key)
            .map(|entry| EntryRef::new(entry, self.clock))
    }

    /// Returns whether the key exists.
    #[must_use]
    #[inline]
    pub fn exists(&self) -> bool {
        self.shard.find(self.bucket, self.hash, self.key).is_some()
    }

    /// Writes the value, whether or not the key exists. A value of the same size class replaces the old
    /// one without an allocation.
    ///
    /// An expiry that is not in the future, or a value of a type with elements that has none, removes the
    /// key. This counts as a change, and makes watches dirty, even if the key was absent before.
    pub fn set<'v, V: Into<NewValue<'v>>>(&mut self, value: V, expiry: Expiry) {
        let expires_at = match expiry {
            Expiry::Clear | Expiry::Keep => None,
            Expiry::At(at) if at <= self.now_ms => {
                return self.shard.remove_surely(self.hash, self.key);
            }
            Expiry::At(at) => not_never(at),
        };
        let value = value.into();
        let kept = |entry: &Entry| match expiry {
            Expiry::Keep => entry.expires_at(),
            Expiry::Clear | Expiry::At(_) => expires_at,
        };
        let Some(plain) = value.plain() else {
            return self.set_large(value, kept, expires_at);
        };
        let change = self.overwrite(
            |entry| matches!(expiry, Expiry::Clear) && entry.rewrite(plain),
            |entry| {
                let expires_at = kept(entry);
                entry.set_plain(plain, expires_at);
            },
        );
        let change = change.unwrap_or_else(|| self.insert(value, expires_at));
        self.report_written(change);
    }

    fn set_large(
        &mut self,
        value: NewValue<'_>,
        kept: impl Fn(&Entry) -> Option<u64>,
        expires_at: Option<u64>,
    ) {
        if value.has_no_elements() {
            return self.shard.remove_surely(self.hash, self.key);
        }
        let mut value = Some(value);
        let changed = self.overwrite(
            |_| false,
            |entry| {
                if let Some(value) = value.take() {
                    let expires_at = kept(entry);
                    entry.set(value, expires_at);
                }
            },
        );
        // The value is unused if the key does not exist.
        let change = match (changed, value) {
            (None, Some(value)) => self.insert(value, expires_at),
            (Some(change), _) => change,
            (None, None) => unreachable!("invariant: a value that is not put stays"),
        };
        self.report_written(change);
    }

    /// Calls `f` with the old entry, then writes a value like [`Slot::set`]. The key is usually looked up
    /// once for both. If `f` returns an error, the key stays unchanged.
    ///
    /// # Errors
    /// The error of `f`.
    pub fn exchange<'v, E>(
        &mut self,
        value: impl Into<NewValue<'v>>,
        expiry: Expiry,
        f: impl FnOnce(Option<EntryRef<'_>>) -> Result<(), E>,
    ) -> Result<(), E> {
        let value = value.into();
        let (Expiry::Clear, Some(plain)) = (expiry, value.plain()) else {
            self.looked_up();
            f(self.get())?;
            self.set(value, expiry);
            return Ok(());
        };
        let (clock, mut f, mut refusal) = (self.clock, Some(f), None);
        let change = self.overwrite(
            |entry| {
                let old = EntryRef::new(entry, clock);
                refusal = f.take().and_then(|f| f(Some(old)).err());
                refusal.is_some() || entry.rewrite(plain)
            },
            |entry| entry.set_plain(plain, None),
        );
        let change = match (change, refusal) {
            (Some(change), None) => change,
            (Some(change), Some(refusal)) => {
                change.hide();
                return Err(refusal);
            }
            (None, _) => {
                self.looked_up();
                f.map_or(Ok(()), |f| f(None))?;
                self.insert(value, None)
            }
        };
        self.report_written(change);
        Ok(())
    }

    /// Sets the expiry, in unix milliseconds; `None` or `u64::MAX` clears it. A time that is not in the
    /// future removes the key. Returns false if the key does not exist.
    pub fn set_expiry(&mut self, expires_at: Option<u64>) -> bool {
        let expires_at = expires_at.and_then(not_never);
        if expires_at.is_some_and(|at| at <= self.now_ms) {
            return self.remove();
        }
        let Some(((), change)) = self.modify(|entry| entry.set_expires_at(expires_at)) else {
            return false;
        };
        self.report_expiry(expires_at, change);
        true
    }

    /// Sets the idle time or the access frequency of the key, if the [policy](crate::Policy) uses that
    /// measure. The idle time is at most the time since 1970. It does not count as a change. Returns false
    /// if the key does not exist or the policy uses the other measure.
    pub fn set_access(&mut self, access: Access) -> bool {
        let clock = self.clock.said(access, self.clock_ms);
        let entry = self.shard.find(self.bucket, self.hash, self.key);
        let (Some(clock), Some(entry)) = (clock, entry) else {
            return false;
        };
        entry.set_clock(clock);
        true
    }

    /// Removes the key, and returns whether it existed. Like every removal and replacement, it leaves values
    /// of a megabyte or more to the [sweep](crate::Store::sweep), which frees them in steps.
    pub fn remove(&mut self) -> bool {
        self.shard.delete(self.hash, self.key)
    }

    /// Removes the key, and returns its value and expiry; `None` if it did not exist. Packed strings are
    /// copied, other values are moved.
    pub fn take(&mut self) -> Option<Owned> {
        self.shard
            .remove(self.hash, self.key)
            .map(Entry::into_owned)
    }

    /// Writes a value and its expiry, whether or not the key exists. An expiry that is not in the future
    /// removes the key.
    pub fn put(&mut self, owned: Owned) {
        self.set(
            owned.value,
            owned.expires_at.map_or(Expiry::Clear, Expiry::At),
        );
    }

    /// Edits the string's bytes and keeps its expiry. For an absent key, `f` gets an empty string. A value of
    /// another type is replaced: `f` gets an empty string, and the old value is lost. `f` runs under the
    /// shard's lock. Growing a long string costs amortised O(1) per byte; a short string is copied.
    ///
    /// # Panics
    /// If `f` panics; the edit then counts as a change.
    pub fn edit_string<R>(&mut self, f: impl FnOnce(&mut Vec<u8>) -> R) -> R {
        self.edit_string_if(|bytes| (f(bytes), true))
    }

    /// Edits the string's bytes like [`Slot::edit_string`]; `f` also returns whether the edit counts as a
    /// change. An edit that does not count is hidden from watches, even if it creates the key or changes the
    /// string's length. If such an edit keeps the length, it must not change the bytes.
    ///
    /// # Panics
    /// If `f` panics; the edit then counts as a change.
    pub fn edit_string_if<R>(&mut self, f: impl FnOnce(&mut Vec<u8>) -> (R, bool)) -> R {
        let is_recorded = self.is_recorded();
        self.edit_string_parts(|bytes| {
            let before = is_recorded.then(|| Before::of(bytes)).flatten();
            let (answer, counts) = f(bytes);
            let parts = before.map_or(Parts::All, |before| before.compare(bytes));
            (answer, counts, parts)
        })
    }

    /// Edits the string's bytes like [`Slot::edit_string_if`]; `f` also returns which part of them it wrote, so that
    /// observers are told only that part of a long string ([`Interest::CHANGES`](crate::Interest::CHANGES)). All
    /// other bytes are as before, and those that are new before the part are zeros; `None` says nothing about them.
    ///
    /// # Panics
    /// If `f` panics; the edit then counts as a change.
    pub fn edit_string_part<R>(
        &mut self,
        f: impl FnOnce(&mut Vec<u8>) -> (R, bool, Option<Range<usize>>),
    ) -> R {
        self.edit_string_parts(|bytes| {
            let (answer, counts, part) = f(bytes);
            (answer, counts, part.map_or(Parts::All, Parts::One))
        })
    }

    fn edit_string_parts<R>(&mut self, f: impl FnOnce(&mut Vec<u8>) -> (R, bool, Parts)) -> R {
        if !self.exists() {
            let mut bytes = Vec::new();
            let (answer, counts, _) = f(&mut bytes);
            let change = self.insert(bytes.into(), None);
            self.report_if(counts, change);
            return answer;
        }
        // Catch a panic, so that the change is accounted for first.
        let caught = |bytes: &mut Vec<u8>| {
            let length = bytes.len();
            let answer = catch_unwind(AssertUnwindSafe(|| f(bytes)));
            (answer, length, bytes.len() != length)
        };
        let edited = self.modify(|entry| {
            let was_string = entry.value().as_string().is_some();
            let (answer, length, has_other_length) = entry.edit(caught);
            (answer, length, has_other_length || !was_string)
        });
        match edited {
            Some(((Ok((answer, false, _)), _, false), change)) => {
                change.hide();
                answer
            }
            Some(((Ok((answer, true, parts)), length, _), change)) if self.is_recorded() => {
                self.report_parts(length, &parts, change);
                answer
            }
            Some(((Ok((answer, counts, _)), _, _), change)) => {
                self.report_if(counts, change);
                answer
            }
            Some(((Err(panic), _, _), change)) => {
                self.report_written(change);
                resume_unwind(panic)
            }
            None => unreachable!("invariant: the key exists, and its shard is locked"),
        }
    }

    /// Converts a string of at least [`SHARED_BYTES_MIN`](crate::SHARED_BYTES_MIN) bytes that was edited in place
    /// into one that replies can share ([`StringRef::Shared`](crate::StringRef::Shared)). It copies nothing, and
    /// does not count as a change. The next edit converts it back, and copies the bytes only if they are still
    /// shared.
    ///
    /// ```
    /// use respire_store::{Config, Store, StringRef, ValueRef};
    ///
    /// let store = Store::new(Config::default());
    /// let mut view = store.view(0, 0);
    /// view.update(b"k", |slot| {
    ///     slot.edit_string(|bytes| bytes.resize(1 << 20, b'x'));
    ///     slot.share_string();
    /// });
    /// view.read(b"k", |entry| {
    ///     assert!(matches!(entry.unwrap().value(), ValueRef::String(StringRef::Shared(_))));
    /// });
    /// ```
    pub fn share_string(&mut self) {
        if let Some(((), change)) = self.modify(Entry::share) {
            change.hide();
        }
    }

    fn report_if(&mut self, counts: bool, change: Unreported) {
        if counts {
            self.report_written(change);
        } else {
            self.report_quietly(change);
        }
    }

    /// Returns whether the hash is the key's, and the key has not expired. For debug assertions.
    pub(crate) fn is_right(&self) -> bool {
        let found = self.get().and_then(EntryRef::expires_at);
        self.hash == hash_key(self.shard.db.hasher(), self.key)
            && found.is_none_or(|expires_at| expires_at > self.now_ms)
    }

    /// Adds the key, which must not exist.
    #[inline(never)]
    pub(crate) fn insert(&mut self, value: NewValue<'_>, expires_at: Option<u64>) -> Unreported {
        let word = self.shard.word(self.clock.fresh(self.clock_ms));
        let entry = Entry::new(self.key, Tag::new(self.hash), value, expires_at, word);
        self.shard.insert(self.hash, entry)
    }

    /// Replaces the entry's value and records the access; `None` if there is no entry. If `settle` returns true
    /// it has replaced the value without changing what is counted, and `f` is not called.
    #[inline]
    fn overwrite(
        &mut self,
        settle: impl FnOnce(&mut Entry) -> bool,
        f: impl FnOnce(&mut Entry),
    ) -> Option<Unreported> {
        let (clock, now_ms, side) = (self.clock, self.clock_ms, self.shard.side());
        let settle = |entry: &mut Entry| {
            entry.set_clock(clock.touched(entry.clock(), now_ms, || side.random()));
            settle(entry)
        };
        let garbage = self.shard.garbage();
        let f = |entry: &mut Entry| {
            if let Some(old) = entry.retire(QUEUED_BYTES_MIN) {
                garbage.discard(old);
            }
            f(entry);
        };
        self.shard
            .modify_unless(self.bucket, self.hash, self.key, settle, f)
    }

    /// Changes the entry and records the access; `None` if there is no entry.
    #[inline]
    pub(crate) fn modify<R>(&mut self, f: impl FnOnce(&mut Entry) -> R) -> Option<(R, Unreported)> {
        let (clock, now_ms, side) = (self.clock, self.clock_ms, self.shard.side());
        self.shard
            .modify(self.bucket, self.hash, self.key, |entry| {
                entry.set_clock(clock.touched(entry.clock(), now_ms, || side.random()));
                f(entry)
            })
    }
}

/// Returns the expiry, or `None` for [`NEVER`], which large entries store for no expiry.
fn not_never(expires_at: u64) -> Option<u64> {
    (expires_at != NEVER).then_some(expires_at)
}

impl fmt::Debug for Slot<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Slot")
            .field("entry", &self.get())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Config, Encoding, Store, StringRef};

    fn check(f: impl FnOnce(&mut Slot<'_>)) {
        let store = Store::new(Config::default());
        store.view(0, 100).update(b"k", f);
    }

    fn text(slot: &Slot<'_>) -> Option<Vec<u8>> {
        slot.get()?.value().as_string().map(StringRef::to_vec)
    }

    #[test]
    fn set_keeps_clears_or_replaces_the_expiry() {
        check(|slot| {
            let expires_at = |slot: &Slot<'_>| slot.get().and_then(EntryRef::expires_at);
            slot.set(b"a", Expiry::Keep);
            assert_eq!(expires_at(slot), None);
            slot.set(b"b", Expiry::At(101));
            slot.set(7, Expiry::Keep);
            assert_eq!(
                (expires_at(slot), text(slot)),
                (Some(101), Some(b"7".to_vec()))
            );
            slot.set(b"c", Expiry::Clear);
            assert_eq!(expires_at(slot), None);
            slot.set(b"d", Expiry::At(100));
            assert!(!slot.exists());
        });
    }

    #[test]
    fn expiry_of_u64_max_is_no_expiry() {
        for len in [1, crate::SHARED_BYTES_MIN] {
            check(|slot| {
                let expires_at = |slot: &Slot<'_>| slot.get().map(EntryRef::expires_at);
                slot.set(vec![b'a'; len], Expiry::At(u64::MAX));
                assert_eq!(expires_at(slot), Some(None), "{len}");
                assert!(slot.set_expiry(Some(200)) && slot.set_expiry(Some(u64::MAX)));
                assert_eq!(expires_at(slot), Some(None), "{len}");
            });
        }
    }

    #[test]
    fn set_expiry_in_the_past_removes_the_key() {
        check(|slot| {
            assert!(!slot.set_expiry(Some(200)) && !slot.set_expiry(None));
            slot.set(b"a", Expiry::Clear);
            assert!(
                slot.set_expiry(Some(101)) && slot.set_expiry(None) && slot.set_expiry(Some(100))
            );
            assert!(!slot.exists() && !slot.set_expiry(Some(100)));
        });
    }

    #[test]
    fn access_is_set_only_if_the_policy_uses_its_measure() {
        let (store, now_ms) = (Store::new(Config::default()), 600_000);
        let seen = |access| {
            store.view(0, now_ms).update(b"k", |slot| {
                slot.set(b"a", Expiry::Clear);
                let is_kept = slot.set_access(access);
                let entry = slot.get().expect("it was just set");
                (is_kept, entry.idle_ms(now_ms), entry.freq(now_ms))
            })
        };
        assert_eq!(seen(Access::IdleMs(90_000)), (true, 90_000, 0));
        assert_eq!(seen(Access::IdleMs(u64::MAX)), (true, 600_000, 0));
        assert!(!seen(Access::Frequency(200)).0);
        store.set_max_memory(0, crate::Policy::VolatileLfu, 5);
        assert_eq!(seen(Access::Frequency(200)), (true, 0, 200));
        assert!(!seen(Access::IdleMs(90_000)).0);
        let mut view = store.view(0, now_ms);
        assert!(!view.update(b"absent", |slot| slot.set_access(Access::Frequency(1))));
        assert_eq!(store.changes(), 5);
    }

    #[test]
    fn taken_value_is_absent_until_it_is_put() {
        check(|slot| {
            assert!(slot.take().is_none() && !slot.remove());
            slot.set(b"a", Expiry::At(200));
            let Some(owned) = slot.take() else {
                panic!("the key was there")
            };
            assert!(!slot.exists());
            assert_eq!(owned.expires_at(), Some(200));
            slot.put(owned.clone());
            assert_eq!(text(slot), Some(b"a".to_vec()));
            slot.put(owned.with_expiry(Some(99)));
            assert!(!slot.exists());
        });
    }

    #[test]
    fn edit_of_an_absent_key_creates_it() {
        check(|slot| {
            assert_eq!(slot.edit_string(|bytes| bytes.len()), 0);
            assert_eq!(text(slot), Some(Vec::new()));
            slot.edit_string(|bytes| bytes.extend_from_slice(b"12"));
            assert_eq!(slot.get().map(EntryRef::encoding), Some(Encoding::Raw));
        });
    }

    #[test]
    fn watch_is_dirty_after_a_value_that_expires_at_once_but_not_after_a_quiet_edit() {
        let store = Store::new(Config::default());
        let watch = store.view(0, 100).watch(b"k");
        let mut view = store.view(0, 100);
        view.update(b"k", |slot| {
            slot.edit_string_if(|bytes| (bytes.push(0), false))
        });
        view.update(b"k", |slot| {
            slot.edit_string_if(|bytes| (bytes.clear(), false))
        });
        assert!(!watch.is_dirty(100) && store.changes() == 0);
        assert!(view.update(b"k", |slot| slot.exists() && slot.remove()));
        let watch = store.view(0, 100).watch(b"k");
        view.update(b"k", |slot| slot.set(b"v", Expiry::At(100)));
        assert!(watch.is_dirty(100) && !view.update(b"k", |slot| slot.exists()));
    }

    #[test]
    fn exchange_shows_the_old_value_and_counts_like_set() {
        let (store, set_store) = (Store::new(Config::default()), Store::new(Config::default()));
        let large = vec![b'l'; crate::SHARED_BYTES_MIN];
        let mut before = None;
        for (value, expiry) in [
            (&b"first"[..], Expiry::Clear),
            (b"other", Expiry::Clear),
            (b"1234567", Expiry::Clear),
            (b"longer than the class of the first", Expiry::At(500)),
            (b"shorter", Expiry::Clear),
            (b"until", Expiry::At(500)),
            (b"kept", Expiry::Keep),
            (&large, Expiry::Clear),
            (b"small", Expiry::Clear),
            (b"gone", Expiry::At(100)),
        ] {
            let watch = store.view(0, 100).watch(b"k");
            store.view(0, 100).update(b"k", |slot| {
                let refused = slot.exchange(b"refused", Expiry::Clear, |_| Err(()));
                assert_eq!((refused, text(slot)), (Err(()), before.clone()));
                let shown = slot.exchange(value, expiry, |old| {
                    let old = old.map(|old| old.value().as_string().map(StringRef::to_vec));
                    assert_eq!(old, before.clone().map(Some));
                    Ok::<(), ()>(())
                });
                assert_eq!(shown, Ok(()));
                before = text(slot);
            });
            assert!(watch.is_dirty(100));
            let is_gone = matches!(expiry, Expiry::At(100));
            assert_eq!(before, (!is_gone).then(|| value.to_vec()));
            set_store
                .view(0, 100)
                .update(b"k", |slot| slot.set(value, expiry));
            let expiry_of = |store: &Store| {
                store
                    .view(0, 100)
                    .peek(b"k", |entry| entry.and_then(EntryRef::expires_at))
            };
            assert_eq!(expiry_of(&store), expiry_of(&set_store));
            assert_eq!(store.memory(), set_store.memory());
            assert_eq!(store.changes(), set_store.changes());
        }
    }

    #[test]
    fn memory_is_accounted_for_after_an_edit_that_panics() {
        let store = Store::new(Config::default());
        for start in [10, 10_000] {
            let edit = |slot: &mut Slot<'_>| {
                slot.set(vec![b'x'; start], Expiry::Clear);
                slot.edit_string(|bytes| bytes.extend_from_slice(&[b'y'; 20_000]));
                slot.edit_string(|bytes| {
                    bytes.truncate(1);
                    bytes.shrink_to_fit();
                    resume_unwind(Box::new(()))
                })
            };
            assert!(
                catch_unwind(AssertUnwindSafe(|| store.view(0, 0).update(b"k", edit))).is_err()
            );
            let memory = store
                .view(0, 0)
                .peek(b"k", |entry| entry.map_or(0, EntryRef::memory));
            assert_eq!(memory, store.memory().dataset + crate::entry::SLOT_BYTES);
        }
    }
}
