//! The commands on the bits of strings.

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
use crate::kv::Row;

pub(crate) static FAMILY: Family = Family {
    rows: ROWS,
    containers: &[],
    restores: &[],
    list_of: None,
};

/// Sorted by name.
static ROWS: &[Row] = &[
    Row::new(&bitcount::BITCOUNT, bitcount::bitcount),
    Row::new(&bitfield::BITFIELD, bitfield::bitfield),
    Row::new(&bitfield::BITFIELD_RO, bitfield::bitfield_ro),
    Row::new(&bitop::BITOP, bitop::bitop),
    Row::new(&bitpos::BITPOS, bitpos::bitpos),
    Row::new(&getbit::GETBIT, getbit::getbit),
    Row::new(&setbit::SETBIT, setbit::setbit),
];
