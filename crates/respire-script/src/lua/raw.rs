//! The two ways between Rust and Lua that every script takes: into the script, and from it to a
//! command. Only this module of the crate may use `unsafe`.
//!
//! The safe interface of `mlua` protects each string and table that it makes by a call of its own,
//! and keeps a reference to each value. Through it, a script that calls one command took twice the
//! time. Here one protected call covers the way in, and a command's arguments and its reply are
//! copied straight from and to the stack.
//!
//! Functions of Lua that fail jump over the frames of Rust between them and the protected call. So no
//! frame that calls such a function has anything to drop: what Rust does is done in functions of its
//! own, which have returned by then.
#![expect(unsafe_code, reason = "the stack of Lua is used directly")]

use super::exchange::{self, Next};
use mlua::ffi::{self, lua_State};
use mlua::{Function, Lua, Result, Table, Value};
use respire_engine::ArgList;
use std::ffi::{CStr, c_char, c_int};
use std::slice;

/// Where a function finds its keys and arguments.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Inputs<'t> {
    /// In the globals `KEYS` and `ARGV` of this table.
    Globals(&'t Table),
    /// In its two parameters.
    Parameters,
    /// It gets none.
    None,
}

/// Calls a function with lists of keys and arguments. Returns whether it succeeded, and what it
/// returned or else what `handler` made of its error.
///
/// # Errors
/// Out of memory.
pub(super) fn enter(
    lua: &Lua,
    (function, handler): (&Function, &Function),
    inputs: Inputs<'_>,
    (keys, args): (&[&[u8]], ArgList<'_>),
) -> Result<(bool, Value)> {
    let globals = match inputs {
        Inputs::Globals(globals) => Some(globals),
        Inputs::Parameters | Inputs::None => None,
    };
    let has_inputs = !matches!(inputs, Inputs::None);
    // SAFETY: `exec_raw` calls the closure protected, with the handler, the table and the function on
    // the stack. The closure leaves two values there, needs less than the `LUA_MINSTACK` slots that a
    // function has, and owns nothing: it may be left by a jump.
    unsafe {
        lua.exec_raw((handler, globals, function), move |state| {
            if has_inputs {
                push_list(state, keys.len(), keys.iter().copied());
                set_global(state, globals.is_some(), c"KEYS");
                push_list(state, args.len(), args.iter());
                set_global(state, globals.is_some(), c"ARGV");
            }
            // The handler and the table are below the function, its parameters above.
            let parameters = ffi::lua_gettop(state) - 3;
            let status = ffi::lua_pcall(state, parameters, 1, 1);
            ffi::lua_pushboolean(state, c_int::from(status == ffi::LUA_OK));
            ffi::lua_replace(state, 1);
            ffi::lua_remove(state, 2);
        })
    }
}

/// Pushes a list of strings.
///
/// # Safety
/// The state has three free slots, and the call is protected.
unsafe fn push_list<'a>(state: *mut lua_State, len: usize, items: impl Iterator<Item = &'a [u8]>) {
    // A request has fewer arguments than 2^31.
    // SAFETY: the caller's; each string is copied, and popped into the table on top.
    unsafe {
        ffi::lua_createtable(state, len as c_int, 0);
        for (at, item) in items.enumerate() {
            ffi::lua_pushlstring_(state, item.as_ptr().cast::<c_char>(), item.len());
            ffi::lua_rawseti_(state, -2, at as c_int + 1);
        }
    }
}

/// Pops the value on top into a global of the table in slot 2, if there is one.
///
/// # Safety
/// There is a value on top, slot 2 is a table if `has_globals`, and the call is protected.
unsafe fn set_global(state: *mut lua_State, has_globals: bool, name: &CStr) {
    if has_globals {
        // SAFETY: the caller's.
        unsafe { ffi::lua_setfield(state, 2, name.as_ptr()) }
    }
}

/// A function for scripts that calls a command with its arguments and returns the reply. Replies that
/// are neither a string, a number, a status nor nothing are left to `convert`, which takes them from
/// [`exchange::take`].
///
/// # Errors
/// Out of memory.
pub(super) fn caller(lua: &Lua, convert: &Function) -> Result<Function> {
    // SAFETY: `exec_raw` calls the closure protected, with `convert` on the stack. The closure
    // replaces it by one closure, and owns nothing.
    unsafe {
        lua.exec_raw(convert, |state| {
            ffi::lua_pushcclosure(state, call_command, 1);
        })
    }
}

/// What Lua calls for `redis.call` and `redis.pcall`.
unsafe extern "C-unwind" fn call_command(state: *mut lua_State) -> c_int {
    // SAFETY: Lua calls this with a valid state and at least `LUA_MINSTACK` free slots. Nothing here
    // has to be dropped when a function of Lua jumps away: `call` has returned, and what `next` points
    // to belongs to the thread and is not changed before the next call.
    unsafe {
        match call(state) {
            Next::String(start, len) => ffi::lua_pushlstring_(state, start.cast::<c_char>(), len),
            Next::Number(number) => ffi::lua_pushnumber(state, number),
            Next::False => ffi::lua_pushboolean(state, 0),
            Next::Status(start, len) => {
                ffi::lua_createtable(state, 0, 1);
                ffi::lua_pushlstring_(state, start.cast::<c_char>(), len);
                ffi::lua_setfield(state, -2, c"ok".as_ptr());
            }
            Next::Convert => {
                ffi::lua_pushvalue(state, ffi::lua_upvalueindex(1));
                ffi::lua_call(state, 0, 1);
            }
        }
    }
    1
}

/// Copies the arguments from the stack and calls the command.
///
/// # Safety
/// The state is valid, and its slots from 1 to the top are the arguments.
unsafe fn call(state: *mut lua_State) -> Next {
    exchange::call(|request| {
        // SAFETY: the slots exist. None of these functions fails or changes the stack; strings stay
        // where they are as long as they are on it.
        unsafe {
            for slot in 1..=ffi::lua_gettop(state) {
                match ffi::lua_type(state, slot) {
                    ffi::LUA_TSTRING => {
                        let mut len = 0;
                        let start = ffi::lua_tolstring(state, slot, &raw mut len);
                        request.push(slice::from_raw_parts(start.cast::<u8>(), len));
                    }
                    ffi::LUA_TNUMBER => request.push_number(ffi::lua_tonumber(state, slot)),
                    _ => return false,
                }
            }
        }
        true
    })
}
