//! Owned values of RESP2 and RESP3.
//!
//! Every container of values is a [`Values`], which drops, clones, compares and prints without
//! recursion, so a value may be nested as deeply as memory allows.

#[cfg(feature = "arbitrary")]
mod arbitrary;
mod from_frame;
mod list;
#[cfg(feature = "serde")]
mod serde;
mod walk;

#[cfg(test)]
mod tests;

pub use list::{Attributed, Pairs, Values};

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use crate::encode::{Encoder, Proto};
use crate::kind::{Kind, NullForm};
use crate::sink::Sink;
use walk::{Part, Walk};

/// An owned value: all of RESP2 and RESP3, in the order sent, duplicates included.
///
/// ```
/// use resp_codec::{FrameDecoder, Limits, Value};
/// let mut decoder = FrameDecoder::new(Limits::CLIENT);
/// let frame = decoder.decode(b"*2\r\n$1\r\na\r\n:2\r\n").unwrap().ready().unwrap();
/// match frame.to_value() {
///     Value::Array(items) => assert_eq!(items.into_vec(), [Value::from("a"), Value::from(2)]),
///     other => panic!("{other:?}"),
/// }
/// ```
pub enum Value {
    /// Null, and how it was written.
    Null(NullForm),
    /// A simple string.
    Simple(Vec<u8>),
    /// A simple error with its code word.
    Error(Vec<u8>),
    /// An integer.
    Int(i64),
    /// A bulk string, including one that was streamed.
    Bulk(Vec<u8>),
    /// A boolean.
    Bool(bool),
    /// A double. Equality compares value and sign: NaN equals NaN, and 0 does not equal -0.
    Double(f64),
    /// A big number's sign and digits.
    BigNumber(Vec<u8>),
    /// An error of any bytes.
    BlobError(Vec<u8>),
    /// A verbatim string.
    Verbatim {
        /// Three bytes, usually `txt` or `mkd`.
        format: [u8; 3],
        /// The text after the colon.
        text: Vec<u8>,
    },
    /// An array.
    Array(Values),
    /// A map.
    Map(Pairs),
    /// A set.
    Set(Values),
    /// A push, only at the top level.
    Push(Values),
    /// A value with its attributes.
    Attributed(Attributed),
}

impl Value {
    /// RESP3's null.
    ///
    /// ```
    /// use resp_codec::{Proto, Value};
    /// assert_eq!(Value::NULL.to_bytes(Proto::Resp3), b"_\r\n");
    /// assert_eq!(Value::NULL, Value::default());
    /// ```
    pub const NULL: Self = Value::Null(NullForm::Null);

    /// The type, ignoring attributes.
    ///
    /// ```
    /// # use resp_codec::{Kind, Value};
    /// assert_eq!(Value::from(0.5).kind(), Kind::Double);
    /// assert_eq!(Value::from("a").kind(), Kind::Bulk);
    /// ```
    pub fn kind(&self) -> Kind {
        match self {
            Value::Null(_) => Kind::Null,
            Value::Simple(_) => Kind::Simple,
            Value::Error(_) => Kind::Error,
            Value::Int(_) => Kind::Int,
            Value::Bulk(_) => Kind::Bulk,
            Value::Bool(_) => Kind::Bool,
            Value::Double(_) => Kind::Double,
            Value::BigNumber(_) => Kind::BigNumber,
            Value::BlobError(_) => Kind::BlobError,
            Value::Verbatim { .. } => Kind::Verbatim,
            Value::Array(_) => Kind::Array,
            Value::Map(_) => Kind::Map,
            Value::Set(_) => Kind::Set,
            Value::Push(_) => Kind::Push,
            Value::Attributed(_) => self.without_attributes().kind(),
        }
    }

    /// The value without its attributes, if it has any.
    ///
    /// ```
    /// # use resp_codec::{FrameDecoder, Limits};
    /// # let mut decoder = FrameDecoder::new(Limits::CLIENT);
    /// let frame = decoder.decode(b"|1\r\n+ttl\r\n:60\r\n:7\r\n").unwrap().ready().unwrap();
    /// let value = frame.to_value();
    /// assert_eq!(value.without_attributes(), &resp_codec::Value::from(7));
    /// ```
    pub fn without_attributes(&self) -> &Value {
        let mut value = self;
        while let Value::Attributed(attributed) = value {
            value = attributed.value();
        }
        value
    }

