//! The containers of values: lists, pairs, and values with attributes.

use alloc::vec::{self, Vec};
use core::fmt;
use core::mem;
use core::ops::{Deref, DerefMut};
use core::slice;

use super::Value;

/// The elements of an aggregate: a `Vec<Value>` that drops without recursion.
///
/// ```
/// use resp_codec::{Value, Values};
/// let values: Values = [1, 2].into_iter().map(Value::from).collect();
/// assert_eq!(values.len(), 2);
/// assert_eq!(values[1], Value::from(2));
/// ```
#[derive(Default, PartialEq, Eq)]
pub struct Values(Vec<Value>);

impl Values {
    /// The elements as a plain vector.
    ///
    /// ```
    /// use resp_codec::{Value, Values};
    /// let values: Values = vec![Value::from(1)].into();
    /// assert_eq!(values.into_vec(), [Value::from(1)]);
    /// ```
    pub fn into_vec(mut self) -> Vec<Value> {
        mem::take(&mut self.0)
    }

    /// Appends an element.
    ///
    /// ```
    /// use resp_codec::{Value, Values};
    /// let mut values = Values::default();
    /// values.push(Value::from("a"));
    /// assert_eq!(values.len(), 1);
    /// ```
    pub fn push(&mut self, value: Value) {
        self.0.push(value);
    }
}

impl Drop for Values {
    fn drop(&mut self) {
        if self
            .0
            .iter()
            .all(|value| value.parts().is_none_or(|parts| parts.0.is_empty()))
        {
            return;
        }
        // Every list is moved onto this one before it is dropped itself.
        let mut rest = mem::take(&mut self.0);
        while let Some(mut value) = rest.pop() {
            if let Some(parts) = value.parts_mut() {
                rest.append(&mut parts.0);
            }
        }
    }
}

impl Clone for Values {
    fn clone(&self) -> Self {
        self.iter().cloned().collect()
    }
}

impl fmt::Debug for Values {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

impl Deref for Values {
    type Target = [Value];

    fn deref(&self) -> &[Value] {
        &self.0
    }
}

impl DerefMut for Values {
    fn deref_mut(&mut self) -> &mut [Value] {
        &mut self.0
    }
}

impl From<Vec<Value>> for Values {
    fn from(values: Vec<Value>) -> Self {
        Self(values)
    }
}

impl FromIterator<Value> for Values {
    fn from_iter<I: IntoIterator<Item = Value>>(values: I) -> Self {
        Self(values.into_iter().collect())
    }
}

impl IntoIterator for Values {
    type Item = Value;
    type IntoIter = vec::IntoIter<Value>;

    fn into_iter(self) -> Self::IntoIter {
        self.into_vec().into_iter()
    }
}

impl<'a> IntoIterator for &'a Values {
    type Item = &'a Value;
    type IntoIter = slice::Iter<'a, Value>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

/// The pairs of a map in the order sent, duplicate keys included.
///
/// ```
/// use resp_codec::{Pairs, Value};
/// let pairs: Pairs = [(Value::from("a"), Value::from(1))].into_iter().collect();
/// assert_eq!(pairs.get("a"), Some(&Value::from(1)));
/// assert_eq!(pairs.iter().count(), 1);
/// ```
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Pairs {
    /// Keys and values alternate.
    flat: Values,
}

impl Pairs {
    /// The number of pairs.
    ///
    /// ```
    /// # use resp_codec::{Pairs, Value};
    /// let pairs: Pairs = [(Value::from("a"), Value::from(1))].into_iter().collect();
    /// assert_eq!((pairs.len(), pairs.flat().len()), (1, 2));
    /// ```
    pub fn len(&self) -> usize {
        self.flat.len() / 2
    }

    /// Whether there are no pairs.
    ///
    /// ```
    /// assert!(resp_codec::Pairs::default().is_empty());
    /// ```
    pub fn is_empty(&self) -> bool {
        self.flat.is_empty()
    }

    /// The pairs in order.
    ///
    /// ```
    /// # use resp_codec::{Pairs, Value};
    /// let pairs: Pairs = [("a", 1), ("b", 2)].into_iter().map(|(k, v)| (k.into(), v.into())).collect();
    /// let sum: i64 = pairs.iter().filter_map(|(_, value)| value.as_int()).sum();
    /// assert_eq!(sum, 3);
    /// ```
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&Value, &Value)> + DoubleEndedIterator {
        self.flat
            .as_chunks::<2>()
            .0
            .iter()
            .map(|[key, value]| (key, value))
    }

    /// The value of the first key with these bytes. O(n), since the pairs keep the order of the
    /// sender.
    ///
    /// ```
    /// # use resp_codec::{Pairs, Value};
    /// let pairs: Pairs = [(Value::from("a"), Value::from(1))].into_iter().collect();
    /// assert_eq!((pairs.get("a"), pairs.get("b")), (Some(&Value::from(1)), None));
    /// ```
    pub fn get(&self, key: impl AsRef<[u8]>) -> Option<&Value> {
        let key = key.as_ref();
        self.iter()
            .find(|(candidate, _)| candidate.as_bytes() == Some(key))
            .map(|(_, value)| value)
    }

