//! What the tests of the libraries share.

use super::Limits;
use mlua::{Lua, LuaString};
use std::rc::Rc;

/// The results of an expression, or the text of its error, as `tostring` writes them.
const SCRIPT: &str = "local results = {pcall(function() return EXPRESSION end)}
    for i = 1, table.maxn(results) do results[i] = tostring(results[i]) end
    return table.concat(results, ' ', 2)";

/// A state with the libraries.
pub(super) fn state() -> Lua {
    let lua = Lua::new();
    let limits = Limits {
        string_bytes_max: 1 << 20,
        spend: Rc::new(|| Ok(())),
    };
    super::install(&lua, &lua.globals(), &limits).unwrap();
    let redis = lua.create_table().unwrap();
    redis
        .set("sha1hex", super::sha1hex::function(&lua).unwrap())
        .unwrap();
    lua.globals().set("redis", redis).unwrap();
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

/// Checks what an expression of Lua gives, values separated by blanks, or its error. Bytes that are
/// not printable ASCII are expected as `\xff`.
#[track_caller]
pub(super) fn check(expression: &str, expected: &str) {
    let found = eval(expression);
    assert_eq!(readable(&found), expected, "{expression}");
}

/// Checks each expression of a text, with what Redis 7.0.15 answered on the line below it, behind
/// ` = `. Lines that begin with `# ` say what follows.
#[track_caller]
pub(super) fn check_file(text: &str) {
    let mut expression = "";
    for line in text.lines().filter(|line| !line.starts_with("# ")) {
        match line.strip_prefix(" =") {
            Some(expected) => check(expression, expected.strip_prefix(' ').unwrap_or_default()),
            None => expression = line,
        }
    }
}

fn readable(bytes: &[u8]) -> String {
    let mut text = String::new();
    for byte in bytes {
        match byte {
            b' '..=b'~' => text.push(char::from(*byte)),
            _ => text.push_str(&format!("\\x{byte:02x}")),
        }
    }
    text
}
