//! `cmsgpack`: MessagePack as lua-cmsgpack 0.4.0 reads and writes it.

mod decode;
mod encode;

use super::args::Args;
use super::build::LuaBuilder;
use super::raise;
pub(crate) use decode::{Cursor, Problem, decode};
use encode::Encoder;
use mlua::{Lua, MultiValue, Result, Table, Value};

/// The most values that one call unpacks; Lua has no room for many more.
const VALUES_MAX: usize = 7_900;

/// The library's table. `bytes_max` is the longest string that `pack` returns.
///
/// # Errors
/// Out of memory.
pub(crate) fn table(lua: &Lua, bytes_max: usize) -> Result<Table> {
    let table = lua.create_table()?;
    let pack = lua.create_function(move |lua, values: MultiValue| {
        if values.is_empty() {
            return Err(raise::argument(lua, 0, b"MessagePack pack needs input."));
        }
        let mut encoder = Encoder {
            lua,
            out: Vec::new(),
            bytes_max,
        };
        for value in &values {
            encoder.value(value, 0)?;
        }
        lua.create_string(encoder.out)
    })?;
    table.raw_set("pack", pack)?;
    let unpack =
        lua.create_function(|lua, values: MultiValue| unpack(lua, &Args::new(lua, values), 0, 0))?;
    table.raw_set("unpack", unpack)?;
    let unpack_one = lua.create_function(|lua, values: MultiValue| {
        let args = Args::new(lua, values);
        let offset = args.integer_or(2, 0)?;
        self::unpack(lua, &args, 1, offset)
    })?;
    table.raw_set("unpack_one", unpack_one)?;
    let unpack_limit = lua.create_function(|lua, values: MultiValue| {
        let args = Args::new(lua, values);
        let limit = args.integer(2)?;
        let offset = args.integer_or(3, 0)?;
        self::unpack(lua, &args, limit, offset)
    })?;
    table.raw_set("unpack_limit", unpack_limit)?;
    table.raw_set("_NAME", "cmsgpack")?;
    table.raw_set("_VERSION", "lua-cmsgpack 0.4.0")?;
    table.raw_set("_COPYRIGHT", "Copyright (C) 2012, Salvatore Sanfilippo")?;
    table.raw_set("_DESCRIPTION", "MessagePack C implementation for Lua")?;
    Ok(table)
}

/// Unpacks up to `limit` values from `offset` on. The first result is then where the next begins, -1
/// if none does. If both are 0, it unpacks all, and that result is missing.
fn unpack(lua: &Lua, args: &Args<'_>, limit: i64, offset: i64) -> Result<MultiValue> {
    let bytes = args.string(1)?;
    let bytes = bytes.as_bytes();
    let len = bytes.len();
    let all = limit == 0 && offset == 0;
    if offset < 0 || limit < 0 {
        // Redis prints the length where it means the limit.
        return Err(raise::error(
            lua,
            format!(
                "Invalid request to unpack with offset of {} and limit of {}.",
                offset as i32, len as i32
            ),
        ));
    }
    let rest = usize::try_from(offset)
        .ok()
        .and_then(|offset| bytes.get(offset..));
    let Some(rest) = rest else {
        let offset = offset as i32;
        let problem = format!("Start offset {offset} greater than input length {len}.");
        return Err(raise::error(lua, problem));
    };
    let limit = if all {
        usize::MAX
    } else {
        usize::try_from(limit).unwrap_or(usize::MAX)
    };
    let mut cursor = Cursor { rest };
    let mut results = Vec::new();
    while !cursor.rest.is_empty() && results.len() < limit {
        if results.len() >= VALUES_MAX {
            return Err(problem(lua, Problem::Deep));
        }
        let value = decode(&mut cursor, &mut LuaBuilder(lua));
        results.push(value.map_err(|found| problem(lua, found))?);
    }
    if !all {
        let next = match cursor.rest.len() {
            0 => -1,
            left => (len - left) as i64,
        };
        results.insert(0, Value::Integer(next));
    }
    Ok(MultiValue::from_vec(results))
}

fn problem(lua: &Lua, problem: Problem<mlua::Error>) -> mlua::Error {
    let text = match problem {
        Problem::Missing => "Missing bytes in input.",
        Problem::Format => "Bad data format in input.",
        Problem::Deep => {
            "stack overflow (too many return values at once; use unpack_one or unpack_limit instead.)"
        }
        Problem::Build(error) => return error,
    };
    raise::error(lua, text)
}

#[cfg(test)]
mod tests {
    use super::super::tests::{check, check_file};

    #[test]
    fn tricky_values_and_bytes_give_what_redis_gives() {
        check_file(include_str!("cases.txt"));
    }

    #[test]
    fn depth_and_number_of_results_are_bounded() {
        let problem = "user_script:1: stack overflow (too many return values at once; \
                       use unpack_one or unpack_limit instead.)";
        check(
            r"cmsgpack.unpack(string.rep('\145', 10000) .. '\1')",
            problem,
        );
        check(
            r"cmsgpack.unpack(string.rep('\129\1', 10000) .. '\1')",
            problem,
        );
        check(
            r"select('#', cmsgpack.unpack(string.rep('\1', 10000)))",
            problem,
        );
        check(
            r"select('#', cmsgpack.unpack(string.rep('\161a', 7000)))",
            "7000",
        );
        check(
            r"type(cmsgpack.unpack(string.rep('\145', 3000) .. '\1'))",
            "table",
        );
    }

    #[test]
    fn length_that_is_only_said_reserves_nothing() {
        let problem = "user_script:1: Missing bytes in input.";
        check(r"cmsgpack.unpack('\219\255\255\255\255abc')", problem);
        check(r"cmsgpack.unpack('\221\255\255\255\255\1')", problem);
        check(r"cmsgpack.unpack('\223\255\255\255\255\1')", problem);
    }

    #[test]
    fn result_longer_than_the_limit_is_refused() {
        let problem = "user_script:1: resulting string too large";
        check("cmsgpack.pack(string.rep('x', 2^20))", problem);
        check("#cmsgpack.pack(string.rep('x', 2^20 - 5))", "1048576");
        check(
            "#cmsgpack.pack(string.rep('x', 2^19), string.rep('x', 2^19))",
            problem,
        );
    }
}
