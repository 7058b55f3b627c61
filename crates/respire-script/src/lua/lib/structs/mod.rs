//! `struct`: C structures as bytes, as Redis's lua_struct.c writes and reads them on x86-64.

mod format;

use super::args::{Args, to_integer};
use super::raise;
pub(crate) use format::{Format, Item};
use format::{FormatProblem, Kind, read_integer, write_integer};
use mlua::{Lua, MultiValue, Result, Table, Value};

/// The most values that one call unpacks; Lua has no room for many more.
const VALUES_MAX: usize = 7_900;

/// The library's table. `bytes_max` is the longest string that `pack` returns.
///
/// # Errors
/// Out of memory.
pub(crate) fn table(lua: &Lua, bytes_max: usize) -> Result<Table> {
    let table = lua.create_table()?;
    let pack = lua.create_function(move |lua, mut values: MultiValue| {
        // The C code keeps a nil behind the arguments, so that is what a missing one is.
        if !values.is_empty() {
            values.push_back(Value::Nil);
        }
        let args = Args::new(lua, values);
        let packed = pack(lua, &args, bytes_max)?;
        lua.create_string(packed)
    })?;
    table.raw_set("pack", pack)?;
    let unpack =
        lua.create_function(|lua, values: MultiValue| unpack(lua, &Args::new(lua, values)))?;
    table.raw_set("unpack", unpack)?;
    let size = lua.create_function(|lua, values: MultiValue| size(lua, &Args::new(lua, values)))?;
    table.raw_set("size", size)?;
    Ok(table)
}

fn format_problem(lua: &Lua, problem: FormatProblem) -> mlua::Error {
    match problem {
        FormatProblem::Text(text) => raise::error(lua, text),
        FormatProblem::Option(letter) => {
            let text = [&b"invalid format option '"[..], &[letter], b"'"].concat();
            raise::argument(lua, 1, &text)
        }
    }
}

/// The bytes that C stores for a number: what is not negative is converted as unsigned.
fn bits(number: f64) -> u64 {
    const HALF: f64 = 9_223_372_036_854_775_808.0;
    if number >= HALF {
        to_integer(number - HALF).cast_unsigned() ^ 1 << 63
    } else {
        to_integer(number).cast_unsigned()
    }
}

fn pack(lua: &Lua, args: &Args<'_>, bytes_max: usize) -> Result<Vec<u8>> {
    let text = args.string(1)?;
    let text = text.as_bytes();
    let mut format = Format::new(&text);
    let mut out = Vec::new();
    let mut next = 2;
    while let Some(item) = format
        .next(out.len())
        .map_err(|found| format_problem(lua, found))?
    {
        out.resize(out.len() + item.padding, 0);
        match item.kind {
            Kind::Integer { .. } => {
                write_integer(&mut out, bits(args.number(next)?), item.size, format.little);
            }
            Kind::Float => {
                let bits = (args.number(next)? as f32).to_bits();
                write_integer(&mut out, u64::from(bits), item.size, format.little);
            }
            Kind::Double => {
                let bits = args.number(next)?.to_bits();
                write_integer(&mut out, bits, item.size, format.little);
            }
            Kind::Padding => out.push(0),
            Kind::Characters | Kind::Text => pack_text(args, next, item, &mut out)?,
            Kind::Control => {}
        }
        if !matches!(item.kind, Kind::Padding | Kind::Control) {
            next += 1;
        }
        if out.len() > bytes_max {
            return Err(raise::error(lua, "resulting string too large"));
        }
    }
    Ok(out)
}

fn pack_text(args: &Args<'_>, number: usize, item: Item, out: &mut Vec<u8>) -> Result<()> {
    let text = args.string(number)?;
    let text = text.as_bytes();
    let size = if item.size == 0 {
        text.len()
    } else {
        item.size
    };
    let Some(text) = text.get(..size) else {
        // The C code has moved on when it names the argument.
        return Err(args.problem(number + 1, "string too short"));
    };
    out.extend_from_slice(text);
    if item.kind == Kind::Text {
        out.push(0);
    }
    Ok(())
}

