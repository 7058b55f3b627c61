//! Looks ahead: loads the memory of coming look-ups while earlier requests run.
//!
//! A look-up in a store that is larger than the caches waits for memory three times, each time for an
//! address that the load before it returned: the table's control bytes and slot, the entry, its value.
//! A caller that knows the next keys prefetches them in steps, so that the waits of many look-ups
//! overlap. All of this is a hint: it has no visible effect, and if an entry has moved meanwhile, the
//! load was merely useless.

use super::Store;
use crate::table::{Bucket, entry_of};
use crate::types::ValueRef;

/// A key that will soon be used, with its hash and perhaps the place of its entry.
///
/// Only [`Store::prefetch`] makes one. It borrows the key, so the hash is always the hash of these bytes. A
/// [view](crate::View::foresee) of a store with another hash function ignores it.
#[derive(Clone, Copy)]
pub struct Foreseen<'k> {
    key: &'k [u8],
    hash: u64,
    bucket: Bucket,
    /// The id of the hash function ([`Store::hash_id`]).
    hash_id: u64,
}

impl<'k> Foreseen<'k> {
    /// The key.
    #[must_use]
    pub fn key(&self) -> &'k [u8] {
        self.key
    }

    /// Returns whether this store has the same hash function.
    #[inline]
    pub(crate) fn is_of(&self, store: &Store) -> bool {
        self.hash_id == store.hash_id()
    }

    /// Returns the hash and the bucket if `key` is the same slice: the same address and length.
    #[inline(always)]
    pub(crate) fn of_slice(&self, key: &[u8]) -> Option<(u64, Bucket)> {
        core::ptr::eq(self.key, key).then_some((self.hash, self.bucket))
    }
}

impl core::fmt::Debug for Foreseen<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Foreseen")
            .field("key", &self.key.escape_ascii().to_string())
            .finish_non_exhaustive()
    }
}

impl Store {
    /// Returns whether the store is larger than the caches ([`Config::cached_bytes`](crate::Config)), so
    /// that looking ahead pays.
    #[must_use]
    #[inline]
    pub fn is_beyond_caches(&self) -> bool {
        self.gauge() >= self.cached_bytes()
    }

