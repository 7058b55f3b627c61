//! `redis.sha1hex`.

use super::raise;
use mlua::{Function, Lua, LuaString, MultiValue, Result, Value};
use sha1::{Digest, Sha1};
use std::fmt::Write;

/// The function. It takes anything: what is no text and no number has the digest of nothing.
///
/// # Errors
/// Out of memory.
pub(crate) fn function(lua: &Lua) -> Result<Function> {
    lua.create_function(|lua, values: MultiValue| {
        let [value] = values.as_slices().0 else {
            let error = lua.create_table()?;
            error.raw_set("err", "ERR wrong number of arguments")?;
            return Err(raise::value(Value::Table(error)));
        };
        let text = match value {
            Value::String(text) => Some(text.clone()),
            Value::Integer(_) | Value::Number(_) => lua.coerce_string(value.clone())?,
            _ => None,
        };
        digest(lua, text)
    })
}

fn digest(lua: &Lua, text: Option<LuaString>) -> Result<LuaString> {
    let digest = match text {
        Some(text) => Sha1::digest(text.as_bytes()),
        None => Sha1::digest(b""),
    };
    let mut hex = String::with_capacity(40);
    for byte in digest {
        // Writing to a `String` does not fail.
        let _ = write!(hex, "{byte:02x}");
    }
    lua.create_string(hex)
}

#[cfg(test)]
mod tests {
    use super::super::tests::check;

    #[test]
    fn digest_is_in_lower_case_hexadecimal() {
        check(
            "redis.sha1hex('abc')",
            "a9993e364706816aba3e25717850c26c9cd0d89d",
        );
        check(
            "redis.sha1hex(12)",
            "7b52009b64fd0a2a49e6d8a939753077792b0554",
        );
    }

    #[test]
    fn anything_without_a_text_is_nothing() {
        for value in ["''", "nil", "{}", "true"] {
            let nothing = "da39a3ee5e6b4b0d3255bfef95601890afd80709";
            check(&format!("redis.sha1hex({value})"), nothing);
        }
    }

    #[test]
    fn other_than_one_argument_is_refused() {
        check("redis.sha1hex()", "ERR wrong number of arguments");
        check("redis.sha1hex(1, 2)", "ERR wrong number of arguments");
    }
}
