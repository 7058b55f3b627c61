//! Values of Lua that bytes describe.

use mlua::{Lua, Result, Value};

/// The most values that wait to be put into a table.
const STACK_MAX: usize = 100;

/// Words with a meaning in replies.
const WORDS: [&str; 12] = [
    "err",
    "ok",
    "double",
    "big_number",
    "verbatim_string",
    "format",
    "string",
    "map",
    "set",
    "txt",
    "",
    "two\r\nlines",
];

/// Makes a value by operations on a stack, one for each byte, some with operands in the bytes behind it.
/// Tables may lie in each other more than once, and in themselves.
pub(super) fn value(lua: &Lua, data: &[u8]) -> Result<Value> {
    let mut stack: Vec<Value> = Vec::new();
    let mut rest = data.iter().copied();
    while let Some(operation) = rest.next() {
        let mut operand = || rest.next().unwrap_or_default();
        match operation % 16 {
            0 => stack.push(Value::Nil),
            1 => stack.push(Value::Boolean(operand() % 2 == 1)),
            2 => stack.push(Value::Integer(i64::from(operand().cast_signed()))),
            3 => {
                let bits = std::array::from_fn(|_| operand());
                stack.push(Value::Number(f64::from_be_bytes(bits)));
            }
            4 => {
                let text: Vec<u8> = (0..operand() % 8).map(|_| operand()).collect();
                stack.push(Value::String(lua.create_string(text)?));
            }
            5..=7 => {
                let word = WORDS[usize::from(operand()) % WORDS.len()];
                stack.push(Value::String(lua.create_string(word)?));
            }
            8 | 9 => stack.push(Value::Table(lua.create_table()?)),
            // Twice the same value.
            10 => stack.extend(stack.last().cloned()),
            11 => {
                stack.pop();
            }
            12 | 13 => append(&mut stack, 1)?,
            14 => append(&mut stack, usize::from(operand()) * 4)?,
            _ => set(&mut stack)?,
        }
        stack.truncate(STACK_MAX);
    }
    Ok(stack.pop().unwrap_or(Value::Nil))
}

/// Appends the value on top so many times to the table below it.
fn append(stack: &mut Vec<Value>, times: usize) -> Result<()> {
    if let [.., Value::Table(table), value] = &stack[..] {
        let len = table.raw_len();
        for at in 1..=times {
            table.raw_set(len + at, value)?;
        }
        stack.pop();
    }
    Ok(())
}

/// Sets the value on top at the key below it in the table below that.
fn set(stack: &mut Vec<Value>) -> Result<()> {
    if let [.., Value::Table(table), key, value] = &stack[..] {
        let is_key = match key {
            Value::Number(number) => !number.is_nan(),
            key => !key.is_nil(),
        };
        if is_key {
            table.raw_set(key, value)?;
        }
        stack.truncate(stack.len() - 2);
    }
    Ok(())
}
