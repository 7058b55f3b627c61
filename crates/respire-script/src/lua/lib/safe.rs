//! Functions of Lua's own libraries in place of the C ones, which loop or allocate without a bound or
//! are not safe.

use super::args::{Args, to_int};
use super::raise;
use mlua::{Function, Lua, LuaString, MultiValue, Result, Table, Value};

/// The most results of `unpack`: what a function of C may put on Lua's stack (`LUAI_MAXCSTACK`), but
/// for the arguments. Redis gives up to three more.
const RESULTS_MAX: i64 = 7_996;

/// `string.rep`. It computes the length before it allocates; C's loops without an end over an empty
/// text.
///
/// # Errors
/// Out of memory.
pub(crate) fn rep(lua: &Lua, string_bytes_max: usize) -> Result<Function> {
    lua.create_function(move |lua, values: MultiValue| {
        let args = Args::new(lua, values);
        let text = args.string(1)?;
        let count = usize::try_from(to_int(args.integer(2)?)).unwrap_or_default();
        repeat(lua, &text, count, string_bytes_max)
    })
}

fn repeat(lua: &Lua, text: &LuaString, count: usize, bytes_max: usize) -> Result<LuaString> {
    let text = text.as_bytes();
    match text.len().checked_mul(count) {
        Some(len) if len <= bytes_max => lua.create_string(text.repeat(count)),
        _ => Err(raise::error(lua, "resulting string too large")),
    }
}

/// `unpack`: Lua's own, behind a check of the range. The length of the range overflows in C, and what
/// compilers make of that is CVE-2025-46817.
///
/// # Errors
/// Out of memory.
pub(crate) fn unpack(lua: &Lua, globals: &Table) -> Result<Function> {
    let own: Function = globals.raw_get("unpack")?;
    let kind: Function = globals.raw_get("type")?;
    let checked = own.clone();
    let careful = lua.create_function(move |lua, values: MultiValue| {
        careful(lua, &Args::behind_lua(lua, values), &checked)
    })?;
    let script = lua.load(include_str!("unpack.lua")).set_name("=unpack");
    script.call((own, kind, careful, RESULTS_MAX))
}

/// What the check in Lua could not decide: wrong arguments, texts for numbers, ranges that are too
/// long.
fn careful(lua: &Lua, args: &Args<'_>, own: &Function) -> Result<MultiValue> {
    let Some(Value::Table(table)) = args.get(1) else {
        return Err(args.wrong_type(1, "table"));
    };
    let first = i64::from(to_int(args.integer_or(2, 1)?));
    let last = i64::from(to_int(args.integer_or(3, table.raw_len() as i64)?));
    if last - first >= RESULTS_MAX {
        return Err(raise::error_at(lua, 2, "too many results to unpack"));
    }
    own.call((table, first, last))
}

#[cfg(test)]
mod tests {
    use super::super::tests::{check, check_file};

    #[test]
    fn tricky_arguments_give_what_redis_gives() {
        check_file(include_str!("safe_cases.txt"));
    }

    #[test]
    fn text_that_would_be_too_long_is_refused_before_it_is_made() {
        let problem = "user_script:1: resulting string too large";
        check("string.rep('x', 2^20 + 1)", problem);
        check("#string.rep('x', 2^20)", "1048576");
        check("string.rep(string.rep('x', 2^10), 2^31 - 1)", problem);
    }

    #[test]
    fn fewer_results_than_lua_has_room_for_are_unpacked() {
        check("select('#', unpack({}, 1, 7996))", "7996");
        let problem = "user_script:1: too many results to unpack";
        check("select('#', unpack({}, 1, 7997))", problem);
    }
}
