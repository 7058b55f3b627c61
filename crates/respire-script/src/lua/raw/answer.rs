//! The value that a script returns, as a reply.

use super::entry::name_upvalue;
use super::names::Name;
use super::string_at;
use crate::limits::REPLY_DEPTH_MAX;
use crate::lua::caller::{CALLER, Stop};
use crate::lua::lib::args::to_integer;
use crate::lua::text;
use mlua::ffi::{self, lua_State};
use respire_engine::{Proto, Reply};
use std::ffi::c_int;

/// The slots that a nested table takes: itself, and a key, a value and a name.
const SLOTS_PER_TABLE: c_int = 4;

/// The most bytes of a reply. A few tables that contain each other can stand for more elements than
/// there are atoms.
const BYTES_MAX: usize = 512 << 20;

/// Elements between two calls of [`Caller::pause`](crate::lua::caller::Caller::pause).
const PAUSE_ELEMENTS: u32 = 1_000;

/// Why a value is not written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unwritten {
    /// The script must end.
    Stopped(Stop),
    /// It takes more than [`BYTES_MAX`].
    TooLong,
}

type Written = Result<(), Unwritten>;

/// What a script has returned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Returned {
    /// The error of a call, which was counted when the call failed.
    CountedError,
    /// Another error, or another value.
    Other,
}

/// Makes room on the stack for [`Writer::write`].
///
/// # Safety
/// The call is protected.
pub(super) unsafe fn make_room(state: *mut lua_State) {
    // SAFETY: the caller's.
    unsafe {
        if ffi::lua_type(state, -1) == ffi::LUA_TTABLE
            && ffi::lua_checkstack(state, SLOTS_PER_TABLE * REPLY_DEPTH_MAX as c_int) == 0
        {
            ffi::luaL_error(state, c"reached lua stack limit".as_ptr());
        }
    }
}

/// Writes what is on the stack as a reply. Nothing that it calls makes anything in Lua, or fails.
pub(super) struct Writer<'w, 'r> {
    state: *mut lua_State,
    proto: Proto,
    reply: &'w mut Reply<'r>,
    /// The length of the output at which the reply is too long.
    end: usize,
    /// The elements until the next pause.
    unpaused: u32,
}

impl<'w, 'r> Writer<'w, 'r> {
    /// `proto` is the protocol that the script speaks: only in RESP3 a boolean stays one.
    ///
    /// # Safety
    /// The state is valid as long as the writer, with the value on top of the stack, room for all
    /// slots, and the running function has the [names](super::names::NAMES) as upvalues.
    pub(super) unsafe fn new(
        state: *mut lua_State,
        proto: Proto,
        reply: &'w mut Reply<'r>,
    ) -> Self {
        let end = reply.sink().len().saturating_add(BYTES_MAX);
        Self {
            state,
            proto,
            reply,
            end,
            unpaused: PAUSE_ELEMENTS,
        }
    }

    /// Writes the value on top of the stack, and pops it. If it is not written, nothing of it is, and
    /// anything may be on the stack.
    pub(super) fn write(&mut self) -> Result<Returned, Unwritten> {
        let (errors, mark) = (self.reply.error_count(), self.reply.sink().mark());
        // SAFETY: there is a value on top.
        let is_table = unsafe { ffi::lua_type(self.state, -1) } == ffi::LUA_TTABLE;
        let is_counted = is_table && self.field(Name::IsCounted) == ffi::LUA_TBOOLEAN;
        if is_table {
            self.pop();
        }
        if let Err(unwritten) = self.value(REPLY_DEPTH_MAX) {
            self.reply.sink().cut(mark);
            return Err(unwritten);
        }
        Ok(match is_counted && self.reply.error_count() != errors {
            true => Returned::CountedError,
            false => Returned::Other,
        })
    }

    fn value(&mut self, depth: usize) -> Written {
        // SAFETY: there is a value on top, of the type that is asked for first.
        unsafe {
            match ffi::lua_type(self.state, -1) {
                ffi::LUA_TSTRING => self.reply.bulk(string_at(self.state, -1)),
                ffi::LUA_TNUMBER => {
                    let number = ffi::lua_tonumber(self.state, -1);
                    self.reply.int(to_integer(number));
                }
                ffi::LUA_TBOOLEAN => {
                    let truth = ffi::lua_toboolean(self.state, -1) != 0;
                    match (self.proto, truth) {
                        (Proto::Resp3, _) => self.reply.bool(truth),
                        (_, true) => self.reply.int(1),
                        (_, false) => self.reply.null(),
                    }
                }
                ffi::LUA_TTABLE => match depth.checked_sub(1) {
                    Some(depth) => self.table(depth)?,
                    None => self.reply.error("ERR reached lua stack limit"),
                },
                _ => self.reply.null(),
            }
        }
        self.pop();
        Ok(())
    }

    /// Writes a value that lies in a table, and pops it.
    fn element(&mut self, depth: usize) -> Written {
        self.step()?;
        self.value(depth)?;
        if self.reply.sink().len() > self.end {
            return Err(Unwritten::TooLong);
        }
        Ok(())
    }

    /// Called for each element that is written. From time to time, lets the server do other things.
    fn step(&mut self) -> Written {
        self.unpaused -= 1;
        if self.unpaused > 0 {
            return Ok(());
        }
        self.unpaused = PAUSE_ELEMENTS;
        let paused = CALLER.with(|caller| caller.pause());
        paused.map_err(Unwritten::Stopped)
    }

