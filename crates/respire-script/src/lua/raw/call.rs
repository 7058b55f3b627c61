//! The way from a script to a command.

use super::names::NAMES;
use super::{push_string, reply, string_at};
use crate::lua::exchange::{self, Next};
use mlua::ffi::{self, lua_State};
use mlua::{Function, Lua, Result};
use std::ffi::c_int;
use std::slice;

/// A function for scripts that calls a command with its arguments and returns the reply. Errors are
/// left to `convert`, which takes them from [`exchange::take`].
///
/// # Errors
/// Out of memory.
pub(in crate::lua) fn caller(lua: &Lua, convert: &Function) -> Result<Function> {
    // SAFETY: `exec_raw` calls the closure protected, with `convert` on the stack. The closure
    // replaces it by one closure, and owns nothing.
    unsafe {
        lua.exec_raw(convert, |state| {
            for name in NAMES {
                push_string(state, name);
            }
            ffi::lua_pushcclosure(state, call_command, 1 + NAMES.len() as c_int);
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
            Next::Reply(start, len) => reply::push(state, slice::from_raw_parts(start, len)),
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
                    ffi::LUA_TSTRING => request.push(string_at(state, slot)),
                    ffi::LUA_TNUMBER => request.push_number(ffi::lua_tonumber(state, slot)),
                    _ => return false,
                }
            }
        }
        true
    })
}
