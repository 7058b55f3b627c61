//! The shards of a database and their tables. Only this module uses hashbrown.
//!
//! A shard is DashMap's lock around a table, on its own cache lines. The table is the newest hashbrown's,
//! because the old one in DashMap gives neither an entry's bucket nor a bucket's entry
//! (docs/decisions/001-tables-of-shards.md).
//!
//! The store relies on two properties beyond hashbrown's interface, which the tests below check:
//!
//! - a search for an entry starts at its *home*, the low bits of its hash, and distinguishes entries by the
//!   highest seven bits of the hash as a `usize`. [`Tag`] and [`HashPart`](crate::hash::HashPart) keep
//!   only these bits, and SCAN goes from home to home;
//! - slots lie below the control bytes, in falling order. Only prefetches rely on it: if it were wrong,
//!   they would be useless, but nothing would break.

mod prefetch;
mod scan;

use core::mem::size_of;
use core::sync::atomic::{AtomicU32, Ordering};

use dashmap::RwLock;
use hashbrown::HashTable;
use hashbrown::hash_table::IntoIter;

use crate::entry::{Entry, SLOT_BYTES};
use crate::hash::Tag;

pub(crate) use prefetch::{Bucket, Whereabouts, entry_of};
pub(crate) use scan::{Allowance, Cursor, scan_from};

/// The shards of a database.
pub(crate) struct Shards(Box<[Shard]>);

/// A shard: a table and its lock. It shares no pair of cache lines with another shard, as machines load
/// lines in pairs.
#[repr(align(128))]
struct Shard(RwLock<Table>);

const _: () = assert!(size_of::<Shard>() == 128);

impl Shards {
    /// Makes this many shards, with room for `capacity` entries in total.
    pub(crate) fn new(shards: usize, capacity: usize) -> Shards {
        let each = capacity.div_ceil(shards);
        let shard = || Shard(RwLock::new(Table::with_capacity(each)));
        Shards((0..shards).map(|_| shard()).collect())
    }

    #[inline]
    pub(crate) fn lock(&self, shard: usize) -> &RwLock<Table> {
        &self.0[shard].0
    }
}

/// The entries of one shard.
#[derive(Default)]
pub(crate) struct Table {
    entries: HashTable<Entry>,
    /// How many times an entry was moved to another bucket, modulo 2^32. It is written under the write lock only.
    moves: AtomicU32,
}

/// The entries of a consumed table.
pub(crate) type Entries = IntoIter<Entry>;

impl Table {
    fn with_capacity(capacity: usize) -> Table {
        Table {
            entries: HashTable::with_capacity(capacity),
            moves: AtomicU32::new(0),
        }
    }

    /// Returns how many times an entry was moved to another bucket, modulo 2^32. While it stays the same, every
    /// entry stays in its bucket.
    pub(crate) fn moves(&self) -> u32 {
        self.moves.load(Ordering::Relaxed)
    }

    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Returns the number of buckets. It is 1 for a table without memory.
    #[inline]
    pub(crate) fn buckets(&self) -> usize {
        self.entries.num_buckets()
    }

    /// Returns whether the table has memory.
    #[inline]
    pub(crate) fn has_memory(&self) -> bool {
        self.entries.capacity() > 0
    }

    /// Returns the bytes of the table.
    pub(crate) fn bytes(&self) -> usize {
        if self.has_memory() {
            self.buckets() * SLOT_BYTES
        } else {
            0
        }
    }

    /// Iterates over all entries, in no particular order. O(buckets).
    pub(crate) fn entries(&self) -> impl Iterator<Item = &Entry> {
        self.entries.iter()
    }

    /// Iterates over all entries, starting at a bucket that `random` selects and wrapping around.
    pub(crate) fn entries_from(&self, random: u64) -> impl Iterator<Item = &Entry> {
        let buckets = self.buckets();
        (0..buckets).filter_map(move |step| {
            let index = (random as usize).wrapping_add(step) & (buckets - 1);
            self.at(index)
        })
    }

    pub(crate) fn into_entries(self) -> Entries {
        self.entries.into_iter()
    }

    #[inline]
    pub(crate) fn find(&self, hash: u64, wanted: impl FnMut(&Entry) -> bool) -> Option<&Entry> {
        self.entries.find(hash, wanted)
    }

    #[inline]
    pub(crate) fn find_mut(
        &mut self,
        hash: u64,
        wanted: impl FnMut(&Entry) -> bool,
    ) -> Option<&mut Entry> {
        self.entries.find_mut(hash, wanted)
    }

    /// Finds an entry, and returns its bucket too.
    #[inline(always)]
    pub(crate) fn find_bucket(
        &self,
        hash: u64,
        wanted: impl FnMut(&Entry) -> bool,
    ) -> Option<(usize, &Entry)> {
        let index = self.entries.find_bucket_index(hash, wanted)?;
        Some((index, self.at(index)?))
    }

