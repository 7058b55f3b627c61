//! Replies of commands as values of Lua.

use super::names::Name;
use super::push_string;
use crate::limits::REPLY_DEPTH_MAX;
use mlua::ffi::{self, lua_State};
use resp_codec::number;
use std::ffi::c_int;

/// More slots than a value takes with what it is made of, without what is nested.
const SLOTS_PER_VALUE: c_int = 8;

/// The fewest bytes that a value takes in a reply.
const VALUE_BYTES_MIN: usize = 3;

/// Why a reply cannot be read.
enum Unread {
    Broken,
    TooDeep,
}

type Read<T> = Result<T, Unread>;

/// Pushes one reply, which a command has written. Raises an error for bytes that are no reply.
///
/// # Safety
/// The call is protected, the running function has the [names](super::names::NAMES) as upvalues after the first, and
/// nothing of the callers has to be dropped.
pub(super) unsafe fn push(state: *mut lua_State, bytes: &[u8]) {
    let mut reader = Reader { state, rest: bytes };
    // SAFETY: the caller's.
    unsafe {
        let text = match reader.value(REPLY_DEPTH_MAX) {
            Ok(()) => return,
            Err(Unread::Broken) => "the command's reply cannot be read",
            Err(Unread::TooDeep) => "the command's reply is nested too deep",
        };
        push_string(state, text.as_bytes());
        ffi::lua_error(state);
    }
}

struct Reader<'r> {
    state: *mut lua_State,
    rest: &'r [u8],
}

/// The elements of an aggregate that are left.
enum Left {
    Count(usize),
    /// Until a line with a `.`.
    Stream,
}

/// The upvalue with a name, in a function that reads replies.
fn name_upvalue(name: Name) -> c_int {
    ffi::lua_upvalueindex(2 + name as c_int)
}

/// All functions that push need a protected call, in which nothing has to be dropped.
impl<'r> Reader<'r> {
    /// Pushes the next value. If it cannot be read, anything may be on the stack.
    unsafe fn value(&mut self, depth: usize) -> Read<()> {
        let (kind, text) = self.line()?.split_first().ok_or(Unread::Broken)?;
        // SAFETY: the caller's; each function below pushes one value, and there is room for what it
        // pushes meanwhile.
        unsafe {
            match kind {
                b'$' => self.bulk(text)?,
                b':' => ffi::lua_pushnumber(self.state, integer(text)? as f64),
                b'+' => self.named(Name::Ok, text),
                b'-' => self.named(Name::Err, text),
                b'!' => {
                    let text = self.bytes(text)?;
                    self.named(Name::Err, text);
                }
                b'_' => ffi::lua_pushnil(self.state),
                b'#' => ffi::lua_pushboolean(self.state, c_int::from(text == b"t")),
                b'(' => self.named(Name::BigNumber, text),
                b',' => self.double(text)?,
                b'=' => self.verbatim(text)?,
                b'*' | b'>' | b'%' | b'~' | b'|' => self.aggregate(*kind, text, depth)?,
                _ => return Err(Unread::Broken),
            }
        }
        Ok(())
    }

