//! The command table: every row of this crate, by family and name.
//!
//! To add a command: write its file in the family's folder (syntax line,
//! [`Spec`](respire_engine::Spec) with an example, `run`, tests), add its row to the folder's
//! `ROWS`, which is sorted by name, and run the tests, which list the remaining steps.
//! ARCHITECTURE.md has the whole list.
//!
//! To add a family: write its folder with a [`Family`], and add it to [`FAMILIES`].

use crate::family::{Container, Family};
use crate::kv::{Kv, KvRow};
#[cfg(feature = "toy")]
use crate::stack;
use crate::value_type::Types;
use crate::{bit, geo, hash, hll, key, list, server, set, stream, string, zset};
use respire_store::Store;

/// Every family. Dispatch, `COMMAND`, the documents, `RESTORE` and the tests read this list.
static FAMILIES: &[&Family] = &[
    &string::FAMILY,
    &bit::FAMILY,
    &hash::FAMILY,
    &hll::FAMILY,
    &set::FAMILY,
    &list::FAMILY,
    &key::FAMILY,
    &server::FAMILY,
    &stream::FAMILY,
    &zset::FAMILY,
    &geo::FAMILY,
    #[cfg(feature = "toy")]
    &stack::FAMILY,
];

/// The commands without subcommands.
pub(crate) fn rows() -> impl Iterator<Item = &'static KvRow> {
    FAMILIES.iter().flat_map(|family| family.rows)
}

/// The commands with subcommands.
pub(crate) fn containers() -> impl Iterator<Item = &'static Container> {
    FAMILIES.iter().flat_map(|family| family.containers)
}

/// The functions that the families provide for values of their types.
pub(crate) const TYPES: Types = Types {
    restore_of: |type_byte| {
        let mut restores = FAMILIES.iter().flat_map(|family| family.restores);
        let (_, restore) = restores.find(|(byte, _)| *byte == type_byte)?;
        Some(*restore)
    },
    list_of: || FAMILIES.iter().find_map(|family| family.list_of),
};

impl Kv {
    /// Creates a service on this store.
    #[must_use]
    pub fn new(store: Store) -> Self {
        Self::with_types(store, TYPES)
    }
}

#[cfg(test)]
mod tests;
