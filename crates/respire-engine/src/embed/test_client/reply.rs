//! The replies that a test receives, and how they compare with expected values.

use crate::{Error, Null, Status};
use resp_codec::{NullForm, Value};
use std::fmt;
use std::ops::Deref;

/// A reply or a push: its decoded value, and its bytes as received.
///
/// It compares with expected values: strings and byte strings (bulk, simple and verbatim strings
/// and big numbers), integers, floats, booleans, [`Null`], [`Status`] (a simple string), [`Error`]
/// (an error with this text), arrays and `Vec`s of these (arrays, sets and pushes), and a
/// [`Value`], which must be equal.
#[derive(Clone)]
pub struct TestReply {
    value: Value,
    raw: Vec<u8>,
}

impl TestReply {
    pub(super) fn new(value: Value, raw: Vec<u8>) -> Self {
        Self { value, raw }
    }

    /// The bytes as received.
    #[must_use]
    pub fn raw(&self) -> &[u8] {
        &self.raw
    }

    /// The value.
    #[must_use]
    pub fn value(&self) -> &Value {
        &self.value
    }

    /// The value, without the bytes.
    #[must_use]
    pub fn into_value(self) -> Value {
        self.value
    }

    /// The text of an error.
    ///
    /// # Panics
    /// If it is not an error, or not UTF-8.
    #[must_use]
    #[track_caller]
    pub fn error(&self) -> &str {
        assert!(self.value.is_error(), "not an error: {self:?}");
        let text = self.value.as_str();
        text.expect("the text of an error is UTF-8")
    }

    /// The text of a string reply.
    ///
    /// # Panics
    /// If it is not a string, or not UTF-8.
    #[must_use]
    #[track_caller]
    pub fn text(&self) -> &str {
        match self.value.as_str() {
            Some(text) if !self.value.is_error() => text,
            _ => panic!("not a text: {self:?}"),
        }
    }

    /// The bytes of a string reply.
    ///
    /// # Panics
    /// If it is not a string.
    #[must_use]
    #[track_caller]
    pub fn bytes(&self) -> &[u8] {
        match self.value.as_bytes() {
            Some(bytes) if !self.value.is_error() => bytes,
            _ => panic!("not a string: {self:?}"),
        }
    }

    /// The value of an integer reply.
    ///
    /// # Panics
    /// If it is not an integer.
    #[must_use]
    #[track_caller]
    pub fn int(&self) -> i64 {
        match self.value.as_int() {
            Some(int) => int,
            None => panic!("not an integer: {self:?}"),
        }
    }

    /// The element at `index` of an array, set or push.
    ///
    /// # Panics
    /// If there is no such element.
    #[must_use]
    #[track_caller]
    pub fn at(&self, index: usize) -> Self {
        let element = self.value.elements().and_then(|all| all.get(index));
        match element {
            Some(element) => Self::new(element.clone(), Vec::new()),
            None => panic!("no element {index}: {self:?}"),
        }
    }

    /// The value of `key` in a map, which in RESP2 is an array of alternating keys and values.
    ///
    /// # Panics
    /// If there is no such key.
    #[must_use]
    #[track_caller]
    pub fn get(&self, key: &str) -> Self {
        let value = match self.value.without_attributes() {
            Value::Map(pairs) => pairs.get(key),
            Value::Array(flat) => flat
                .chunks_exact(2)
                .find(|pair| pair[0].as_bytes() == Some(key.as_bytes()))
                .map(|pair| &pair[1]),
            _ => None,
        };
        match value {
            Some(value) => Self::new(value.clone(), Vec::new()),
            None => panic!("no key `{key}`: {self:?}"),
        }
    }

    /// Decodes a string of MessagePack.
    ///
    /// # Panics
    /// If it is not a string, or not a `T` in MessagePack.
    #[cfg(feature = "msgpack")]
    #[must_use]
    #[track_caller]
    pub fn mp<T: serde::de::DeserializeOwned>(&self) -> T {
        match crate::FromArg::from_arg(self.bytes()) {
            Ok(crate::Mp(value)) => value,
            Err(error) => panic!("{}: {self:?}", error.of("the reply")),
        }
    }
}

impl Deref for TestReply {
    type Target = Value;

    fn deref(&self) -> &Value {
        &self.value
    }
}

impl fmt::Debug for TestReply {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.value.fmt(f)
    }
}

impl<T: Like + ?Sized> PartialEq<T> for TestReply {
    fn eq(&self, expected: &T) -> bool {
        expected.is_like(&self.value)
    }
}

/// A value that a test can expect as a reply.
#[diagnostic::on_unimplemented(
    message = "a reply cannot be compared with `{Self}`",
    note = "compare with a string, bytes, `i64`, `f64`, `bool`, `Null`, `Status`, `Error`, a `Value`, or an array of these"
)]
pub trait Like {
    /// Whether `value` is the expected one.
    fn is_like(&self, value: &Value) -> bool;
}

impl Like for Value {
    fn is_like(&self, value: &Value) -> bool {
        value == self
    }
}

impl Like for [u8] {
    fn is_like(&self, value: &Value) -> bool {
        !value.is_error() && value.as_bytes() == Some(self)
    }
}

impl Like for str {
    fn is_like(&self, value: &Value) -> bool {
        self.as_bytes().is_like(value)
    }
}

impl Like for String {
    fn is_like(&self, value: &Value) -> bool {
        self.as_bytes().is_like(value)
    }
}

impl Like for i64 {
    fn is_like(&self, value: &Value) -> bool {
        value.as_int() == Some(*self)
    }
}

impl Like for f64 {
    fn is_like(&self, value: &Value) -> bool {
        match value.without_attributes() {
            Value::Double(double) => double == self,
            // RESP2 writes doubles as text.
            Value::Bulk(text) => resp_codec::number::parse_f64(text) == Some(*self),
            _ => false,
        }
    }
}

impl Like for bool {
    fn is_like(&self, value: &Value) -> bool {
        match value.without_attributes() {
            Value::Bool(truth) => truth == self,
            // RESP2 writes booleans as integers.
            other => other.as_int() == Some(i64::from(*self)),
        }
    }
}

impl Like for Null {
    fn is_like(&self, value: &Value) -> bool {
        let forms = [NullForm::Null, NullForm::Bulk, NullForm::Array];
        forms
            .iter()
            .any(|form| *value.without_attributes() == Value::Null(*form))
    }
}

impl<T: AsRef<str>> Like for Status<T> {
    fn is_like(&self, value: &Value) -> bool {
        match value.without_attributes() {
            Value::Simple(text) => text == self.0.as_ref().as_bytes(),
            _ => false,
        }
    }
}

impl Like for Error {
    fn is_like(&self, value: &Value) -> bool {
        value.is_error() && value.as_bytes() == Some(self.text())
    }
}

fn are_like<T: Like>(expected: &[T], value: &Value) -> bool {
    let Some(elements) = value.elements() else {
        return false;
    };
    elements.len() == expected.len()
        && expected
            .iter()
            .zip(elements)
            .all(|(expected, element)| expected.is_like(element))
}

impl<T: Like, const N: usize> Like for [T; N] {
    fn is_like(&self, value: &Value) -> bool {
        are_like(self, value)
    }
}

impl<T: Like> Like for Vec<T> {
    fn is_like(&self, value: &Value) -> bool {
        are_like(self, value)
    }
}

impl<T: Like + ?Sized> Like for &T {
    fn is_like(&self, value: &Value) -> bool {
        (**self).is_like(value)
    }
}
