//! Describes a family of commands: one folder of commands and the type of value that it adds, if
//! any.

use crate::kv::KvRow;
use crate::value_type::{ListOf, Restore};

/// A family of commands.
pub(crate) struct Family {
    /// The commands without subcommands, sorted by name.
    pub(crate) rows: &'static [KvRow],
    /// The commands with subcommands, sorted by name.
    pub(crate) containers: &'static [Container],
    /// The type bytes of payloads that hold this family's type of value, each with the function
    /// that reads the rest. Empty if the family adds no type.
    pub(crate) restores: &'static [(u8, Restore)],
    /// Creates the list that `SORT` stores. Only the family of lists has it.
    pub(crate) list_of: Option<ListOf>,
}

/// A command whose first argument names a subcommand, and its subcommands, sorted by name.
pub(crate) type Container = (KvRow, &'static [KvRow]);
