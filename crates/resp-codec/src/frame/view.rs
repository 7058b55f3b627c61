//! Borrowed views of a frame and of its parts.

use super::iter::{Children, Chunks, Pairs};
use super::{Node, Part};
use crate::encode::Encoder;
use crate::kind::{Kind, NullForm};
use crate::number;
use crate::sink::Sink;

/// A value within a frame, borrowed from the read buffer and the decoder. `Copy`; reading it
/// allocates nothing.
///
/// ```
/// use resp_codec::{FrameDecoder, Limits};
/// let mut decoder = FrameDecoder::new(Limits::CLIENT);
/// let frame = decoder.decode(b"*2\r\n:1\r\n$-1\r\n").unwrap().ready().unwrap();
/// let mut elements = frame.children();
/// assert_eq!(elements.next().unwrap().int(), Some(1));
/// assert!(elements.next().unwrap().is_null());
/// assert!(elements.next().is_none());
/// ```
#[derive(Clone, Copy)]
pub struct Frame<'s, 'b> {
    pub(super) buf: &'b [u8],
    pub(super) nodes: &'s [Node],
    /// This value's node.
    pub(super) index: u32,
    /// The first node of its attributes, or `index` if it has none.
    pub(super) attributes: u32,
    /// Whether numbers are in the form of the binary protocol.
    pub(super) binary: bool,
}

impl<'s, 'b> Frame<'s, 'b> {
    /// The frame that a whole tape describes.
    pub(crate) fn root(buf: &'b [u8], nodes: &'s [Node]) -> Self {
        Self::first(buf, nodes, false)
    }

    /// The same for a tagged value of the binary protocol.
    pub(crate) fn binary_root(buf: &'b [u8], nodes: &'s [Node]) -> Self {
        Self::first(buf, nodes, true)
    }

    pub(crate) fn first(buf: &'b [u8], nodes: &'s [Node], binary: bool) -> Self {
        let index = skip_attributes(nodes, 0);
        Self {
            buf,
            nodes,
            index,
            attributes: 0,
            binary,
        }
    }

