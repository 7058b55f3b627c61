//! Replies of commands as values of Lua.

use super::push_string;
use mlua::ffi::{self, lua_State};
use resp_codec::number;
use std::ffi::c_int;

/// More slots than a value takes with what it is made of, without what is nested.
const SLOTS_PER_VALUE: c_int = 8;

/// How deep values may be nested.
const DEPTH_MAX: u32 = 128;

/// The fields of tables that stand for other types. A function that reads replies has them as
/// upvalues, after the first.
pub(super) const NAMES: [&[u8]; 9] = [
    b"ok",
    b"err",
    b"double",
    b"big_number",
    b"verbatim_string",
    b"format",
    b"string",
    b"map",
    b"set",
];

const OK: c_int = 0;
const ERR: c_int = 1;
const DOUBLE: c_int = 2;
const BIG_NUMBER: c_int = 3;
const VERBATIM: c_int = 4;
const FORMAT: c_int = 5;
const TEXT: c_int = 6;
const MAP: c_int = 7;
const SET: c_int = 8;

/// Pushes one reply, which the engine has written. Raises an error for bytes that are no reply.
///
/// # Safety
/// The call is protected, the running function has the [`NAMES`] as upvalues after the first, and
/// nothing of the callers has to be dropped.
pub(super) unsafe fn push(state: *mut lua_State, bytes: &[u8]) {
    let mut reader = Reader { state, rest: bytes };
    // SAFETY: the caller's.
    unsafe {
        if reader.value(DEPTH_MAX).is_none() {
            ffi::luaL_error(state, c"the command's reply cannot be read".as_ptr());
        }
    }
}

struct Reader<'r> {
    state: *mut lua_State,
    rest: &'r [u8],
}

/// All functions that push need a protected call, in which nothing has to be dropped.
impl<'r> Reader<'r> {
    /// Pushes the next value. `None` if it cannot be read; then anything may be on the stack.
    unsafe fn value(&mut self, depth: u32) -> Option<()> {
        let depth = depth.checked_sub(1)?;
        let (kind, text) = self.line()?.split_first()?;
        // SAFETY: the caller's; each function below pushes one value, and there is room for what it
        // pushes meanwhile.
        unsafe {
            match kind {
                b'$' => self.bulk(text)?,
                b':' => ffi::lua_pushnumber(self.state, integer(text)? as f64),
                b'+' => self.named(OK, text),
                b'-' => self.named(ERR, text),
                b'_' => ffi::lua_pushnil(self.state),
                b'#' => ffi::lua_pushboolean(self.state, c_int::from(text == b"t")),
                b'(' => self.named(BIG_NUMBER, text),
                b',' => self.double(text)?,
                b'=' => self.verbatim(text)?,
                _ => {
                    if ffi::lua_checkstack(self.state, SLOTS_PER_VALUE) == 0 {
                        return None;
                    }
                    match kind {
                        b'*' | b'>' => self.array(text, depth)?,
                        b'%' => self.map(text, depth)?,
                        b'~' => self.set(text, depth)?,
                        b'|' => self.attributed(text, depth)?,
                        _ => return None,
                    }
                }
            }
        }
        Some(())
    }

