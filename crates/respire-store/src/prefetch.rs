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

/// The hash of a key in one store, to be computed once and carried ([`View::foresee`](crate::View::foresee)).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KeyHash(pub(crate) u64);

impl KeyHash {
    /// The hash as a number, to pass through where this type is not known.
    #[must_use]
    pub fn to_bits(self) -> u64 {
        self.0
    }

    /// The hash that [`KeyHash::to_bits`] gave.
    #[must_use]
    pub fn from_bits(bits: u64) -> KeyHash {
        KeyHash(bits)
    }
}

/// The bucket of its shard's table where an entry was found ([`Store::prefetch_entry`]), if it was.
/// Only a hint: entries move.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bucket(usize);

impl Bucket {
    /// None.
    pub const UNKNOWN: Bucket = Bucket(usize::MAX);

    /// The bucket as a number, to pass through where this type is not known.
    #[must_use]
    pub fn to_bits(self) -> u64 {
        self.0 as u64
    }

    /// The bucket that [`Bucket::to_bits`] gave.
    #[must_use]
    pub fn from_bits(bits: u64) -> Bucket {
        Bucket(bits as usize)
    }

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
        raw::prefetch(core::ptr::from_ref(self.watches.count(shard)).addr());
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
    /// let hashes = keys.map(|key| store.prefetch(0, key));
    /// let buckets = hashes.map(|hash| store.prefetch_entry(0, hash));
    /// for ((key, hash), bucket) in keys.into_iter().zip(hashes).zip(buckets) {
    ///     let mut view = store.view(0, 0);
    ///     view.foresee(key, hash, bucket);
    ///     view.update(key, |slot| slot.set(1, Expiry::Clear));
    /// }
    /// assert_eq!(store.len(0), 3);
    /// ```
    ///
    /// # Panics
    ///
    /// If there is no database `db`.
    #[inline]
    pub fn prefetch(&self, db: u32, key: &[u8]) -> KeyHash {
        let hash = self.hash(key);
        if let Some(db) = self.existing_database(db) {
            db.prefetch(hash);
        }
        KeyHash(hash)
    }

    /// The second step, some dozens of nanoseconds after the first: finds the entry in what the first
    /// step loaded, and begins to load the entry itself. Takes the shard's lock for reading, or does
    /// nothing where it would have to wait. Returns where it was found.
    ///
    /// # Panics
    ///
    /// If there is no database `db`.
    #[inline]
    pub fn prefetch_entry(&self, db: u32, hash: KeyHash) -> Bucket {
        let KeyHash(hash) = hash;
        if let Some(db) = self.existing_database(db)
            && let Some(table) = db.lock(db.shard_of(hash)).try_read()
        {
            return entry_of(&table, hash);
        }
        Bucket::UNKNOWN
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Config, Expiry, Freeing};

    #[test]
    fn looking_ahead_changes_nothing_whatever_has_moved() {
        let store = Store::new(Config {
            databases: 2,
            shards: 2,
            cached_bytes: 0,
            ..Config::default()
        });
        assert!(store.is_beyond_caches());
        let mut hashes = Vec::new();
        for key in 0..2_000_u32 {
            let key = key.to_le_bytes();
            let hash = store.prefetch(0, &key);
            hashes.push(hash);
            // Neither those that are not there yet nor those whose table has grown since matter.
            store.prefetch_entry(0, hash);
            store.prefetch_entry(1, hash);
            let mut view = store.view(0, 0);
            // The bucket of another key, or one that the entry has left, is as good as none.
            view.foresee(
                &key,
                hash,
                store.prefetch_entry(0, hashes[hashes.len() / 3]),
            );
            view.update(&key, |slot| slot.set([b'v'; 300].to_vec(), Expiry::Clear));
            store.prefetch_entry(0, hashes[hashes.len() / 2]);
        }
        assert_eq!(store.len(0), 2_000);
        assert!(
            store
                .view(0, 0)
                .read(&7_u32.to_le_bytes(), |entry| entry.is_some())
        );
        let section = store.lock(&crate::Scope::Database(0));
        // The shards are locked: nothing waits.
        hashes.iter().for_each(|hash| {
            store.prefetch_entry(0, *hash);
        });
        drop(section);
        store.view(0, 0).flush(Freeing::AtOnce);
        hashes.iter().for_each(|hash| {
            store.prefetch_entry(0, *hash);
        });
        assert_eq!(KeyHash::from_bits(hashes[0].to_bits()), hashes[0]);
    }

    #[test]
    fn hash_foreseen_counts_for_its_own_slice_only() {
        let store = Store::new(Config::default());
        let (key, same) = (b"key".to_vec(), b"key".to_vec());
        let mut view = store.view(0, 0);
        view.update(&key, |slot| slot.set(1, Expiry::Clear));
        view.foresee(&key, KeyHash(!0), Bucket::UNKNOWN);
        assert!(view.peek(&same, |entry| entry.is_some()));
        assert!(view.peek(&key, |entry| entry.is_none()));
    }
}