    fn pop(&mut self) {
        // SAFETY: callers have pushed what they pop.
        unsafe { ffi::lua_settop(self.state, -2) }
    }

    /// Pushes a field of the table on top. Returns its type.
    fn field(&mut self, name: Name) -> c_int {
        // SAFETY: there is a table on top, room, and the names are upvalues; reading without asking
        // a metatable does not fail.
        unsafe {
            ffi::lua_pushvalue(self.state, name_upvalue(name));
            ffi::lua_rawget(self.state, -2);
            ffi::lua_type(self.state, -1)
        }
    }

    /// Whether the table on top has a field of this type. If so, it is pushed.
    fn has(&mut self, name: Name, kind: c_int) -> bool {
        let is_it = self.field(name) == kind;
        if !is_it {
            self.pop();
        }
        is_it
    }

    /// The string on top, whose bytes are used before it is popped.
    fn text<'s>(&self) -> &'s [u8] {
        // SAFETY: callers have checked the type, and keep what is said above.
        unsafe { string_at(self.state, -1) }
    }

    /// Writes the table on top, which stays.
    fn table(&mut self, depth: usize) -> Written {
        if self.named(depth)? {
            return Ok(());
        }
        let mut len = 0;
        while self.push_element(len + 1) {
            self.pop();
            len += 1;
        }
        self.reply.array(len);
        for at in 1..=len {
            self.push_element(at);
            self.element(depth)?;
        }
        Ok(())
    }

    /// Whether the table on top has an element at this place. If so, it is pushed.
    fn push_element(&mut self, at: usize) -> bool {
        let Ok(at) = c_int::try_from(at) else {
            return false;
        };
        // SAFETY: there is a table on top, and room.
        let is_there = unsafe {
            ffi::lua_rawgeti_(self.state, -1, at);
            ffi::lua_type(self.state, -1) != ffi::LUA_TNIL
        };
        if !is_there {
            self.pop();
        }
        is_there
    }

    /// Writes the table on top if it stands for another type: an error, a status, a double, a map.
    /// Returns whether it does.
    fn named(&mut self, depth: usize) -> Result<bool, Unwritten> {
        if self.has(Name::Err, ffi::LUA_TSTRING) {
            self.reply.error(text::error_line(self.text()));
        } else if self.has(Name::Ok, ffi::LUA_TSTRING) {
            self.reply.simple(text::line(self.text()));
        } else if self.has(Name::Double, ffi::LUA_TNUMBER) {
            // SAFETY: there is a number on top.
            let number = unsafe { ffi::lua_tonumber(self.state, -1) };
            self.reply.double(number);
        } else if self.has(Name::BigNumber, ffi::LUA_TSTRING) {
            self.reply.big_number(&text::line(self.text()));
        } else if self.has(Name::Verbatim, ffi::LUA_TTABLE) {
            let is_whole = self.verbatim();
            self.pop();
            return if is_whole {
                Ok(true)
            } else {
                self.map_or_set(depth)
            };
        } else {
            return self.map_or_set(depth);
        }
        self.pop();
        Ok(true)
    }

    fn map_or_set(&mut self, depth: usize) -> Result<bool, Unwritten> {
        if self.has(Name::Map, ffi::LUA_TTABLE) {
            let len = self.count()?;
            self.reply.map(len);
            // SAFETY: a pair is on top, and there is room for another value.
            self.pairs(|writer| unsafe {
                ffi::lua_pushvalue(writer.state, -2);
                writer.element(depth)?;
                writer.element(depth)
            })?;
        } else if self.has(Name::Set, ffi::LUA_TTABLE) {
            let len = self.count()?;
            self.reply.set(len);
            // SAFETY: a pair is on top, and there is room for another value.
            self.pairs(|writer| unsafe {
                writer.pop();
                ffi::lua_pushvalue(writer.state, -1);
                writer.element(depth)
            })?;
        } else {
            return Ok(false);
        }
        self.pop();
        Ok(true)
    }

    /// Calls `each` with every key and value of the table on top, above it. It pops the value.
    fn pairs(&mut self, mut each: impl FnMut(&mut Self) -> Written) -> Written {
        // SAFETY: there is a table on top, and room; the key that `lua_next` gets is one of the table.
        unsafe {
            ffi::lua_pushnil(self.state);
            while ffi::lua_next(self.state, -2) != 0 {
                each(self)?;
            }
        }
        Ok(())
    }

    /// The number of keys of the table on top.
    fn count(&mut self) -> Result<usize, Unwritten> {
        let mut count = 0;
        self.pairs(|writer| {
            writer.pop();
            count += 1;
            Ok(())
        })?;
        Ok(count)
    }

    /// Writes the table on top as a verbatim string, if it has a text and a format, which is cut or
    /// filled to three bytes.
    fn verbatim(&mut self) -> bool {
        if !self.has(Name::Format, ffi::LUA_TSTRING) {
            return false;
        }
        let mut format = *b"txt";
        for (slot, byte) in format.iter_mut().zip(self.text()) {
            *slot = *byte;
        }
        self.pop();
        if !self.has(Name::Text, ffi::LUA_TSTRING) {
            return false;
        }
        self.reply.verbatim(format, self.text());
        self.pop();
        true
    }
}
