//! Implements `Serialize` and `Deserialize` for [`Value`].
//!
//! A value is an enum with one field, such as `{"Bulk": "text"}`, and nothing is lost. Bytes are a
//! string if they are UTF-8. Maps and attributes are flat lists, as in RESP. Both directions refuse
//! nesting deeper than 128, since serde recurses.

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use serde::de::{self, DeserializeSeed, EnumAccess, SeqAccess, VariantAccess, Visitor};
use serde::ser::{self, SerializeSeq};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{Attributed, Pairs, Value, Values};
use crate::kind::NullForm;

/// Deepest nesting that is written or read.
const DEPTH_MAX: u16 = 128;

/// The variants by name, in the order of [`Tag`].
const VARIANTS: &[&str] = &[
    "Null",
    "Simple",
    "Error",
    "Int",
    "Bulk",
    "Bool",
    "Double",
    "BigNumber",
    "BlobError",
    "Verbatim",
    "Array",
    "Map",
    "Set",
    "Push",
    "Attributed",
];

#[derive(Clone, Copy, Deserialize)]
enum Tag {
    Null,
    Simple,
    Error,
    Int,
    Bulk,
    Bool,
    Double,
    BigNumber,
    BlobError,
    Verbatim,
    Array,
    Map,
    Set,
    Push,
    Attributed,
}

/// How a null is written.
#[derive(Clone, Copy, Serialize, Deserialize)]
enum Form {
    Null,
    Bulk,
    Array,
}

/// Bytes, written as text if they are UTF-8.
struct Text(Vec<u8>);

impl Serialize for Text {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        text(&self.0).serialize(serializer)
    }
}

/// The serialized form of bytes.
#[derive(Serialize)]
#[serde(untagged)]
enum TextRef<'v> {
    Str(&'v str),
    Bytes(&'v [u8]),
}

fn text(bytes: &[u8]) -> TextRef<'_> {
    core::str::from_utf8(bytes).map_or(TextRef::Bytes(bytes), TextRef::Str)
}

/// A value with the number of aggregates around it.
struct ValueAtDepth<'v>(&'v Value, u16);

/// The elements of an aggregate with their depth.
struct ElementsAtDepth<'v>(&'v [Value], u16);

impl Serialize for Value {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        ValueAtDepth(self, 0).serialize(serializer)
    }
}

impl Serialize for ElementsAtDepth<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.1 > DEPTH_MAX {
            return Err(ser::Error::custom("nested deeper than 128"));
        }
        let mut seq = serializer.serialize_seq(Some(self.0.len()))?;
        for value in self.0 {
            seq.serialize_element(&ValueAtDepth(value, self.1))?;
        }
        seq.end()
    }
}

impl Serialize for ValueAtDepth<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let &ValueAtDepth(value, depth) = self;
        let inner = depth + 1;
        match value {
            Value::Null(form) => {
                let form = match form {
                    NullForm::Null => Form::Null,
                    NullForm::Bulk => Form::Bulk,
                    NullForm::Array => Form::Array,
                };
                variant(serializer, Tag::Null, &form)
            }
            Value::Simple(bytes) => variant(serializer, Tag::Simple, &text(bytes)),
            Value::Error(bytes) => variant(serializer, Tag::Error, &text(bytes)),
            Value::Int(value) => variant(serializer, Tag::Int, value),
            Value::Bulk(bytes) => variant(serializer, Tag::Bulk, &text(bytes)),
            Value::Bool(value) => variant(serializer, Tag::Bool, value),
            // Formats treat infinities and NaN differently; text is the same in all of them.
            Value::Double(value) => {
                let mut digits = Vec::new();
                crate::number::write_f64(&mut digits, *value);
                variant(serializer, Tag::Double, &text(&digits))
            }
            Value::BigNumber(bytes) => variant(serializer, Tag::BigNumber, &text(bytes)),
            Value::BlobError(bytes) => variant(serializer, Tag::BlobError, &text(bytes)),
            Value::Verbatim {
                format,
                text: bytes,
            } => variant(serializer, Tag::Verbatim, &(text(format), text(bytes))),
            Value::Array(values) => {
                variant(serializer, Tag::Array, &ElementsAtDepth(values, inner))
            }
            Value::Map(pairs) => {
                variant(serializer, Tag::Map, &ElementsAtDepth(pairs.flat(), inner))
            }
            Value::Set(values) => variant(serializer, Tag::Set, &ElementsAtDepth(values, inner)),
            Value::Push(values) => variant(serializer, Tag::Push, &ElementsAtDepth(values, inner)),
            Value::Attributed(attributed) => variant(
                serializer,
                Tag::Attributed,
                &ElementsAtDepth(attributed.values(), inner),
            ),
        }
    }
}

