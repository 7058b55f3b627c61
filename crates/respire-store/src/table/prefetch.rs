//! Where a table and its entries lie, for those who load them ahead.

use core::sync::atomic::{AtomicU64, Ordering};

use super::{Table, find};
use crate::entry::Entry;
use crate::hash::Tag;
use crate::raw;

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

    /// Whether this is where the table lies. O(buckets) at worst.
    pub(crate) fn are_of(&self, table: &Table) -> bool {
        let noted = self.0.load(Ordering::Relaxed);
        // A table that is empty does not tell where it lies, but stays there.
        table.is_empty() || noted == self.pack(table)
    }

    /// Loads the control bytes and the slots that a search for `hash` begins with.
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

/// The logarithm of a table's buckets.
#[inline]
fn log_of(table: &Table) -> u64 {
    u64::from(table.buckets().trailing_zeros())
}

/// Finds the entry of a hash in what `Database::prefetch` loaded, and begins to load it too; where
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
