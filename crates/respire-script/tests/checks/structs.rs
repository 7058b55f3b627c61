//! The check of `struct`.

use super::tree::Tree;
use super::{call, lua, number};
use mlua::{MultiValue, Value};
use respire_script::fuzzed::measure_struct;

/// Larger integers do not come back: doubles round them to 2^63 or 2^64, which overflow in C.
const INTEGER_LIMIT: f64 = 9_223_372_036_854_775_808.0;

/// Checks a format, which ends at the first zero byte, and data behind it: what is unpacked comes back
/// from what it is packed to, and the lengths agree.
pub(crate) fn check_structs(data: &[u8]) {
    let end = data.iter().position(|byte| *byte == 0);
    let (format, data) = data.split_at(end.unwrap_or(data.len()));
    let data = data.get(1..).unwrap_or_default();
    let lua = lua();
    let (format_text, data) = (lua.create_string(format).unwrap(), lua.create_string(data));
    let size = call(&lua, "struct", "size", &format_text).map(|sizes| number(&sizes[0]).unwrap());
    let measured = measure_struct(format);
    if let (Some(size), Some((_, measured))) = (size, measured) {
        assert_eq!(size, measured as f64, "the size of a format");
    }
    let Some(mut values) = call(&lua, "struct", "unpack", (&format_text, data.unwrap())) else {
        return;
    };
    assert!(measured.is_some(), "a wrong format is used");
    let next = number(&values.pop_back().unwrap()).unwrap();
    // A `c0` takes the value before it for its length, and `pack` takes it from nowhere.
    if format.windows(2).any(|letters| letters == b"c0") {
        return;
    }
    if let Some(size) = size {
        assert_eq!(size + 1.0, next, "where the next value begins");
    }
    let overflows =
        |value: &Value| number(value).is_some_and(|number| number.abs() >= INTEGER_LIMIT);
    let inexact = values.iter().any(overflows);
    let mut args = values.clone();
    args.push_front(Value::String(format_text.clone()));
    let packed = call(&lua, "struct", "pack", args).unwrap();
    let len = packed[0].as_string().unwrap().as_bytes().len();
    assert_eq!(len as f64 + 1.0, next, "what is packed is as long");
    let again = call(&lua, "struct", "unpack", (&format_text, &packed[0])).unwrap();
    values.push_back(Value::Number(next));
    assert_eq!(again.len(), values.len());
    if !inexact {
        assert_eq!(trees(&again), trees(&values), "the values come back");
    }
}

fn trees(values: &MultiValue) -> Vec<Tree> {
    values.iter().filter_map(Tree::of).collect()
}
