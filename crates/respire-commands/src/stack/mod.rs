//! A type of value for tests only: stacks of byte strings.
//!
//! It implements everything that a type needs in this crate, and shows that a folder and a line of
//! [`FAMILIES`](crate::table::FAMILIES) are enough to support it in every command on keys.

mod edit;
#[cfg(test)]
mod tests;
mod value_type;
mod wait;

use crate::family::Family;
use crate::kv::KvRow;

pub(crate) static FAMILY: Family = Family {
    rows: ROWS,
    containers: &[],
    restores: value_type::RESTORES,
    list_of: None,
};

/// Sorted by name.
static ROWS: &[KvRow] = &[
    KvRow::new(&wait::BMOVE, wait::bmove).with_wait(wait::wait_to_move),
    KvRow::new(&wait::BPOP, wait::bpop).with_wait(wait::wait_to_pop),
    KvRow::new(&edit::LEN, edit::len),
    KvRow::new(&edit::POP, edit::pop),
    KvRow::new(&edit::PUSH, edit::push),
];
