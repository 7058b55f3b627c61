//! The check of patterns.

use super::tree::Tree;
use super::{lua, plain_lua};
use mlua::{Function, Lua, LuaString, Table};

/// Longer patterns and subjects, and more repetitions, take C too long.
const PATTERN_BYTES_MAX: usize = 40;
const SUBJECT_BYTES_MAX: usize = 24;
const REPETITIONS_MAX: usize = 5;

/// What the functions that take patterns return, or the texts of their errors.
const SCRIPT: &str = "
    local subject, pattern = ...
    local results = {
        find = {pcall(string.find, subject, pattern)},
        from = {pcall(string.find, subject, pattern, 3)},
        match = {pcall(string.match, subject, pattern, -2)},
        gsub = {pcall(string.gsub, subject, pattern, '<%1%0>')},
        some = {pcall(string.gsub, subject, pattern, '', 1)},
        calls = {pcall(string.gsub, subject, pattern, function(...) return select('#', ...) end)},
    }
    local found = {}
    found[0] = {pcall(function()
        for first, second in string.gmatch(subject, pattern) do
            found[#found + 1] = {first, second}
        end
    end)}
    results.gmatch = found
    return results";

thread_local! {
    static SCRIPTS: (Function, Function) = (script(&lua()), script(&plain_lua()));
}

fn script(lua: &Lua) -> Function {
    lua.load(SCRIPT)
        .set_name("=patterns")
        .into_function()
        .unwrap()
}

/// Checks a pattern, which ends at the first zero byte, and a subject behind it: all functions return
/// what Lua's own return.
pub(crate) fn check_patterns(data: &[u8]) {
    let end = data.iter().position(|byte| *byte == 0);
    let (pattern, subject) = data.split_at(end.unwrap_or(data.len()));
    let subject = subject.get(1..).unwrap_or_default();
    let subject = &subject[..subject.len().min(SUBJECT_BYTES_MAX)];
    let repetitions = pattern.iter().filter(|byte| b"*+-?".contains(byte));
    if pattern.len() > PATTERN_BYTES_MAX || repetitions.count() > REPETITIONS_MAX {
        return;
    }
    SCRIPTS.with(|(ours, own)| {
        let [ours, own] = [(ours, lua()), (own, plain_lua())].map(|(script, lua)| {
            let text = |bytes: &[u8]| -> LuaString { lua.create_string(bytes).unwrap() };
            let results: Table = script.call((text(subject), text(pattern))).unwrap();
            Tree::of(&mlua::Value::Table(results)).unwrap()
        });
        assert_eq!(ours, own);
    });
}
