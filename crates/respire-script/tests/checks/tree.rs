//! Values of Lua, and of JSON, as trees that can be compared.

use mlua::{LuaString, Value};

/// Deeper values are not compared.
pub(crate) const DEPTH_MAX: usize = 100;

/// A value. Zero has no sign, and all numbers that are none are equal.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Tree {
    Nil,
    /// JSON's null.
    Null,
    Boolean(bool),
    /// The bits of a double.
    Number(u64),
    String(Vec<u8>),
    /// Pairs in order. Keys that are tables may occur more than once.
    Table(Vec<(Tree, Tree)>),
}

impl Tree {
    pub(crate) fn number(number: f64) -> Self {
        let number = if number.is_nan() { f64::NAN } else { number };
        Self::Number((number + 0.0).to_bits())
    }

    pub(crate) fn string(text: &LuaString) -> Self {
        Self::String(text.as_bytes().to_vec())
    }

    pub(crate) fn table(mut pairs: Vec<(Self, Self)>) -> Self {
        pairs.sort_unstable();
        Self::Table(pairs)
    }

    /// A value without functions, coroutines and userdata; `None` if it is too deep.
    pub(crate) fn of(value: &Value) -> Option<Self> {
        Self::at(value, DEPTH_MAX)
    }

    fn at(value: &Value, depth: usize) -> Option<Self> {
        Some(match value {
            Value::Nil => Self::Nil,
            Value::LightUserData(pointer) if pointer.0.is_null() => Self::Null,
            Value::Boolean(value) => Self::Boolean(*value),
            Value::Integer(number) => Self::number(*number as f64),
            Value::Number(number) => Self::number(*number),
            Value::String(text) => Self::string(text),
            Value::Table(table) => {
                let depth = depth.checked_sub(1)?;
                let mut pairs = Vec::new();
                for pair in table.pairs::<Value, Value>() {
                    let (key, value) = pair.unwrap();
                    pairs.push((Self::at(&key, depth)?, Self::at(&value, depth)?));
                }
                Self::table(pairs)
            }
            other => panic!("a decoder made a {}", other.type_name()),
        })
    }

    /// The same value as JSON's library reads it.
    pub(crate) fn of_json(value: &serde_json::Value) -> Self {
        match value {
            serde_json::Value::Null => Self::Null,
            serde_json::Value::Bool(value) => Self::Boolean(*value),
            serde_json::Value::Number(number) => Self::number(number.as_f64().unwrap()),
            serde_json::Value::String(text) => Self::String(text.clone().into_bytes()),
            serde_json::Value::Array(items) => {
                let index = (1..).map(|index| Self::number(f64::from(index)));
                Self::table(index.zip(items.iter().map(Self::of_json)).collect())
            }
            serde_json::Value::Object(object) => {
                let pair = |(key, value): (&String, &serde_json::Value)| {
                    let key = Self::String(key.clone().into_bytes());
                    (key, Self::of_json(value))
                };
                Self::table(object.iter().map(pair).collect())
            }
        }
    }

    /// The value with all numbers rounded to so many digits.
    pub(crate) fn rounded(&self, digits: usize) -> Self {
        match self {
            Self::Number(bits) => {
                let text = format!("{:.*e}", digits - 1, f64::from_bits(*bits));
                Self::number(text.parse().unwrap())
            }
            Self::Table(pairs) => {
                let pair = |(key, value): &(Self, Self)| {
                    let key = match key {
                        Self::Table(_) => key.rounded(digits),
                        other => other.clone(),
                    };
                    (key, value.rounded(digits))
                };
                Self::table(pairs.iter().map(pair).collect())
            }
            other => other.clone(),
        }
    }

    /// Whether tables lie in each other no deeper than so many levels.
    pub(crate) fn fits(&self, depth: usize) -> bool {
        match self {
            Self::Table(pairs) => depth.checked_sub(1).is_some_and(|depth| {
                let mut pairs = pairs.iter();
                pairs.all(|(key, value)| key.fits(depth) && value.fits(depth))
            }),
            _ => true,
        }
    }
}
