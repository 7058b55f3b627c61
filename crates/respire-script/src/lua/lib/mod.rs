//! The libraries that Redis gives to scripts.

pub(crate) mod args;
mod bit;
pub(crate) mod build;
pub(crate) mod cjson;
pub(crate) mod cmsgpack;
pub(crate) mod number;
pub(crate) mod pattern;
pub(crate) mod raise;
mod random;
mod raw;
mod safe;
pub(crate) mod sha1hex;
pub(crate) mod structs;

use mlua::{Function, Lua, Result, Table};
use std::rc::Rc;

/// What bounds the libraries.
pub(crate) struct Limits {
    /// The longest string that a function makes, in bytes.
    pub(crate) string_bytes_max: usize,
    /// Asked every 10,000 steps of a pattern's match, of a sort and of others that may be long, which is a
    /// fraction of a millisecond. An error ends the script.
    pub(crate) spend: Rc<dyn Fn() -> Result<()>>,
}

/// Puts the libraries into a table of globals that has Lua's own, and replaces those functions of
/// them that are not safe, have no bound, or differ in Redis. To be called once for a state.
///
/// # Errors
/// Out of memory, or Lua's own libraries are missing.
pub(crate) fn install(lua: &Lua, globals: &Table, limits: &Limits) -> Result<()> {
    let pcall: Function = globals.raw_get("pcall")?;
    raise::install(lua, globals)?;
    let bytes_max = limits.string_bytes_max;
    let string: Table = globals.raw_get("string")?;
    pattern::install(lua, &string, pcall, limits)?;
    string.raw_set("rep", safe::rep(lua, bytes_max)?)?;
    globals.raw_set("unpack", safe::unpack(lua, globals)?)?;
    let spend = Rc::clone(&limits.spend);
    let pause = lua.create_function(move |_, ()| spend())?;
    raw::install(lua, &string, &globals.raw_get("table")?, &pause)?;
    random::install(lua, &globals.raw_get("math")?)?;
    globals.raw_set("bit", bit::table(lua)?)?;
    globals.raw_set("cjson", cjson::table(lua, bytes_max)?)?;
    globals.raw_set("cmsgpack", cmsgpack::table(lua, bytes_max)?)?;
    globals.raw_set("struct", structs::table(lua, bytes_max)?)
}

#[cfg(test)]
mod tests;
