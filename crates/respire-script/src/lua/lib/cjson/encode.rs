//! `cjson.encode`: from values of Lua to JSON.

use super::super::args::type_name;
use super::super::{number, raise};
use mlua::{Lua, Result, Table, Value};

/// How deep tables may lie in each other at most, whatever `encode_max_depth` says: the encoder calls
/// itself for each level, and this keeps it within a quarter of a thread's stack.
const DEPTH_MAX: usize = 1_000;

/// What happens to numbers that JSON does not know.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum InvalidNumbers {
    Refuse,
    Write,
    Null,
}

/// What decides how JSON is written.
#[derive(Clone, Copy, Debug)]
pub(super) struct EncodeOptions {
    /// Whether an array with too many holes becomes an object, and is no error.
    pub(super) sparse_convert: bool,
    /// How many times more holes than elements are too many; 0 means never.
    pub(super) sparse_ratio: i32,
    /// Up to this index, holes do not count.
    pub(super) sparse_safe: i32,
    pub(super) depth_max: i32,
    pub(super) invalid_numbers: InvalidNumbers,
    pub(super) precision: usize,
    /// The most bytes that the result may have.
    pub(super) bytes_max: usize,
}

/// The JSON of a value.
///
/// # Errors
/// lua-cjson's texts, for what JSON cannot say; and a result that is too long.
pub(super) fn encode(lua: &Lua, value: &Value, options: &EncodeOptions) -> Result<Vec<u8>> {
    let mut encoder = Encoder {
        lua,
        options,
        out: Vec::new(),
    };
    encoder.value(value, 0)?;
    encoder.check_length()?;
    Ok(encoder.out)
}

struct Encoder<'a> {
    lua: &'a Lua,
    options: &'a EncodeOptions,
    out: Vec<u8>,
}

