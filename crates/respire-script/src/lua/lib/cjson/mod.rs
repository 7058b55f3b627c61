//! `cjson`: JSON as lua-cjson 2.1.0 reads and writes it.

mod decode;
mod encode;
mod lexer;

use super::args::{Args, to_int};
use super::build::LuaBuilder;
use super::raise;
pub(crate) use decode::{DecodeOptions, Problem, decode};
use encode::{EncodeOptions, InvalidNumbers, encode};
use mlua::{IntoLuaMulti, Lua, MultiValue, Result, Table, Value};
use std::cell::Cell;
use std::rc::Rc;

/// What scripts can set. It lasts as long as the state, for all scripts, as in Redis.
#[derive(Clone, Copy)]
struct Options {
    encode: EncodeOptions,
    decode_invalid_numbers: bool,
    decode_depth_max: i32,
    /// Has no effect: there is no buffer to keep.
    keep_buffer: bool,
}

impl Options {
    fn new(bytes_max: usize) -> Self {
        Self {
            encode: EncodeOptions {
                sparse_convert: false,
                sparse_ratio: 2,
                sparse_safe: 10,
                depth_max: 1_000,
                invalid_numbers: InvalidNumbers::Refuse,
                precision: 14,
                bytes_max,
            },
            decode_invalid_numbers: true,
            decode_depth_max: 1_000,
            keep_buffer: true,
        }
    }
}

type Shared = Rc<Cell<Options>>;

/// The library's table. `bytes_max` is the longest JSON that `encode` returns.
///
/// # Errors
/// Out of memory.
pub(crate) fn table(lua: &Lua, bytes_max: usize) -> Result<Table> {
    let table = lua.create_table()?;
    let options = Rc::new(Cell::new(Options::new(bytes_max)));
    let add = |name, function: fn(&Lua, &Args<'_>, &Shared) -> Result<MultiValue>| {
        let options = options.clone();
        let function = lua.create_function(move |lua, values: MultiValue| {
            function(lua, &Args::new(lua, values), &options)
        })?;
        table.raw_set(name, function)
    };
    add("encode", encode_value)?;
    add("decode", decode_text)?;
    add("encode_sparse_array", sparse_array)?;
    add("encode_max_depth", encode_max_depth)?;
    add("decode_max_depth", decode_max_depth)?;
    add("encode_number_precision", precision)?;
    add("encode_keep_buffer", keep_buffer)?;
    add("encode_invalid_numbers", encode_invalid_numbers)?;
    add("decode_invalid_numbers", decode_invalid_numbers)?;
    add("new", |lua, _, options| {
        table_of(lua, options)?.into_lua_multi(lua)
    })?;
    table.raw_set("null", Value::NULL)?;
    table.raw_set("_NAME", "cjson")?;
    table.raw_set("_VERSION", "2.1.0")?;
    Ok(table)
}

/// A library of its own, with options of its own.
fn table_of(lua: &Lua, options: &Shared) -> Result<Table> {
    table(lua, options.get().encode.bytes_max)
}

fn encode_value(lua: &Lua, args: &Args<'_>, options: &Shared) -> Result<MultiValue> {
    let value = match args.get(1) {
        Some(value) if args.len() == 1 => value,
        _ => return Err(args.problem(1, "expected 1 argument")),
    };
    let json = encode(lua, value, &options.get().encode)?;
    lua.create_string(json)?.into_lua_multi(lua)
}

fn decode_text(lua: &Lua, args: &Args<'_>, options: &Shared) -> Result<MultiValue> {
    if args.len() != 1 {
        return Err(args.problem(1, "expected 1 argument"));
    }
    let text = args.string(1)?;
    let options = options.get();
    let options = DecodeOptions {
        invalid_numbers: options.decode_invalid_numbers,
        depth_max: usize::try_from(options.decode_depth_max).unwrap_or_default(),
    };
    match decode(&text.as_bytes(), options, &mut LuaBuilder(lua)) {
        Ok(value) => value.into_lua_multi(lua),
        Err(Problem::Text(problem)) => Err(raise::error(lua, problem)),
        Err(Problem::Build(error)) => Err(error),
    }
}

/// Refuses more arguments than a function has.
fn at_most(args: &Args<'_>, count: usize) -> Result<()> {
    if args.len() > count {
        return Err(args.problem(count + 1, "found too many arguments"));
    }
    Ok(())
}

