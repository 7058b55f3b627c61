//! The check of replies on their way through a script: of a command to the script, and of the script to
//! the client.

use super::values::value;
use resp_codec::{Dialect, ErrorKind, FrameDecoder, Limits, NullForm, Pairs, Proto, Step, Value};
use respire_script::fuzzed::Replies;

/// Limits of what is read from a fuzzer's bytes.
const INPUT: Limits = Limits {
    max_depth: 100,
    max_nodes: 2_000,
    ..Limits::CLIENT
};

/// Limits of what a script may return.
const OUTPUT: Limits = Limits {
    max_depth: u16::MAX,
    ..Limits::CLIENT
};

/// Few enough that no input takes long: a reply has at most so many times 1,000 elements.
const PAUSES_MAX: u32 = 20;

thread_local! {
    static REPLIES: Replies = Replies::new(PAUSES_MAX).unwrap();
}

/// Checks any bytes: behind an even one as a reply of a command, and behind an odd one as operations that
/// make a value for a script to return.
pub(crate) fn check_replies(data: &[u8]) {
    match data.split_first() {
        Some((kind, rest)) if kind % 2 == 0 => check_passing(rest),
        Some((_, rest)) => check_returning(rest),
        None => {}
    }
}

/// Checks that a reply reaches the client as Lua can carry it, and that no bytes do harm.
fn check_passing(data: &[u8]) {
    let mut decoder = FrameDecoder::with_dialect(INPUT, Dialect::CANONICAL);
    let Ok(Step::Ready { item: frame, .. }) = decoder.decode(data) else {
        for proto in [Proto::Resp2, Proto::Resp3] {
            let _ = pass(data, proto, false);
        }
        return;
    };
    let value = frame.to_value();
    let wire = value.to_bytes(Proto::Resp3);
    let passed = read(&pass(&wire, Proto::Resp3, has_error(&value)).unwrap());
    assert_eq!(sorted(passed), sorted(carried(&value, Proto::Resp3)));
    let wire = value.to_bytes(Proto::Resp2);
    let value = read(&wire);
    let passed = read(&pass(&wire, Proto::Resp2, has_error(&value)).unwrap());
    assert_eq!(sorted(passed), sorted(carried(&value, Proto::Resp2)));
}

/// Checks that a script returns one reply, or an error, whatever value it returns.
fn check_returning(data: &[u8]) {
    for proto in [Proto::Resp2, Proto::Resp3] {
        let returned = REPLIES.with(|replies| replies.write(proto, |lua| value(lua, data)));
        if let Ok(bytes) = returned {
            // As in Redis, a big number is whatever text the script says it is.
            if let Some(value) = read_but_for_digits(&bytes) {
                assert_eq!(value.to_bytes(proto), bytes, "a reply of the protocol");
            }
        }
    }
}

fn pass(reply: &[u8], proto: Proto, has_error: bool) -> Result<Vec<u8>, Vec<u8>> {
    REPLIES.with(|replies| replies.pass(reply, proto, has_error))
}

/// The one reply that these bytes are.
fn read(bytes: &[u8]) -> Value {
    read_but_for_digits(bytes).unwrap()
}

/// The same; `None` if a big number has other characters than digits.
fn read_but_for_digits(bytes: &[u8]) -> Option<Value> {
    let mut decoder = FrameDecoder::with_dialect(OUTPUT, Dialect::CANONICAL);
    match decoder.decode(bytes) {
        Ok(Step::Ready { item, consumed }) if consumed == bytes.len() => Some(item.to_value()),
        Err(error) if error.kind == ErrorKind::InvalidBigNumber => None,
        other => panic!("{}: {other:?}", bytes.escape_ascii()),
    }
}

fn has_error(value: &Value) -> bool {
    match value {
        Value::Error(_) | Value::BlobError(_) => true,
        Value::Array(items) | Value::Set(items) | Value::Push(items) => items.iter().any(has_error),
        Value::Map(pairs) => pairs.flat().iter().any(has_error),
        Value::Attributed(attributed) => has_error(attributed.value()),
        _ => false,
    }
}

