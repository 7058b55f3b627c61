//! The check of `cjson`.

use super::tree::Tree;
use super::{call, lua};
use mlua::{Lua, Value};
use respire_script::fuzzed::decode_json;

/// The digits that `cjson.encode` writes of a number.
const DIGITS: usize = 14;

/// Checks any bytes as JSON. What another library takes means the same here; a decoded value that is
/// encoded comes back, but for the digits of its numbers past the 14th.
pub(crate) fn check_json(data: &[u8]) {
    let lua = lua();
    let text = lua.create_string(data).unwrap();
    let found = call(&lua, "cjson", "decode", text).map(|mut values| values.pop_front().unwrap());
    let read = decode_json(data, true);
    assert_eq!(read.is_ok(), found.is_some(), "{read:?}");
    if decode_json(data, false).is_ok() {
        assert!(read.is_ok(), "more is refused where more is allowed");
    }
    if let Ok(json) = serde_json::from_slice::<serde_json::Value>(data) {
        assert!(decode_json(data, false).is_ok(), "valid JSON is refused");
        let tree = Tree::of(found.as_ref().unwrap());
        assert_eq!(
            tree.unwrap(),
            Tree::of_json(&json),
            "JSON means something else"
        );
    }
    let Some(tree) = found.as_ref().and_then(Tree::of) else {
        return;
    };
    if let Some(again) = found.and_then(|value| check_encoding(&lua, &value)) {
        assert_eq!(again, tree.rounded(DIGITS), "the value comes back");
    }
}

/// Checks that what a value is encoded to is JSON, and returns what it is decoded to. `None` if it
/// cannot be encoded, or is too deep.
pub(crate) fn check_encoding(lua: &Lua, value: &Value) -> Option<Tree> {
    let json = call(lua, "cjson", "encode", value)?.pop_front().unwrap();
    let text = json.as_string().unwrap();
    decode_json(&text.as_bytes(), false).unwrap();
    let again = call(lua, "cjson", "decode", &json).unwrap();
    let tree = Tree::of(&again[0])?;
    if std::str::from_utf8(&text.as_bytes()).is_ok() {
        let read: serde_json::Value = serde_json::from_slice(&text.as_bytes()).unwrap();
        assert_eq!(tree, Tree::of_json(&read), "JSON means something else");
    }
    Some(tree)
}