impl Encoder<'_> {
    #[cold]
    fn refused(&self, value: &Value, reason: &str) -> mlua::Error {
        let kind = type_name(value);
        raise::error(self.lua, format!("Cannot serialise {kind}: {reason}"))
    }

    fn check_length(&self) -> Result<()> {
        if self.out.len() > self.options.bytes_max {
            return Err(raise::error(self.lua, "resulting string too large"));
        }
        Ok(())
    }

    fn value(&mut self, value: &Value, depth: usize) -> Result<()> {
        match value {
            Value::Nil => self.out.extend_from_slice(b"null"),
            Value::Boolean(true) => self.out.extend_from_slice(b"true"),
            Value::Boolean(false) => self.out.extend_from_slice(b"false"),
            Value::Integer(number) => self.number(*number as f64, value)?,
            Value::Number(number) => self.number(*number, value)?,
            Value::String(text) => self.string(&text.as_bytes())?,
            Value::Table(table) => self.table(table, depth + 1)?,
            Value::LightUserData(pointer) if pointer.0.is_null() => {
                self.out.extend_from_slice(b"null");
            }
            _ => return Err(self.refused(value, "type not supported")),
        }
        Ok(())
    }

    fn number(&mut self, number: f64, value: &Value) -> Result<()> {
        if !number.is_finite() {
            match self.options.invalid_numbers {
                InvalidNumbers::Refuse => {
                    return Err(self.refused(value, "must not be NaN or Inf"));
                }
                InvalidNumbers::Write if number.is_nan() => {
                    self.out.extend_from_slice(b"nan");
                    return Ok(());
                }
                InvalidNumbers::Write => {}
                InvalidNumbers::Null => {
                    self.out.extend_from_slice(b"null");
                    return Ok(());
                }
            }
        }
        number::write_general(&mut self.out, number, self.options.precision);
        Ok(())
    }

    fn string(&mut self, text: &[u8]) -> Result<()> {
        write_string(&mut self.out, text);
        self.check_length()
    }

    fn table(&mut self, table: &Table, depth: usize) -> Result<()> {
        let depth_max = usize::try_from(self.options.depth_max).unwrap_or_default();
        if depth > depth_max.min(DEPTH_MAX) {
            let problem = format!("Cannot serialise, excessive nesting ({depth})");
            return Err(raise::error(self.lua, problem));
        }
        match self.array_len(table)? {
            Some(len) => self.array(table, len, depth),
            None => self.object(table, depth),
        }
    }

    /// The length of an array with all its holes, `None` for an object.
    fn array_len(&self, table: &Table) -> Result<Option<i32>> {
        // An object mostly shows at its first key.
        let first = table.pairs::<Value, bool>().next().transpose()?;
        if first.is_none_or(|(key, _)| index(&key).is_none()) {
            return Ok(None);
        }
        let (mut is_array, mut max, mut items) = (true, 0, 0i32);
        table.for_each(|key: Value, _: bool| {
            match index(&key) {
                Some(index) => {
                    // As C does it: an index past 2^31 becomes the lowest integer.
                    if index > f64::from(max) {
                        max = if index < 2_147_483_648.0 {
                            index as i32
                        } else {
                            i32::MIN
                        };
                    }
                    items = items.wrapping_add(1);
                }
                None => is_array = false,
            }
            Ok(())
        })?;
        let options = self.options;
        let sparse = options.sparse_ratio > 0
            && max > items.wrapping_mul(options.sparse_ratio)
            && max > options.sparse_safe;
        if is_array && sparse && !options.sparse_convert {
            let value = Value::Table(table.clone());
            return Err(self.refused(&value, "excessively sparse array"));
        }
        Ok(Some(max).filter(|max| is_array && !sparse && *max > 0))
    }

    fn array(&mut self, table: &Table, len: i32, depth: usize) -> Result<()> {
        self.out.push(b'[');
        for index in 1..=len {
            if index > 1 {
                self.out.push(b',');
            }
            let value: Value = table.raw_get(index)?;
            self.value(&value, depth)?;
            self.check_length()?;
        }
        self.out.push(b']');
        Ok(())
    }

    fn object(&mut self, table: &Table, depth: usize) -> Result<()> {
        self.out.push(b'{');
        let mut comma = false;
        for pair in table.pairs::<Value, Value>() {
            let (key, value) = pair?;
            if comma {
                self.out.push(b',');
            }
            comma = true;
            match &key {
                Value::String(text) => self.string(&text.as_bytes())?,
                Value::Integer(_) | Value::Number(_) => {
                    self.out.push(b'"');
                    self.value(&key, depth)?;
                    self.out.push(b'"');
                }
                _ => return Err(self.refused(&key, "table key must be a number or string")),
            }
            self.out.push(b':');
            self.value(&value, depth)?;
            self.check_length()?;
        }
        self.out.push(b'}');
        Ok(())
    }
}

/// A key as the index of an array.
fn index(key: &Value) -> Option<f64> {
    let number = match key {
        Value::Integer(number) => *number as f64,
        Value::Number(number) => *number,
        _ => return None,
    };
    (number >= 1.0 && number == number.floor()).then_some(number)
}

/// Appends a string in quotes. Slashes are escaped, and bytes past 127 are not.
fn write_string(out: &mut Vec<u8>, text: &[u8]) {
    out.reserve(text.len() + 2);
    out.push(b'"');
    let mut rest = text;
    while let Some(at) = rest.iter().position(|byte| is_escaped(*byte)) {
        out.extend_from_slice(&rest[..at]);
        write_escaped(out, rest[at]);
        rest = &rest[at + 1..];
    }
    out.extend_from_slice(rest);
    out.push(b'"');
}

fn is_escaped(byte: u8) -> bool {
    matches!(byte, 0..=31 | b'"' | b'\\' | b'/' | 127)
}

fn write_escaped(out: &mut Vec<u8>, byte: u8) {
    let short = match byte {
        8 => b'b',
        b'\t' => b't',
        b'\n' => b'n',
        12 => b'f',
        b'\r' => b'r',
        b'"' | b'\\' | b'/' => byte,
        _ => {
            out.extend_from_slice(format!("\\u{byte:04x}").as_bytes());
            return;
        }
    };
    out.extend_from_slice(&[b'\\', short]);
}
