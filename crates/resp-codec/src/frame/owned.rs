//! Frames that own their bytes.

use alloc::boxed::Box;
use core::fmt;

use bytes::Bytes;

use super::{Frame, Node};

/// A frame together with the bytes it was decoded from: one allocation for the tape, none for the
/// values.
///
/// ```
/// use bytes::Bytes;
/// use resp_codec::{FrameDecoder, Limits, OwnedFrame};
/// let wire = Bytes::from_static(b"*1\r\n$2\r\nhi\r\n");
/// let mut decoder = FrameDecoder::new(Limits::CLIENT);
/// let frame = OwnedFrame::new(decoder.decode(&wire).unwrap().ready().unwrap(), &wire);
/// assert_eq!(frame.frame().children().next().unwrap().str(), Some("hi"));
/// ```
#[derive(Clone)]
pub struct OwnedFrame {
    bytes: Bytes,
    nodes: Box<[Node]>,
    binary: bool,
}

impl OwnedFrame {
    /// Keeps a frame (or a part of one) with a reference to `source`, the buffer it was decoded
    /// from. O(nodes).
    ///
    /// ```
    /// # use bytes::Bytes;
    /// # use resp_codec::{FrameDecoder, Limits, OwnedFrame};
    /// # let mut decoder = FrameDecoder::new(Limits::CLIENT);
    /// let wire = Bytes::from_static(b"*2\r\n:1\r\n:2\r\n");
    /// let frame = decoder.decode(&wire).unwrap().ready().unwrap();
    /// let second = OwnedFrame::new(frame.children().nth(1).unwrap(), &wire);
    /// assert_eq!(second.wire(), ":2\r\n");
    /// ```
    ///
    /// # Panics
    /// Panics if `source` is another buffer.
    pub fn new(frame: Frame<'_, '_>, source: &Bytes) -> Self {
        let (bytes, nodes) = frame.rebased();
        Self {
            bytes: source.slice_ref(bytes),
            nodes: nodes.into(),
            binary: frame.is_binary(),
        }
    }

    /// A view of the frame.
    ///
    /// ```
    /// # use bytes::Bytes;
    /// # use resp_codec::{FrameDecoder, Limits, OwnedFrame};
    /// # let mut decoder = FrameDecoder::new(Limits::CLIENT);
    /// let wire = Bytes::from_static(b":2\r\n");
    /// let owned = OwnedFrame::new(decoder.decode(&wire).unwrap().ready().unwrap(), &wire);
    /// assert_eq!(owned.frame().int(), Some(2));
    /// ```
    pub fn frame(&self) -> Frame<'_, '_> {
        Frame::first(&self.bytes, &self.nodes, self.binary)
    }

    /// The bytes of the frame exactly as they were sent.
    ///
    /// ```
    /// # use bytes::Bytes;
    /// # use resp_codec::{FrameDecoder, Limits, OwnedFrame};
    /// # let mut decoder = FrameDecoder::new(Limits::CLIENT);
    /// let wire = Bytes::from_static(b"_\r\n");
    /// let owned = OwnedFrame::new(decoder.decode(&wire).unwrap().ready().unwrap(), &wire);
    /// assert_eq!(owned.wire(), &wire);
    /// ```
    pub const fn wire(&self) -> &Bytes {
        &self.bytes
    }

    /// The payload or text of a part of this frame, sharing its bytes.
    ///
    /// ```
    /// # use bytes::Bytes;
    /// # use resp_codec::{FrameDecoder, Limits, OwnedFrame};
    /// # let mut decoder = FrameDecoder::new(Limits::CLIENT);
    /// let wire = Bytes::from_static(b"*1\r\n$2\r\nhi\r\n");
    /// let owned = OwnedFrame::new(decoder.decode(&wire).unwrap().ready().unwrap(), &wire);
    /// let hi = owned.share(owned.frame().children().next().unwrap());
    /// assert_eq!(hi.unwrap(), "hi");
    /// ```
    ///
    /// # Panics
    /// Panics if `part` is of another frame.
    pub fn share(&self, part: Frame<'_, '_>) -> Option<Bytes> {
        part.bytes().map(|bytes| self.bytes.slice_ref(bytes))
    }
}

impl fmt::Debug for OwnedFrame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.frame().fmt(f)
    }
}