/// Sets an integer if the argument is there.
fn set_integer(args: &Args<'_>, number: usize, place: &mut i32, min: i32, max: i32) -> Result<()> {
    if args.is_none_or_nil(number) {
        return Ok(());
    }
    let value = to_int(args.integer(number)?);
    if !(min..=max).contains(&value) {
        // lua-cjson names the first argument, whichever it was.
        let problem = format!("expected integer between {min} and {max}");
        return Err(args.problem(1, &problem));
    }
    *place = value;
    Ok(())
}

/// The place of a word among `words`, or of true and false, if the argument is there.
fn chosen(args: &Args<'_>, words: &[&str]) -> Result<Option<usize>> {
    match args.get(1) {
        None | Some(Value::Nil) => Ok(None),
        Some(Value::Boolean(value)) => Ok(Some(usize::from(*value))),
        Some(_) => {
            let text = args.string(1)?;
            let text = text.as_bytes();
            // C compares up to the first zero byte.
            let text = text.split(|byte| *byte == 0).next().unwrap_or_default();
            match words.iter().position(|word| word.as_bytes() == text) {
                Some(place) => Ok(Some(place)),
                None => {
                    let text = String::from_utf8_lossy(text);
                    Err(args.problem(1, &format!("invalid option '{text}'")))
                }
            }
        }
    }
}

const OFF_ON: [&str; 2] = ["off", "on"];

fn sparse_array(lua: &Lua, args: &Args<'_>, shared: &Shared) -> Result<MultiValue> {
    at_most(args, 3)?;
    let mut options = shared.get();
    let encode = &mut options.encode;
    if let Some(convert) = chosen(args, &OFF_ON)? {
        encode.sparse_convert = convert == 1;
    }
    set_integer(args, 2, &mut encode.sparse_ratio, 0, i32::MAX)?;
    set_integer(args, 3, &mut encode.sparse_safe, 0, i32::MAX)?;
    shared.set(options);
    let encode = options.encode;
    (
        encode.sparse_convert,
        encode.sparse_ratio,
        encode.sparse_safe,
    )
        .into_lua_multi(lua)
}

fn encode_max_depth(lua: &Lua, args: &Args<'_>, shared: &Shared) -> Result<MultiValue> {
    at_most(args, 1)?;
    let mut options = shared.get();
    set_integer(args, 1, &mut options.encode.depth_max, 1, i32::MAX)?;
    shared.set(options);
    options.encode.depth_max.into_lua_multi(lua)
}

fn decode_max_depth(lua: &Lua, args: &Args<'_>, shared: &Shared) -> Result<MultiValue> {
    at_most(args, 1)?;
    let mut options = shared.get();
    set_integer(args, 1, &mut options.decode_depth_max, 1, i32::MAX)?;
    shared.set(options);
    options.decode_depth_max.into_lua_multi(lua)
}

fn precision(lua: &Lua, args: &Args<'_>, shared: &Shared) -> Result<MultiValue> {
    at_most(args, 1)?;
    let mut options = shared.get();
    let mut digits = options.encode.precision as i32;
    set_integer(args, 1, &mut digits, 1, 14)?;
    options.encode.precision = digits as usize;
    shared.set(options);
    digits.into_lua_multi(lua)
}

fn keep_buffer(lua: &Lua, args: &Args<'_>, shared: &Shared) -> Result<MultiValue> {
    at_most(args, 1)?;
    let mut options = shared.get();
    if let Some(keep) = chosen(args, &OFF_ON)? {
        options.keep_buffer = keep == 1;
    }
    shared.set(options);
    options.keep_buffer.into_lua_multi(lua)
}

fn encode_invalid_numbers(lua: &Lua, args: &Args<'_>, shared: &Shared) -> Result<MultiValue> {
    at_most(args, 1)?;
    let mut options = shared.get();
    options.encode.invalid_numbers = match chosen(args, &["off", "on", "null"])? {
        None => options.encode.invalid_numbers,
        Some(0) => InvalidNumbers::Refuse,
        Some(1) => InvalidNumbers::Write,
        Some(_) => InvalidNumbers::Null,
    };
    shared.set(options);
    match options.encode.invalid_numbers {
        InvalidNumbers::Refuse => false.into_lua_multi(lua),
        InvalidNumbers::Write => true.into_lua_multi(lua),
        InvalidNumbers::Null => "null".into_lua_multi(lua),
    }
}

fn decode_invalid_numbers(lua: &Lua, args: &Args<'_>, shared: &Shared) -> Result<MultiValue> {
    at_most(args, 1)?;
    let mut options = shared.get();
    if let Some(take) = chosen(args, &OFF_ON)? {
        options.decode_invalid_numbers = take == 1;
    }
    shared.set(options);
    options.decode_invalid_numbers.into_lua_multi(lua)
}

#[cfg(test)]
mod tests;
