//! Replies, as a client reads them: a flat tape of nodes over the read buffer.
//!
//! A node is 16 bytes; an aggregate is followed by its elements in order, and knows how many nodes
//! it takes in all. So nothing recurses, the next sibling is one addition away, and a frame is
//! dropped by forgetting it.

mod decoder;
mod iter;
#[cfg(feature = "bytes")]
mod owned;
mod short;
mod view;

#[cfg(test)]
mod tests;

pub use decoder::FrameDecoder;
pub use iter::{Children, Chunks, Pairs};
#[cfg(feature = "bytes")]
pub use owned::OwnedFrame;
pub use view::Frame;

use crate::kind::{Kind, NullForm};

/// One entry of the tape.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Node {
    /// First byte of the text or payload; of an aggregate, the byte behind its header; of a null or
    /// an end, its type byte.
    pub(crate) at: u32,
    /// Bytes of text or payload, elements of an aggregate, or bytes in all of a null or an end.
    pub(crate) len: u32,
    /// Nodes from this one to the next sibling.
    pub(crate) skip: u32,
    pub(crate) kind: Kind,
    pub(crate) part: Part,
}

/// What a node is, beyond its kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    Value,
    /// A value of no announced size: its elements or chunks follow, then an end.
    Streamed,
    /// A piece of a streamed string.
    Chunk,
    /// What ends a streamed value.
    End,
    NullBulk,
    NullArray,
}

impl Node {
    #[inline(always)]
    pub(crate) const fn new(kind: Kind, part: Part, at: usize, len: u32) -> Self {
        Self {
            at: at as u32,
            len,
            skip: 1,
            kind,
            part,
        }
    }

    pub(crate) const fn null(form: NullForm, at: usize, end: usize) -> Self {
        let part = match form {
            NullForm::Null => Part::Value,
            NullForm::Bulk => Part::NullBulk,
            NullForm::Array => Part::NullArray,
        };
        Self::new(Kind::Null, part, at, (end - at) as u32)
    }
}
