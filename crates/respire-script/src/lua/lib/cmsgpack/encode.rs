//! From values of Lua to MessagePack.

use super::super::args::to_integer;
use super::super::raise;
use mlua::{Lua, Result, Table, Value};

/// How deep tables may lie in each other. Deeper ones are written as nil, so a table that contains
/// itself has an end.
const DEPTH_MAX: usize = 16;

pub(super) struct Encoder<'a> {
    pub(super) lua: &'a Lua,
    pub(super) out: Vec<u8>,
    /// The most bytes that `out` may have.
    pub(super) bytes_max: usize,
}

impl Encoder<'_> {
    /// Appends a value that lies in `depth` tables.
    ///
    /// # Errors
    /// The result is too long.
    pub(super) fn value(&mut self, value: &Value, depth: usize) -> Result<()> {
        match value {
            Value::Boolean(value) => self.out.push(if *value { 0xc3 } else { 0xc2 }),
            Value::Integer(number) => self.number(*number as f64),
            Value::Number(number) => self.number(*number),
            Value::String(text) => self.string(&text.as_bytes()),
            Value::Table(table) if depth < DEPTH_MAX => self.table(table, depth + 1)?,
            // Whatever else there is has no form.
            _ => self.out.push(0xc0),
        }
        if self.out.len() > self.bytes_max {
            return Err(raise::error(self.lua, "resulting string too large"));
        }
        Ok(())
    }

    fn bytes<const N: usize>(&mut self, first: u8, rest: [u8; N]) {
        self.out.push(first);
        self.out.extend_from_slice(&rest);
    }

    fn number(&mut self, number: f64) {
        let integer = to_integer(number);
        if integer as f64 == number {
            self.integer(integer);
        } else if f64::from(number as f32) == number {
            self.bytes(0xca, (number as f32).to_be_bytes());
        } else {
            self.bytes(0xcb, number.to_be_bytes());
        }
    }

    fn integer(&mut self, number: i64) {
        if let Ok(number) = u8::try_from(number) {
            match number {
                0..=0x7f => self.out.push(number),
                _ => self.bytes(0xcc, [number]),
            }
        } else if let Ok(number) = u16::try_from(number) {
            self.bytes(0xcd, number.to_be_bytes());
        } else if let Ok(number) = u32::try_from(number) {
            self.bytes(0xce, number.to_be_bytes());
        } else if number > 0 {
            self.bytes(0xcf, number.to_be_bytes());
        } else if let Ok(number) = i8::try_from(number) {
            match number {
                -32.. => self.out.push(number.cast_unsigned()),
                _ => self.bytes(0xd0, number.to_be_bytes()),
            }
        } else if let Ok(number) = i16::try_from(number) {
            self.bytes(0xd1, number.to_be_bytes());
        } else if let Ok(number) = i32::try_from(number) {
            self.bytes(0xd2, number.to_be_bytes());
        } else {
            self.bytes(0xd3, number.to_be_bytes());
        }
    }

    fn string(&mut self, text: &[u8]) {
        match text.len() {
            len @ 0..32 => self.out.push(0xa0 | len as u8),
            len @ 32..=0xff => self.bytes(0xd9, [len as u8]),
            len @ 0x100..=0xffff => self.bytes(0xda, (len as u16).to_be_bytes()),
            len => self.bytes(0xdb, (len as u32).to_be_bytes()),
        }
        self.out.extend_from_slice(text);
    }

    /// The head of an array or map. The first byte of short ones has their length.
    fn head(&mut self, short: u8, long: u8, len: usize) {
        match len {
            0..=15 => self.out.push(short | len as u8),
            16..=0xffff => self.bytes(long, (len as u16).to_be_bytes()),
            _ => self.bytes(long + 1, (len as u32).to_be_bytes()),
        }
    }

    fn table(&mut self, table: &Table, depth: usize) -> Result<()> {
        let (len, is_array) = shape(table)?;
        if is_array {
            self.head(0x90, 0xdc, len);
            for index in 1..=len {
                let value: Value = table.raw_get(index)?;
                self.value(&value, depth)?;
            }
            return Ok(());
        }
        self.head(0x80, 0xde, len);
        for pair in table.pairs::<Value, Value>() {
            let (key, value) = pair?;
            self.value(&key, depth)?;
            self.value(&value, depth)?;
        }
        Ok(())
    }
}

/// How many entries a table has, and whether their keys are exactly the integers from 1 to that. An
/// empty table is an array.
fn shape(table: &Table) -> Result<(usize, bool)> {
    let (mut len, mut max, mut integers) = (0usize, 0, true);
    table.for_each(|key: Value, _: bool| {
        len += 1;
        match key {
            Value::Integer(key) if (1..=i64::from(i32::MAX)).contains(&key) => max = key.max(max),
            _ => integers = false,
        }
        Ok(())
    })?;
    Ok((len, integers && max == len as i64))
}
