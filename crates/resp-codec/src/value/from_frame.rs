//! Converts frames to owned values, and has the methods of frames that need owned values.

use alloc::vec::Vec;
use core::fmt;

use super::walk::Builder;
use super::{Attributed, Pairs, Value, Values};
#[cfg(feature = "bytes")]
use crate::frame::OwnedFrame;
use crate::frame::{Frame, Node, Part};
use crate::kind::Kind;

impl<'s, 'b> Frame<'s, 'b> {
    /// An owned copy. O(n), and iterative at any depth.
    ///
    /// ```
    /// # use resp_codec::{FrameDecoder, Limits};
    /// # let mut decoder = FrameDecoder::new(Limits::CLIENT);
    /// let frame = decoder.decode(b"+OK\r\n").unwrap().ready().unwrap();
    /// let owned = frame.to_value();
    /// drop(decoder);
    /// assert_eq!(owned.as_str(), Some("OK"));
    /// ```
    pub fn to_value(&self) -> Value {
        from_frame(*self)
    }
}

/// Printed as the owned value.
impl fmt::Debug for Frame<'_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.to_value().fmt(f)
    }
}

#[cfg(feature = "bytes")]
impl OwnedFrame {
    /// An owned copy, value by value.
    ///
    /// ```
    /// # use bytes::Bytes;
    /// # use resp_codec::{FrameDecoder, Limits, OwnedFrame};
    /// # let mut decoder = FrameDecoder::new(Limits::CLIENT);
    /// let wire = Bytes::from_static(b":2\r\n");
    /// let owned = OwnedFrame::new(decoder.decode(&wire).unwrap().ready().unwrap(), &wire);
    /// assert_eq!(owned.to_value(), resp_codec::Value::from(2));
    /// ```
    pub fn to_value(&self) -> Value {
        self.frame().to_value()
    }
}

impl From<Frame<'_, '_>> for Value {
    fn from(frame: Frame<'_, '_>) -> Self {
        frame.to_value()
    }
}

/// An aggregate of the tape that is being copied.
struct Open {
    /// Index of the node after it.
    end: usize,
    /// The index where its next attribute would be, if it is a value with attributes.
    attribute: Option<usize>,
}

/// O(n), with an explicit stack.
fn from_frame(frame: Frame<'_, '_>) -> Value {
    let (nodes, _) = frame.tape();
    let mut builder = Builder::default();
    let mut around: Vec<Open> = Vec::new();
    let mut at = 0;
    while at < nodes.len() {
        let node = &nodes[at];
        let mut next = at + 1;
        match (node.kind, node.part) {
            (_, Part::End) => {}
            (Kind::Attribute, _) => attribute(nodes, at, &mut around, &mut builder),
            (kind, _) if kind.is_aggregate() => {
                builder.enter(leaf(frame.at(at)));
                around.push(Open {
                    end: at + node.skip as usize,
                    attribute: None,
                });
            }
            _ => {
                builder.add(leaf(frame.at(at)));
                // The chunks of a streamed string are part of the leaf.
                next = at + node.skip as usize;
            }
        }
        at = next;
        while around.pop_if(|open| open.end == at).is_some() {
            builder.leave();
        }
    }
    builder.finish()
}

/// Reads the header of an attribute: it begins a value with attributes, or continues one.
fn attribute(nodes: &[Node], at: usize, around: &mut Vec<Open>, builder: &mut Builder) {
    let after = at + nodes[at].skip as usize;
    if let Some(Open {
        attribute: Some(next),
        ..
    }) = around.last_mut()
        && *next == at
    {
        *next = after;
        return;
    }
    let mut value = after;
    while nodes[value].kind == Kind::Attribute {
        value += nodes[value].skip as usize;
    }
    builder.enter(Value::Attributed(Attributed::empty()));
    around.push(Open {
        end: value + nodes[value].skip as usize,
        attribute: Some(after),
    });
}

/// The value of a frame without frames within; aggregates are returned empty.
fn leaf(frame: Frame<'_, '_>) -> Value {
    let bytes = || frame.bytes().map(<[u8]>::to_vec).unwrap_or_default();
    match frame.kind() {
        Kind::Null => Value::Null(frame.null_form().unwrap_or_default()),
        Kind::Simple => Value::Simple(bytes()),
        Kind::Error => Value::Error(bytes()),
        Kind::Int => Value::Int(frame.int().unwrap_or_default()),
        Kind::Bulk => Value::Bulk(frame.chunks().fold(Vec::new(), |mut all, chunk| {
            all.extend_from_slice(chunk);
            all
        })),
        Kind::Bool => Value::Bool(frame.bool().unwrap_or_default()),
        Kind::Double => Value::Double(frame.double().unwrap_or_default()),
        Kind::BigNumber => Value::BigNumber(bytes()),
        Kind::BlobError => Value::BlobError(bytes()),
        Kind::Verbatim => Value::Verbatim {
            format: frame.verbatim_format().unwrap_or_default(),
            text: bytes(),
        },
        Kind::Array => Value::Array(Values::default()),
        Kind::Map | Kind::Attribute => Value::Map(Pairs::default()),
        Kind::Set => Value::Set(Values::default()),
        Kind::Push => Value::Push(Values::default()),
    }
}
