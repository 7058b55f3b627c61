//! [`Step`], the result of every decoder.

/// The result of a decoder that has not failed.
///
/// In both cases `consumed` bytes at the front of the buffer are finished: drop them, and start the
/// buffer of the next call after them. Spans and borrowed views of an item lie within the buffer of
/// the call that returned it.
///
/// ```
/// use resp_codec::{FrameDecoder, Limits, Step};
/// let mut decoder = FrameDecoder::new(Limits::CLIENT);
/// assert!(matches!(decoder.decode(b"$5\r\nhel"), Ok(Step::NeedMore { consumed: 0, hint: 4 })));
/// assert!(matches!(decoder.decode(b"$5\r\nhello\r\n:"), Ok(Step::Ready { consumed: 11, .. })));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub enum Step<T> {
    /// One complete item.
    Ready {
        /// The item.
        item: T,
        /// The number of bytes consumed, including any empty requests before the item.
        consumed: usize,
    },
    /// The buffer ends before the item does.
    NeedMore {
        /// The number of bytes finished nevertheless (empty requests, for example).
        consumed: usize,
        /// The number of bytes still missing for the current token, at least 1: a good size for the
        /// next read.
        hint: usize,
    },
}

impl<T> Step<T> {
    /// The number of finished bytes at the front of the buffer.
    ///
    /// ```
    /// # use resp_codec::Step;
    /// assert_eq!(Step::<()>::NeedMore { consumed: 2, hint: 1 }.consumed(), 2);
    /// ```
    pub const fn consumed(&self) -> usize {
        match self {
            Step::Ready { consumed, .. } | Step::NeedMore { consumed, .. } => *consumed,
        }
    }

    /// The item, if it is ready.
    ///
    /// ```
    /// # use resp_codec::Step;
    /// assert_eq!(Step::Ready { item: 7, consumed: 2 }.ready(), Some(7));
    /// ```
    pub fn ready(self) -> Option<T> {
        match self {
            Step::Ready { item, .. } => Some(item),
            Step::NeedMore { .. } => None,
        }
    }
}

/// An incomplete payload at the end of the buffer, as returned by
/// [`CommandDecoder::pending_bulk`](crate::CommandDecoder::pending_bulk) and
/// [`RequestDecoder::pending_bulk`](crate::binary::RequestDecoder::pending_bulk).
///
/// ```
/// use resp_codec::{CommandDecoder, Limits};
/// let mut decoder = CommandDecoder::new(Limits::SERVER);
/// let mut buf = b"*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$70000\r\nab".to_vec();
/// let _ = decoder.decode(&buf).unwrap();
/// let bulk = decoder.pending_bulk().unwrap();
/// // Reserve the rest of the value and its CRLF, so that the next read completes it.
/// buf.reserve_exact(bulk.start + bulk.need + 2 - buf.len());
/// assert_eq!((bulk.arg, bulk.need - bulk.have), (2, 69_998));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PendingBulk {
    /// Index of the argument; 0 is the command's name.
    pub arg: usize,
    /// Offset of the payload in the buffer of the next call.
    pub start: usize,
    /// The number of bytes of the payload in the buffer.
    pub have: usize,
    /// The length of the payload in bytes. In RESP, CRLF follows.
    pub need: usize,
}