    /// Does the first step of looking ahead: hashes a key, and begins to load the part of the table
    /// where its look-up starts. Takes no lock. O(key's length).
    ///
    /// ```
    /// use respire_store::{Config, Expiry, Store};
    ///
    /// let store = Store::new(Config::default());
    /// let keys = [b"a".as_slice(), b"b", b"c"];
    /// let mut foreseen = keys.map(|key| store.prefetch(0, key));
    /// for key in &mut foreseen {
    ///     store.prefetch_entry(0, key);
    /// }
    /// for foreseen in &foreseen {
    ///     let mut view = store.view(0, 0);
    ///     view.foresee(foreseen);
    ///     view.update(foreseen.key(), |slot| slot.set(1, Expiry::Clear));
    /// }
    /// assert_eq!(store.len(0), 3);
    /// ```
    ///
    /// The result borrows the key, so the key's bytes cannot change meanwhile:
    ///
    /// ```compile_fail,E0506
    /// use respire_store::{Config, Store};
    ///
    /// let store = Store::new(Config::default());
    /// let mut key = *b"one";
    /// let foreseen = store.prefetch(0, &key);
    /// key = *b"two";
    /// store.view(0, 0).foresee(&foreseen);
    /// ```
    ///
    /// # Panics
    ///
    /// If there is no database `db`.
    #[inline]
    pub fn prefetch<'k>(&self, db: u32, key: &'k [u8]) -> Foreseen<'k> {
        let hash = self.hash(key);
        if let Some(db) = self.existing_database(db) {
            db.prefetch(hash);
        }
        Foreseen {
            key,
            hash,
            bucket: Bucket::UNKNOWN,
            hash_id: self.hash_id(),
        }
    }

    /// Does the second step, some dozens of nanoseconds after the first: finds the entry in the loaded part
    /// of the table, stores its place in `foreseen`, and begins to load the entry. Takes the shard's lock for
    /// reading; does nothing if it would have to wait for it.
    ///
    /// # Panics
    ///
    /// If there is no database `db`.
    #[inline]
    pub fn prefetch_entry(&self, db: u32, foreseen: &mut Foreseen<'_>) {
        if let Some(db) = self.existing_database(db)
            && let Some(table) = db.lock(db.shard_of(foreseen.hash)).try_read()
        {
            foreseen.bucket = entry_of(&table, foreseen.hash);
        }
    }

    /// Does the third step, for a request that names an element of the value (a field, a member): begins to
    /// load what the search for the element reads first. Returns whether a fourth step is useful
    /// ([`Store::prefetch_found`]). Takes the shard's lock for reading; does nothing if it would have to wait
    /// for it.
    ///
    /// # Panics
    ///
    /// If there is no database `db`.
    pub fn prefetch_element(&self, db: u32, foreseen: &Foreseen<'_>, element: &[u8]) -> bool {
        self.value_of(db, foreseen, |value| value.warm(element)) == Some(true)
    }

    /// Does the third and last step for a request that names an element of the value by its rank: searches for
    /// it, and begins to load it. A negative rank counts from the last element, which is -1. Takes the shard's
    /// lock as [`Store::prefetch_element`] does. O(log n).
    ///
    /// # Panics
    ///
    /// If there is no database `db`.
    pub fn prefetch_rank(&self, db: u32, foreseen: &Foreseen<'_>, rank: i64) {
        self.value_of(db, foreseen, |value| value.warm_rank(rank));
    }

    /// Does the fourth step, for an element of a large value: searches for it in what the third step loaded,
    /// and begins to load it. Takes the shard's lock as the third step does.
    ///
    /// # Panics
    ///
    /// If there is no database `db`.
    pub fn prefetch_found(&self, db: u32, foreseen: &Foreseen<'_>, element: &[u8]) {
        self.value_of(db, foreseen, |value| value.warm_found(element));
    }

    /// Calls `f` with the value of a key, if its shard is free.
    #[inline]
    fn value_of<R>(
        &self,
        db: u32,
        foreseen: &Foreseen<'_>,
        f: impl FnOnce(ValueRef<'_>) -> R,
    ) -> Option<R> {
        let db = self.existing_database(db)?;
        let table = db.lock(db.shard_of(foreseen.hash)).try_read()?;
        let entry = foreseen.bucket.find(&table, foreseen.hash, foreseen.key)?;
        Some(f(entry.value()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Config, Expiry, Freeing, View};

    #[test]
    fn prefetching_changes_nothing_even_if_entries_have_moved() {
        let store = Store::new(Config {
            databases: 2,
            shards: 2,
            cached_bytes: 0,
            ..Config::default()
        });
        assert!(store.is_beyond_caches());
        let keys: Vec<[u8; 4]> = (0..2_000_u32).map(u32::to_le_bytes).collect();
        // Some keys do not exist yet, and the tables of others have grown meanwhile.
        let mut ahead: Vec<Foreseen<'_>> = keys.iter().map(|key| store.prefetch(0, key)).collect();
        for at in 0..keys.len() {
            store.prefetch_entry(0, &mut ahead[at]);
            store.prefetch_entry(1, &mut ahead[at]);
            // The bucket of another key, or one that the entry has left, has no effect.
            ahead[at].bucket = ahead[at / 3].bucket;
            let mut view = store.view(0, 0);
            view.foresee(&ahead[at]);
            view.update(&keys[at], |slot| {
                slot.set([b'v'; 300].to_vec(), Expiry::Clear);
            });
            store.prefetch_entry(0, &mut ahead[at / 2]);
            store.prefetch_element(0, &ahead[at / 2], b"element");
        }
        const PUSHED: crate::EventName = crate::EventName {
            class: 1,
            name: "pushed",
        };
        let push = |stack: &mut crate::Stack| {
            stack.push(b"element");
            crate::Edited::Changed(())
        };
        let pushed = store.view(0, 0).update(&keys[3], |slot| {
            slot.remove();
            slot.edit(PUSHED, push)
        });
        assert_eq!(pushed, Ok(()));
        store.prefetch_element(0, &ahead[3], b"element");
        store.prefetch_element(1, &ahead[3], b"element");
        store.prefetch_rank(0, &ahead[3], 0);
        assert_eq!(store.len(0), 2_000);
        assert!(store.view(0, 0).read(&keys[7], |entry| entry.is_some()));
        let section = store.lock(&crate::Scope::Database(0));
        // The shards are locked: prefetching must not wait for them.
        ahead
            .iter_mut()
            .for_each(|key| store.prefetch_entry(0, key));
        drop(section);
        store.view(0, 0).flush(Freeing::AtOnce);
        ahead
            .iter_mut()
            .for_each(|key| store.prefetch_entry(0, key));
    }

    #[test]
    fn foreseen_hash_applies_to_its_own_slice_only() {
        let store = Store::new(Config::default());
        let (key, same) = (b"key".to_vec(), b"key".to_vec());
        let mut view = store.view(0, 0);
        view.update(&key, |slot| slot.set(1, Expiry::Clear));
        let wrong = Foreseen {
            hash: !0,
            ..store.prefetch(0, &key)
        };
        view.foresee(&wrong);
        assert!(view.peek(&same, |entry| entry.is_some()));
        assert!(view.peek(&key, |entry| entry.is_none()));
    }

    #[test]
    fn view_ignores_a_foreseen_key_of_another_hash_function() {
        let store = |seed| {
            Store::new(Config {
                seed: [seed; 4],
                ..Config::default()
            })
        };
        let (one, same, other) = (store(1), store(1), store(2));
        for (ahead, is_taken) in [(&one, true), (&same, true), (&other, false)] {
            let foreseen = ahead.prefetch(0, b"key");
            let mut view: View<'_> = one.view(0, 0);
            view.foresee(&foreseen);
            assert_eq!(view.foreseen.is_some(), is_taken);
            view.update(foreseen.key(), |slot| slot.set(1, Expiry::Clear));
            assert!(one.view(0, 0).read(b"key", |entry| entry.is_some()));
        }
    }
}
