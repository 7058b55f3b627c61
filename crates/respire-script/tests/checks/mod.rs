//! Checks for any input, used by the fuzz targets and for their corpora.

#![expect(clippy::unwrap_used, reason = "a panic is how a check fails")]
#![allow(dead_code, reason = "no user calls every check")]

pub(crate) mod functions;
pub(crate) mod json;
pub(crate) mod msgpack;
pub(crate) mod patterns;
pub(crate) mod replies;
pub(crate) mod structs;
mod tree;
mod values;

use std::cell::RefCell;
use std::collections::HashMap;

use mlua::{Function, IntoLuaMulti, Lua, MultiValue, Table, Value};

/// No bound of the steps of patterns: fuzzers watch the time.
const STEPS_MAX: usize = usize::MAX;

/// The memory that the values of one input may take. Lua fails without a panic when it is used up.
const MEMORY_BYTES_MAX: usize = 64 << 20;

thread_local! {
    static LUA: Lua = {
        let lua = respire_script::fuzzed::state(STEPS_MAX).unwrap();
        lua.set_memory_limit(MEMORY_BYTES_MAX).unwrap();
        lua
    };

    static PLAIN_LUA: Lua = Lua::new();

    /// The functions of its libraries, by the names of both.
    static FUNCTIONS: RefCell<HashMap<(&'static str, &'static str), Function>> = RefCell::default();
}

/// A state with the libraries; the next input gets the same.
fn lua() -> Lua {
    LUA.with(Clone::clone)
}

/// A state with Lua's own libraries, to compare with.
fn plain_lua() -> Lua {
    PLAIN_LUA.with(Clone::clone)
}

/// Calls a function of a library. `None` if it fails.
fn call(
    lua: &Lua,
    library: &'static str,
    name: &'static str,
    args: impl IntoLuaMulti,
) -> Option<MultiValue> {
    let find = || {
        let library: Table = lua.globals().raw_get(library).unwrap();
        library.raw_get(name).unwrap()
    };
    let function = FUNCTIONS.with_borrow_mut(|known| {
        let function = known.entry((library, name)).or_insert_with(find);
        function.clone()
    });
    function.call(args).ok()
}

/// The number that a value is.
fn number(value: &Value) -> Option<f64> {
    match value {
        Value::Integer(number) => Some(*number as f64),
        Value::Number(number) => Some(*number),
        _ => None,
    }
}