fn variant<S: Serializer, T: Serialize + ?Sized>(
    serializer: S,
    tag: Tag,
    value: &T,
) -> Result<S::Ok, S::Error> {
    serializer.serialize_newtype_variant("Value", tag as u32, VARIANTS[tag as usize], value)
}

impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        ValueSeed(0).deserialize(deserializer)
    }
}

/// Reads a value with the number of aggregates around it.
struct ValueSeed(u16);

impl<'de> DeserializeSeed<'de> for ValueSeed {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_enum("Value", VARIANTS, self)
    }
}

impl<'de> Visitor<'de> for ValueSeed {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a RESP value")
    }

    fn visit_enum<A: EnumAccess<'de>>(self, data: A) -> Result<Value, A::Error> {
        let (tag, content) = data.variant::<Tag>()?;
        let list = ListSeed(self.0 + 1);
        let bytes = |Text(bytes)| bytes;
        Ok(match tag {
            Tag::Null => Value::Null(match content.newtype_variant()? {
                Form::Null => NullForm::Null,
                Form::Bulk => NullForm::Bulk,
                Form::Array => NullForm::Array,
            }),
            Tag::Simple => Value::Simple(content.newtype_variant().map(bytes)?),
            Tag::Error => Value::Error(content.newtype_variant().map(bytes)?),
            Tag::Int => Value::Int(content.newtype_variant()?),
            Tag::Bulk => Value::Bulk(content.newtype_variant().map(bytes)?),
            Tag::Bool => Value::Bool(content.newtype_variant()?),
            Tag::Double => {
                let digits = content.newtype_variant().map(bytes)?;
                let value = crate::number::double(&digits);
                Value::Double(value.ok_or_else(|| de::Error::custom("no double"))?)
            }
            Tag::BigNumber => {
                let digits: Vec<u8> = content.newtype_variant().map(bytes)?;
                if crate::token::bad_big_number(&digits, true).is_some() {
                    return Err(de::Error::custom("no big number"));
                }
                Value::BigNumber(digits)
            }
            Tag::BlobError => Value::BlobError(content.newtype_variant().map(bytes)?),
            Tag::Verbatim => {
                let (format, text): (Text, Text) = content.newtype_variant()?;
                let format = format
                    .0
                    .try_into()
                    .map_err(|_| de::Error::custom("no format of three bytes"))?;
                Value::Verbatim {
                    format,
                    text: text.0,
                }
            }
            Tag::Array => Value::Array(content.newtype_variant_seed(list)?),
            Tag::Map => {
                let values = content.newtype_variant_seed(list)?;
                if values.len() % 2 == 1 {
                    return Err(de::Error::custom("a key without a value"));
                }
                Value::Map(Pairs::from_flat(values))
            }
            Tag::Set => Value::Set(content.newtype_variant_seed(list)?),
            Tag::Push => Value::Push(content.newtype_variant_seed(list)?),
            Tag::Attributed => {
                let mut values = content.newtype_variant_seed(list)?.into_vec();
                match values.pop() {
                    Some(value) if values.len() % 2 == 0 => {
                        Value::Attributed(Attributed::new(Pairs::from_flat(values.into()), value))
                    }
                    _ => return Err(de::Error::custom("attributes without a value")),
                }
            }
        })
    }
}

/// Reads the elements of an aggregate at a depth.
struct ListSeed(u16);

impl<'de> DeserializeSeed<'de> for ListSeed {
    type Value = Values;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Values, D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for ListSeed {
    type Value = Values;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of RESP values")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Values, A::Error> {
        if self.0 > DEPTH_MAX {
            return Err(de::Error::custom("nested deeper than 128"));
        }
        let mut values = Vec::new();
        while let Some(value) = seq.next_element_seed(ValueSeed(self.0))? {
            values.push(value);
        }
        Ok(values.into())
    }
}

impl<'de> Deserialize<'de> for Text {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(TextVisitor)
    }
}

struct TextVisitor;

impl<'de> Visitor<'de> for TextVisitor {
    type Value = Text;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("text or bytes")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Text, E> {
        Ok(Text(text.as_bytes().to_vec()))
    }

    fn visit_string<E: de::Error>(self, text: String) -> Result<Text, E> {
        Ok(Text(text.into_bytes()))
    }

    fn visit_bytes<E: de::Error>(self, bytes: &[u8]) -> Result<Text, E> {
        Ok(Text(bytes.to_vec()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Text, A::Error> {
        let mut bytes = Vec::new();
        while let Some(byte) = seq.next_element()? {
            bytes.push(byte);
        }
        Ok(Text(bytes))
    }
}
