//! Replies of commands as values of Lua, and values of Lua as replies.

use super::lib::raise;
use mlua::{Lua, Result, Table, Value};
use respire_engine::{Proto, Reply};

/// How deep the tables of a reply may be nested.
const DEPTH_MAX: usize = 128;

/// Reads one reply, which the engine has written, as a value of Lua.
///
/// # Errors
/// Out of memory, or bytes that are no reply.
pub(super) fn to_lua(lua: &Lua, bytes: &[u8]) -> Result<Value> {
    Reader { lua, rest: bytes }.value()
}

struct Reader<'r> {
    lua: &'r Lua,
    rest: &'r [u8],
}

impl<'r> Reader<'r> {
    fn value(&mut self) -> Result<Value> {
        let line = self.line()?;
        let (kind, text) = line.split_first().ok_or_else(broken)?;
        match kind {
            b'$' => self.bulk(text),
            b':' => Ok(Value::Number(integer(text)? as f64)),
            b'+' => self.named("ok", text),
            b'-' => error_table(self.lua, text).map(Value::Table),
            b'*' | b'>' => self.array(text),
            b'%' => self.map(text),
            b'~' => self.set(text),
            b'_' => Ok(Value::Nil),
            b'#' => Ok(Value::Boolean(text == b"t")),
            b',' => self.double(text),
            b'(' => self.named("big_number", text),
            b'=' => self.verbatim(text),
            b'|' => {
                for _ in 0..2 * integer(text)? {
                    self.value()?;
                }
                self.value()
            }
            _ => Err(broken()),
        }
    }

    /// The next line, without its end.
    fn line(&mut self) -> Result<&'r [u8]> {
        let end = self.rest.iter().position(|byte| *byte == b'\r');
        let (line, rest) = self.rest.split_at(end.ok_or_else(broken)?);
        self.rest = rest.get(2..).ok_or_else(broken)?;
        Ok(line)
    }

    /// The bytes of a bulk string, without its end.
    fn bytes(&mut self, len: &[u8]) -> Result<Option<&'r [u8]>> {
        let Ok(len) = usize::try_from(integer(len)?) else {
            return Ok(None);
        };
        let bytes = self.rest.get(..len).ok_or_else(broken)?;
        self.rest = self.rest.get(len + 2..).ok_or_else(broken)?;
        Ok(Some(bytes))
    }

    fn bulk(&mut self, len: &[u8]) -> Result<Value> {
        match self.bytes(len)? {
            Some(bytes) => self.lua.create_string(bytes).map(Value::String),
            None => Ok(Value::Boolean(false)),
        }
    }

    fn named(&self, name: &str, text: &[u8]) -> Result<Value> {
        let table = self.lua.create_table()?;
        table.raw_set(name, self.lua.create_string(text)?)?;
        Ok(Value::Table(table))
    }

    fn array(&mut self, len: &[u8]) -> Result<Value> {
        let Ok(len) = usize::try_from(integer(len)?) else {
            return Ok(Value::Boolean(false));
        };
        let table = self.lua.create_table_with_capacity(len, 0)?;
        for at in 1..=len {
            table.raw_set(at, self.value()?)?;
        }
        Ok(Value::Table(table))
    }

    fn map(&mut self, len: &[u8]) -> Result<Value> {
        let map = self.lua.create_table()?;
        for _ in 0..integer(len)? {
            let (key, value) = (self.value()?, self.value()?);
            if !key.is_nil() {
                map.raw_set(key, value)?;
            }
        }
        self.wrap("map", map)
    }

    fn set(&mut self, len: &[u8]) -> Result<Value> {
        let set = self.lua.create_table()?;
        for _ in 0..integer(len)? {
            let member = self.value()?;
            if !member.is_nil() {
                set.raw_set(member, true)?;
            }
        }
        self.wrap("set", set)
    }

    fn double(&self, text: &[u8]) -> Result<Value> {
        let text = std::str::from_utf8(text).map_err(|_| broken())?;
        let number: f64 = text.parse().map_err(|_| broken())?;
        self.wrap("double", number)
    }

    fn verbatim(&mut self, len: &[u8]) -> Result<Value> {
        let bytes = self.bytes(len)?.ok_or_else(broken)?;
        let (format, text) = bytes.split_at_checked(4).ok_or_else(broken)?;
        let table = self.lua.create_table()?;
        table.raw_set("string", self.lua.create_string(text)?)?;
        table.raw_set("format", self.lua.create_string(&format[..3])?)?;
        self.wrap("verbatim_string", table)
    }

    fn wrap(&self, name: &str, value: impl mlua::IntoLua) -> Result<Value> {
        let table = self.lua.create_table()?;
        table.raw_set(name, value)?;
        Ok(Value::Table(table))
    }
}

