//! The libraries that Redis gives to scripts.

mod args;
mod bit;
pub(crate) mod build;
pub(crate) mod cjson;
pub(crate) mod cmsgpack;
mod number;
pub(crate) mod raise;
pub(crate) mod structs;

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
    let bytes_max = limits.string_bytes_max;
    globals.raw_set("cjson", cjson::table(lua, bytes_max)?)?;
    globals.raw_set("cmsgpack", cmsgpack::table(lua, bytes_max)?)?;
    globals.raw_set("struct", structs::table(lua, bytes_max)?)
}

#[cfg(test)]
mod tests;
