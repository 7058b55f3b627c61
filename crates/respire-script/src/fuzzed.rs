//! What fuzzers and comparisons with Redis call. It is no part of the crate's interface.

use crate::lua::lib::build::Count;
use crate::lua::lib::cjson::{self, DecodeOptions, Problem};
use crate::lua::lib::{self, Limits, cmsgpack, structs};
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

/// How many values the first of MessagePack's values has with what lies in it, and how many bytes
/// are left behind it; or why it is none.
///
/// # Errors
/// What is wrong.
pub fn decode_msgpack(bytes: &[u8]) -> std::result::Result<(usize, usize), &'static str> {
    let mut count = Count::default();
    let mut cursor = cmsgpack::Cursor { rest: bytes };
    match cmsgpack::decode(&mut cursor, &mut count) {
        Ok(()) => Ok((count.values, cursor.rest.len())),
        Err(cmsgpack::Problem::Missing) => Err("missing bytes"),
        Err(cmsgpack::Problem::Format) => Err("bad format"),
        Err(cmsgpack::Problem::Deep) => Err("too deep"),
    }
}

/// How many letters a format of `struct` has, and how many bytes it describes; or nothing if a letter
/// is wrong.
pub fn measure_struct(format: &[u8]) -> Option<(usize, usize)> {
    let mut format = structs::Format::new(format);
    let (mut letters, mut bytes) = (0, 0usize);
    while let Some(item) = format.next(bytes).ok()? {
        letters += 1;
        bytes = bytes.checked_add(item.padding)?.checked_add(item.size)?;
    }
    Some((letters, bytes))
}