/// What is left of a reply that a script has got and returns.
fn carried(value: &Value, proto: Proto) -> Value {
    match value {
        // Nothing is false in Lua, but for RESP3's null.
        Value::Null(NullForm::Bulk | NullForm::Array) if proto == Proto::Resp3 => {
            Value::Bool(false)
        }
        Value::Null(_) if proto == Proto::Resp3 => Value::NULL,
        Value::Null(_) => Value::Null(NullForm::Bulk),
        // A number in Lua is a double, which C makes an integer again.
        Value::Int(number) => Value::Int(match *number as f64 {
            rounded if rounded >= 9_223_372_036_854_775_808.0 => i64::MIN,
            rounded => rounded as i64,
        }),
        // As in C, lines end at the first zero byte.
        Value::Simple(text) => Value::Simple(until_nul(text).to_vec()),
        Value::Error(text) => Value::Error(until_nul(text).to_vec()),
        Value::BlobError(text) => {
            let text = until_nul(text);
            let is_break = |byte: &u8| matches!(byte, b'\r' | b'\n');
            let breaks = text.iter().rev().take_while(|byte| is_break(byte)).count();
            let start = text.iter().take_while(|byte| is_break(byte)).count();
            let text = &text[..(text.len() - breaks).max(start)];
            let blank = |byte: &u8| if is_break(byte) { b' ' } else { *byte };
            Value::Error(text.iter().map(blank).collect())
        }
        Value::Array(items) | Value::Push(items) => {
            let items = items.iter().map(|item| carried(item, proto));
            // An array ends at the first nil.
            Value::Array(items.take_while(|item| *item != Value::NULL).collect())
        }
        Value::Set(items) => {
            let items = items.iter().map(|item| (item, &Value::Bool(true)));
            let pairs = table(items, proto);
            Value::Set(pairs.into_iter().map(|(key, _)| key).collect())
        }
        Value::Map(pairs) => Value::Map(table(pairs.iter(), proto).into_iter().collect()),
        Value::Attributed(attributed) => carried(attributed.value(), proto),
        other => other.clone(),
    }
}

fn until_nul(text: &[u8]) -> &[u8] {
    text.split(|byte| *byte == 0).next().unwrap()
}

/// The pairs that a table in Lua has after these were set, one after the other.
fn table<'v>(
    pairs: impl Iterator<Item = (&'v Value, &'v Value)>,
    proto: Proto,
) -> Vec<(Value, Value)> {
    let mut table: Vec<(Value, Value)> = Vec::new();
    for (key, value) in pairs {
        let (key, value) = (carried(key, proto), carried(value, proto));
        if matches!(key, Value::Int(_) | Value::Bulk(_) | Value::Bool(_)) {
            table.retain(|(known, _)| *known != key);
        }
        if key != Value::NULL && value != Value::NULL {
            table.push((key, value));
        }
    }
    table
}

/// A value whose maps and sets have an order, which tables in Lua do not have.
fn sorted(value: Value) -> Value {
    let bytes = |value: &Value| value.to_bytes(Proto::Resp3);
    match value {
        Value::Array(items) => Value::Array(items.into_vec().into_iter().map(sorted).collect()),
        Value::Set(items) => {
            let mut items: Vec<Value> = items.into_vec().into_iter().map(sorted).collect();
            items.sort_by_cached_key(bytes);
            Value::Set(items.into())
        }
        Value::Map(pairs) => {
            let pair =
                |(key, value): (&Value, &Value)| (sorted(key.clone()), sorted(value.clone()));
            let mut pairs: Vec<(Value, Value)> = pairs.iter().map(pair).collect();
            pairs.sort_by_cached_key(|(key, value)| (bytes(key), bytes(value)));
            Value::Map(Pairs::from_iter(pairs))
        }
        other => other,
    }
}
