//! Decoding of replies, for clients: a frame is a flat tape of nodes over the read buffer.
//!
//! A node takes 16 bytes. The nodes of an aggregate's elements follow its own in order, and it
//! stores how many nodes it has in all. So nothing recurses, the next sibling is one addition away,
//! and dropping a frame costs nothing.

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
    /// Offset of the first byte of the text or payload; for an aggregate, of the byte after its
    /// header; for a null or an end, of its type byte.
    pub(crate) at: u32,
    /// The number of bytes of text or payload; for an aggregate, of elements; for a null or an end,
    /// of all its bytes.
    pub(crate) len: u32,
    /// The number of nodes from this one to the next sibling.
    pub(crate) skip: u32,
    pub(crate) kind: Kind,
    pub(crate) part: Part,
}

/// The role of a node, besides its kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    Value,
    /// A value without an announced size: its elements or chunks follow, then an end.
    Streamed,
    /// A piece of a streamed string.
    Chunk,
    /// The end of a streamed value.
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
