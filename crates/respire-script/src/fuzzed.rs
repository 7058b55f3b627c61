//! What fuzzers and comparisons with Redis call. It is no part of the crate's interface.

use crate::lua;
use mlua::{Lua, Result};

/// A state with Lua's own libraries and those of Redis.
///
/// # Errors
/// Out of memory.
pub fn state() -> Result<Lua> {
    let state = Lua::new();
    lua::lib::install(&state, &state.globals())?;
    Ok(state)
}
