//! Commands on the bits of strings.

mod bitcount;
mod bitfield;
mod bitop;
mod bitpos;
mod field;
mod getbit;
mod operation;
mod range;
mod setbit;

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
    KvRow::new(&bitcount::BITCOUNT, bitcount::bitcount),
    KvRow::new(&bitfield::BITFIELD, bitfield::bitfield),
    KvRow::new(&bitfield::BITFIELD_RO, bitfield::bitfield_ro),
    KvRow::new(&bitop::BITOP, bitop::bitop),
    KvRow::new(&bitpos::BITPOS, bitpos::bitpos),
    KvRow::new(&getbit::GETBIT, getbit::getbit),
    KvRow::new(&setbit::SETBIT, setbit::setbit),
];