fn unpack(lua: &Lua, args: &Args<'_>) -> Result<MultiValue> {
    let text = args.string(1)?;
    let text = text.as_bytes();
    let data = args.string(2)?;
    let data = data.as_bytes();
    let start = args.integer_or(3, 1)?;
    if start == 0 {
        return Err(args.problem(3, "offset must be 1 or greater"));
    }
    let mut format = Format::new(&text);
    // A negative place is beyond everything, as for C, to which it is unsigned.
    let mut at = start.cast_unsigned().wrapping_sub(1) as usize;
    let mut results: Vec<Value> = Vec::new();
    while let Some(item) = format
        .next(at)
        .map_err(|found| format_problem(lua, found))?
    {
        at = at.wrapping_add(item.padding);
        let Some(mut bytes) = field(&data, at, item.size) else {
            return Err(args.problem(2, "data string too short"));
        };
        if results.len() >= VALUES_MAX {
            return Err(raise::error(lua, "stack overflow (too many results)"));
        }
        let mut size = item.size;
        match item.kind {
            Kind::Integer { signed } => {
                results.push(Value::Number(read_integer(bytes, signed, format.little)));
            }
            Kind::Float => results.push(Value::Number(float(bytes, format.little))),
            Kind::Double => results.push(Value::Number(double(bytes, format.little))),
            Kind::Padding | Kind::Control => {}
            Kind::Characters => {
                if size == 0 {
                    size = previous(lua, args, &mut results)?;
                    let Some(found) = field(&data, at, size) else {
                        return Err(args.problem(2, "data string too short"));
                    };
                    bytes = found;
                }
                results.push(Value::String(lua.create_string(bytes)?));
            }
            Kind::Text => {
                let rest = data.get(at..).unwrap_or_default();
                let Some(len) = rest.iter().position(|byte| *byte == 0) else {
                    return Err(raise::error(lua, "unfinished string in data"));
                };
                results.push(Value::String(lua.create_string(&rest[..len])?));
                size = len + 1;
            }
        }
        at = at.wrapping_add(size);
    }
    results.push(Value::Number(at.wrapping_add(1).cast_signed() as f64));
    Ok(MultiValue::from_vec(results))
}

fn field(data: &[u8], at: usize, size: usize) -> Option<&[u8]> {
    data.get(at..at.checked_add(size)?)
}

fn float(bytes: &[u8], little: bool) -> f64 {
    let bits = read_integer(bytes, false, little) as u32;
    f64::from(f32::from_bits(bits))
}

fn double(bytes: &[u8], little: bool) -> f64 {
    let mut copy = [0; 8];
    copy.copy_from_slice(bytes);
    if little {
        f64::from_le_bytes(copy)
    } else {
        f64::from_be_bytes(copy)
    }
}

/// The length of `c0`: the result before it, which it replaces.
fn previous(lua: &Lua, args: &Args<'_>, results: &mut Vec<Value>) -> Result<usize> {
    let size = match results.last() {
        Some(last) => args.number_of(last)?,
        None => None,
    };
    let Some(size) = size else {
        return Err(raise::error(lua, "format 'c0' needs a previous size"));
    };
    results.pop();
    Ok(bits(size) as usize)
}

fn size(lua: &Lua, args: &Args<'_>) -> Result<f64> {
    let text = args.string(1)?;
    let text = text.as_bytes();
    let mut format = Format::new(&text);
    let mut at = 0usize;
    loop {
        let item = match format.next(at) {
            Ok(Some(item)) => item,
            Ok(None) => return Ok(at as f64),
            // The C code refuses what stands for nothing, but for letters and digits.
            Err(FormatProblem::Option(letter)) if letter.is_ascii_alphanumeric() => continue,
            Err(problem) => return Err(format_problem(lua, problem)),
        };
        at = at.wrapping_add(item.padding).wrapping_add(item.size);
        match item.kind {
            Kind::Text => return Err(args.problem(1, "option 's' has no fixed size")),
            Kind::Characters if item.size == 0 => {
                return Err(args.problem(1, "option 'c0' has no fixed size"));
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{check, check_file};

    #[test]
    fn tricky_formats_give_what_redis_gives() {
        check_file(include_str!("cases.txt"));
    }

    #[test]
    fn number_of_results_and_length_are_bounded() {
        let problem = "user_script:1: stack overflow (too many results)";
        check(
            "struct.unpack(string.rep('b', 9000), string.rep('x', 9000))",
            problem,
        );
        let problem = "user_script:1: resulting string too large";
        check(
            "struct.pack('ss', string.rep('x', 2^19), string.rep('x', 2^19))",
            problem,
        );
    }
}