    /// Iterates over the entries that a search for `hash` meets: those with its home and its seven bits, and
    /// perhaps some with these bits and another home.
    pub(crate) fn met_by(&self, hash: u64) -> impl Iterator<Item = &Entry> {
        self.entries.iter_hash(hash)
    }

    /// Returns the entry in this bucket; `None` if the bucket is empty or does not exist.
    #[inline(always)]
    pub(crate) fn at(&self, bucket: usize) -> Option<&Entry> {
        self.entries.get_bucket(bucket)
    }

    /// Returns the entry in this bucket for changing it.
    #[inline(always)]
    pub(crate) fn at_mut(&mut self, bucket: usize) -> Option<&mut Entry> {
        self.entries.get_bucket_mut(bucket)
    }

    /// Adds an entry whose key must not be in the table. A table that grows calls `rehash` for all other entries.
    pub(crate) fn insert(&mut self, hash: u64, entry: Entry, rehash: impl Fn(&Entry) -> u64) {
        // Counted where an entry moves, so that an insertion that moves none costs nothing.
        self.entries
            .insert_unique(hash, entry, count_moves(&self.moves, rehash));
    }

    /// Makes room for more entries. A table that grows calls `rehash` for all that it has.
    pub(crate) fn reserve(&mut self, entries: usize, rehash: impl Fn(&Entry) -> u64) {
        self.entries
            .reserve(entries, count_moves(&self.moves, rehash));
    }

    pub(crate) fn remove(
        &mut self,
        hash: u64,
        wanted: impl FnMut(&Entry) -> bool,
    ) -> Option<Entry> {
        let found = self.entries.find_entry(hash, wanted).ok()?;
        Some(found.remove().0)
    }

    /// Gives back memory beyond what `capacity` entries need, or the present entries if they are more.
    pub(crate) fn shrink_to(&mut self, capacity: usize, rehash: impl Fn(&Entry) -> u64) {
        self.entries
            .shrink_to(capacity, count_moves(&self.moves, rehash));
    }

    /// Returns the address where slots end and control bytes begin. It is computed from any entry; `None` if
    /// the table is empty.
    pub(crate) fn control_address(&self) -> Option<usize> {
        let bucket = self.entries.iter_buckets().next()?;
        let slot = core::ptr::from_ref(self.at(bucket)?).addr();
        Some(slot + (bucket + 1) * size_of::<Entry>())
    }
}

/// Wraps a function that hashes an entry which is about to be moved.
fn count_moves(moves: &AtomicU32, rehash: impl Fn(&Entry) -> u64) -> impl Fn(&Entry) -> u64 {
    move |entry| {
        moves.store(
            moves.load(Ordering::Relaxed).wrapping_add(1),
            Ordering::Relaxed,
        );
        rehash(entry)
    }
}

