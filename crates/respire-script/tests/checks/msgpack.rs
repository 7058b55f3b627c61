//! The check of `cmsgpack`.

use super::tree::Tree;
use super::{call, json, lua, number};
use mlua::{MultiValue, Value};
use respire_script::fuzzed::decode_msgpack;

/// `cmsgpack.pack` writes deeper tables as nil.
const DEPTH_MAX: usize = 16;

/// The most values of one input that are compared, and that are encoded as JSON.
const COMPARED_MAX: usize = 500;
const ENCODED_MAX: usize = 3;

/// Checks any bytes as MessagePack: the values at their start come back from what they are packed to,
/// and what `cjson` makes of them is JSON.
pub(crate) fn check_msgpack(data: &[u8]) {
    let lua = lua();
    let bytes = lua.create_string(data).unwrap();
    let (mut rest, mut count) = (data, 0);
    while count < COMPARED_MAX && !rest.is_empty() {
        let Ok((_, left)) = decode_msgpack(rest) else {
            break;
        };
        assert!(left < rest.len(), "a value has at least one byte");
        rest = &rest[rest.len() - left..];
        count += 1;
    }
    let all = call(&lua, "cmsgpack", "unpack", &bytes);
    assert!(all.is_none() || rest.is_empty() || count == COMPARED_MAX);
    if count == 0 {
        return;
    }
    // A table in Lua has no nil as a key, and no NaN.
    let Some(mut values) = call(&lua, "cmsgpack", "unpack_limit", (&bytes, count)) else {
        return;
    };
    let next = match rest.len() {
        0 => -1.0,
        left => (data.len() - left) as f64,
    };
    assert_eq!(number(&values.pop_front().unwrap()), Some(next));
    assert_eq!(values.len(), count, "as many values as there are");
    check_values(&values);
}

fn check_values(values: &MultiValue) {
    let lua = lua();
    let packed = call(&lua, "cmsgpack", "pack", values.clone());
    // What does not fit into the memory is not packed.
    let Some(packed) = packed else { return };
    let again = call(&lua, "cmsgpack", "unpack", &packed[0]);
    let fits = |value: &Value| Tree::of(value).filter(|tree| tree.fits(DEPTH_MAX));
    let Some(trees) = values.iter().map(fits).collect::<Option<Vec<_>>>() else {
        return;
    };
    let again: Option<Vec<_>> = again.unwrap().iter().map(Tree::of).collect();
    assert_eq!(again, Some(trees), "the values come back");
    for value in values.iter().take(ENCODED_MAX) {
        json::check_encoding(&lua, value);
    }
}
