//! The command table: every row of this crate, by family and name.
//!
//! To add a command: write its file in the family's folder (syntax line, [`Spec`](respire_engine::Spec)
//! with an example, `run`, tests), add its row to the folder's `ROWS`, which is sorted by name, and run
//! the tests, which name what else there is to do. ARCHITECTURE.md has the whole list.
//!
//! To add a family: write its folder with a [`Family`], and add it to [`FAMILIES`].

use crate::kv::Row;
use crate::rdb::Reader;
#[cfg(feature = "toy")]
use crate::stack;
use crate::{bit, key, server, string};
use respire_store::NewValue;

/// A folder of commands.
pub(crate) struct Family {
    /// The commands without subcommands, sorted by name.
    pub(crate) rows: &'static [Row],
    /// The commands with subcommands, sorted by name.
    pub(crate) containers: &'static [Container],
    /// The type bytes of `RESTORE`'s payloads that hold this family's type of value, each with the function
    /// that reads what follows it. Empty where the family brings no type.
    pub(crate) restores: &'static [(u8, Restore)],
    /// Makes the list that `SORT` stores; of the family of lists alone.
    pub(crate) list_of: Option<ListOf>,
}

/// A command whose first argument names one of its subcommands, and those, sorted by name.
pub(crate) type Container = (Row, &'static [Row]);

/// Reads a value from a payload, behind its type byte; `None` if it is malformed. Nothing of the payload is to
/// be trusted but that its checksum is right, which anybody can compute.
pub(crate) type Restore = for<'p> fn(&mut Reader<'p>) -> Option<NewValue<'p>>;

/// Makes a list of at least one element.
pub(crate) type ListOf = fn(&mut dyn Iterator<Item = &[u8]>) -> NewValue<'static>;

/// Every family. Dispatch, `COMMAND`, the documents, `RESTORE` and the tests read this list.
pub(crate) static FAMILIES: &[&Family] = &[
    &string::FAMILY,
    &bit::FAMILY,
    &key::FAMILY,
    &server::FAMILY,
    #[cfg(feature = "toy")]
    &stack::FAMILY,
];

/// The commands without subcommands.
pub(crate) fn rows() -> impl Iterator<Item = &'static Row> {
    FAMILIES.iter().flat_map(|family| family.rows)
}

/// The commands with subcommands.
pub(crate) fn containers() -> impl Iterator<Item = &'static Container> {
    FAMILIES.iter().flat_map(|family| family.containers)
}

/// What reads the values of this type byte, if any does.
pub(crate) fn restore_of(type_byte: u8) -> Option<Restore> {
    let mut restores = FAMILIES.iter().flat_map(|family| family.restores);
    let (_, restore) = restores.find(|(byte, _)| *byte == type_byte)?;
    Some(*restore)
}

/// What makes a list, if there are lists.
pub(crate) fn list_of() -> Option<ListOf> {
    FAMILIES.iter().find_map(|family| family.list_of)
}

#[cfg(test)]
mod tests;
