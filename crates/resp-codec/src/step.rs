//! What a decoder answers.

/// The answer of a decoder that has not failed.
///
/// In both cases `consumed` bytes at the front of the buffer are done with: drop them, and start
/// the buffer of the next call behind them. Spans and borrowed views of an item lie within the
/// buffer it came from.
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
    /// One whole item.
    Ready {
        /// The item.
        item: T,
        /// Bytes it took, together with any empty requests before it.
        consumed: usize,
    },
    /// The buffer ends before the item does.
    NeedMore {
        /// Bytes that are done with all the same (empty requests, for instance).
        consumed: usize,
        /// Bytes still missing for the current token, at least 1: a good size for the next read.
        hint: usize,
    },
}

impl<T> Step<T> {
    /// Bytes at the front of the buffer that are done with.
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