    /// The next line, without its end.
    fn line(&mut self) -> Option<&'r [u8]> {
        let end = memchr::memchr(b'\r', self.rest)?;
        let (line, rest) = self.rest.split_at(end);
        self.rest = rest.get(2..)?;
        Some(line)
    }

    /// The bytes of a string of this length, without their end.
    fn bytes(&mut self, len: usize) -> Option<&'r [u8]> {
        let bytes = self.rest.get(..len)?;
        self.rest = self.rest.get(len.checked_add(2)?..)?;
        Some(bytes)
    }

    unsafe fn bulk(&mut self, len: &[u8]) -> Option<()> {
        // SAFETY: the caller's.
        unsafe {
            match usize::try_from(integer(len)?) {
                Ok(len) => push_string(self.state, self.bytes(len)?),
                Err(_) => ffi::lua_pushboolean(self.state, 0),
            }
        }
        Some(())
    }

    /// Pushes a table whose one field has this name and text.
    unsafe fn named(&self, name: c_int, text: &[u8]) {
        // SAFETY: the caller's.
        unsafe {
            self.begin_named(name);
            push_string(self.state, text);
            ffi::lua_rawset(self.state, -3);
        }
    }

    /// Pushes a table and a name, for a value and `lua_rawset`.
    unsafe fn begin_named(&self, name: c_int) {
        // SAFETY: the caller's; the names are the upvalues from 2 on.
        unsafe {
            ffi::lua_createtable(self.state, 0, 1);
            ffi::lua_pushvalue(self.state, ffi::lua_upvalueindex(2 + name));
        }
    }

    unsafe fn double(&self, text: &[u8]) -> Option<()> {
        let number: f64 = std::str::from_utf8(text).ok()?.parse().ok()?;
        // SAFETY: the caller's.
        unsafe {
            self.begin_named(DOUBLE);
            ffi::lua_pushnumber(self.state, number);
            ffi::lua_rawset(self.state, -3);
        }
        Some(())
    }

    unsafe fn verbatim(&mut self, len: &[u8]) -> Option<()> {
        let len = usize::try_from(integer(len)?).ok()?;
        let (format, text) = self.bytes(len)?.split_at_checked(4)?;
        // SAFETY: the caller's.
        unsafe {
            self.begin_named(VERBATIM);
            ffi::lua_createtable(self.state, 0, 2);
            for (name, text) in [(TEXT, text), (FORMAT, &format[..3])] {
                ffi::lua_pushvalue(self.state, ffi::lua_upvalueindex(2 + name));
                push_string(self.state, text);
                ffi::lua_rawset(self.state, -3);
            }
            ffi::lua_rawset(self.state, -3);
        }
        Some(())
    }

    unsafe fn array(&mut self, len: &[u8], depth: u32) -> Option<()> {
        let len = integer(len)?;
        // SAFETY: the caller's; there is room for the table and a value.
        unsafe {
            let Ok(len) = c_int::try_from(len.max(-1)) else {
                return None;
            };
            if len < 0 {
                ffi::lua_pushboolean(self.state, 0);
                return Some(());
            }
            ffi::lua_createtable(self.state, len, 0);
            for at in 1..=len {
                self.value(depth)?;
                ffi::lua_rawseti_(self.state, -2, at);
            }
        }
        Some(())
    }

    unsafe fn map(&mut self, len: &[u8], depth: u32) -> Option<()> {
        // SAFETY: the caller's; there is room for two tables, a key and a value.
        unsafe {
            self.begin_named(MAP);
            ffi::lua_createtable(self.state, 0, 0);
            for _ in 0..integer(len)? {
                self.value(depth)?;
                self.value(depth)?;
                self.set_or_drop();
            }
            ffi::lua_rawset(self.state, -3);
        }
        Some(())
    }

    unsafe fn set(&mut self, len: &[u8], depth: u32) -> Option<()> {
        // SAFETY: as in `map`.
        unsafe {
            self.begin_named(SET);
            ffi::lua_createtable(self.state, 0, 0);
            for _ in 0..integer(len)? {
                self.value(depth)?;
                ffi::lua_pushboolean(self.state, 1);
                self.set_or_drop();
            }
            ffi::lua_rawset(self.state, -3);
        }
        Some(())
    }

    /// Pops a key and a value into the table below them, unless the key is nothing.
    unsafe fn set_or_drop(&self) {
        // SAFETY: the caller's. A key is not NaN, as doubles are in tables.
        unsafe {
            match ffi::lua_type(self.state, -2) {
                ffi::LUA_TNIL => ffi::lua_settop(self.state, -3),
                _ => ffi::lua_rawset(self.state, -3),
            }
        }
    }

    /// Skips the attributes of a value, and pushes the value.
    unsafe fn attributed(&mut self, len: &[u8], depth: u32) -> Option<()> {
        // SAFETY: the caller's; each attribute is popped.
        unsafe {
            for _ in 0..integer(len)?.checked_mul(2)? {
                self.value(depth)?;
                ffi::lua_settop(self.state, -2);
            }
            self.value(depth)
        }
    }
}

fn integer(text: &[u8]) -> Option<i64> {
    number::parse_i64(text)
}