#[inline]
pub(crate) fn find<'t>(table: &'t Table, hash: u64, key: &[u8]) -> Option<&'t Entry> {
    let tag = Tag::new(hash);
    table.find(hash, |entry| entry.is(tag, key))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::Tag;
    use crate::hash::mix;
    use crate::types::NewValue;

    fn table(keys: u64) -> Table {
        let mut table = Table::default();
        (0..keys).for_each(|key| insert(&mut table, key));
        table
    }

    fn insert(table: &mut Table, key: u64) {
        table.insert(mix(key), entry(key, mix(key)), |entry| mix(number(entry)));
    }

    fn entry(key: u64, hash: u64) -> Entry {
        Entry::new(
            &key.to_le_bytes(),
            Tag::new(hash),
            NewValue::Int(1),
            None,
            0,
        )
    }

    fn number(entry: &Entry) -> u64 {
        u64::from_le_bytes(entry.key().try_into().unwrap())
    }

    fn sorted<'t>(entries: impl Iterator<Item = &'t Entry>) -> Vec<u64> {
        let mut numbers: Vec<u64> = entries.map(number).collect();
        numbers.sort_unstable();
        numbers
    }

    #[test]
    fn iteration_returns_every_entry_once() {
        for keys in [0, 1, 3, 4, 28, 29, 100] {
            let mut table = table(keys);
            let expected: Vec<u64> = (0..keys).collect();
            assert_eq!(sorted(table.entries()), expected);
            for random in [0, 1, 17, u64::MAX] {
                assert_eq!(sorted(table.entries_from(random)), expected);
            }
            for key in (0..keys).step_by(2) {
                let removed = table.remove(mix(key), |entry| number(entry) == key);
                assert!(removed.is_some());
            }
            let expected: Vec<u64> = (0..keys).filter(|key| key % 2 == 1).collect();
            assert_eq!(sorted(table.entries()), expected);
            assert_eq!(sorted(table.entries_from(5)), expected);
            let mut left: Vec<u64> = table.into_entries().map(|it| number(&it)).collect();
            left.sort_unstable();
            assert_eq!(left, expected);
        }
    }

    #[test]
    fn bucket_returns_its_entry_and_none_if_it_does_not_exist() {
        for keys in [0, 1, 28] {
            let mut table = table(keys);
            for key in 0..keys {
                let wanted = |entry: &Entry| entry.tag() == Tag::new(mix(key));
                let (index, entry) = table.find_bucket(mix(key), wanted).unwrap();
                assert_eq!(number(entry), key);
                assert_eq!(table.at(index).map(number), Some(key));
                assert_eq!(table.at_mut(index).map(|it| number(it)), Some(key));
            }
            let full = (0..table.buckets()).filter(|index| table.at(*index).is_some());
            assert_eq!(full.count() as u64, keys);
            assert!(table.at(table.buckets()).is_none());
            assert!(table.at_mut(usize::MAX).is_none());
        }
    }

    #[test]
    fn entries_from_starts_at_the_selected_bucket() {
        let table = table(28);
        let firsts: Vec<u64> = (0..32)
            .filter_map(|at| table.entries_from(at).next().map(number))
            .collect();
        assert!(firsts.iter().any(|first| *first != firsts[0]));
    }

    /// A table must use only the bits of a hash that a tag keeps.
    #[test]
    fn table_uses_only_the_bits_of_a_hash_that_a_tag_keeps() {
        let keys = if cfg!(miri) { 100 } else { 50_000 };
        // This sets a bit that a tag does not keep, so that the two hashes differ.
        let whole = |key: u64| mix(key) | 1 << 40;
        let known = |key: u64| Tag::new(whole(key)).table_hash();
        let mut table = Table::default();
        for key in 0..keys {
            // Inserted with one hash, and moved on growth with another hash of the same tag.
            table.insert(whole(key), entry(key, whole(key)), |entry| {
                known(number(entry))
            });
        }
        for key in 0..keys {
            assert_ne!(whole(key), known(key));
            for hash in [whole(key), known(key)] {
                let found = table.find(hash, |entry| number(entry) == key);
                assert!(found.is_some(), "{key}");
                assert!(table.met_by(hash).any(|entry| number(entry) == key));
            }
        }
    }

    #[test]
    fn entry_is_at_or_right_behind_its_home() {
        // With a few entries in a large table, each is at its home or right behind it.
        let mut table = Table::with_capacity(1 << 10);
        let mask = table.buckets() - 1;
        for key in 0..16 {
            insert(&mut table, key);
            let wanted = |entry: &Entry| number(entry) == key;
            let (bucket, _) = table.find_bucket(mix(key), wanted).unwrap();
            let behind = bucket.wrapping_sub(mix(key) as usize) & mask;
            assert!(behind < 16, "{key}: {behind} behind its home");
        }
    }

    #[test]
    fn slots_lie_below_the_control_bytes_in_falling_order() {
        assert_eq!(Table::default().control_address(), None);
        for keys in [1, 4, 29, 1_000] {
            let table = table(keys);
            let end = table.control_address().unwrap();
            for bucket in 0..table.buckets() {
                let slot = table.at(bucket).map(core::ptr::from_ref);
                let expected = end - (bucket + 1) * size_of::<Entry>();
                assert!(slot.is_none_or(|slot| slot.addr() == expected));
            }
            // One control byte per bucket and a copied group at the end; nothing else.
            let groups = table.entries.allocation_size() - table.bytes();
            assert!(groups <= 16, "{groups}");
        }
    }

    #[test]
    fn table_moves_only_if_its_size_changes() {
        let mut table = table(20);
        let place = |table: &Table| (table.buckets(), table.control_address());
        let mut before = place(&table);
        for key in 20..2_000 {
            // Removals leave tombstones, which the table cleans up in place.
            insert(&mut table, key);
            let removed = table.remove(mix(key - 20), |entry| number(entry) == key - 20);
            assert!(removed.is_some());
            let now = place(&table);
            assert!(now.0 != before.0 || now == before);
            before = now;
        }
        table.shrink_to(40, |entry| mix(number(entry)));
        assert_eq!(place(&table), before);
        table.shrink_to(0, |entry| mix(number(entry)));
        assert!(table.buckets() < before.0);
    }

    #[test]
    fn shards_have_room_for_their_part_of_the_capacity() {
        let shards = Shards::new(4, 100);
        assert!((0..4).all(|shard| shards.lock(shard).read().entries.capacity() >= 25));
        let empty = Shards::new(2, 0);
        assert_eq!(empty.lock(1).read().bytes(), 0);
    }
}
