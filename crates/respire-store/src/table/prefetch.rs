//! The addresses of tables and entries, for prefetching them.

use core::sync::atomic::{AtomicU64, Ordering};

use super::{Table, find};
use crate::entry::Entry;
use crate::hash::Tag;
use crate::raw;

/// The bucket where an entry was found, or [`UNKNOWN`](Bucket::UNKNOWN). It is only a hint: entries move.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Bucket(usize);

impl Bucket {
    /// No bucket.
    pub(crate) const UNKNOWN: Bucket = Bucket(usize::MAX);

    /// Returns whether this bucket has the entry of `key`.
    #[inline(always)]
    fn is_of(self, table: &Table, tag: Tag, key: &[u8]) -> bool {
        match table.at(self.0) {
            Some(entry) => entry.is(tag, key),
            None => false,
        }
    }

    /// Finds the entry of a key. It looks at this bucket first, then searches the table.
    #[inline(always)]
    pub(crate) fn find<'t>(self, table: &'t Table, hash: u64, key: &[u8]) -> Option<&'t Entry> {
        if self.is_of(table, Tag::new(hash), key) {
            table.at(self.0)
        } else {
            find(table, hash, key)
        }
    }

    /// Finds the entry of a key like [`Bucket::find`], for changing it.
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

/// The address of a table and, above [`ADDRESS_BITS`], the logarithm of its number of buckets. It is
/// written under the shard's write lock and read without a lock, so a reader may find it out of date.
#[derive(Default)]
pub(crate) struct Whereabouts(AtomicU64);

/// Bits of an address. No 64-bit machine has longer addresses in user space.
const ADDRESS_BITS: u32 = 58;

const LINE_BYTES: usize = 64;

/// Largest number of control bytes that a search compares at once.
const GROUP_BYTES: usize = 16;

/// Largest number of an entry's cache lines that are loaded; the hardware prefetcher loads the rest.
const ENTRY_LINES_MAX: usize = 8;

impl Whereabouts {
    /// Stores the address of a table.
    pub(crate) fn note(&self, table: &Table) {
        self.0.store(self.pack(table), Ordering::Relaxed);
    }

    /// Stores the address of a table if it has moved. A table moves only if its size changes.
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
            // There is nothing to load; this word's own address is harmless and near.
            None => core::ptr::from_ref(self).addr() as u64,
        }
    }

    /// Returns whether the stored address is the table's. For debug assertions. O(buckets) at worst.
    pub(crate) fn are_of(&self, table: &Table) -> bool {
        let noted = self.0.load(Ordering::Relaxed);
        // The address of an empty table is unknown, but it has not changed.
        table.is_empty() || noted == self.pack(table)
    }

    /// Begins to load the control bytes and the slots that a search for `hash` reads first.
    #[inline]
    pub(crate) fn prefetch(&self, hash: u64) {
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

/// Returns the logarithm of a table's number of buckets.
#[inline]
fn log_of(table: &Table) -> u64 {
    u64::from(table.buckets().trailing_zeros())
}

/// Finds the entry of a hash in the part of the table that `Database::prefetch` loaded, begins to load the
/// entry, and returns its bucket.
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

/// Begins to load an entry's first allocation.
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
