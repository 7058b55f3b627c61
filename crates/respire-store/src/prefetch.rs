//! Looking ahead: what a look-up will touch is loaded while others still run.
//!
//! A look-up in a store beyond the caches waits for memory three times, each time for an address that
//! only the last answer told: the table's control bytes and slot, the entry, its value. Whoever knows
//! which keys come next asks for them in two steps, so that the waiting of many overlaps. All of this
//! is a hint: nothing is read or changed that anyone could see, and what has moved meanwhile is only
//! loaded in vain.

use core::sync::atomic::{AtomicU64, Ordering};

use crate::database::{Database, find};
use crate::entry::Entry;
use crate::hash::Tag;
use crate::raw;
use crate::store::Store;
use crate::table::Table;

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

/// The bucket of its shard's table where an entry was found, if it was. Only a hint: entries move.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Bucket(usize);

impl Bucket {
    /// None.
    pub(crate) const UNKNOWN: Bucket = Bucket(usize::MAX);

    /// Whether this is the bucket of `key`.
    #[inline(always)]
    fn is_of(self, table: &Table, tag: Tag, key: &[u8]) -> bool {
        match table.at(self.0) {
            Some(entry) => entry.is(tag, key),
            None => false,
        }
    }

    /// The entry of a key: in this bucket, or wherever else it is.
    #[inline(always)]
    pub(crate) fn find<'t>(self, table: &'t Table, hash: u64, key: &[u8]) -> Option<&'t Entry> {
        if self.is_of(table, Tag::new(hash), key) {
            table.at(self.0)
        } else {
            find(table, hash, key)
        }
    }

    /// The same, to change it.
    #[inline(always)]
    pub(crate) fn find_mut<'t>(
        self,
        table: &'t mut Table,
        hash: u64,
        key: &[u8],
    ) -> Option<&'t mut Entry> {
        let tag = Tag::new(hash);
        if self.is_of(table, tag, key) {
            return table.at_mut(self.0);
        }
        table.find_mut(hash, |entry| entry.is(tag, key))
    }
}

/// Where a table lies: its address, and above [`ADDRESS_BITS`] the logarithm of its buckets. Written
/// by who holds the shard's write lock, read by anyone, who may find it out of date.
#[derive(Default)]
pub(crate) struct Whereabouts(AtomicU64);

/// No user's address is longer on any machine of 64 bits.
const ADDRESS_BITS: u32 = 58;

const LINE_BYTES: usize = 64;

/// Control bytes that a search looks at together, at most.
const GROUP_BYTES: usize = 16;

/// Lines of an entry that are loaded ahead; the machine's own look-ahead does the rest.
const ENTRY_LINES_MAX: usize = 8;

impl Whereabouts {
    /// Brings it up to date with a table that has moved: a table that has grown or shrunk.
    pub(crate) fn note(&self, table: &Table) {
        self.0.store(self.pack(table), Ordering::Relaxed);
    }

    /// The same, if the table has moved. One that keeps its size stays where it is.
    #[inline]
    pub(crate) fn note_if_moved(&self, table: &Table) {
        let noted = self.0.load(Ordering::Relaxed) >> ADDRESS_BITS;
        if noted != log_of(table) {
            self.note(table);
        }
    }

    fn pack(&self, table: &Table) -> u64 {
        match table.control_address() {
            Some(address) => address as u64 | log_of(table) << ADDRESS_BITS,
            // There is nothing to load; this word itself lies near.
            None => core::ptr::from_ref(self).addr() as u64,
        }
    }

    #[cfg(test)]
    pub(crate) fn are_of(&self, table: &Table) -> bool {
        let noted = self.0.load(Ordering::Relaxed);
        // A table that is empty does not tell where it lies, but stays there.
        table.is_empty() || noted == self.pack(table)
    }

    /// Loads the control bytes and the slots that a search for `hash` begins with.
    #[inline]
    fn prefetch(&self, hash: u64) {
        let packed = self.0.load(Ordering::Relaxed);
        let address = (packed & ((1 << ADDRESS_BITS) - 1)) as usize;
        let mask = (1_usize << (packed >> ADDRESS_BITS)) - 1;
        let home = hash as usize & mask;
        // A group of control bytes may go on in the next line.
        raw::prefetch(address.wrapping_add(home));
        raw::prefetch(address.wrapping_add(home + GROUP_BYTES - 1));
        // Slots lie below the control bytes, in falling order; most entries are at home or next to it.
        let slot = address.wrapping_sub((home + 1) * size_of::<Entry>());
        raw::prefetch(slot);
        raw::prefetch(slot.wrapping_sub(LINE_BYTES));
    }
}

/// The logarithm of a table's buckets.
#[inline]
fn log_of(table: &Table) -> u64 {
    u64::from(table.buckets().trailing_zeros())
}

impl Database {
    /// Loads what a search for `hash` begins with.
    #[inline(always)]
    pub(crate) fn prefetch(&self, hash: u64) {
        let shard = self.shard_of(hash);
        raw::prefetch(core::ptr::from_ref(self.lock(shard)).addr());
        raw::prefetch(core::ptr::from_ref(self.side(shard)).addr());
        self.whereabouts(shard).prefetch(hash);
    }
}

/// Finds the entry of a hash in what [`Database::prefetch`] loaded, and begins to load it too; where
/// it is.
#[inline]
pub(crate) fn entry_of(table: &Table, hash: u64) -> Bucket {
    let tag = Tag::new(hash);
    match table.find_bucket(hash, |entry| entry.tag() == tag) {
        Some((bucket, entry)) => {
            load(entry);
            Bucket(bucket)
        }
        None => Bucket::UNKNOWN,
    }
}

/// Loads an entry's allocation, as far as it is one.
#[inline]
fn load(entry: &Entry) {
    let (address, bytes) = entry.place();
    let end = address + bytes.min(ENTRY_LINES_MAX * LINE_BYTES);
    // What begins near the end of a line goes on in the next.
    let mut line = address & !(LINE_BYTES - 1);
    while line < end {
        raw::prefetch(line);
        line += LINE_BYTES;
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
