//! SCAN: an iteration whose only state is a number.
//!
//! A table puts an entry at or after its *home*: the low bits of its hash, log2(buckets) of them. When
//! a table doubles, home `h` splits into `h` and `h + size`; when it halves, they merge. The
//! homes are visited in the order of their *reversed* bits. In that order, the homes into which a home
//! splits take its place: visited homes stay visited, however the table's size changes between calls, so
//! an entry that stays is never missed. Redis's `dictScan` does the same. Unlike Redis's table, this one
//! has no chains, so the entries of a home are found by searching for each of the table's 128 tags.
//!
//! A cursor is `home * shards + shard`, so 0 is the start, and a finished iteration is back at 0.

use ahash::RandomState;

use super::Table;
use crate::entry::Entry;
use crate::hash::TOP_SHIFT;

/// A place in the iteration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Cursor {
    pub(crate) shard: usize,
    pub(crate) home: u64,
}

impl Cursor {
    pub(crate) fn from_number(number: u64, shards: usize) -> Cursor {
        let shards = shards as u64;
        Cursor {
            shard: (number % shards) as usize,
            home: number / shards,
        }
    }

    pub(crate) fn to_number(self, shards: usize) -> u64 {
        self.home * shards as u64 + self.shard as u64
    }

    /// Returns the start of the next shard, if there is one.
    pub(crate) fn next_shard(self, shards: usize) -> Option<Cursor> {
        let shard = self.shard + 1;
        (shard < shards).then_some(Cursor { shard, home: 0 })
    }
}

/// Homes visited before a shard's lock is released.
const HOLD_MAX: usize = 512;

/// The remaining work of a call.
pub(crate) struct Allowance {
    /// Entries still to be found.
    pub(crate) entries: usize,
    /// Homes that may still be visited: this bounds a call on a nearly empty table.
    pub(crate) homes: usize,
}

impl Allowance {
    /// Returns the work of a call for about `count` entries: ten homes for each, as in Redis.
    pub(crate) fn new(count: usize) -> Allowance {
        let entries = count.max(1);
        Allowance {
            entries,
            homes: entries.saturating_mul(10),
        }
    }

    pub(crate) fn is_used_up(&self) -> bool {
        self.entries == 0 || self.homes == 0
    }
}

/// Visits homes of a table from `home` on, until the allowance or [`HOLD_MAX`] is used up. Returns the next
/// home, or `None` at the end of the table.
pub(crate) fn scan_from(
    table: &Table,
    hasher: &RandomState,
    home: u64,
    allowance: &mut Allowance,
    f: &mut impl FnMut(&Entry),
) -> Option<u64> {
    if table.is_empty() {
        return None;
    }
    if home == 0 && table.len() <= allowance.entries.min(HOLD_MAX) {
        allowance.entries -= table.len();
        table.entries().for_each(f);
        return None;
    }
    let mask = table.buckets() as u64 - 1;
    let mut home = home;
    for _ in 0..HOLD_MAX {
        if allowance.is_used_up() {
            break;
        }
        let found = visit_home(table, hasher, home & mask, f);
        allowance.entries = allowance.entries.saturating_sub(found);
        allowance.homes -= 1;
        home = next_home(home, mask);
        if home == 0 {
            return None;
        }
    }
    Some(home)
}

/// Returns the home after `home`: adds one to the masked bits in reversed order. It is 0 after the last.
fn next_home(home: u64, mask: u64) -> u64 {
    (home | !mask).reverse_bits().wrapping_add(1).reverse_bits()
}

/// Calls `f` with every entry whose home is `home`, and returns their number.
fn visit_home(table: &Table, hasher: &RandomState, home: u64, f: &mut impl FnMut(&Entry)) -> usize {
    let mask = table.buckets() as u64 - 1;
    let mut found = 0;
    for tag in 0..128 {
        let hash = home | (tag << TOP_SHIFT);
        // If `usize` has 32 bits, a huge table's home overlaps the tag: such an entry has
        // only the tags that agree with it.
        if hash & mask != home || top(hash) != tag {
            continue;
        }
        // Entries of this tag and another home are met as well, and without SIMD some of another tag.
        for entry in table.met_by(hash) {
            let own = entry.table_hash(hasher, table.buckets());
            if own & mask == home && top(own) == tag {
                found += 1;
                f(entry);
            }
        }
    }
    found
}

/// Returns the tag of a hash.
fn top(hash: u64) -> u64 {
    (hash >> TOP_SHIFT) & 0x7f
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::{Tag, hash_key};
    use crate::types::NewValue;

    fn table(hasher: &RandomState, keys: u32) -> Table {
        let mut table = Table::default();
        for key in 0..keys {
            let key = key.to_le_bytes();
            let hash = hash_key(hasher, &key);
            let entry = Entry::new(&key, Tag::new(hash), NewValue::Int(0), None, 0);
            table.insert(hash, entry, |entry| hash_key(hasher, entry.key()));
        }
        table
    }

    #[test]
    fn every_home_is_visited_once() {
        for bits in [0, 1, 4, 9] {
            let mask = (1_u64 << bits) - 1;
            let mut visited = vec![0];
            while let home @ 1.. = next_home(visited[visited.len() - 1], mask) {
                visited.push(home);
            }
            visited.sort_unstable();
            assert_eq!(visited, (0..=mask).collect::<Vec<u64>>());
        }
    }

    #[test]
    fn every_entry_is_found_at_one_home() {
        let hasher = RandomState::with_seeds(1, 2, 3, 4);
        // Miri takes a second for each table's hundred thousand steps.
        let sizes: &[u32] = if cfg!(miri) {
            &[1, 3, 7, 28]
        } else {
            &[1, 3, 7, 14, 28, 100, 1000]
        };
        for &keys in sizes {
            let table = table(&hasher, keys);
            let mut seen = Vec::new();
            let mut give =
                |entry: &Entry| seen.push(u32::from_le_bytes(entry.key().try_into().unwrap()));
            let found: usize = (0..table.buckets() as u64)
                .map(|home| visit_home(&table, &hasher, home, &mut give))
                .sum();
            seen.sort_unstable();
            assert_eq!((found, seen), (keys as usize, (0..keys).collect()));
        }
    }

    #[test]
    fn visit_stops_when_the_allowance_is_used_up() {
        let hasher = RandomState::with_seeds(1, 2, 3, 4);
        let table = table(&hasher, 1000);
        let (mut home, mut calls, mut seen) = (Some(0), 0, 0);
        while let Some(from) = home {
            let before = seen;
            home = scan_from(&table, &hasher, from, &mut Allowance::new(10), &mut |_| {
                seen += 1
            });
            calls += 1;
            assert!(seen - before < 30);
        }
        assert_eq!(seen, 1000);
        assert!((50..=100).contains(&calls), "{calls} calls");
    }

    #[test]
    fn cursor_reads_back_from_its_number() {
        for (shard, home) in [(0, 0), (3, 0), (0, 7), (3, 1 << 40)] {
            let cursor = Cursor { shard, home };
            assert!(cursor.to_number(4) < 1 << 63);
            assert_eq!(Cursor::from_number(cursor.to_number(4), 4), cursor);
        }
    }
}
