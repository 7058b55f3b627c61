//! What fuzzers and comparisons with Redis call. It is no part of the crate's interface.

use crate::lua::lib::build::Count;
use crate::lua::lib::cjson::{self, DecodeOptions, Problem};
use crate::lua::lib::{self, Limits};
use mlua::{Lua, Result};

/// A state with Lua's own libraries and those of Redis.
///
/// # Errors
/// Out of memory.
pub fn state() -> Result<Lua> {
    let state = Lua::new();
    let limits = Limits {
        string_bytes_max: 512 << 20,
    };
    lib::install(&state, &state.globals(), &limits)?;
    Ok(state)
}

/// How many values are in a JSON text, or why it is none.
///
/// # Errors
/// The text that a script would get.
pub fn decode_json(text: &[u8], invalid_numbers: bool) -> std::result::Result<usize, String> {
    let mut count = Count::default();
    let options = DecodeOptions {
        invalid_numbers,
        depth_max: 1_000,
    };
    match cjson::decode(text, options, &mut count) {
        Ok(()) => Ok(count.values),
        Err(Problem::Text(problem)) => Err(problem),
    }
}
