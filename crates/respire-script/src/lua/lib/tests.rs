//! What the tests of the libraries share.

use mlua::{Lua, LuaString};

/// The results of an expression, or the text of its error, as `tostring` writes them.
const SCRIPT: &str = "local results = {pcall(function() return EXPRESSION end)}
    for i = 1, table.maxn(results) do results[i] = tostring(results[i]) end
    return table.concat(results, ' ', 2)";

/// A state with the libraries.
pub(super) fn state() -> Lua {
    let lua = Lua::new();
    super::install(&lua, &lua.globals()).unwrap();
    lua
}

/// What an expression of Lua gives.
pub(super) fn eval(expression: &str) -> Vec<u8> {
    let script = SCRIPT.replace("EXPRESSION", expression);
    let lua = state();
    let chunk = lua.load(script).set_name("@user_script");
    let answer: LuaString = chunk.eval().unwrap();
    answer.as_bytes().to_vec()
}

/// Checks what an expression of Lua gives, values separated by blanks, or its error.
#[track_caller]
pub(super) fn check(expression: &str, expected: &str) {
    let found = eval(expression);
    assert_eq!(String::from_utf8_lossy(&found), expected, "{expression}");
}