    #[inline]
    pub(super) fn node(&self) -> &'s Node {
        &self.nodes[self.index as usize]
    }

    /// The tape from this value's first attribute to its last node, and the index of the value
    /// itself in it.
    pub(crate) fn tape(&self) -> (&'s [Node], usize) {
        let end = self.index + self.node().skip;
        (
            &self.nodes[self.attributes as usize..end as usize],
            (self.index - self.attributes) as usize,
        )
    }

    /// This value's bytes, and its nodes with offsets that count from there.
    #[cfg(feature = "bytes")]
    pub(crate) fn rebased(&self) -> (&'b [u8], alloc::vec::Vec<Node>) {
        let (nodes, _) = self.tape();
        let wire = self.wire();
        let base = self.start(&nodes[0]) as u32;
        (
            wire,
            nodes
                .iter()
                .map(|node| Node {
                    at: node.at - base,
                    ..*node
                })
                .collect(),
        )
    }

    #[cfg(feature = "bytes")]
    pub(crate) const fn is_binary(&self) -> bool {
        self.binary
    }

    /// A view of the value at `index` of the whole tape, without its attributes.
    pub(crate) fn at(&self, index: usize) -> Self {
        let index = self.attributes + index as u32;
        Self {
            index,
            attributes: index,
            ..*self
        }
    }

    /// The type.
    ///
    /// ```
    /// # use resp_codec::{FrameDecoder, Limits};
    /// # let mut decoder = FrameDecoder::new(Limits::CLIENT);
    /// let frame = decoder.decode(b"~0\r\n").unwrap().ready().unwrap();
    /// assert_eq!(frame.kind(), resp_codec::Kind::Set);
    /// ```
    #[inline]
    pub fn kind(&self) -> Kind {
        self.node().kind
    }

    /// Whether the value was sent without its size: as chunks or elements up to an end.
    ///
    /// ```
    /// # use resp_codec::{FrameDecoder, Limits};
    /// # let mut decoder = FrameDecoder::new(Limits::CLIENT);
    /// let frame = decoder.decode(b"*?\r\n.\r\n").unwrap().ready().unwrap();
    /// assert!(frame.is_streamed() && frame.is_empty());
    /// ```
    pub fn is_streamed(&self) -> bool {
        self.node().part == Part::Streamed
    }

    /// The text or payload of a scalar, without the format of a verbatim string. `None` for null,
    /// aggregates and streamed strings.
    ///
    /// Integers, doubles and booleans of the binary protocol have no text either.
    ///
    /// ```
    /// # use resp_codec::{FrameDecoder, Limits};
    /// # let mut decoder = FrameDecoder::new(Limits::CLIENT);
    /// let frame = decoder.decode(b"=6\r\nmkd:*x\r\n").unwrap().ready().unwrap();
    /// assert_eq!(frame.bytes(), Some(&b"*x"[..]));
    /// ```
    #[inline]
    pub fn bytes(&self) -> Option<&'b [u8]> {
        let node = self.node();
        match node.kind {
            Kind::Simple | Kind::Error | Kind::BigNumber | Kind::BlobError => Some(self.text(node)),
            Kind::Bulk if node.part == Part::Value => Some(self.text(node)),
            Kind::Verbatim => Some(&self.text(node)[4 - usize::from(self.binary)..]),
            Kind::Int | Kind::Double | Kind::Bool if !self.binary => Some(self.text(node)),
            _ => None,
        }
    }

    /// [`Frame::bytes`], if it is UTF-8.
    ///
    /// ```
    /// # use resp_codec::{FrameDecoder, Limits};
    /// # let mut decoder = FrameDecoder::new(Limits::CLIENT);
    /// let frame = decoder.decode(b"$2\r\nhi\r\n").unwrap().ready().unwrap();
    /// assert_eq!(frame.str(), Some("hi"));
    /// ```
    pub fn str(&self) -> Option<&'b str> {
        core::str::from_utf8(self.bytes()?).ok()
    }

    /// The value of an integer.
    ///
    /// ```
    /// # use resp_codec::{FrameDecoder, Limits};
    /// # let mut decoder = FrameDecoder::new(Limits::CLIENT);
    /// let frame = decoder.decode(b":-7\r\n").unwrap().ready().unwrap();
    /// assert_eq!((frame.int(), frame.double()), (Some(-7), None));
    /// ```
    pub fn int(&self) -> Option<i64> {
        let node = self.node();
        match node.kind {
            Kind::Int if self.binary => Some(i64::from_le_bytes(*self.text(node).first_chunk()?)),
            Kind::Int => number::integer(self.text(node)),
            _ => None,
        }
    }

    /// The value of a double.
    ///
    /// ```
    /// # use resp_codec::{FrameDecoder, Limits};
    /// # let mut decoder = FrameDecoder::new(Limits::CLIENT);
    /// let frame = decoder.decode(b",-inf\r\n").unwrap().ready().unwrap();
    /// assert_eq!(frame.double(), Some(f64::NEG_INFINITY));
    /// ```
    pub fn double(&self) -> Option<f64> {
        let node = self.node();
        match node.kind {
            Kind::Double if self.binary => {
                Some(f64::from_le_bytes(*self.text(node).first_chunk()?))
            }
            Kind::Double => number::double(self.text(node)),
            _ => None,
        }
    }

    /// The value of a boolean.
    ///
    /// ```
    /// # use resp_codec::{FrameDecoder, Limits};
    /// # let mut decoder = FrameDecoder::new(Limits::CLIENT);
    /// let frame = decoder.decode(b"#f\r\n").unwrap().ready().unwrap();
    /// assert_eq!(frame.bool(), Some(false));
    /// ```
    pub fn bool(&self) -> Option<bool> {
        let node = self.node();
        match node.kind {
            Kind::Bool => Some(matches!(self.text(node), b"t" | [1])),
            _ => None,
        }
    }

    /// Whether the value is null, in any form.
    ///
    /// ```
    /// # use resp_codec::{FrameDecoder, Limits};
    /// # let mut decoder = FrameDecoder::new(Limits::CLIENT);
    /// let frame = decoder.decode(b"$-1\r\n").unwrap().ready().unwrap();
    /// assert!(frame.is_null());
    /// ```
    #[inline]
    pub fn is_null(&self) -> bool {
        self.kind() == Kind::Null
    }

    /// The form in which the null was written.
    ///
    /// ```
    /// # use resp_codec::{FrameDecoder, Limits};
    /// # let mut decoder = FrameDecoder::new(Limits::CLIENT);
    /// let frame = decoder.decode(b"*-1\r\n").unwrap().ready().unwrap();
    /// assert_eq!(frame.null_form(), Some(resp_codec::NullForm::Array));
    /// ```
    pub fn null_form(&self) -> Option<NullForm> {
        let node = self.node();
        (node.kind == Kind::Null).then_some(match node.part {
            Part::NullBulk => NullForm::Bulk,
            Part::NullArray => NullForm::Array,
            _ => NullForm::Null,
        })
    }

    /// Whether the value is a push: out-of-band data, which answers no request.
    ///
    /// Under RESP3 the server confirms `SUBSCRIBE`, `UNSUBSCRIBE` and the same commands for
    /// patterns and shard channels only by pushes, one per channel, and sends no reply. So count
    /// these confirmations; do not wait for a reply, which never comes.
    ///
    /// ```
    /// # use resp_codec::{FrameDecoder, Limits};
    /// # let mut decoder = FrameDecoder::new(Limits::CLIENT);
    /// let frame = decoder.decode(b">2\r\n+message\r\n+hi\r\n").unwrap().ready().unwrap();
    /// assert!(frame.is_push(), "no reply to any command");
    /// ```
    #[inline]
    pub fn is_push(&self) -> bool {
        self.kind() == Kind::Push
    }

    /// Whether the value is an error, simple or blob.
    ///
    /// ```
    /// # use resp_codec::{FrameDecoder, Limits};
    /// # let mut decoder = FrameDecoder::new(Limits::CLIENT);
    /// let frame = decoder.decode(b"!6\r\nERR no\r\n").unwrap().ready().unwrap();
    /// assert!(frame.is_error());
    /// ```
    #[inline]
    pub fn is_error(&self) -> bool {
        matches!(self.kind(), Kind::Error | Kind::BlobError)
    }

    /// The code word of an error: `ERR`, `WRONGTYPE`, `MOVED`.
    ///
    /// ```
    /// use resp_codec::{FrameDecoder, Limits};
    /// let mut decoder = FrameDecoder::new(Limits::CLIENT);
    /// let frame = decoder.decode(b"-WRONGTYPE Operation against a key\r\n").unwrap().ready().unwrap();
    /// assert_eq!(frame.error_code(), Some(&b"WRONGTYPE"[..]));
    /// ```
    pub fn error_code(&self) -> Option<&'b [u8]> {
        if !self.is_error() {
            return None;
        }
        self.bytes()?.split(|&byte| byte == b' ').next()
    }

    /// The format of a verbatim string.
    ///
    /// ```
    /// # use resp_codec::{FrameDecoder, Limits};
    /// # let mut decoder = FrameDecoder::new(Limits::CLIENT);
    /// let frame = decoder.decode(b"=5\r\ntxt:x\r\n").unwrap().ready().unwrap();
    /// assert_eq!(frame.verbatim_format(), Some(*b"txt"));
    /// ```
    pub fn verbatim_format(&self) -> Option<[u8; 3]> {
        let node = self.node();
        match node.kind {
            Kind::Verbatim => self.text(node).first_chunk().copied(),
            _ => None,
        }
    }

    /// The number of elements of an aggregate, keys and values counted separately. 0 for scalars.
    /// O(n) if it was streamed.
    ///
    /// ```
    /// # use resp_codec::{FrameDecoder, Limits};
    /// # let mut decoder = FrameDecoder::new(Limits::CLIENT);
    /// let frame = decoder.decode(b"%2\r\n+a\r\n:1\r\n+b\r\n:2\r\n").unwrap().ready().unwrap();
    /// assert_eq!((frame.len(), frame.pairs().count()), (4, 2));
    /// ```
    pub fn len(&self) -> usize {
        let node = self.node();
        match node.part {
            Part::Value if node.kind.is_aggregate() => node.len as usize,
            Part::Streamed if node.kind.is_aggregate() => self.children().count(),
            _ => 0,
        }
    }

    /// Whether the value has no elements.
    ///
    /// ```
    /// # use resp_codec::{FrameDecoder, Limits};
    /// # let mut decoder = FrameDecoder::new(Limits::CLIENT);
    /// let frame = decoder.decode(b"*0\r\n").unwrap().ready().unwrap();
    /// assert!(frame.is_empty());
    /// ```
    pub fn is_empty(&self) -> bool {
        self.children().next().is_none()
    }

    /// The elements of an aggregate; for a map, keys and values alternate. Empty for scalars.
    ///
    /// ```
    /// # use resp_codec::{FrameDecoder, Limits};
    /// # let mut decoder = FrameDecoder::new(Limits::CLIENT);
    /// let frame = decoder.decode(b"*2\r\n*1\r\n:1\r\n+b\r\n").unwrap().ready().unwrap();
    /// let kinds: Vec<_> = frame.children().map(|child| child.kind()).collect();
    /// assert_eq!(kinds, [resp_codec::Kind::Array, resp_codec::Kind::Simple]);
    /// ```
    #[inline]
    pub fn children(&self) -> Children<'s, 'b> {
        let node = self.node();
        let next = self.index + 1;
        let end = if node.kind.is_aggregate() {
            self.index + node.skip
        } else {
            next
        };
        Children {
            frame: *self,
            next,
            end,
        }
    }

    /// The pairs of a map in the order sent. Empty for any other value.
    ///
    /// ```
    /// # use resp_codec::{FrameDecoder, Limits};
    /// # let mut decoder = FrameDecoder::new(Limits::CLIENT);
    /// let frame = decoder.decode(b"%1\r\n+a\r\n:1\r\n").unwrap().ready().unwrap();
    /// let (key, value) = frame.pairs().next().unwrap();
    /// assert_eq!((key.str(), value.int()), (Some("a"), Some(1)));
    /// ```
    pub fn pairs(&self) -> Pairs<'s, 'b> {
        let none = Children {
            frame: *self,
            next: 0,
            end: 0,
        };
        let children = if self.kind() == Kind::Map {
            self.children()
        } else {
            none
        };
        Pairs {
            children,
            attributes: 0,
            value: 0,
        }
    }

    /// The pairs of all attributes of this value in the order sent; `None` if it has no attributes.
    ///
    /// ```
    /// # use resp_codec::{FrameDecoder, Limits};
    /// # let mut decoder = FrameDecoder::new(Limits::CLIENT);
    /// let frame = decoder.decode(b"|1\r\n+ttl\r\n:60\r\n$1\r\nv\r\n").unwrap().ready().unwrap();
    /// assert_eq!(frame.str(), Some("v"));
    /// let (key, value) = frame.attributes().unwrap().next().unwrap();
    /// assert_eq!((key.str(), value.int()), (Some("ttl"), Some(60)));
    /// ```
    pub fn attributes(&self) -> Option<Pairs<'s, 'b>> {
        let none = Children {
            frame: *self,
            next: 0,
            end: 0,
        };
        let pairs = Pairs {
            children: none,
            attributes: self.attributes,
            value: self.index,
        };
        (self.attributes < self.index).then_some(pairs)
    }

    /// The pieces of a streamed string; for another blob or line, its only piece.
    ///
    /// ```
    /// # use resp_codec::{FrameDecoder, Limits};
    /// # let mut decoder = FrameDecoder::new(Limits::CLIENT);
    /// let frame = decoder.decode(b"$?\r\n;2\r\nhe\r\n;2\r\nya\r\n;0\r\n").unwrap().ready().unwrap();
    /// assert_eq!(frame.bytes(), None, "the string consists of pieces");
    /// assert_eq!(frame.chunks().collect::<Vec<_>>(), [b"he", b"ya"]);
    /// ```
    pub fn chunks(&self) -> Chunks<'s, 'b> {
        let node = self.node();
        let streamed = node.kind == Kind::Bulk && node.part == Part::Streamed;
        let (next, end) = if streamed {
            (self.index + 1, self.index + node.skip - 1)
        } else {
            (0, 0)
        };
        Chunks {
            frame: *self,
            whole: self.bytes(),
            next,
            end,
        }
    }

    /// The bytes of this value exactly as they were sent, its attributes included.
    ///
    /// ```
    /// use resp_codec::{FrameDecoder, Limits};
    /// let mut decoder = FrameDecoder::new(Limits::CLIENT);
    /// let frame = decoder.decode(b"*2\r\n$2\r\nhi\r\n|1\r\n+a\r\n+b\r\n*?\r\n.\r\n").unwrap().ready().unwrap();
    /// let wires: Vec<_> = frame.children().map(|child| child.wire()).collect();
    /// assert_eq!(wires, [&b"$2\r\nhi\r\n"[..], b"|1\r\n+a\r\n+b\r\n*?\r\n.\r\n"]);
    /// ```
    pub fn wire(&self) -> &'b [u8] {
        let start = self.start(&self.nodes[self.attributes as usize]);
        let last = self.index + self.node().skip - 1;
        &self.buf[start..self.end(&self.nodes[last as usize])]
    }

    /// Writes the value in the protocol of `encoder`: so a proxy serves a RESP2 client from a RESP3
    /// server. O(n), iterative, without an intermediate copy.
    ///
    /// Streamed values are written with their size; attributes are omitted if the protocol has
    /// none. To keep the value byte for byte, use [`Frame::wire`].
    ///
    /// ```
    /// use resp_codec::{Encoder, FrameDecoder, Limits, Proto};
    /// let mut decoder = FrameDecoder::new(Limits::CLIENT);
    /// let frame = decoder.decode(b"%1\r\n+up\r\n#t\r\n").unwrap().ready().unwrap();
    /// let mut out = Vec::new();
    /// frame.encode(&mut Encoder::new(&mut out, Proto::Resp2));
    /// assert_eq!(out, b"*2\r\n+up\r\n:1\r\n");
    /// ```
    pub fn encode<S: Sink>(&self, encoder: &mut Encoder<'_, S>) {
        let (nodes, _) = self.tape();
        let mut at = 0;
        while let Some(node) = nodes.get(at) {
            let value = self.at(at);
            at += match node.kind {
                _ if node.part == Part::End => 1,
                Kind::Attribute if encoder.attributes(node.len as usize / 2) => 1,
                Kind::Array | Kind::Map | Kind::Set | Kind::Push => {
                    value.encode_header(encoder);
                    1
                }
                Kind::Attribute => node.skip as usize,
                _ => {
                    value.encode_scalar(encoder);
                    node.skip as usize
                }
            };
        }
    }

    fn encode_header<S: Sink>(&self, encoder: &mut Encoder<'_, S>) {
        let len = self.len();
        match self.kind() {
            Kind::Map => encoder.map(len / 2),
            Kind::Set => encoder.set(len),
            Kind::Push => encoder.push(len),
            _ => encoder.array(len),
        }
    }

    fn encode_scalar<S: Sink>(&self, encoder: &mut Encoder<'_, S>) {
        let bytes = self.bytes().unwrap_or_default();
        match self.kind() {
            Kind::Simple => encoder.simple(bytes),
            Kind::Error => encoder.error(bytes),
            Kind::Int => encoder.int(self.int().unwrap_or_default()),
            Kind::Bool => encoder.bool(self.bool().unwrap_or_default()),
            Kind::Double => encoder.double(self.double().unwrap_or_default()),
            Kind::BigNumber => encoder.big_number(bytes),
            Kind::BlobError => encoder.blob_error(bytes),
            Kind::Verbatim => encoder.verbatim(self.verbatim_format().unwrap_or_default(), bytes),
            Kind::Null => encoder.null_form(self.null_form().unwrap_or_default()),
            _ => encoder.bulk_chunks(self.chunks()),
        }
    }

    pub(super) fn text(&self, node: &Node) -> &'b [u8] {
        let at = node.at as usize;
        &self.buf[at..at + node.len as usize]
    }

    /// Offset of the type byte of a node.
    fn start(&self, node: &Node) -> usize {
        let at = node.at as usize;
        if self.binary {
            return at - binary_header(node);
        }
        match (node.kind, node.part) {
            (Kind::Null, _) | (_, Part::End) => at,
            (_, Part::Streamed) => at - 4,
            (
                Kind::Simple
                | Kind::Error
                | Kind::Int
                | Kind::Bool
                | Kind::Double
                | Kind::BigNumber,
                _,
            ) => at - 1,
            (Kind::Map | Kind::Attribute, _) => at - 3 - decimal_digits(node.len / 2),
            _ => at - 3 - decimal_digits(node.len),
        }
    }

    /// Offset after a node without nodes within.
    fn end(&self, node: &Node) -> usize {
        let at = node.at as usize;
        match node.kind {
            _ if node.part == Part::End => at + node.len as usize,
            _ if node.kind.is_aggregate() => at,
            Kind::Null => at + node.len as usize,
            _ => at + node.len as usize + if self.binary { 0 } else { 2 },
        }
    }
}

/// The number of bytes of tag, format and length before a node's payload, or of tag and count
/// before its elements.
const fn binary_header(node: &Node) -> usize {
    match node.kind {
        Kind::Null => 0,
        Kind::Bool | Kind::Int | Kind::Double => 1,
        // The node counts the format as part of the text.
        _ => 5,
    }
}

const fn decimal_digits(n: u32) -> usize {
    match n.checked_ilog10() {
        Some(log) => log as usize + 1,
        None => 1,
    }
}

/// The first node at or after `at` that is not an attribute.
#[inline]
pub(super) fn skip_attributes(nodes: &[Node], mut at: u32) -> u32 {
    while let Some(node) = nodes.get(at as usize)
        && node.kind == Kind::Attribute
    {
        at += node.skip;
    }
    at
}
