//! Decoder states kept at points of a large frame, so that any place of it can be examined quickly.

use alloc::vec::Vec;

use super::Mode;
use super::bytes::ByteSet;
use crate::binary::{ReplyDecoder, RequestDecoder};
use crate::command::CommandDecoder;
use crate::error::Error;
use crate::event::{Event, EventDecoder};
use crate::limits::Limits;
use crate::step::Step;

/// A binary frame with more bytes than this is not searched for the bytes that may follow.
const TRIED_MAX: usize = 4096;

/// The state of a decoder somewhere within a frame. A clone is small: it holds the open values and
/// no complete ones. So a few clones, taken at intervals, answer for any place of a frame of any
/// size without decoding it again from its start.
///
/// [`Limits::max_frame`] does not apply to replies.
///
/// ```
/// use resp_codec::Limits;
/// use resp_codec::annotate::{Mode, Prefix};
/// let frame = b"*2\r\n:1\r\n$5\r\nhello\r\n";
/// let mut prefix = Prefix::new(Mode::Replies, Limits::CLIENT);
/// assert_eq!(prefix.advance(&frame[..8]), Ok(1));
/// let kept = prefix.clone();
/// assert_eq!(prefix.advance(&frame[..14]), Ok(5), "3 bytes and CRLF are missing");
/// assert_eq!(prefix.advance(frame), Ok(0));
/// // Back to the middle.
/// assert_eq!(kept.clone().advance(&frame[..9]), Ok(1));
/// assert!(kept.expected(&frame[..8]).contains(b'$'));
/// ```
#[derive(Debug)]
pub struct Prefix {
    decoder: Decoder,
    /// The number of bytes that need not be examined again.
    at: usize,
}

#[derive(Debug)]
enum Decoder {
    Requests(CommandDecoder),
    /// An event decoder, since it keeps no tape.
    Replies(EventDecoder),
    BinaryRequests(RequestDecoder),
    BinaryReplies(ReplyDecoder),
}

impl Prefix {
    /// A decoder at the first byte of a frame. Does not allocate.
    ///
    /// ```
    /// use resp_codec::Limits;
    /// use resp_codec::annotate::{Mode, Prefix};
    /// let prefix = Prefix::new(Mode::BinaryRequests, Limits::SERVER);
    /// assert_eq!(prefix.expected(b"").to_string(), "0x01, 0x02, 0x03 or 0x10");
    /// ```
    pub const fn new(mode: Mode, limits: Limits) -> Self {
        let decoder = match mode {
            Mode::Requests => Decoder::Requests(CommandDecoder::new(limits)),
            Mode::Replies => Decoder::Replies(EventDecoder::new(limits)),
            Mode::BinaryRequests => Decoder::BinaryRequests(RequestDecoder::new(limits)),
            Mode::BinaryReplies => Decoder::BinaryReplies(ReplyDecoder::new(limits)),
        };
        Self { decoder, at: 0 }
    }

    /// Decodes up to the end of `start`, the bytes of the frame from its first byte on, including
    /// those of earlier calls. Returns how many bytes are missing at least; 0 if the frame is
    /// complete.
    ///
    /// O(n) in the new bytes of framing and lines; payloads are not examined.
    ///
    /// ```
    /// use resp_codec::Limits;
    /// use resp_codec::annotate::{Mode, Prefix};
    /// let mut prefix = Prefix::new(Mode::Requests, Limits::SERVER);
    /// assert_eq!(prefix.advance(b"*1\r\n$4\r\nPI"), Ok(4));
    /// assert_eq!(prefix.advance(b"*1\r\n$4\r\nPING\r\n"), Ok(0));
    /// ```
    ///
    /// # Errors
    /// The error of the decoder; its offset counts from the first byte of the frame.
    ///
    /// # Panics
    /// If `start` is shorter than the bytes consumed by an earlier call.
    pub fn advance(&mut self, start: &[u8]) -> Result<usize, Error> {
        let rest = &start[self.at..];
        let (consumed, lacking) = match &mut self.decoder {
            Decoder::Requests(decoder) => ended(decoder.decode(rest)),
            Decoder::Replies(decoder) => events(decoder, rest),
            Decoder::BinaryRequests(decoder) => ended(decoder.decode(rest)),
            Decoder::BinaryReplies(decoder) => ended(decoder.decode(rest)),
        }
        .map_err(|error| error.shifted(self.at))?;
        self.at += consumed;
        Ok(lacking)
    }