    /// Whether the value is null, in any form.
    ///
    /// ```
    /// # use resp_codec::{FrameDecoder, Limits};
    /// # let mut decoder = FrameDecoder::new(Limits::CLIENT);
    /// let frame = decoder.decode(b"$-1\r\n").unwrap().ready().unwrap();
    /// assert!(frame.to_value().is_null());
    /// ```
    pub fn is_null(&self) -> bool {
        self.kind() == Kind::Null
    }

    /// Whether the value is an error, simple or blob.
    ///
    /// ```
    /// # use resp_codec::{FrameDecoder, Limits};
    /// # let mut decoder = FrameDecoder::new(Limits::CLIENT);
    /// let frame = decoder.decode(b"-ERR no\r\n").unwrap().ready().unwrap();
    /// assert!(frame.to_value().is_error());
    /// ```
    pub fn is_error(&self) -> bool {
        matches!(self.kind(), Kind::Error | Kind::BlobError)
    }

    /// The bytes of a string, error or big number.
    ///
    /// ```
    /// # use resp_codec::Value;
    /// assert_eq!(Value::from("a").as_bytes(), Some(&b"a"[..]));
    /// assert_eq!(Value::from(1).as_bytes(), None);
    /// ```
    pub fn as_bytes(&self) -> Option<&[u8]> {
        match self.without_attributes() {
            Value::Simple(bytes)
            | Value::Error(bytes)
            | Value::Bulk(bytes)
            | Value::BigNumber(bytes)
            | Value::BlobError(bytes)
            | Value::Verbatim { text: bytes, .. } => Some(bytes),
            _ => None,
        }
    }

    /// [`Value::as_bytes`], if it is UTF-8.
    ///
    /// ```
    /// # use resp_codec::Value;
    /// assert_eq!(Value::from("a").as_str(), Some("a"));
    /// assert_eq!(Value::from(&b"\xff"[..]).as_str(), None);
    /// ```
    pub fn as_str(&self) -> Option<&str> {
        core::str::from_utf8(self.as_bytes()?).ok()
    }

    /// The value of an integer.
    ///
    /// ```
    /// # use resp_codec::Value;
    /// assert_eq!(Value::from(7).as_int(), Some(7));
    /// assert_eq!(Value::from("7").as_int(), None);
    /// ```
    pub fn as_int(&self) -> Option<i64> {
        match self.without_attributes() {
            Value::Int(value) => Some(*value),
            _ => None,
        }
    }

    /// The elements of an aggregate; for a map, keys and values alternate.
    ///
    /// ```
    /// # use resp_codec::Value;
    /// let list = Value::from(vec![Value::from(1), Value::from(2)]);
    /// assert_eq!(list.elements().unwrap().len(), 2);
    /// assert_eq!(Value::from(1).elements(), None);
    /// ```
    pub fn elements(&self) -> Option<&[Value]> {
        match self.without_attributes() {
            Value::Array(values) | Value::Set(values) | Value::Push(values) => Some(values),
            Value::Map(pairs) => Some(pairs.flat()),
            _ => None,
        }
    }

    /// Writes the value in the protocol of `encoder`. O(n), and iterative at any depth.
    ///
    /// Attributes are omitted if the protocol has none. Under RESP3 a null keeps its form.
    ///
    /// ```
    /// use resp_codec::{Encoder, Proto, Value};
    /// let mut out = Vec::new();
    /// Value::from(vec![Value::from(true), Value::NULL]).encode(&mut Encoder::new(&mut out, Proto::Resp2));
    /// assert_eq!(out, b"*2\r\n:1\r\n$-1\r\n");
    /// ```
    pub fn encode<S: Sink>(&self, encoder: &mut Encoder<'_, S>) {
        walk::encode(self, encoder);
    }

    /// The value encoded in `proto`.
    ///
    /// ```
    /// # use resp_codec::{Proto, Value};
    /// assert_eq!(Value::from(true).to_bytes(Proto::Resp3), b"#t\r\n");
    /// assert_eq!(Value::from(true).to_bytes(Proto::Resp2), b":1\r\n");
    /// ```
    pub fn to_bytes(&self, proto: Proto) -> Vec<u8> {
        let mut out = Vec::new();
        self.encode(&mut Encoder::new(&mut out, proto));
        out
    }

