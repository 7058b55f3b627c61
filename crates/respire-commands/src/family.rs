//! A family of commands, which is a folder of them, and all families of a service.

use crate::kv::KvRow;
use crate::value_type::{ListOf, Restore};

/// A folder of commands.
pub(crate) struct Family {
    /// The commands without subcommands, sorted by name.
    pub(crate) rows: &'static [KvRow],
    /// The commands with subcommands, sorted by name.
    pub(crate) containers: &'static [Container],
    /// The type bytes of `RESTORE`'s payloads that hold this family's type of value, each with the function
    /// that reads what follows it. Empty where the family brings no type.
    pub(crate) restores: &'static [(u8, Restore)],
    /// Makes the list that `SORT` stores; of the family of lists alone.
    pub(crate) list_of: Option<ListOf>,
}

/// A command whose first argument names one of its subcommands, and those, sorted by name.
pub(crate) type Container = (KvRow, &'static [KvRow]);
