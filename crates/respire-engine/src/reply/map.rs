//! Replies that are maps, and attributes of a value.

use super::IntoReply;
use crate::Reply;
use std::collections::{BTreeMap, HashMap};
use std::fmt;

/// A map whose values have different types, in insertion order.
///
/// ```
/// use respire_engine::Map;
///
/// let map = Map::new().with("left", 5).with("reset", "soon");
/// assert_eq!(map.len(), 2);
/// ```
#[derive(Default)]
pub struct Map {
    pairs: Vec<WritePair>,
}

type WritePair = Box<dyn FnOnce(&mut Reply<'_>) + Send>;

impl Map {
    /// An empty map.
    #[must_use]
    pub const fn new() -> Self {
        Self { pairs: Vec::new() }
    }

    /// Adds a key and its value. The caller makes sure that the keys are distinct.
    ///
    /// Allocates for each pair.
    #[must_use]
    pub fn with(
        mut self,
        key: impl IntoReply + Send + 'static,
        value: impl IntoReply + Send + 'static,
    ) -> Self {
        self.pairs.push(Box::new(|reply| {
            key.into_reply(reply);
            value.into_reply(reply);
        }));
        self
    }

    /// The number of pairs.
    #[must_use]
    pub fn len(&self) -> usize {
        self.pairs.len()
    }

    /// Whether the map is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.pairs.is_empty()
    }

    fn write_pairs(self, reply: &mut Reply<'_>) {
        for write in self.pairs {
            write(reply);
        }
    }
}

impl IntoReply for Map {
    fn into_reply(self, reply: &mut Reply<'_>) {
        reply.map(self.len());
        self.write_pairs(reply);
    }
}

impl fmt::Debug for Map {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Map").field("len", &self.len()).finish()
    }
}

impl<K: IntoReply, V: IntoReply, S> IntoReply for HashMap<K, V, S> {
    fn into_reply(self, reply: &mut Reply<'_>) {
        reply.map(self.len());
        write(self, reply);
    }
}

impl<K: IntoReply, V: IntoReply> IntoReply for BTreeMap<K, V> {
    fn into_reply(self, reply: &mut Reply<'_>) {
        reply.map(self.len());
        write(self, reply);
    }
}

fn write<K: IntoReply, V: IntoReply>(
    pairs: impl IntoIterator<Item = (K, V)>,
    reply: &mut Reply<'_>,
) {
    for (key, value) in pairs {
        key.into_reply(reply);
        value.into_reply(reply);
    }
}

/// A value with attributes that a client may show or ignore, as in RESP3: how popular a key is, or
/// how old a cached answer is. RESP2 has no attributes; its clients get only the value.
///
/// ```
/// use respire_engine::Attributed;
///
/// let answer = Attributed::new("cached").with("age-ms", 250);
/// ```
#[derive(Debug)]
pub struct Attributed<T> {
    value: T,
    attributes: Map,
}

impl<T> Attributed<T> {
    /// The value, without attributes.
    #[must_use]
    pub const fn new(value: T) -> Self {
        Self {
            value,
            attributes: Map::new(),
        }
    }

    /// Adds an attribute.
    #[must_use]
    pub fn with(
        mut self,
        name: impl IntoReply + Send + 'static,
        value: impl IntoReply + Send + 'static,
    ) -> Self {
        self.attributes = self.attributes.with(name, value);
        self
    }
}

impl<T: IntoReply> IntoReply for Attributed<T> {
    fn into_reply(self, reply: &mut Reply<'_>) {
        if !self.attributes.is_empty() && reply.attributes(self.attributes.len()) {
            self.attributes.write_pairs(reply);
        }
        self.value.into_reply(reply);
    }
}