/// An error of a command as scripts see it: a table with its text. A text without a code gets `ERR`.
///
/// # Errors
/// Out of memory.
pub(super) fn error_table(lua: &Lua, text: &[u8]) -> Result<Table> {
    let table = lua.create_table()?;
    table.raw_set("err", lua.create_string(text)?)?;
    Ok(table)
}

fn integer(text: &[u8]) -> Result<i64> {
    resp_codec::number::parse_i64(text).ok_or_else(broken)
}

#[cold]
fn broken() -> mlua::Error {
    raise::text("the command's reply cannot be read")
}

/// Writes a value of Lua as one reply. `proto` is the protocol that the script speaks: only in RESP3
/// a boolean stays one.
pub(super) fn write(value: &Value, proto: Proto, reply: &mut Reply<'_>) -> Result<()> {
    write_at(value, proto, reply, DEPTH_MAX)
}

fn write_at(value: &Value, proto: Proto, reply: &mut Reply<'_>, depth: usize) -> Result<()> {
    match value {
        Value::String(text) => reply.bulk(&*text.as_bytes()),
        Value::Integer(number) => reply.int(*number),
        Value::Number(number) => reply.int(*number as i64),
        Value::Boolean(truth) if proto == Proto::Resp3 => reply.bool(*truth),
        Value::Boolean(true) => reply.int(1),
        Value::Table(table) => return write_table(table, proto, reply, depth),
        _ => reply.null(),
    }
    Ok(())
}

fn write_table(table: &Table, proto: Proto, reply: &mut Reply<'_>, depth: usize) -> Result<()> {
    let Some(depth) = depth.checked_sub(1) else {
        reply.error("ERR reached lua stack limit");
        return Ok(());
    };
    if write_named(table, proto, reply, depth)? {
        return Ok(());
    }
    let mut elements = Vec::new();
    loop {
        let next: Value = table.raw_get(elements.len() + 1)?;
        if next.is_nil() {
            break;
        }
        elements.push(next);
    }
    reply.array(elements.len());
    for element in &elements {
        write_at(element, proto, reply, depth)?;
    }
    Ok(())
}

/// Writes a table that stands for another type: an error, a status, a double, a map. Returns whether
/// it is one.
fn write_named(table: &Table, proto: Proto, reply: &mut Reply<'_>, depth: usize) -> Result<bool> {
    if let Value::String(text) = table.raw_get("err")? {
        reply.error(&*text.as_bytes());
    } else if let Value::String(text) = table.raw_get("ok")? {
        reply.simple(on_one_line(&text.as_bytes()));
    } else if let Some(number) = number(&table.raw_get("double")?) {
        reply.double(number);
    } else if let Value::String(digits) = table.raw_get("big_number")? {
        reply.big_number(&on_one_line(&digits.as_bytes()));
    } else if let Some((format, text)) = verbatim(table)? {
        reply.verbatim(format, &text.as_bytes());
    } else if let Value::Table(map) = table.raw_get("map")? {
        let pairs: Vec<(Value, Value)> = map.pairs().collect::<Result<_>>()?;
        reply.map(pairs.len());
        for (key, value) in &pairs {
            write_at(key, proto, reply, depth)?;
            write_at(value, proto, reply, depth)?;
        }
    } else if let Value::Table(set) = table.raw_get("set")? {
        let members: Vec<(Value, Value)> = set.pairs().collect::<Result<_>>()?;
        reply.set(members.len());
        for (member, _) in &members {
            write_at(member, proto, reply, depth)?;
        }
    } else {
        return Ok(false);
    }
    Ok(true)
}

fn number(value: &Value) -> Option<f64> {
    match value {
        Value::Number(number) => Some(*number),
        Value::Integer(number) => Some(*number as f64),
        _ => None,
    }
}

/// The format, cut or filled to three bytes, and the text of a verbatim string.
fn verbatim(table: &Table) -> Result<Option<([u8; 3], mlua::LuaString)>> {
    let Value::Table(inner) = table.raw_get("verbatim_string")? else {
        return Ok(None);
    };
    let (Value::String(format), Value::String(text)) =
        (inner.raw_get("format")?, inner.raw_get("string")?)
    else {
        return Ok(None);
    };
    let mut name = *b"txt";
    for (slot, byte) in name.iter_mut().zip(format.as_bytes().iter()) {
        *slot = *byte;
    }
    Ok(Some((name, text)))
}

/// A text whose line ends are blanks, as a reply of one line needs it.
fn on_one_line(text: &[u8]) -> Vec<u8> {
    let blank = |byte: &u8| {
        if matches!(byte, b'\r' | b'\n') {
            b' '
        } else {
            *byte
        }
    };
    text.iter().map(blank).collect()
}
