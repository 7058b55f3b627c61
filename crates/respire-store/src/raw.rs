//! Walking a table and loading memory ahead: the one place where `unsafe` is allowed.
//!
//! hashbrown's raw iterators are unsafe only because they carry no lifetime; here they are given
//! the table's. A prefetch is unsafe only because it takes a pointer.
#![expect(
    unsafe_code,
    reason = "raw iterators carry no lifetime, prefetches take pointers"
)]

use crate::database::Table;
use crate::entry::Entry;
use crate::hash::Tag;

/// Every entry of the table, in no particular order.
pub(crate) fn entries(table: &Table) -> impl Iterator<Item = &Entry> {
    // SAFETY: what is returned borrows `table`, so meanwhile the table lives and does not change.
    let buckets = unsafe { table.iter() };
    buckets.map(|bucket| {
        // SAFETY: the bucket is full, as it came from that iterator; it is borrowed no longer than `table`.
        let (entry, _) = unsafe { bucket.as_ref() };
        entry
    })
}

/// The table's entries from a place that `random` chooses, going round once.
pub(crate) fn entries_from(table: &Table, random: u64) -> impl Iterator<Item = &Entry> {
    let buckets = table.buckets();
    // A table without entries may have no memory behind its one bucket.
    let visited = if table.is_empty() { 0 } else { buckets };
    (0..visited).filter_map(move |step| {
        let index = (random as usize).wrapping_add(step) & (buckets - 1);
        entry_at(table, index)
    })
}

/// An entry that may well be the one of `hash`, and its bucket.
#[inline(always)]
pub(crate) fn find_tag(table: &Table, hash: u64, tag: Tag) -> Option<(usize, &Entry)> {
    let bucket = table.find(hash, |(entry, _)| entry.tag() == tag)?;
    // SAFETY: the bucket is the table's own, and full, as it was found there just now; and `table` is
    // borrowed for as long as the entry.
    let (index, (entry, _)) = unsafe { (table.bucket_index(&bucket), bucket.as_ref()) };
    Some((index, entry))
}

/// Whether there is a bucket of this number, and an entry in it.
#[inline(always)]
fn is_full(table: &Table, index: usize) -> bool {
    // SAFETY: `index` is less than the number of buckets. A table without memory has one bucket, whose
    // control byte lies in a constant and says that it is empty.
    index < table.buckets() && unsafe { table.is_bucket_full(index) }
}

/// The entry in the bucket of this number, if there is one.
#[inline(always)]
pub(crate) fn entry_at(table: &Table, index: usize) -> Option<&Entry> {
    if !is_full(table, index) {
        return None;
    }
    // SAFETY: there is such a bucket, and it is full; and `table` is borrowed for as long as the entry.
    let (entry, _) = unsafe { table.bucket(index).as_ref() };
    Some(entry)
}

/// The same, to change it.
#[inline(always)]
pub(crate) fn entry_at_mut(table: &mut Table, index: usize) -> Option<&mut Entry> {
    if !is_full(table, index) {
        return None;
    }
    // SAFETY: as above; and `table` is borrowed for nobody else.
    let (entry, _) = unsafe { table.bucket(index).as_mut() };
    Some(entry)
}

/// Begins to load the line of memory at `address`, where the machine has a way to.
#[inline(always)]
pub(crate) fn prefetch(address: usize) {
    #[cfg(target_arch = "x86_64")]
    {
        use core::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        let line = core::ptr::without_provenance::<i8>(address);
        // SAFETY: a prefetch neither reads nor faults, at whatever address; its feature, SSE, is part
        // of the architecture.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(line) }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = address;
}

#[cfg(test)]
mod tests {
    use dashmap::SharedValue;

    use super::*;
    use crate::value::NewValue;

    fn table(keys: u64) -> Table {
        let mut table = Table::new();
        for key in 0..keys {
            insert(&mut table, key);
        }
        table
    }

    fn hash(key: u64) -> u64 {
        crate::database::mix(key)
    }

    fn insert(table: &mut Table, key: u64) {
        let entry = Entry::new(
            &key.to_le_bytes(),
            Tag::new(hash(key)),
            NewValue::Int(1),
            None,
            0,
        );
        table.insert(hash(key), (entry, SharedValue::new(())), |(entry, _)| {
            hash(number(entry))
        });
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
    fn entries_of_any_table_come_once_each() {
        for keys in [0, 1, 3, 4, 28, 29, 100] {
            let mut table = table(keys);
            let expected: Vec<u64> = (0..keys).collect();
            assert_eq!(sorted(entries(&table)), expected);
            for random in [0, 1, 17, u64::MAX] {
                assert_eq!(sorted(entries_from(&table, random)), expected);
            }
            for key in (0..keys).step_by(2) {
                let removed = table.remove_entry(hash(key), |(entry, _)| number(entry) == key);
                assert!(removed.is_some());
            }
            let expected: Vec<u64> = (0..keys).filter(|key| key % 2 == 1).collect();
            assert_eq!(sorted(entries(&table)), expected);
            assert_eq!(sorted(entries_from(&table, 5)), expected);
        }
    }

    #[test]
    fn buckets_give_their_entry_and_those_that_are_not_there_none() {
        for keys in [0, 1, 28] {
            let mut table = table(keys);
            for key in 0..keys {
                let (index, entry) = find_tag(&table, hash(key), Tag::new(hash(key))).unwrap();
                assert_eq!(number(entry), key);
                assert_eq!(entry_at(&table, index).map(number), Some(key));
                assert_eq!(
                    entry_at_mut(&mut table, index).map(|it| number(it)),
                    Some(key)
                );
            }
            let full = (0..table.buckets()).filter(|index| entry_at(&table, *index).is_some());
            assert_eq!(full.count() as u64, keys);
            assert!(entry_at(&table, table.buckets()).is_none());
            assert!(entry_at_mut(&mut table, usize::MAX).is_none());
        }
    }

    #[test]
    fn entries_from_starts_where_it_is_told() {
        let table = table(28);
        let firsts: Vec<u64> = (0..32)
            .filter_map(|at| entries_from(&table, at).next().map(number))
            .collect();
        assert!(firsts.iter().any(|first| *first != firsts[0]));
    }
}
