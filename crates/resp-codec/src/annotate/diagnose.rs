//! What would have been right instead.

use alloc::vec::Vec;

use super::bytes::ByteSet;
use super::fix::{Fix, fixes};
use super::{End, Mode, binary, reply, request};
use crate::binary::is_op;
use crate::command::CommandDecoder;
use crate::error::{Error, ErrorKind};
use crate::event::EventDecoder;
use crate::limits::Limits;
use crate::step::Step;

/// An error, what would have been right in its place, and what might mend it. Prints as a few lines
/// of text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnosis<'b> {
    /// The buffer.
    pub(super) buf: &'b [u8],
    /// The error, its offset counted from the buffer's start.
    pub error: Error,
    /// Where the frame or request it stands in begins.
    pub frame: usize,
    /// The bytes that could stand at the offset. Found by trying, so exact; empty where a limit is
    /// hit and no byte helps.
    pub expected: ByteSet,
    /// Changes after which the error is gone, the likeliest first. Each was tried; none is certain
    /// to be meant.
    pub fixes: Vec<Fix>,
}

/// Explains the first error of `buf`; `None` if there is none.
///
/// ```
/// use resp_codec::annotate::{Mode, diagnose};
/// use resp_codec::Limits;
/// let diagnosis = diagnose(b"*1\r\n$4\r\nPI", Mode::Requests, &Limits::SERVER);
/// assert!(diagnosis.is_none(), "the request might go on");
/// let diagnosis = diagnose(b"*1\r\n$3\r\nPING\r\n", Mode::Requests, &Limits::SERVER).unwrap();
/// assert_eq!((diagnosis.error.offset, diagnosis.expected.to_string().as_str()), (11, "CR"));
/// assert_eq!(diagnosis.fixes[0].apply(b"*1\r\n$3\r\nPING\r\n"), b"*1\r\n$4\r\nPING\r\n");
/// ```
///
/// # Panics
/// Panics if `buf` is 4 GiB or longer.
pub fn diagnose<'b>(buf: &'b [u8], mode: Mode, limits: &Limits) -> Option<Diagnosis<'b>> {
    let (frame, error) = first_error(buf, mode, limits)?;
    let expected = expected(&buf[frame..error.offset], mode, limits, error.kind);
    let fixes = fixes(buf, frame, error, mode, limits, &expected);
    Some(Diagnosis {
        buf,
        error,
        frame,
        expected,
        fixes,
    })
}

/// The first error, and where its frame begins.
pub(super) fn first_error(buf: &[u8], mode: Mode, limits: &Limits) -> Option<(usize, Error)> {
    let mut marks = Vec::new();
    let mut painter = super::paint::Painter::new(buf, &mut marks);
    while painter.at() < buf.len() {
        let frame = painter.at();
        let end = match mode {
            Mode::Requests => request::paint(&mut painter, limits),
            Mode::Replies => reply::paint(&mut painter, limits),
            Mode::BinaryRequests => binary::paint_request(&mut painter, limits),
            Mode::BinaryReplies => binary::paint_reply(&mut painter, limits),
        };
        match end {
            End::Whole => {}
            End::Empty | End::Torn(_) => return None,
            End::Bad(error) => return Some((frame, error)),
        }
    }
    None
}

/// The bytes that may follow `good`, the start of a frame up to the error.
fn expected(good: &[u8], mode: Mode, limits: &Limits, kind: ErrorKind) -> ByteSet {
    match mode {
        Mode::Requests => after_request(good, limits),
        Mode::Replies => after_reply(good, limits),
        Mode::BinaryRequests if good.is_empty() => (0..=u8::MAX).filter(|&op| is_op(op)).collect(),
        Mode::BinaryReplies if matches!(kind, ErrorKind::UnknownTag(_)) => {
            b"_#:,+-$!(=*~>%|".iter().copied().collect()
        }
        Mode::BinaryRequests | Mode::BinaryReplies => ByteSet::default(),
    }
}

fn after_request(good: &[u8], limits: &Limits) -> ByteSet {
    let mut decoder = CommandDecoder::new(*limits);
    // Empty requests in front would be consumed over and over.
    let Ok(Step::NeedMore { consumed, .. }) = decoder.decode(good) else {
        return ByteSet::default();
    };
    let mut buf = good[consumed..].to_vec();
    let last = buf.len();
    buf.push(0);
    let mut fits = |byte: u8| {
        buf[last] = byte;
        decoder.resumed().decode(&buf).is_ok()
    };
    (0..=u8::MAX).filter(|&byte| fits(byte)).collect()
}

fn after_reply(good: &[u8], limits: &Limits) -> ByteSet {
    // Events keep no tape, so that trying costs the same in a frame of any size.
    let mut decoder = EventDecoder::new(*limits);
    let mut rest = good;
    loop {
        match decoder.decode(rest) {
            Ok(Step::Ready { consumed, .. }) => rest = &rest[consumed..],
            Ok(Step::NeedMore { consumed, .. }) => break rest = &rest[consumed..],
            Err(_) => return ByteSet::default(),
        }
    }
    let mut buf = rest.to_vec();
    let last = buf.len();
    buf.push(0);
    let mut fits = |byte: u8| {
        buf[last] = byte;
        if last == 0 && !decoder.may_begin(byte) {
            return false;
        }
        let mut decoder = decoder.clone();
        let mut rest = &buf[..];
        loop {
            match decoder.decode(rest) {
                Ok(Step::Ready { consumed, .. }) => rest = &rest[consumed..],
                Ok(Step::NeedMore { .. }) => break true,
                Err(_) => break false,
            }
        }
    };
    (0..=u8::MAX).filter(|&byte| fits(byte)).collect()
}