    /// The next line, without its end.
    fn line(&mut self) -> Read<&'r [u8]> {
        let end = memchr::memchr(b'\r', self.rest).ok_or(Unread::Broken)?;
        let (line, rest) = self.rest.split_at(end);
        self.rest = rest.get(2..).ok_or(Unread::Broken)?;
        Ok(line)
    }

    /// The bytes of a string of this length, without their end.
    fn bytes(&mut self, len: &[u8]) -> Read<&'r [u8]> {
        let len = usize::try_from(integer(len)?).map_err(|_| Unread::Broken)?;
        let (bytes, rest) = self.rest.split_at_checked(len).ok_or(Unread::Broken)?;
        self.rest = rest.get(2..).ok_or(Unread::Broken)?;
        Ok(bytes)
    }

    unsafe fn bulk(&mut self, len: &[u8]) -> Read<()> {
        // SAFETY: the caller's.
        unsafe {
            match len {
                b"?" => self.chunks()?,
                b"-1" => ffi::lua_pushboolean(self.state, 0),
                len => push_string(self.state, self.bytes(len)?),
            }
        }
        Ok(())
    }

    /// Pushes a string that came in chunks.
    unsafe fn chunks(&mut self) -> Read<()> {
        // SAFETY: the caller's; there is room for two strings.
        unsafe {
            push_string(self.state, b"");
            loop {
                let line = self.line()?;
                match line.strip_prefix(b";").ok_or(Unread::Broken)? {
                    b"0" => return Ok(()),
                    len => push_string(self.state, self.bytes(len)?),
                }
                ffi::lua_concat(self.state, 2);
            }
        }
    }

    /// Pushes a table whose one field has this name and text.
    unsafe fn named(&self, name: Name, text: &[u8]) {
        // SAFETY: the caller's.
        unsafe {
            self.begin_named(name);
            push_string(self.state, text);
            ffi::lua_rawset(self.state, -3);
        }
    }

    /// Pushes a table and a name, for a value and `lua_rawset`.
    unsafe fn begin_named(&self, name: Name) {
        // SAFETY: the caller's; the names are the upvalues from 2 on.
        unsafe {
            ffi::lua_createtable(self.state, 0, 1);
            ffi::lua_pushvalue(self.state, name_upvalue(name));
        }
    }

    unsafe fn double(&self, text: &[u8]) -> Read<()> {
        let text = std::str::from_utf8(text).map_err(|_| Unread::Broken)?;
        let number: f64 = text.parse().map_err(|_| Unread::Broken)?;
        // SAFETY: the caller's.
        unsafe {
            self.begin_named(Name::Double);
            ffi::lua_pushnumber(self.state, number);
            ffi::lua_rawset(self.state, -3);
        }
        Ok(())
    }

    unsafe fn verbatim(&mut self, len: &[u8]) -> Read<()> {
        let bytes = self.bytes(len)?;
        let (format, text) = bytes.split_at_checked(4).ok_or(Unread::Broken)?;
        // SAFETY: the caller's.
        unsafe {
            self.begin_named(Name::Verbatim);
            ffi::lua_createtable(self.state, 0, 2);
            for (name, text) in [(Name::Text, text), (Name::Format, &format[..3])] {
                ffi::lua_pushvalue(self.state, name_upvalue(name));
                push_string(self.state, text);
                ffi::lua_rawset(self.state, -3);
            }
            ffi::lua_rawset(self.state, -3);
        }
        Ok(())
    }

    /// Pushes an array, a push, a map or a set; or skips attributes, and pushes the value behind them.
    unsafe fn aggregate(&mut self, kind: u8, len: &[u8], depth: usize) -> Read<()> {
        let depth = depth.checked_sub(1).ok_or(Unread::TooDeep)?;
        // SAFETY: the caller's; there is room for what is pushed here and for a value.
        unsafe {
            if ffi::lua_checkstack(self.state, SLOTS_PER_VALUE) == 0 {
                return Err(Unread::TooDeep);
            }
            let left = match len {
                b"?" => Left::Stream,
                b"-1" => {
                    ffi::lua_pushboolean(self.state, 0);
                    return Ok(());
                }
                len => Left::Count(usize::try_from(integer(len)?).map_err(|_| Unread::Broken)?),
            };
            match kind {
                b'%' => self.map(left, depth),
                b'~' => self.set(left, depth),
                b'|' => self.attributed(left, depth),
                _ => self.array(left, depth),
            }
        }
    }

    /// Whether there is another element.
    fn has_next(&mut self, left: &mut Left) -> Read<bool> {
        match left {
            Left::Count(0) => Ok(false),
            Left::Count(left) => {
                *left -= 1;
                Ok(true)
            }
            Left::Stream if self.rest.first() == Some(&b'.') => self.line().map(|_| false),
            Left::Stream => Ok(true),
        }
    }

    unsafe fn array(&mut self, mut left: Left, depth: usize) -> Read<()> {
        let room = match left {
            Left::Count(len) => len.min(self.rest.len() / VALUE_BYTES_MIN),
            Left::Stream => 0,
        };
        // SAFETY: the caller's.
        unsafe {
            ffi::lua_createtable(self.state, c_int::try_from(room).unwrap_or(0), 0);
            let mut at = 0;
            while self.has_next(&mut left)? {
                at += 1;
                self.value(depth)?;
                ffi::lua_rawseti_(self.state, -2, at);
            }
        }
        Ok(())
    }

    unsafe fn map(&mut self, mut left: Left, depth: usize) -> Read<()> {
        // SAFETY: the caller's.
        unsafe {
            self.begin_named(Name::Map);
            ffi::lua_createtable(self.state, 0, 0);
            while self.has_next(&mut left)? {
                self.value(depth)?;
                self.value(depth)?;
                self.set_or_drop();
            }
            ffi::lua_rawset(self.state, -3);
        }
        Ok(())
    }

    unsafe fn set(&mut self, mut left: Left, depth: usize) -> Read<()> {
        // SAFETY: the caller's.
        unsafe {
            self.begin_named(Name::Set);
            ffi::lua_createtable(self.state, 0, 0);
            while self.has_next(&mut left)? {
                self.value(depth)?;
                ffi::lua_pushboolean(self.state, 1);
                self.set_or_drop();
            }
            ffi::lua_rawset(self.state, -3);
        }
        Ok(())
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
    unsafe fn attributed(&mut self, mut left: Left, depth: usize) -> Read<()> {
        // SAFETY: the caller's; each attribute is popped.
        unsafe {
            while self.has_next(&mut left)? {
                self.value(depth)?;
                self.value(depth)?;
                ffi::lua_settop(self.state, -3);
            }
            self.value(depth)
        }
    }
}

fn integer(text: &[u8]) -> Read<i64> {
    number::parse_i64(text).ok_or(Unread::Broken)
}
