//! Annotations: names the role of every byte, for a viewer that draws the protocol and for readable
//! error messages.
//!
//! The decoders decide what is valid, wrong or incomplete, and where. This module only labels the
//! bytes in between, so it cannot disagree with the decoders.

mod binary;
mod bytes;
mod diagnose;
mod fix;
mod guess;
mod paint;
mod prefix;
mod render;
mod reply;
mod request;

#[cfg(test)]
mod tests;

pub use bytes::ByteSet;
pub use diagnose::{Diagnosis, diagnose, expected_after};
pub use fix::Fix;
pub use prefix::Prefix;
pub use render::Rendered;

use alloc::vec::Vec;

use crate::error::{Error, ErrorKind};
use crate::limits::Limits;
use paint::Painter;

/// The kind of traffic in a buffer.
///
/// ```
/// use resp_codec::annotate::{Mode, annotate};
/// use resp_codec::Limits;
/// let input = b"\x01\x01\0\0\0k";
/// let outcome = annotate(input, Mode::BinaryRequests, &Limits::SERVER, &mut Vec::new());
/// assert_eq!((outcome.frames, outcome.errors), (1, 0));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Mode {
    /// Requests in RESP, inline ones included.
    Requests,
    /// Replies in RESP2 or RESP3.
    Replies,
    /// Requests of the binary protocol.
    BinaryRequests,
    /// Tagged values of the binary protocol.
    BinaryReplies,
}

/// A run of bytes with one role.
///
/// ```
/// use resp_codec::annotate::{Mark, Mode, Role, annotate};
/// use resp_codec::Limits;
/// let mut marks = Vec::new();
/// annotate(b"*1\r\n_\r\n", Mode::Replies, &Limits::CLIENT, &mut marks);
/// assert_eq!(marks[3], Mark { at: 4, len: 1, role: Role::Type, depth: 1, node: 1 });
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Mark {
    /// Offset of the first byte.
    pub at: u32,
    /// Length in bytes; 0 for [`Role::Missing`] alone.
    pub len: u32,
    /// The role of the bytes.
    pub role: Role,
    /// The number of aggregates around the value.
    pub depth: u16,
    /// Index of the value that the bytes belong to, counted from 0 in order of first bytes; chunks
    /// and stream ends count too.
    pub node: u32,
}

/// The role of a run of bytes.
///
/// ```
/// use resp_codec::annotate::{Mode, Role, annotate};
/// use resp_codec::Limits;
/// let mut marks = Vec::new();
/// annotate(b"SET 'a\\'b'\n", Mode::Requests, &Limits::SERVER, &mut marks);
/// let roles: Vec<_> = marks.iter().map(|mark| mark.role).collect();
/// assert_eq!(roles[..4], [Role::InlineArg, Role::Space, Role::Quote, Role::InlineArg]);
/// assert_eq!(roles[4..], [Role::Escape, Role::InlineArg, Role::Quote, Role::Crlf]);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Role {
    /// A type byte, operation or tag.
    Type,
    /// The sign of a number.
    Sign,
    /// A length or count.
    Length,
    /// The text of a number.
    Digits,
    /// A line end, or the part of it that the buffer holds.
    Crlf,
    /// Text or payload.
    Payload,
    /// The format of a verbatim string.
    Format,
    /// The colon after the format of a verbatim string.
    Colon,
    /// `?`: a size that is not announced.
    StreamOpen,
    /// `.` or the `0` of `;0`.
    StreamEnd,
    /// A word of an inline request.
    InlineArg,
    /// Blanks between words.
    Space,
    /// A quote.
    Quote,
    /// An escape within quotes.
    Escape,
    /// A number in binary.
    Field,
    /// Invalid bytes, up to where the next frame seems to begin.
    Bad(ErrorKind),
    /// The buffer ends within a frame. Such a mark has no bytes.
    Missing,
}

/// The result of [`annotate`].
///
/// ```
/// use resp_codec::annotate::{Mode, annotate};
/// use resp_codec::Limits;
/// let outcome = annotate(b"+OK\r\n$5\r\nhe", Mode::Replies, &Limits::CLIENT, &mut Vec::new());
/// assert_eq!((outcome.frames, outcome.errors, outcome.missing), (1, 0, Some(5)));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Outcome {
    /// The number of complete frames or requests, without empty requests.
    pub frames: u32,
    /// The number of errors. After each, annotation resumes where the next frame seems to begin.
    pub errors: u32,
    /// The first error.
    pub error: Option<Error>,
    /// At least this many bytes of the last frame are missing, if the buffer ends within it.
    pub missing: Option<usize>,
}