    /// A copy of a value without values within; aggregates are copied empty.
    fn shallow(&self) -> Self {
        match self {
            Value::Null(form) => Value::Null(*form),
            Value::Simple(bytes) => Value::Simple(bytes.clone()),
            Value::Error(bytes) => Value::Error(bytes.clone()),
            Value::Int(value) => Value::Int(*value),
            Value::Bulk(bytes) => Value::Bulk(bytes.clone()),
            Value::Bool(value) => Value::Bool(*value),
            Value::Double(value) => Value::Double(*value),
            Value::BigNumber(bytes) => Value::BigNumber(bytes.clone()),
            Value::BlobError(bytes) => Value::BlobError(bytes.clone()),
            Value::Verbatim { format, text } => Value::Verbatim {
                format: *format,
                text: text.clone(),
            },
            Value::Array(_) => Value::Array(Values::default()),
            Value::Map(_) => Value::Map(Pairs::default()),
            Value::Set(_) => Value::Set(Values::default()),
            Value::Push(_) => Value::Push(Values::default()),
            Value::Attributed(_) => Value::Attributed(Attributed::empty()),
        }
    }

    /// The values within, attributes first, if the kind can have any.
    fn parts(&self) -> Option<&Values> {
        match self {
            Value::Array(values) | Value::Set(values) | Value::Push(values) => Some(values),
            Value::Map(pairs) => Some(pairs.values()),
            Value::Attributed(attributed) => Some(attributed.values()),
            _ => None,
        }
    }

    fn parts_mut(&mut self) -> Option<&mut Values> {
        match self {
            Value::Array(values) | Value::Set(values) | Value::Push(values) => Some(values),
            Value::Map(pairs) => Some(pairs.values_mut()),
            Value::Attributed(attributed) => Some(attributed.values_mut()),
            _ => None,
        }
    }

    /// Whether both have the same kind and the same content, ignoring the values within.
    fn same_shallow(&self, other: &Self) -> bool {
        match (self, other) {
            (Value::Null(a), Value::Null(b)) => a == b,
            (Value::Simple(a), Value::Simple(b))
            | (Value::Error(a), Value::Error(b))
            | (Value::Bulk(a), Value::Bulk(b))
            | (Value::BigNumber(a), Value::BigNumber(b))
            | (Value::BlobError(a), Value::BlobError(b)) => a == b,
            (Value::Int(a), Value::Int(b)) => a == b,
            (Value::Bool(a), Value::Bool(b)) => a == b,
            (Value::Double(a), Value::Double(b)) => {
                a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan())
            }
            (Value::Verbatim { format: a, text: s }, Value::Verbatim { format: b, text: t }) => {
                a == b && s == t
            }
            _ => match (self.parts(), other.parts()) {
                (Some(a), Some(b)) => {
                    core::mem::discriminant(self) == core::mem::discriminant(other)
                        && a.len() == b.len()
                }
                _ => false,
            },
        }
    }
}

impl Clone for Value {
    fn clone(&self) -> Self {
        walk::copy(self)
    }
}

impl PartialEq for Value {
    fn eq(&self, other: &Self) -> bool {
        let (mut a, mut b) = (Walk::new(self), Walk::new(other));
        loop {
            match (a.next(), b.next()) {
                (None, None) => return true,
                (Some(Part::Leave(_)), Some(Part::Leave(_))) => {}
                (Some(Part::Enter(a)), Some(Part::Enter(b))) if a.same_shallow(b) => {}
                _ => return false,
            }
        }
    }
}

impl Eq for Value {}

impl fmt::Debug for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        walk::print(self, f)
    }
}

impl Default for Value {
    /// [`Value::NULL`].
    fn default() -> Self {
        Self::NULL
    }
}

impl From<i64> for Value {
    fn from(value: i64) -> Self {
        Value::Int(value)
    }
}

impl From<bool> for Value {
    fn from(value: bool) -> Self {
        Value::Bool(value)
    }
}

impl From<f64> for Value {
    fn from(value: f64) -> Self {
        Value::Double(value)
    }
}

impl From<&str> for Value {
    /// A bulk string.
    fn from(text: &str) -> Self {
        Value::Bulk(text.as_bytes().to_vec())
    }
}

impl From<String> for Value {
    /// A bulk string.
    fn from(text: String) -> Self {
        Value::Bulk(text.into_bytes())
    }
}

impl From<&[u8]> for Value {
    /// A bulk string.
    fn from(bytes: &[u8]) -> Self {
        Value::Bulk(bytes.to_vec())
    }
}

impl From<Vec<u8>> for Value {
    /// A bulk string.
    fn from(bytes: Vec<u8>) -> Self {
        Value::Bulk(bytes)
    }
}

impl From<Vec<Value>> for Value {
    /// An array.
    fn from(values: Vec<Value>) -> Self {
        Value::Array(values.into())
    }
}
