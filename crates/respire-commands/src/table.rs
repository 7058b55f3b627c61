//! The command table: every row of this crate, by family and name.
//!
//! To add a command: write its file in the family's folder (syntax line, [`Spec`](respire_engine::Spec)
//! with an example, `run`, tests), add its row to the folder's `ROWS`, which is sorted by name, and run
//! the tests, which name what else there is to do. ARCHITECTURE.md has the whole list.

use crate::kv::Row;
use crate::{bit, key, server, string};

/// A command whose first argument names one of its subcommands, and those.
pub(crate) type Container = (Row, &'static [Row]);

/// The commands without subcommands.
pub(crate) fn rows() -> impl Iterator<Item = &'static Row> {
    [string::ROWS, bit::ROWS, key::ROWS, server::ROWS]
        .into_iter()
        .flatten()
}

/// The commands with subcommands.
pub(crate) fn containers() -> impl Iterator<Item = &'static Container> {
    [key::CONTAINERS, server::CONTAINERS].into_iter().flatten()
}

#[cfg(test)]
mod tests;