    /// The bytes that may follow `start`, which must be the argument of the last call of
    /// [`Prefix::advance`], and without error. They are found by trying every byte, so the set is
    /// exact. Exception: for a binary frame of which `start` holds more than 4 KiB, every byte
    /// counts as valid.
    ///
    /// The cost is that of copying the incomplete value or request.
    ///
    /// ```
    /// use resp_codec::Limits;
    /// use resp_codec::annotate::{Mode, Prefix};
    /// let mut prefix = Prefix::new(Mode::Replies, Limits::CLIENT);
    /// prefix.advance(b"*1\r\n#")?;
    /// assert_eq!(prefix.expected(b"*1\r\n#").to_string(), "'f' or 't'");
    /// # Ok::<(), resp_codec::Error>(())
    /// ```
    ///
    /// # Panics
    /// If `start` is shorter than the bytes consumed by an earlier call of [`Prefix::advance`].
    pub fn expected(&self, start: &[u8]) -> ByteSet {
        let rest = &start[self.at..];
        match &self.decoder {
            Decoder::Requests(decoder) => tried(rest, |buf| decoder.resumed().decode(buf).is_ok()),
            Decoder::Replies(decoder) => tried(rest, |buf| {
                let may_begin = !rest.is_empty() || decoder.may_begin(buf[0]);
                may_begin && events(&mut decoder.clone(), buf).is_ok()
            }),
            _ if rest.len() > TRIED_MAX => (0..=u8::MAX).collect(),
            Decoder::BinaryRequests(decoder) => {
                tried(rest, |buf| decoder.resumed().decode(buf).is_ok())
            }
            Decoder::BinaryReplies(decoder) => {
                tried(rest, |buf| decoder.resumed().decode(buf).is_ok())
            }
        }
    }
}

impl Clone for Prefix {
    fn clone(&self) -> Self {
        let decoder = match &self.decoder {
            Decoder::Requests(decoder) => Decoder::Requests(decoder.resumed()),
            Decoder::Replies(decoder) => Decoder::Replies(decoder.clone()),
            Decoder::BinaryRequests(decoder) => Decoder::BinaryRequests(decoder.resumed()),
            Decoder::BinaryReplies(decoder) => Decoder::BinaryReplies(decoder.resumed()),
        };
        Self {
            decoder,
            at: self.at,
        }
    }
}

/// The number of bytes consumed, and the number of bytes missing after them.
fn ended<T>(step: Result<Step<T>, Error>) -> Result<(usize, usize), Error> {
    Ok(match step? {
        Step::Ready { consumed, .. } => (consumed, 0),
        Step::NeedMore { consumed, hint } => (consumed, hint),
    })
}

/// Decodes all events of one frame in `buf`, and returns the same numbers as [`ended`].
fn events(decoder: &mut EventDecoder, buf: &[u8]) -> Result<(usize, usize), Error> {
    let mut at = 0;
    loop {
        let step = decoder
            .decode(&buf[at..])
            .map_err(|error| error.shifted(at))?;
        at += step.consumed();
        match step {
            Step::Ready {
                item: Event::FrameEnd,
                ..
            } => return Ok((at, 0)),
            Step::Ready { .. } => {}
            Step::NeedMore { hint, .. } => return Ok((at, hint)),
        }
    }
}

/// The bytes for which `fits` is true when they follow `good`.
fn tried(good: &[u8], fits: impl Fn(&[u8]) -> bool) -> ByteSet {
    let mut buf = Vec::with_capacity(good.len() + 1);
    buf.extend_from_slice(good);
    buf.push(0);
    let last = good.len();
    let fits = |byte: &u8| {
        buf[last] = *byte;
        fits(&buf)
    };
    (0..=u8::MAX).filter(fits).collect()
}
