//! `HyperLogLogs`: they estimate how many different elements were added, in 12 KB at most.
//!
//! A `HyperLogLog` is a string in Redis's own bytes (`value.rs`), so clients may read, copy and set
//! it like any string. Nothing in it is trusted: what a client has changed is refused or counted,
//! as in Redis.

mod count;
mod dense;
mod hash;
mod pfadd;
mod pfcount;
mod pfdebug;
mod pfmerge;
mod pfselftest;
mod registers;
mod sparse;
mod value;

use crate::family::Family;
use crate::kv::KvRow;

pub(crate) static FAMILY: Family = Family {
    rows: ROWS,
    containers: &[],
    restores: &[],
    list_of: None,
};

/// Sorted by name.
static ROWS: &[KvRow] = &[
    KvRow::new(&pfadd::PFADD, pfadd::pfadd),
    KvRow::new(&pfcount::PFCOUNT, pfcount::pfcount),
    KvRow::new(&pfdebug::PFDEBUG, pfdebug::pfdebug),
    KvRow::new(&pfmerge::PFMERGE, pfmerge::pfmerge),
    KvRow::new(&pfselftest::PFSELFTEST, pfselftest::pfselftest),
];