    /// Appends a pair.
    ///
    /// ```
    /// # use resp_codec::{Pairs, Proto, Value};
    /// let mut pairs = Pairs::default();
    /// pairs.push("a".into(), true.into());
    /// assert_eq!(Value::Map(pairs).to_bytes(Proto::Resp3), b"%1\r\n$1\r\na\r\n#t\r\n");
    /// ```
    pub fn push(&mut self, key: Value, value: Value) {
        self.flat.push(key);
        self.flat.push(value);
    }

    /// Keys and values, alternating.
    ///
    /// ```
    /// # use resp_codec::{Pairs, Value};
    /// let pairs: Pairs = [(Value::from("a"), Value::from(1))].into_iter().collect();
    /// assert_eq!(pairs.flat(), [Value::from("a"), Value::from(1)]);
    /// ```
    pub fn flat(&self) -> &[Value] {
        &self.flat
    }

    /// Pairs made of alternating keys and values, whose number is even.
    #[cfg(feature = "serde")]
    pub(super) const fn from_flat(flat: Values) -> Self {
        Self { flat }
    }

    pub(super) const fn values(&self) -> &Values {
        &self.flat
    }

    pub(super) const fn values_mut(&mut self) -> &mut Values {
        &mut self.flat
    }
}

impl fmt::Debug for Pairs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.iter()).finish()
    }
}

impl FromIterator<(Value, Value)> for Pairs {
    fn from_iter<I: IntoIterator<Item = (Value, Value)>>(pairs: I) -> Self {
        let flat = pairs
            .into_iter()
            .flat_map(|(key, value)| [key, value])
            .collect();
        Self { flat }
    }
}

/// A value with the attributes sent before it, which a client may ignore.
///
/// ```
/// use resp_codec::{Attributed, Value};
/// let attributes = [(Value::from("ttl"), Value::from(5))].into_iter().collect();
/// let value = Attributed::new(attributes, Value::from("v"));
/// assert_eq!(value.value(), &Value::from("v"));
/// assert_eq!(value.attributes().count(), 1);
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Attributed {
    /// The keys and values of the attributes, alternating, then the value; empty only while being
    /// built.
    parts: Values,
}

/// The value of an [`Attributed`] that is still being built.
static NULL: Value = Value::NULL;

impl Attributed {
    /// Adds attributes to a value, before those it has.
    ///
    /// ```
    /// use resp_codec::{Attributed, Pairs, Proto, Value};
    /// let mut attributes = Pairs::default();
    /// attributes.push("ttl".into(), 60.into());
    /// let value = Value::Attributed(Attributed::new(attributes, "v".into()));
    /// assert_eq!(value.to_bytes(Proto::Resp3), b"|1\r\n$3\r\nttl\r\n:60\r\n$1\r\nv\r\n");
    /// assert_eq!(value.to_bytes(Proto::Resp2), b"$1\r\nv\r\n");
    /// ```
    pub fn new(attributes: Pairs, value: Value) -> Self {
        let mut parts = attributes.flat;
        match value {
            Value::Attributed(mut inner) => parts.0.append(&mut inner.parts.0),
            value => parts.push(value),
        }
        Self { parts }
    }

    pub(super) const fn empty() -> Self {
        Self {
            parts: Values(Vec::new()),
        }
    }

    /// The value.
    ///
    /// ```
    /// # use resp_codec::{Attributed, Pairs, Value};
    /// let attributed = Attributed::new(Pairs::default(), Value::from(7));
    /// assert_eq!(attributed.value(), &Value::from(7));
    /// ```
    pub fn value(&self) -> &Value {
        self.parts.last().unwrap_or(&NULL)
    }

    /// The attributes in order.
    ///
    /// ```
    /// # use resp_codec::{Attributed, Pairs, Value};
    /// let attributes = [(Value::from("ttl"), Value::from(60))].into_iter().collect();
    /// let attributed = Attributed::new(attributes, Value::from("v"));
    /// assert_eq!(attributed.attributes().next(), Some((&Value::from("ttl"), &Value::from(60))));
    /// ```
    pub fn attributes(&self) -> impl ExactSizeIterator<Item = (&Value, &Value)> {
        self.parts
            .as_chunks::<2>()
            .0
            .iter()
            .map(|[key, value]| (key, value))
    }

    /// The value without its attributes.
    ///
    /// ```
    /// # use resp_codec::{Attributed, Pairs, Value};
    /// let attributed = Attributed::new(Pairs::default(), Value::from(7));
    /// assert_eq!(attributed.into_value(), Value::from(7));
    /// ```
    pub fn into_value(self) -> Value {
        self.parts.into_vec().pop().unwrap_or_default()
    }

    pub(super) const fn values(&self) -> &Values {
        &self.parts
    }

    pub(super) const fn values_mut(&mut self) -> &mut Values {
        &mut self.parts
    }
}

impl fmt::Debug for Attributed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Attributed")
            .field("parts", &self.parts)
            .finish()
    }
}
