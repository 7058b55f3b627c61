//! The arguments of a library's function, checked as C libraries of Lua check theirs, with the same
//! error texts.

use super::raise;
use mlua::{Lua, LuaString, MultiValue, Result, Value};

/// The arguments of one call. They are numbered from 1, as in error texts.
pub(crate) struct Args<'a> {
    lua: &'a Lua,
    values: MultiValue,
    /// Whose place errors name: 1 is the caller.
    level: usize,
}

impl<'a> Args<'a> {
    pub(crate) fn new(lua: &'a Lua, values: MultiValue) -> Self {
        let level = 1;
        Self { lua, values, level }
    }

    /// Those of a function that is called by one in Lua, for which errors name the place of the call.
    pub(crate) fn behind_lua(lua: &'a Lua, values: MultiValue) -> Self {
        let level = 2;
        Self { lua, values, level }
    }

    pub(crate) fn len(&self) -> usize {
        self.values.len()
    }

    /// The value as it is, `None` if there are fewer arguments.
    pub(crate) fn get(&self, number: usize) -> Option<&Value> {
        self.values.get(number.wrapping_sub(1))
    }

    pub(crate) fn is_none_or_nil(&self, number: usize) -> bool {
        matches!(self.get(number), None | Some(Value::Nil))
    }

    /// Whether Lua takes the argument for true: anything but false and nil.
    pub(crate) fn truth(&self, number: usize) -> bool {
        !matches!(
            self.get(number),
            None | Some(Value::Nil | Value::Boolean(false))
        )
    }

    /// A string, or a number as Lua writes it.
    ///
    /// # Errors
    /// `string expected` for any other type.
    pub(crate) fn string(&self, number: usize) -> Result<LuaString> {
        match self.get(number) {
            Some(Value::String(text)) => Ok(text.clone()),
            Some(value @ (Value::Integer(_) | Value::Number(_))) => {
                let text = self.lua.coerce_string(value.clone())?;
                text.ok_or_else(|| self.wrong_type(number, "string"))
            }
            _ => Err(self.wrong_type(number, "string")),
        }
    }

    /// The number that a value is or, if it is a string, says.
    pub(crate) fn number_of(&self, value: &Value) -> Result<Option<f64>> {
        Ok(match value {
            Value::Integer(number) => Some(*number as f64),
            Value::Number(number) => Some(*number),
            Value::String(_) => self.lua.coerce_number(value.clone())?,
            _ => None,
        })
    }

    /// A number, or a string that says one.
    ///
    /// # Errors
    /// `number expected` for anything else.
    pub(crate) fn number(&self, number: usize) -> Result<f64> {
        let found = match self.get(number) {
            Some(value) => self.number_of(value)?,
            None => None,
        };
        found.ok_or_else(|| self.wrong_type(number, "number"))
    }

    /// [`Self::number`] without its fraction.
    pub(crate) fn integer(&self, number: usize) -> Result<i64> {
        Ok(to_integer(self.number(number)?))
    }

    /// [`Self::integer`], or `default` if the argument is nil or missing.
    pub(crate) fn integer_or(&self, number: usize, default: i64) -> Result<i64> {
        if self.is_none_or_nil(number) {
            Ok(default)
        } else {
            self.integer(number)
        }
    }

    #[cold]
    pub(crate) fn wrong_type(&self, number: usize, expected: &str) -> mlua::Error {
        let got = self.get(number).map_or("no value", type_name);
        let problem = format!("{expected} expected, got {got}");
        raise::argument_at(self.lua, self.level, number, problem.as_bytes())
    }

    #[cold]
    pub(crate) fn problem(&self, number: usize, problem: &str) -> mlua::Error {
        raise::argument_at(self.lua, self.level, number, problem.as_bytes())
    }
}

/// A type's name as Lua's `type` says it.
pub(crate) fn type_name(value: &Value) -> &'static str {
    match value {
        Value::Nil => "nil",
        Value::Boolean(_) => "boolean",
        Value::Integer(_) | Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Table(_) => "table",
        Value::Function(_) => "function",
        Value::Thread(_) => "thread",
        _ => "userdata",
    }
}

/// What C's conversion to a 64-bit integer makes of a number on x86-64: no fraction, and the lowest
/// integer for whatever does not fit.
pub(crate) fn to_integer(number: f64) -> i64 {
    if (-9_223_372_036_854_775_808.0..9_223_372_036_854_775_808.0).contains(&number) {
        number as i64
    } else {
        i64::MIN
    }
}

/// The lower 32 bits of [`to_integer`], which is what C keeps in an `int`.
pub(crate) fn to_int(number: i64) -> i32 {
    number as i32
}
