//! Traversals of a value with an explicit stack instead of recursion.

use alloc::vec::Vec;
use core::fmt;
use core::slice;

use super::{Value, Values};
use crate::encode::Encoder;
use crate::kind::NullForm;
use crate::sink::Sink;

/// One step of the traversal.
pub(super) enum Part<'v> {
    /// A value; if it has values within, they follow, and then a `Leave`.
    Enter(&'v Value),
    Leave(&'v Value),
}

/// Visits a value and all values within, each before its elements.
pub(super) struct Walk<'v> {
    first: Option<&'v Value>,
    around: Vec<(&'v Value, slice::Iter<'v, Value>)>,
}

impl<'v> Walk<'v> {
    pub(super) const fn new(value: &'v Value) -> Self {
        Self {
            first: Some(value),
            around: Vec::new(),
        }
    }

    /// The separator before the value entered last; `nested` if that value has values within.
    fn separator(&self, nested: bool) -> &'static str {
        let Some(depth) = self.around.len().checked_sub(1 + usize::from(nested)) else {
            return "";
        };
        let (around, rest) = &self.around[depth];
        let elements = around.parts().map_or(0, |parts| parts.len());
        let index = elements - rest.len() - 1;
        match around {
            Value::Attributed(_) if rest.len() == 0 => "}, ",
            Value::Map(_) | Value::Attributed(_) if index % 2 == 1 => ": ",
            _ if index == 0 => "",
            _ => ", ",
        }
    }
}

impl<'v> Iterator for Walk<'v> {
    type Item = Part<'v>;

    fn next(&mut self) -> Option<Part<'v>> {
        let value = match self.first.take() {
            Some(first) => first,
            None => {
                let (around, rest) = self.around.last_mut()?;
                let around = *around;
                match rest.next() {
                    Some(value) => value,
                    None => {
                        self.around.pop();
                        return Some(Part::Leave(around));
                    }
                }
            }
        };
        if let Some(parts) = value.parts() {
            self.around.push((value, parts.iter()));
        }
        Some(Part::Enter(value))
    }
}

/// Builds a value from the inside out.
#[derive(Default)]
pub(super) struct Builder {
    around: Vec<(Value, Vec<Value>)>,
    done: Option<Value>,
}

impl Builder {
    /// Adds a complete value.
    pub(super) fn add(&mut self, value: Value) {
        match self.around.last_mut() {
            Some((_, elements)) => elements.push(value),
            None => self.done = Some(value),
        }
    }

    /// Begins an aggregate.
    pub(super) fn enter(&mut self, empty: Value) {
        self.around.push((empty, Vec::new()));
    }

    /// Completes the aggregate that was begun last.
    pub(super) fn leave(&mut self) {
        let Some((mut value, elements)) = self.around.pop() else {
            return;
        };
        if let Some(parts) = value.parts_mut() {
            *parts = Values::from(elements);
        }
        self.add(value);
    }

    pub(super) fn finish(self) -> Value {
        self.done.expect("invariant: a value was built")
    }
}

pub(super) fn copy(value: &Value) -> Value {
    let mut builder = Builder::default();
    for part in Walk::new(value) {
        match part {
            Part::Enter(value) if value.parts().is_some() => builder.enter(value.shallow()),
            Part::Enter(value) => builder.add(value.shallow()),
            Part::Leave(_) => builder.leave(),
        }
    }
    builder.finish()
}

pub(super) fn encode<S: Sink>(value: &Value, encoder: &mut Encoder<'_, S>) {
    let mut walk = Walk::new(value);
    while let Some(part) = walk.next() {
        let Part::Enter(value) = part else { continue };
        match value {
            Value::Attributed(attributed) => {
                if !encoder.attributes(attributed.attributes().len()) {
                    // Only the value itself is left to visit.
                    if let Some((_, rest)) = walk.around.last_mut() {
                        *rest = slice::from_ref(attributed.value()).iter();
                    }
                }
            }
            Value::Array(values) => encoder.array(values.len()),
            Value::Set(values) => encoder.set(values.len()),
            Value::Push(values) => encoder.push(values.len()),
            Value::Map(pairs) => encoder.map(pairs.len()),
            leaf => encode_leaf(leaf, encoder),
        }
    }
}

fn encode_leaf<S: Sink>(value: &Value, encoder: &mut Encoder<'_, S>) {
    match value {
        Value::Null(form) => encoder.null_form(*form),
        Value::Simple(text) => encoder.simple(text),
        Value::Error(text) => encoder.error(text),
        Value::Int(value) => encoder.int(*value),
        Value::Bulk(bytes) => encoder.bulk(bytes),
        Value::Bool(value) => encoder.bool(*value),
        Value::Double(value) => encoder.double(*value),
        Value::BigNumber(digits) => encoder.big_number(digits),
        Value::BlobError(bytes) => encoder.blob_error(bytes),
        Value::Verbatim { format, text } => encoder.verbatim(*format, text),
        Value::Array(_) | Value::Map(_) | Value::Set(_) | Value::Push(_) | Value::Attributed(_) => {
        }
    }
}

/// Prints like derived code, on one line, with maps and attributes as pairs.
pub(super) fn print(value: &Value, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let mut walk = Walk::new(value);
    while let Some(part) = walk.next() {
        match part {
            Part::Leave(value) => f.write_str(match value {
                Value::Map(_) => "})",
                Value::Attributed(_) => ")",
                _ => "])",
            })?,
            Part::Enter(value) => {
                f.write_str(walk.separator(value.parts().is_some()))?;
                print_leaf(value, f)?;
            }
        }
    }
    Ok(())
}

fn print_leaf(value: &Value, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    match value {
        Value::Null(NullForm::Null) => f.write_str("Null"),
        Value::Null(form) => write!(f, "Null({form:?})"),
        Value::Simple(text) => write!(f, "Simple(\"{}\")", text.escape_ascii()),
        Value::Error(text) => write!(f, "Error(\"{}\")", text.escape_ascii()),
        Value::Int(value) => write!(f, "Int({value})"),
        Value::Bulk(bytes) => write!(f, "Bulk(\"{}\")", bytes.escape_ascii()),
        Value::Bool(value) => write!(f, "Bool({value})"),
        Value::Double(value) => write!(f, "Double({value:?})"),
        Value::BigNumber(digits) => write!(f, "BigNumber({})", digits.escape_ascii()),
        Value::BlobError(bytes) => write!(f, "BlobError(\"{}\")", bytes.escape_ascii()),
        Value::Verbatim { format, text } => {
            write!(
                f,
                "Verbatim({}:\"{}\")",
                format.escape_ascii(),
                text.escape_ascii()
            )
        }
        Value::Array(_) => f.write_str("Array(["),
        Value::Map(_) => f.write_str("Map({"),
        Value::Set(_) => f.write_str("Set(["),
        Value::Push(_) => f.write_str("Push(["),
        Value::Attributed(_) => f.write_str("Attributed({"),
    }
}
