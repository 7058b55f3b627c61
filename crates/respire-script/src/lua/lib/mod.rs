//! The libraries that Redis gives to scripts.

mod args;
mod bit;
pub(crate) mod raise;

use mlua::{Lua, Result, Table};

/// Puts the libraries into a table of globals, and replaces what of Lua's own functions needs it.
///
/// # Errors
/// Out of memory.
pub(crate) fn install(lua: &Lua, globals: &Table) -> Result<()> {
    raise::install(lua, globals)?;
    globals.raw_set("bit", bit::table(lua)?)
}

#[cfg(test)]
mod tests;
