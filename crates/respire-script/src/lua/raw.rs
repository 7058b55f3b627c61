//! The ways between Rust and Lua that every script takes: into the script, from it to a command, and
//! back with the replies. Only this module of the crate may use `unsafe`.
//!
//! The safe interface of `mlua` protects each string and table that it makes by a call of its own,
//! and keeps a reference to each value. Through it, a script that calls one command took three times
//! the instructions. Here one protected call covers a whole script, and arguments and replies are
//! copied straight from and to the stack.
//!
//! Functions of Lua that fail jump over the frames of Rust between them and the protected call. So no
//! frame that calls such a function has anything to drop: what Rust does is done in functions of its
//! own, which have returned by then.
#![expect(unsafe_code, reason = "the stack of Lua is used directly")]

mod answer;
mod call;
mod entry;
mod names;
mod reply;

pub(crate) use answer::Returned;
pub(super) use answer::Unwritten;
pub(super) use call::caller;
pub(super) use entry::Entry;
pub(crate) use entry::{Inputs, Visit};

use mlua::ffi::{self, lua_State};
use std::ffi::{c_char, c_int};
use std::slice;

/// Pushes a string.
///
/// # Safety
/// The state has a free slot, and the call is protected.
#[inline]
unsafe fn push_string(state: *mut lua_State, text: &[u8]) {
    // SAFETY: the caller's. The bytes are copied.
    unsafe { ffi::lua_pushlstring_(state, text.as_ptr().cast::<c_char>(), text.len()) }
}

/// The bytes of a string on the stack.
///
/// # Safety
/// The slot holds a string, and it stays there as long as the bytes are used.
#[inline]
unsafe fn string_at<'s>(state: *mut lua_State, slot: c_int) -> &'s [u8] {
    let mut len = 0;
    // SAFETY: a string is not converted, and stays where it is as long as it is on the stack.
    unsafe {
        let start = ffi::lua_tolstring(state, slot, &raw mut len);
        slice::from_raw_parts(start.cast::<u8>(), len)
    }
}
