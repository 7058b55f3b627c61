//! Walking a table: the one place where `unsafe` is allowed.
#![expect(unsafe_code, reason = "hashbrown's raw iterator carries no lifetime")]

use crate::database::Table;
use crate::entry::Entry;

/// Every entry of the table, in no particular order.
pub(crate) fn entries(table: &Table) -> impl Iterator<Item = &Entry> {
    // SAFETY: the returned iterator borrows `table`, so the table outlives it and is not changed.
    let buckets = unsafe { table.iter() };
    buckets.map(|bucket| {
        // SAFETY: as above; the bucket came from that iterator, so it is full.
        let (entry, _) = unsafe { bucket.as_ref() };
        entry
    })
}