/// Labels every byte of `buf`. Never fails: invalid and missing bytes get marks, too.
///
/// Appends the marks to `out` in order. They cover the buffer without gaps: each begins where the
/// previous one ended, and their lengths add up to `buf.len()` for any input. O(n). For the bytes
/// expected at an error and for fixes see [`diagnose`].
///
/// ```
/// use resp_codec::annotate::{Mode, Role, annotate};
/// use resp_codec::Limits;
/// let mut marks = Vec::new();
/// let outcome = annotate(b"$2\r\nhi\r\n:x", Mode::Replies, &Limits::CLIENT, &mut marks);
/// let roles: Vec<_> = marks.iter().map(|mark| (mark.role, mark.len)).collect();
/// assert_eq!(roles[..5], [(Role::Type, 1), (Role::Length, 1), (Role::Crlf, 2), (Role::Payload, 2), (Role::Crlf, 2)]);
/// assert!(matches!(roles[6], (Role::Bad(_), 1)));
/// assert_eq!((outcome.frames, outcome.errors), (1, 1));
/// ```
///
/// # Panics
/// Panics if `buf` is 4 GiB or longer.
pub fn annotate(buf: &[u8], mode: Mode, limits: &Limits, out: &mut Vec<Mark>) -> Outcome {
    assert!(u32::try_from(buf.len()).is_ok(), "offsets are 32 bits");
    let mut painter = Painter::new(buf, 0, out);
    let mut outcome = Outcome::default();
    while painter.at() < buf.len() {
        match paint(&mut painter, mode, limits) {
            Ending::Whole => outcome.frames += 1,
            Ending::Empty => {}
            Ending::Torn { missing } => outcome.missing = Some(missing),
            Ending::Bad(error) => {
                outcome.errors += 1;
                outcome.error.get_or_insert(error);
            }
        }
    }
    outcome
}

/// Labels the bytes of one frame, which begins at `at`, and returns its end and how it ended. Use
/// it instead of [`annotate`] for a part of a large buffer. A frame with an error ends where the
/// next one seems to begin. The nodes of the marks count from the start of this frame.
///
/// ```
/// use resp_codec::annotate::{Ending, Mode, annotate_frame};
/// use resp_codec::Limits;
/// let (input, mut marks) = (b"+OK\r\n:12\r\n+x", Vec::new());
/// let ended = annotate_frame(input, 5, Mode::Replies, &Limits::CLIENT, &mut marks);
/// assert_eq!(ended, (10, Ending::Whole));
/// assert_eq!((marks[0].at, marks[0].node), (5, 0));
/// ```
///
/// # Panics
/// Panics if `buf` is 4 GiB or longer, or if `at` is not within it.
pub fn annotate_frame(
    buf: &[u8],
    at: usize,
    mode: Mode,
    limits: &Limits,
    out: &mut Vec<Mark>,
) -> (usize, Ending) {
    assert!(u32::try_from(buf.len()).is_ok(), "offsets are 32 bits");
    assert!(at < buf.len(), "a frame has a first byte");
    let mut painter = Painter::new(buf, at, out);
    let ending = paint(&mut painter, mode, limits);
    (painter.at(), ending)
}

fn paint(painter: &mut Painter<'_, '_>, mode: Mode, limits: &Limits) -> Ending {
    let ending = match mode {
        Mode::Requests => request::paint(painter, limits),
        Mode::Replies => reply::paint(painter, limits),
        Mode::BinaryRequests => binary::paint_request(painter, limits),
        Mode::BinaryReplies => binary::paint_reply(painter, limits),
    };
    match ending {
        Ending::Whole | Ending::Empty => {}
        Ending::Torn { .. } => painter.missing(),
        Ending::Bad(error) => painter.bad(error, resync(painter.buf(), mode, error.offset)),
    }
    ending
}

/// How a frame ended.
///
/// ```
/// use resp_codec::Limits;
/// use resp_codec::annotate::{Ending, Mode, annotate_frame};
/// let end = |input: &[u8]| annotate_frame(input, 0, Mode::Requests, &Limits::SERVER, &mut Vec::new()).1;
/// assert_eq!(end(b"PING\r\n"), Ending::Whole);
/// assert_eq!(end(b"*0\r\n"), Ending::Empty);
/// assert_eq!(end(b"*1\r\n$4\r\nPI"), Ending::Torn { missing: 4 });
/// assert!(matches!(end(b"*1\r\n:4\r\n"), Ending::Bad(error) if error.offset == 4));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// The frame is complete.
    Whole,
    /// The rest of the buffer holds only empty requests.
    Empty,
    /// The buffer ends within the frame.
    Torn {
        /// At least this many bytes are missing.
        missing: usize,
    },
    /// The frame has an error; its offset counts from the start of the buffer.
    Bad(Error),
}

/// The offset where the next frame seems to begin after the error at `at`: after a line end, at a
/// byte that can begin a frame; otherwise the end of the buffer. This is a guess, since RESP does
/// not mark the start of a frame.
///
/// ```
/// use resp_codec::annotate::{Mode, resync};
/// assert_eq!(resync(b"$3\r\nhello\r\n+OK\r\n", Mode::Replies, 7), 11);
/// ```
pub fn resync(buf: &[u8], mode: Mode, at: usize) -> usize {
    let digits = |next: usize| matches!(buf.get(next + 1), Some(b'-' | b'0'..=b'9') | None);
    let plausible = |next: usize| match (mode, buf[next]) {
        (Mode::Requests, tag) => tag == b'*' && digits(next),
        (Mode::Replies, b'+' | b'-' | b'(' | b',') => true,
        (Mode::Replies, b'_') => matches!(buf.get(next + 1), Some(b'\r') | None),
        (Mode::Replies, b'#') => matches!(buf.get(next + 1), Some(b't' | b'f') | None),
        (Mode::Replies, b':' | b'$' | b'*' | b'!' | b'=' | b'%' | b'~' | b'|' | b'>') => {
            digits(next)
        }
        _ => false,
    };
    (at + 1..buf.len())
        .find(|&next| buf[..next].ends_with(b"\r\n") && plausible(next))
        .unwrap_or(buf.len())
}
