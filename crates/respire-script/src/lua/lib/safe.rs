//! Functions of Lua's own libraries in place of the C ones, which loop or allocate without a bound or
//! are not safe.

use super::args::{Args, to_int};
use super::raise;
use crate::limits::RESULT_SLOTS_MAX;
use mlua::{Function, Lua, LuaString, MultiValue, Result, Table, Value};

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
    let range =
        lua.create_function(|lua, values: MultiValue| range(lua, &Args::behind_lua(lua, values)))?;
    let script = lua.load(include_str!("unpack.lua")).set_name("=unpack");
    script.call((own, kind, range, RESULT_SLOTS_MAX))
}

/// The range of a call that the check in Lua could not decide: wrong arguments, texts for numbers,
/// ranges that are too long. The last index is absent if it was not given.
fn range(lua: &Lua, args: &Args<'_>) -> Result<(i64, Option<i64>)> {
    let Some(Value::Table(table)) = args.get(1) else {
        return Err(args.wrong_type(1, "table"));
    };
    let is_given = |at| !args.is_none_or_nil(at);
    let first = i64::from(to_int(args.integer_or(2, 1)?));
    let len = table.raw_len() as i64;
    let last = i64::from(to_int(args.integer_or(3, len)?));
    let slots = 1 + i64::from(is_given(2)) + i64::from(is_given(3));
    if last - first >= RESULT_SLOTS_MAX - slots {
        return Err(raise::error_at(lua, 2, "too many results to unpack"));
    }
    Ok((first, is_given(3).then_some(last)))
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
    fn as_many_results_as_lua_has_room_for_are_unpacked() {
        let problem = "user_script:1: too many results to unpack";
        let table = "(function() local t = {} for i = 1, N do t[i] = i end return";
        for (call, results_max) in [
            ("unpack(t)", 7_999),
            ("unpack(t, 1)", 7_998),
            ("unpack(t, '1')", 7_998),
            ("unpack(t, 1, N)", 7_997),
            ("unpack(t, '1', 'N')", 7_997),
        ] {
            let counted = |len: u32| {
                let script = format!("{table} select('#', {call}) end)()");
                script.replace('N', &len.to_string())
            };
            check(&counted(results_max), &results_max.to_string());
            check(&counted(results_max + 1), problem);
        }
    }
}
