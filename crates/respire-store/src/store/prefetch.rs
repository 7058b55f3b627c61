//! Looking ahead: what a look-up will touch is loaded while others still run.
//!
//! A look-up in a store beyond the caches waits for memory three times, each time for an address that
//! only the last answer told: the table's control bytes and slot, the entry, its value. Whoever knows
//! which keys come next asks for them in two steps, so that the waiting of many overlaps. All of this
//! is a hint: nothing is read or changed that anyone could see, and what has moved meanwhile is only
//! loaded in vain.

use super::Store;
use crate::table::{Bucket, entry_of};

/// A key that will soon be used, and what is known of it: its hash, and perhaps where its entry lies.
///
/// Only [`Store::prefetch`] makes one. It borrows the key, so the hash is always that of these very bytes;
/// and a [view](crate::View::foresee) of a store that hashes otherwise leaves it out of account.
#[derive(Clone, Copy)]
pub struct Foreseen<'k> {
    key: &'k [u8],
    hash: u64,
    bucket: Bucket,
    /// Which function the hash is of ([`Store::hash_id`]).
    hash_id: u64,
}

impl<'k> Foreseen<'k> {
    /// The key.
    #[must_use]
    pub fn key(&self) -> &'k [u8] {
        self.key
    }

    /// Whether the hash is one of this store.
    #[inline]
    pub(crate) fn is_of(&self, store: &Store) -> bool {
        self.hash_id == store.hash_id()
    }

    /// Hash and bucket, if this is the very slice that they are known of.
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
    /// Whether the store is beyond what caches hold, so that looking ahead pays.
    #[must_use]
    #[inline]
    pub fn is_beyond_caches(&self) -> bool {
        self.gauge() >= self.cached_bytes()
    }

    /// The first step of looking ahead: hashes a key, and begins to load the part of the table where
    /// it is looked for. Takes no lock.
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
    /// What is known of a key holds for its bytes as they were, so they cannot change meanwhile:
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

    /// The second step, some dozens of nanoseconds after the first: finds the entry in what the first
    /// step loaded, notes where it is, and begins to load the entry itself. Takes the shard's lock for
    /// reading, or does nothing where it would have to wait.
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

    /// The third step, for a request that names an element of the value as well (a field, a member): begins to
    /// load what the search for the element reads first. Takes the shard's lock for reading, or does nothing where
    /// it would have to wait.
    ///
    /// # Panics
    ///
    /// If there is no database `db`.
    pub fn prefetch_element(&self, db: u32, foreseen: &Foreseen<'_>, element: &[u8]) {
        if let Some(db) = self.existing_database(db)
            && let Some(table) = db.lock(db.shard_of(foreseen.hash)).try_read()
            && let Some(entry) = foreseen.bucket.find(&table, foreseen.hash, foreseen.key)
        {
            entry.value().warm(element);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Config, Expiry, Freeing, View};

    #[test]
    fn looking_ahead_changes_nothing_whatever_has_moved() {
        let store = Store::new(Config {
            databases: 2,
            shards: 2,
            cached_bytes: 0,
            ..Config::default()
        });
        assert!(store.is_beyond_caches());
        let keys: Vec<[u8; 4]> = (0..2_000_u32).map(u32::to_le_bytes).collect();
        // Neither those that are not there yet nor those whose table has grown since matter.
        let mut ahead: Vec<Foreseen<'_>> = keys.iter().map(|key| store.prefetch(0, key)).collect();
        for at in 0..keys.len() {
            store.prefetch_entry(0, &mut ahead[at]);
            store.prefetch_entry(1, &mut ahead[at]);
            // The bucket of another key, or one that the entry has left, is as good as none.
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
        assert_eq!(store.len(0), 2_000);
        assert!(store.view(0, 0).read(&keys[7], |entry| entry.is_some()));
        let section = store.lock(&crate::Scope::Database(0));
        // The shards are locked: nothing waits.
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
    fn what_is_foreseen_counts_for_its_own_slice_only() {
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
    fn what_another_store_foresees_is_left_out_of_account() {
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
