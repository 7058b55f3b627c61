//! A type of value that only tests have: stacks of byte strings. It has all that a type needs here, and shows that a
//! folder and a line of [`FAMILIES`](crate::table::FAMILIES) are enough for every command on keys to know it.

mod edit;
#[cfg(test)]
mod tests;
mod value_type;

use crate::family::Family;
use crate::kv::KvRow;

pub(crate) static FAMILY: Family = Family {
    rows: ROWS,
    containers: &[],
    restores: value_type::RESTORES,
    list_of: Some(value_type::list_of),
};

/// Sorted by name.
static ROWS: &[KvRow] = &[
    KvRow::new(&edit::LEN, edit::len),
    KvRow::new(&edit::POP, edit::pop),
    KvRow::new(&edit::PUSH, edit::push),
];
