//! Diagnoses: the first error of a buffer, the bytes expected there, and suggested fixes.

use alloc::vec::Vec;

use super::bytes::ByteSet;
use super::fix::{Fix, fixes};
use super::prefix::Prefix;
use super::{Ending, Mode};
use crate::binary::is_op;
use crate::error::{Error, ErrorKind};
use crate::limits::Limits;

/// An error, the bytes that were expected in its place, and suggested fixes. Displays as a few
/// lines of text.
///
/// ```
/// use resp_codec::Limits;
/// use resp_codec::annotate::{Mode, diagnose};
/// let diagnosis = diagnose(b":12x\r\n", Mode::Replies, &Limits::CLIENT).unwrap();
/// assert_eq!((diagnosis.frame, diagnosis.error.offset), (0, 3));
/// let text = diagnosis.to_string();
/// assert!(text.contains("Expected a digit or CR."), "{text}");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnosis<'b> {
    /// The buffer.
    pub(super) buf: &'b [u8],
    /// The error; its offset counts from the start of the buffer.
    pub error: Error,
    /// Offset of the first byte of the frame or request that has the error.
    pub frame: usize,
    /// The bytes that are valid at the error's offset. They are found by trying every byte, so the
    /// set is exact. Empty if a limit is exceeded, because then no byte helps.
    pub expected: ByteSet,
    /// Changes that remove the error, the likeliest first. Each was tried; none is certain to be
    /// the one that was meant.
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

/// The first error, and the offset of the frame that has it.
pub(super) fn first_error(buf: &[u8], mode: Mode, limits: &Limits) -> Option<(usize, Error)> {
    let mut marks = Vec::new();
    let mut painter = super::paint::Painter::new(buf, 0, &mut marks);
    while painter.at() < buf.len() {
        let frame = painter.at();
        match super::paint(&mut painter, mode, limits) {
            Ending::Whole => {}
            Ending::Empty | Ending::Torn { .. } => return None,
            Ending::Bad(error) => return Some((frame, error)),
        }
    }
    None
}

/// The bytes that may follow `good`, the start of a frame up to the error.
fn expected(good: &[u8], mode: Mode, limits: &Limits, kind: ErrorKind) -> ByteSet {
    match mode {
        Mode::Requests | Mode::Replies => expected_after(good, mode, limits),
        Mode::BinaryRequests if good.is_empty() => (0..=u8::MAX).filter(|&op| is_op(op)).collect(),
        Mode::BinaryReplies if matches!(kind, ErrorKind::UnknownTag(_)) => {
            b"_#:,+-$!(=*~>%|".iter().copied().collect()
        }
        Mode::BinaryRequests | Mode::BinaryReplies => ByteSet::default(),
    }
}

/// The bytes that may follow `good`, the start of a frame without errors. They are found by trying
/// every byte, so the set is exact. O(n) nevertheless. Exception: for a binary frame of which the
/// buffer holds more than 4 KiB, every byte counts as valid.
///
/// ```
/// use resp_codec::annotate::{Mode, expected_after};
/// use resp_codec::Limits;
/// let after = |good: &[u8], mode| expected_after(good, mode, &Limits::SERVER).to_string();
/// assert_eq!(after(b"*1\r\n$4", Mode::Requests), "a digit or CR");
/// assert_eq!(after(b"#", Mode::Replies), "'f' or 't'");
/// assert_eq!(after(b"", Mode::BinaryRequests), "0x01, 0x02, 0x03 or 0x10");
/// ```
pub fn expected_after(good: &[u8], mode: Mode, limits: &Limits) -> ByteSet {
    let mut prefix = Prefix::new(mode, *limits);
    match prefix.advance(good) {
        Ok(_) => prefix.expected(good),
        Err(_) => ByteSet::default(),
    }
}
