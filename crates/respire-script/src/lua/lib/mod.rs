//! The libraries that Redis gives to scripts.

mod args;
mod bit;
pub(crate) mod build;
pub(crate) mod cjson;
mod number;
pub(crate) mod raise;

use mlua::{Lua, Result, Table};

/// What bounds the libraries.
pub(crate) struct Limits {
    /// The longest string that a function makes, in bytes.
    pub(crate) string_bytes_max: usize,
}

/// Puts the libraries into a table of globals, and replaces what of Lua's own functions needs it.
///
/// # Errors
/// Out of memory.
pub(crate) fn install(lua: &Lua, globals: &Table, limits: &Limits) -> Result<()> {
    raise::install(lua, globals)?;
    globals.raw_set("bit", bit::table(lua)?)?;
    globals.raw_set("cjson", cjson::table(lua, limits.string_bytes_max)?)
}

#[cfg(test)]
mod tests;
